//! How often whole numbers of a column are repeated: whether they seem to name rows, or groups of a few rows.
//!
//! What is drawn at random from some range, as amounts, times of day and postal codes are, has equal values by chance
//! and wherever they fall. Names differ: those of rows never meet however narrow their range, and those of groups have
//! one block of rows each, although the table is not sorted by them. Where order tells nothing, the name of the column
//! may.

use crate::base::wire::wire;

/// Fewer values are different, or even, by chance.
const FEWEST_ROWS: usize = 20;
/// Where at least this many pairs of equal values are expected of a draw, none is no chance: e⁻¹⁵.
const EXPECTED_PAIRS: f64 = 15.0;
/// Groups have at most this many rows each on average.
const MOST_EACH: usize = 20;
/// Beyond this floats are not counted one by one.
const LARGEST: f64 = (1u64 << 53) as f64;

/// How often the values of a column of whole numbers occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// Rows that were looked at.
    pub(crate) rows: usize,
    /// Different values in these.
    pub(crate) values: usize,
    /// Whether all values differ although those of a draw from their range would not.
    pub(crate) number_rows: bool,
    /// Whether each value has one block of rows, in no order.
    pub(crate) name_groups: bool,
}
wire!(Repeats { rows, values, number_rows, name_groups });

impl Repeats {
    /// Of values in the order of their rows, none of them NaN; nothing if they are few or not whole. These are `all` of
    /// the column, or an evenly spaced sample, which tells nothing of groups.
    pub(crate) fn of_values(values: &[f64], all: bool) -> Option<Self> {
        if values.len() < FEWEST_ROWS || !values.iter().all(|x| x.fract() == 0.0 && x.abs() < LARGEST) {
            return None;
        }
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Differences of whole numbers below 2⁵³ are below 2⁵⁴.
        let offset = |x: &f64| (x - low) as u64;
        let range = (high - low) as u64 + 1;
        let counts: Vec<u64> = if range <= 8 * values.len() as u64 {
            let mut counts = vec![0u64; range as usize];
            values.iter().for_each(|x| counts[offset(x) as usize] += 1);
            counts.retain(|&count| count > 0);
            counts
        } else {
            let mut offsets: Vec<u64> = values.iter().map(offset).collect();
            offsets.sort_unstable();
            offsets.chunk_by(|a, b| a == b).map(|same| same.len() as u64).collect()
        };
        let mut found = Self::of_counts(&counts, range, step(values.iter().map(offset)))?;
        found.name_groups = all && in_blocks(values, found);
        Some(found)
    }

    /// Of whole numbers by how often each occurs, all with a distance of some multiple of `step` within a `range`.
    /// Nothing if they are few. What their order tells is not known.
    pub(crate) fn of_counts(counts: &[u64], range: u64, step: u64) -> Option<Self> {
        let (values, rows) = (counts.len(), counts.iter().sum::<u64>() as usize);
        let pairs = rows as f64 * (rows as f64 - 1.0) / (2.0 * range as f64);
        // At even steps there are measurements at fixed times.
        let number_rows = values == rows && pairs >= EXPECTED_PAIRS && step == 1;
        let found = Self { rows, values, number_rows, name_groups: false };
        (rows >= FEWEST_ROWS && values > 1).then_some(found)
    }
}

/// The largest number of which all differences are multiples; 0 where there are none.
pub(crate) fn step(offsets: impl Iterator<Item = u64>) -> u64 {
    let mut step = 0;
    for mut offset in offsets {
        while offset > 0 {
            (step, offset) = (offset, step % offset);
        }
        if step == 1 {
            break;
        }
    }
    step
}

/// Whether each value has one block of rows, in no order.
fn in_blocks(values: &[f64], found: Repeats) -> bool {
    let blocks = 1 + values.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let rises = values.windows(2).any(|pair| pair[0] < pair[1]);
    let falls = values.windows(2).any(|pair| pair[0] > pair[1]);
    let few_each = 2 * found.rows >= 3 * found.values && found.rows <= MOST_EACH * found.values;
    blocks == found.values && found.values >= FEWEST_ROWS && few_each && rises && falls
}

/// Words that columns of names end with, or begin with.
const ID: [&str; 5] = ["id", "ids", "uid", "uuid", "guid"];
/// Words that stand for one of many with a few rows each.
const PEOPLE: [&str; 9] =
    ["patient", "subject", "participant", "person", "customer", "client", "user", "household", "student"];

/// Whether a column is called as one that names something: `id`, `patient_id`, `CustomerID`, `uuid`, `patient`.
pub(crate) fn is_called_id(name: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let starts = c.is_uppercase() && before.is_lowercase();
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    match words.as_slice() {
        [word] => ID.contains(&word.as_str()) || PEOPLE.contains(&word.as_str()),
        [first, .., last] => [first, last].iter().any(|word| ID.contains(&word.as_str())),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SplitMix64;
    use proptest::prelude::*;

    /// What is said of the values.
    fn said(values: &[f64]) -> (bool, bool) {
        Repeats::of_values(values, true).map_or((false, false), |found| (found.number_rows, found.name_groups))
    }

    /// Numbers below `n` as often as asked for, by a seed.
    fn draws(seed: u64, rows: usize, n: usize) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        (0..rows).map(|_| random.below(n) as f64).collect()
    }

    fn shuffled(seed: u64, mut values: Vec<f64>) -> Vec<f64> {
        SplitMix64::new(seed).shuffle(&mut values);
        values
    }

    proptest! {
        /// Numbers of rows with gaps, in order or not, and nothing that is drawn from the same range.
        #[test]
        fn numbers_of_rows_are_told_from_draws(
            seed in any::<u64>(),
            rows in 100usize..800,
            first in -1000i32..100_000,
        ) {
            // Two of three numbers are left.
            let numbers: Vec<f64> = (0..3 * rows).filter(|i| i % 3 != 1).map(|i| f64::from(first) + i as f64).collect();
            prop_assert!(said(&numbers).0 && said(&shuffled(seed, numbers.clone())).0);
            prop_assert!(!said(&draws(seed, numbers.len(), 3 * rows)).0);
            let twice: Vec<f64> = numbers.iter().chain(&numbers[..1]).copied().collect();
            prop_assert!(!said(&twice).0);
            let halves: Vec<f64> = numbers.iter().map(|x| x + 0.5).collect();
            prop_assert_eq!(Repeats::of_values(&halves, true), None);
        }

        /// Measurements that are whole, distinct or not, in order or not.
        #[test]
        fn measurements_name_nothing(seed in any::<u64>(), rows in 20usize..3000, sorted in any::<bool>()) {
            let mut random = SplitMix64::new(seed);
            let mut uniform = || random.below(1 << 30) as f64 / f64::from(1 << 30);
            // Amounts in whole units, minutes and seconds of a day, postal codes of few and of many places, years,
            // prices.
            let mut amount = || (8.0 + 3.0 * (uniform() + uniform() - 1.0)).exp().round();
            let amounts: Vec<f64> = (0..rows).map(|_| amount()).collect();
            let codes: Vec<f64> = draws(seed ^ 1, 200, 90_000);
            let postal: Vec<f64> = draws(seed ^ 2, rows, 200).iter().map(|&i| 10_000.0 + codes[i as usize]).collect();
            let prices: Vec<f64> = amounts.iter().map(|x| (x / 50.0).round() * 50.0).collect();
            let all = [amounts, draws(seed ^ 3, rows, 1440), draws(seed ^ 4, rows, 86_400), postal, prices,
                       draws(seed ^ 5, rows, 120), draws(seed ^ 6, rows, 90_000), draws(seed ^ 7, rows, 1 << 40)];
            for (place, mut values) in all.into_iter().enumerate() {
                if sorted {
                    values.sort_by(f64::total_cmp);
                }
                prop_assert_eq!(said(&values), (false, false), "{}", place);
            }
            // Times at even distances.
            let times: Vec<f64> = (0..rows).map(|i| 1.7e9 + 300.0 * i as f64).collect();
            prop_assert_eq!(said(&times), (false, false));
        }

        /// Groups of a few rows each, one block each.
        #[test]
        fn groups_are_found(seed in any::<u64>(), groups in 60usize..300) {
            let mut random = SplitMix64::new(seed ^ 9);
            let names = draws(seed, groups, 1 << 40);
            let mut of_few =
                |name: &f64| std::iter::repeat_n(*name, 1 + random.below(6)).collect::<Vec<f64>>();
            let blocks: Vec<f64> = names.iter().flat_map(&mut of_few).collect();
            prop_assert_eq!(said(&blocks), (false, true));
            prop_assert_eq!(Repeats::of_values(&blocks, false).map(|found| found.name_groups), Some(false), "a sample");
            // What is sorted has blocks, too.
            let mut sorted = blocks.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(said(&sorted), (false, false));
            prop_assert_eq!(said(&shuffled(seed, blocks)), (false, false));
        }
    }

    #[test]
    fn few_values_and_one_value_tell_nothing() {
        assert_eq!(Repeats::of_values(&[1.0; 19], true), None);
        assert_eq!(Repeats::of_values(&[7.0; 400], true), None);
        assert_eq!(said(&(0..19).map(f64::from).collect::<Vec<_>>()), (false, false));
        assert!(Repeats::of_values(&[f64::INFINITY; 40], true).is_none());
        let wide: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { -8e15 } else { 8e15 } + f64::from(i)).collect();
        assert_eq!(said(&wide), (false, false));
        assert_eq!((step([0, 6, 4].into_iter()), step([0, 0].into_iter()), step([9, 6].into_iter())), (2, 0, 3));
    }

    #[test]
    fn names_of_ids_are_known() {
        for name in
            ["id", "ID", "patient_id", "PatientId", "customerID", "row id", "id_of_case", "Uuid", "user-uid", "Patient"]
        {
            assert!(is_called_id(name), "{name}");
        }
        for name in ["", "paid", "grid", "idle", "humid", "width", "void", "identity", "covid", "patient age", "users"]
        {
            assert!(!is_called_id(name), "{name}");
        }
    }
}
