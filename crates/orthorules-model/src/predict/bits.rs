//! Conditions as bits, 64 rows to a word, and sums over them. Everything works on blocks that stay in the nearest
//! cache.

use crate::base::simd::vectorised;
use crate::data::table::{MISSING, Values};
use crate::model::condition::Test;

/// Rows of a block.
pub(super) const ROWS_IN_A_BLOCK: usize = 1024;
/// Words of a block.
pub(super) const WORDS: usize = ROWS_IN_A_BLOCK / 64;

/// The bits of one block of rows.
pub(super) type Bits = [u64; WORDS];

/// Which of the rows from `start` on, up to a block of them, satisfy `test`. Bits beyond the last row are 0.
pub(super) fn evaluate(test: &Test, values: &Values, start: usize, bits: &mut Bits) {
    match (values, test) {
        (Values::Numeric(v), &Test::AtMost(t)) => at_most(block(v, start), t, bits),
        (Values::Numeric(v), &Test::AtLeast(t)) => at_least(block(v, start), t, bits),
        (Values::Numeric(v), Test::AtMostBut(t, codes)) => {
            pack(block(v, start), bits, |x| x <= *t && !codes.contains(&x));
        }
        (Values::Numeric(v), Test::AtLeastBut(t, codes)) => {
            pack(block(v, start), bits, |x| x >= *t && !codes.contains(&x));
        }
        (Values::Numeric(v), &Test::Only(code)) => pack(block(v, start), bits, |x| x == code),
        (Values::Numeric(v), &Test::AllBut(code)) => pack(block(v, start), bits, |x| !x.is_nan() && x != code),
        (Values::Numeric(v), Test::NoNumber) => no_number(block(v, start), bits),
        (Values::Numeric(v), Test::Number) => number(block(v, start), bits),
        (Values::Categorical { codes, .. }, &Test::Level(c)) => level(block(codes, start), c, bits),
        (Values::Categorical { codes, .. }, &Test::OtherLevel(c)) => other_level(block(codes, start), c, bits),
        (Values::Categorical { codes, .. }, &Test::LevelsBetween(low, high)) => {
            levels_between(block(codes, start), low, high, bits);
        }
        (Values::Categorical { codes, .. }, Test::Among(wanted, unseen)) => {
            let holds = |c: u32| wanted.get(c as usize).copied().unwrap_or(*unseen && c != MISSING);
            pack(block(codes, start), bits, holds);
        }
        (Values::Categorical { codes, .. }, Test::AnyLevel) => other_level(block(codes, start), MISSING, bits),
        _ => bits.fill(0),
    }
}

fn block<T>(values: &[T], start: usize) -> &[T] {
    &values[start..values.len().min(start + ROWS_IN_A_BLOCK)]
}

vectorised! { fn at_most(values: &[f64], threshold: f64, bits: &mut Bits) { pack(values, bits, |x| x <= threshold); } }
vectorised! { fn at_least(values: &[f64], threshold: f64, bits: &mut Bits) { pack(values, bits, |x| x >= threshold); } }
vectorised! { fn no_number(values: &[f64], bits: &mut Bits) { pack(values, bits, f64::is_nan); } }
vectorised! { fn number(values: &[f64], bits: &mut Bits) { pack(values, bits, |x| !x.is_nan()); } }
vectorised! { fn level(codes: &[u32], wanted: u32, bits: &mut Bits) { pack(codes, bits, |c| c == wanted); } }
vectorised! {
    fn levels_between(codes: &[u32], low: u32, high: u32, bits: &mut Bits) {
        pack(codes, bits, |c| c >= low && c <= high);
    }
}
vectorised! {
    fn other_level(codes: &[u32], not: u32, bits: &mut Bits) {
        pack(codes, bits, |c| c != not && c != MISSING);
    }
}

/// Writes one bit for each value, without a branch: there are 64 at most, so that no shift wraps.
#[inline(always)]
#[allow(clippy::inline_always)]
fn pack<T: Copy>(values: &[T], bits: &mut Bits, holds: impl Fn(T) -> bool) {
    let (whole, rest) = values.as_chunks::<64>();
    let word = |values: &[T]| {
        values.iter().enumerate().fold(0, |word, (j, &x)| word | u64::from(holds(x)).wrapping_shl(j as u32))
    };
    bits.iter_mut().zip(whole).for_each(|(bits, values)| *bits = word(values));
    if let Some((last, beyond)) = bits[whole.len()..].split_first_mut() {
        *last = word(rest);
        beyond.fill(0);
    }
}

vectorised! {
    /// Adds `weight` to the scores of the rows whose bit is set. The others are left as they are, so that a row's
    /// sum has no added zeros: the same additions as by hand.
    pub(super) fn add(weight: f64, words: &[u64], scores: &mut [f64]) {
        for (&word, scores) in words.iter().zip(scores.chunks_mut(64)) {
            if word == 0 {
                continue;
            }
            for (j, score) in scores.iter_mut().enumerate() {
                let sum = *score + weight;
                *score = if word.wrapping_shr(j as u32) & 1 == 1 { sum } else { *score };
            }
        }
    }
}
