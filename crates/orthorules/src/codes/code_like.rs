//! Numbers of a column that look like codes: -9 or 999 in many rows, far from all other values.
//!
//! Three things must come together, so that measurements are left alone: the number is spelled as codes are, many rows
//! have it, and the gap to the other values is wide beside the gaps among these.

use crate::base::wire::wire;

/// Fewer rows have a value by chance.
const FEWEST_ROWS: usize = 10;
/// Codes at one end of a column.
const MOST_CODES: usize = 5;
/// Values beside the gap whose distances tell how wide it is.
const NEIGHBOURS: usize = 10;
/// Fewer other values tell nothing of distances.
const FEWEST_OTHERS: usize = 4;

/// A number that looks like a code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CodeLike {
    pub(crate) value: f64,
    /// How many of the values that were looked at.
    pub(crate) rows: usize,
}
wire!(CodeLike { value, rows });

/// The numbers among `values`, none of them NaN, that look like codes, ascending.
pub(crate) fn code_like(values: &[f64]) -> Vec<CodeLike> {
    let (low, high) = ends(values);
    if !is_spelled_so(low) && !is_spelled_so(high) {
        return Vec::new();
    }
    let mut sorted: Vec<f64> = values.iter().map(|x| x + 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let distinct: Vec<CodeLike> =
        sorted.chunk_by(|a, b| a == b).map(|same| CodeLike { value: same[0], rows: same.len() }).collect();
    let below = at_start(&distinct);
    // What lies above is below where the line of numbers is turned round.
    let mirrored = |code: &CodeLike| CodeLike { value: -code.value, ..*code };
    let turned: Vec<CodeLike> = distinct[below..].iter().rev().map(mirrored).collect();
    let above = at_start(&turned);
    [&distinct[..below], &distinct[distinct.len() - above..]].concat()
}

/// The smallest and the largest value.
fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| {
        (if x < low { x } else { low }, if x > high { x } else { high })
    })
}

/// Whether codes are spelled so: -1 to -9, or one of the digits 7, 8 and 9 twice or more, as in 99 and -888.
fn is_spelled_so(x: f64) -> bool {
    let size = x.abs();
    if x.fract() != 0.0 || !(1.0..1e15).contains(&size) {
        return false;
    }
    let digits = format!("{size:.0}");
    let first = digits.as_bytes()[0];
    let repeats = digits.len() >= 2 && first >= b'7' && digits.bytes().all(|digit| digit == first);
    repeats || x < 0.0 && size < 10.0
}

/// How many of the first `values`, which ascend or are mirrored, look like codes.
fn at_start(values: &[CodeLike]) -> usize {
    // Mirrored values keep their spelling in one sign or the other.
    let spelled = |value: &CodeLike| is_spelled_so(value.value) || is_spelled_so(-value.value);
    let most = values.iter().take(MOST_CODES).take_while(|value| spelled(value)).count();
    (1..=most).rev().find(|&count| are_apart(&values[..count], &values[count..])).unwrap_or(0)
}

/// Whether many rows have these codes, and `others` are far from them.
fn are_apart(codes: &[CodeLike], others: &[CodeLike]) -> bool {
    let rows: usize = codes.iter().map(|code| code.rows).sum();
    let (Some(last), [first, .., end]) = (codes.last(), others) else { return false };
    if others.len() < FEWEST_OTHERS || rows < FEWEST_ROWS || codes.iter().any(|code| code.rows < 2) {
        return false;
    }
    let gap = first.value - last.value;
    let near = others.windows(2).take(NEIGHBOURS).map(|pair| pair[1].value - pair[0].value);
    let widest = near.fold(0.0, f64::max);
    let alone_below_0 = last.value < 0.0 && first.value >= 0.0;
    gap >= 2.0 * widest && (alone_below_0 || gap >= 0.5 * (end.value - first.value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SplitMix64;

    fn found(values: impl IntoIterator<Item = f64>) -> Vec<(f64, usize)> {
        let values: Vec<f64> = values.into_iter().collect();
        code_like(&values).iter().map(|code| (code.value, code.rows)).collect()
    }

    fn with(values: impl Iterator<Item = f64>, codes: &[(f64, usize)]) -> Vec<f64> {
        values.chain(codes.iter().flat_map(|&(code, rows)| std::iter::repeat_n(code, rows))).collect()
    }

    #[test]
    fn codes_are_found_at_either_end() {
        let ages = || (0..300).map(|i| f64::from(i % 70 + 18));
        for codes in [
            vec![(-9.0, 12)],
            vec![(-9.0, 40), (-8.0, 11)],
            vec![(-1.0, 30)],
            vec![(999.0, 15)],
            vec![(-99.0, 20), (9999.0, 20)],
            vec![(777.0, 20), (888.0, 20), (999.0, 20)],
        ] {
            assert_eq!(found(with(ages(), &codes)), codes);
        }
        let incomes = (0..900).map(|i| 12.5 + f64::from(i * i % 977) / 7.0);
        assert_eq!(found(with(incomes, &[(-9.0, 12)])), [(-9.0, 12)]);
    }

    #[test]
    fn measurements_are_left_alone() {
        let mut random = SplitMix64::new(7);
        let mut normal = || (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
        assert_eq!(found((0..500).map(|_| (3.0 * normal()).round())), []);
        assert_eq!(found((0..500).map(|_| normal())), []);
        assert_eq!(found((0..500).map(|_| (2.0 * normal()).exp().round())), []);
        // Whole numbers in a row, up to a limit, and a count of few.
        assert_eq!(found((0..500).map(|i| f64::from(i % 11) - 1.0)), []);
        assert_eq!(found((0..500).map(|i| f64::from(i % 100))), []);
        assert_eq!(found((0..500).map(|i| f64::from(i % 7) - 3.0)), []);
        // Few rows, few other values, and a number that codes are not spelled as.
        let ages = || (0..300).map(|i| f64::from(i % 70 + 18));
        assert_eq!(found(with(ages(), &[(-9.0, 1), (999.0, 4)])), []);
        assert_eq!(found(with((0..300).map(|i| f64::from(i % 3)), &[(9.0, 30)])), []);
        assert_eq!(found(with(ages(), &[(1000.0, 40)])), []);
        assert!(found([]).is_empty() && found([-9.0; 40]).is_empty());
    }
}
