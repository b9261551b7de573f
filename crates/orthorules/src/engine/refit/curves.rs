//! Gradients, curvatures and losses of many rows at once.
//!
//! Beside trends every row has a score of its own, so that exponentials and logarithms are what a pass over the rows
//! takes most time for. These are made of sums, products and one division, in loops that processors run for several
//! rows side by side.

use crate::base::simd::vectorised;
use crate::data::loss::Loss;
use crate::engine::mass::Rounding;

/// Sums that are taken side by side.
const LANES: usize = 4;
/// Tables of sums that rows are added to in turn.
pub(super) const TABLES: usize = 4;
/// Adding it leaves a whole number in the last places.
const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;
/// The first digits of ln 2, so few that products with small whole numbers are exact, and the others.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Terms of the series of an exponential, and those of a logarithm beside the first.
const EXPONENTIAL_TERMS: usize = 14;
const LOGARITHM_TERMS: usize = 16;
/// 1/0!, 1/1!, … in pairs.
const EXPONENTIAL: [[f64; 2]; EXPONENTIAL_TERMS / 2] = [
    [1.0, 1.0],
    [0.5, 1.0 / 6.0],
    [1.0 / 24.0, 1.0 / 120.0],
    [1.0 / 720.0, 1.0 / 5_040.0],
    [1.0 / 40_320.0, 1.0 / 362_880.0],
    [1.0 / 3_628_800.0, 1.0 / 39_916_800.0],
    [1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0],
];
/// 1/3, 1/5, … in pairs.
const LOGARITHM: [[f64; 2]; LOGARITHM_TERMS / 2] = [
    [1.0 / 3.0, 1.0 / 5.0],
    [1.0 / 7.0, 1.0 / 9.0],
    [1.0 / 11.0, 1.0 / 13.0],
    [1.0 / 15.0, 1.0 / 17.0],
    [1.0 / 19.0, 1.0 / 21.0],
    [1.0 / 23.0, 1.0 / 25.0],
    [1.0 / 27.0, 1.0 / 29.0],
    [1.0 / 31.0, 1.0 / 33.0],
];

/// exp(x), to the last digits; what would overflow, or vanish, is cut off before.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(super) fn exp(x: f64) -> f64 {
    let x = x.clamp(-708.0, 709.0);
    let shifted = x * std::f64::consts::LOG2_E + MAGIC;
    let power = shifted - MAGIC;
    let rest = (x - power * LN_2_HIGH) - power * LN_2_LOW;
    // Neighbouring terms are added first, so that no sum waits for all the others.
    let [a, b, c, d, e, f, g] = EXPONENTIAL.map(|[even, odd]| even + odd * rest);
    let second = rest * rest;
    let fourth = second * second;
    let sum = ((a + b * second) + (c + d * second) * fourth) + ((e + f * second) + g * fourth) * (fourth * fourth);
    f64::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 52))
}

/// log(1 + x) for x from 0 to 1: the series of 2 artanh(x / (2 + x)).
#[inline(always)]
#[allow(clippy::inline_always)]
fn ln_1p(x: f64) -> f64 {
    let s = x / (2.0 + x);
    let z = s * s;
    let [a, b, c, d, e, f, g, h] = LOGARITHM.map(|[even, odd]| even + odd * z);
    let second = z * z;
    let fourth = second * second;
    let low = (a + b * second) + (c + d * second) * fourth;
    let high = (e + f * second) + (g + h * second) * fourth;
    2.0 * s * ((low + high * (fourth * fourth)) * z + 1.0)
}

/// Turns scores f, weighted targets b and masses a of rows into their losses, gradients and curvatures.
pub(super) fn curves(loss: Loss, f: &mut [f64], b: &mut [f64], a: &mut [f64]) {
    match loss {
        Loss::Squared => squared(f, b, a),
        Loss::Logistic => logistic(f, b, a),
        Loss::Poisson => poisson(f, b, a),
        Loss::Gamma => gamma(f, b, a),
    }
}

/// Slopes and curvatures of rows; losses need not be right.
pub(super) fn slopes(loss: Loss, f: &mut [f64], b: &mut [f64], a: &mut [f64]) {
    match loss {
        Loss::Logistic => logistic_slopes(f, b, a),
        Loss::Squared | Loss::Poisson | Loss::Gamma => curves(loss, f, b, a),
    }
}

vectorised! {
    fn squared(f: &mut [f64], b: &mut [f64], a: &mut [f64]) {
        for ((f, b), a) in f.iter_mut().zip(b).zip(a) {
            let away = *f - *b / *a;
            (*f, *b) = (0.5 * *a * away * away, *a * *f - *b);
        }
    }
}

vectorised! {
    fn logistic(f: &mut [f64], b: &mut [f64], a: &mut [f64]) {
        for ((f, b), a) in f.iter_mut().zip(b).zip(a) {
            let e = exp(-f.abs());
            let inverse = 1.0 / (1.0 + e);
            let mean = if *f >= 0.0 { inverse } else { e * inverse };
            let lost = *a * (if *f > 0.0 { *f } else { 0.0 } + ln_1p(e)) - *b * *f;
            (*f, *b, *a) = (lost, *a * mean - *b, *a * (e * inverse * inverse));
        }
    }
}

vectorised! {
    fn logistic_slopes(f: &[f64], b: &mut [f64], a: &mut [f64]) {
        for ((f, b), a) in f.iter().zip(b).zip(a) {
            let e = exp(-f.abs());
            let inverse = 1.0 / (1.0 + e);
            let mean = if *f >= 0.0 { inverse } else { e * inverse };
            (*b, *a) = (*a * mean - *b, *a * (e * inverse * inverse));
        }
    }
}

vectorised! {
    fn poisson(f: &mut [f64], b: &mut [f64], a: &mut [f64]) {
        for ((f, b), a) in f.iter_mut().zip(b).zip(a) {
            let mean = *a * exp(*f);
            (*f, *b, *a) = (mean - *b * *f, mean - *b, mean);
        }
    }
}

vectorised! {
    fn gamma(f: &mut [f64], b: &mut [f64], a: &mut [f64]) {
        for ((f, b), a) in f.iter_mut().zip(b).zip(a) {
            let inverse = *a * exp(-*f);
            (*f, *b, *a) = (inverse - *b * *f, -inverse - *b, inverse);
        }
    }
}

vectorised! {
    /// Adds a multiple of what each row has.
    pub(super) fn add_scaled(to: &mut [f64], by: f64, values: &[f64]) {
        to.iter_mut().zip(values).for_each(|(to, value)| *to += by * value);
    }
}

vectorised! {
    /// The largest size of some numbers; not that of what is no number.
    pub(super) fn most(numbers: &[f64]) -> f64 {
        let (fours, rest) = numbers.as_chunks::<LANES>();
        let mut most = [0.0f64; LANES];
        for four in fours {
            (0..LANES).for_each(|k| most[k] = if four[k].abs() > most[k] { four[k].abs() } else { most[k] });
        }
        rest.iter().chain(&most).fold(0.0, |most: f64, x| most.max(x.abs()))
    }
}

/// How this many numbers of at most this size are rounded, and what that leaves of them.
pub(super) fn roundings(count: f64, largest: f64) -> [Rounding; 2] {
    // Less is left than a unit in the last place of the largest sum, and there is room for twice that.
    let left = largest * count * 2f64.powi(-49);
    [largest, left].map(|largest| Rounding::new(count, largest.min(f64::MAX)))
}

vectorised! {
    /// Σ of numbers that are rounded, and of what is left of them, rounded too: each is the same in any order.
    pub(super) fn rounded_sums(numbers: &[f64], rounding: Rounding, finer: Rounding) -> [f64; 2] {
        let (fours, rest) = numbers.as_chunks::<LANES>();
        let (mut sums, mut lefts) = ([0.0; LANES], [0.0; LANES]);
        let both = |x: f64| (rounding.round(x), finer.round(x - rounding.round(x)));
        for four in fours {
            for k in 0..LANES {
                let (sum, left) = both(four[k]);
                sums[k] += sum;
                lefts[k] += left;
            }
        }
        let mut all = [sums.iter().sum::<f64>(), lefts.iter().sum::<f64>()];
        for (sum, left) in rest.iter().map(|&x| both(x)) {
            all[0] += sum;
            all[1] += left;
        }
        all
    }
}

vectorised! {
    /// Σ of products that are rounded, so that it is the same in any order.
    pub(super) fn rounded_products(a: &[f64], b: &[f64], rounding: Rounding) -> f64 {
        let (fours, rest) = a.as_chunks::<LANES>();
        let (others, other_rest) = b.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for (four, other) in fours.iter().zip(others) {
            (0..LANES).for_each(|k| sums[k] += rounding.round(four[k] * other[k]));
        }
        sums.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(a, b)| rounding.round(a * b)).sum::<f64>()
    }
}

vectorised! {
    /// Writes rounded numbers.
    pub(super) fn round_each(numbers: &[f64], rounding: Rounding, to: &mut [f64]) {
        to.iter_mut().zip(numbers).for_each(|(to, x)| *to = rounding.round(*x));
    }
}

vectorised! {
    /// Rounds the numbers of each row, of one kind or some times four kinds, and adds them to those of its cell.
    /// `numbers` are those of one kind of all rows, then those of the next kind. Every fourth row has the same table of
    /// sums, and the next one begins `apart` numbers later, or is the same if that is 0: sums of neighbours that wait
    /// for each other take twice the time.
    pub(super) fn add_to_cells(cells: &[u32], numbers: &[f64], kinds: &[Rounding], sums: &mut [f64], apart: usize) {
        if let [rounding] = kinds {
            let rows = cells.iter().zip(numbers).enumerate();
            rows.for_each(|(row, (&cell, x))| sums[row % TABLES * apart + cell as usize] += rounding.round(*x));
            return;
        }
        let (sums, fours, apart) = (sums.as_chunks_mut::<LANES>().0, kinds.len() / LANES, apart / LANES);
        for (four, kinds) in kinds.as_chunks::<LANES>().0.iter().enumerate() {
            let of_kind = |k: usize| &numbers[(four * LANES + k) * cells.len()..][..cells.len()];
            let numbers: [&[f64]; LANES] = std::array::from_fn(of_kind);
            for (row, &cell) in cells.iter().enumerate() {
                let sum = &mut sums[row % TABLES * apart + cell as usize * fours + four];
                (0..LANES).for_each(|k| sum[k] += kinds[k].round(numbers[k][row]));
            }
        }
    }
}

vectorised! {
    /// Products of two numbers for each row.
    pub(super) fn multiply(to: &mut [f64], a: &[f64], b: &[f64]) {
        to.iter_mut().zip(a).zip(b).for_each(|((to, a), b)| *to = a * b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-14 * (1.0 + expected.abs())
    }

    proptest! {
        /// What the loss itself says of a row.
        #[test]
        fn rows_have_the_curves_of_their_loss(f in -30.0..30.0f64, b in 0.0..3.0f64, a in 0.1..3.0f64) {
            for loss in [Loss::Squared, Loss::Logistic, Loss::Poisson, Loss::Gamma] {
                let b = if loss == Loss::Gamma { -b } else { b };
                let (mut losses, mut gradients, mut curvatures) = ([f; 5], [b; 5], [a; 5]);
                curves(loss, &mut losses, &mut gradients, &mut curvatures);
                let lost = if loss.is_quadratic() { 0.5 * a * (f - b / a).powi(2) } else { a * loss.psi(f) - b * f };
                for row in 0..5 {
                    prop_assert!(is_close(losses[row], lost), "{:?} {} {}", loss, losses[row], lost);
                    prop_assert!(is_close(gradients[row], a * loss.slope(f) - b), "{:?}", loss);
                    let curvature = a * loss.curvature(f);
                    prop_assert!((curvatures[row] - curvature).abs() <= 1e-14 * curvature, "{:?}", loss);
                }
            }
        }
    }

    /// A sum over a million rows must tell whether a step was good that lowers it by a millionth of a row's loss.
    #[test]
    fn sums_of_many_rows_keep_their_digits() {
        let count = 1_000_003;
        let numbers: Vec<f64> = (0..count).map(|i| 50.0 * f64::from(i).sin().powi(2)).collect();
        let [rounding, finer] = roundings(f64::from(count), 50.0);
        let [sum, left] = rounded_sums(&numbers, rounding, finer);
        let parts = numbers.chunks(77).map(|some| rounded_sums(some, rounding, finer));
        assert_eq!(parts.fold([0.0, 0.0], |all, some| [all[0] + some[0], all[1] + some[1]]), [sum, left]);
        let exact: i128 = numbers.iter().map(|x| (x * 2f64.powi(60)) as i128).sum();
        assert!((sum + left - exact as f64 / 2f64.powi(60)).abs() < 1e-7);
    }

    /// Any number of tables, and any number of kinds, have the sums of a plain loop.
    #[test]
    fn cells_have_the_sums_of_their_rows() {
        let (rows, count) = (103, 5);
        let cells: Vec<u32> = (0..rows).map(|row| row * row % count).collect();
        for kinds in [1, 4, 8, 12, 16, 20] {
            let rounding: Vec<Rounding> =
                (0..kinds).map(|k| Rounding::new(103.0, 2f64.powi(8 + 50 * (k as i32 % 2)))).collect();
            let numbers: Vec<f64> = (0..rows as usize * kinds).map(|x| 0.1 + (x * 37 % 101) as f64).collect();
            let size = count as usize * kinds;
            let mut expected = vec![0.0; size];
            for (row, &cell) in cells.iter().enumerate() {
                for k in 0..kinds {
                    expected[cell as usize * kinds + k] += rounding[k].round(numbers[k * rows as usize + row]);
                }
            }
            for apart in [0, size] {
                let mut sums = vec![0.0; size + (TABLES - 1) * apart];
                add_to_cells(&cells, &numbers, &rounding, &mut sums, apart);
                let all: Vec<f64> = (0..size).map(|k| sums.iter().skip(k).step_by(size).sum()).collect();
                assert_eq!(all, expected, "{kinds} {apart}");
            }
        }
    }

    #[test]
    fn ends_are_no_numbers_that_do_harm() {
        for f in [-1e300, -800.0, -0.0, 0.0, 800.0, 1e300] {
            let (mut losses, mut gradients, mut curvatures) = ([f], [1.0], [1.0]);
            logistic(&mut losses, &mut gradients, &mut curvatures);
            assert!(losses[0].is_finite() && (-1.0..=0.0).contains(&gradients[0]), "{f} {losses:?} {gradients:?}");
            assert!((0.0..=0.25).contains(&curvatures[0]));
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(ln_1p(0.0), 0.0);
        assert!((exp(-700.0) / (-700f64).exp() - 1.0).abs() < 1e-14);
    }
}
