//! From columns to columns of codes: a sketch of each decides its bins, then every row gets its code.

use crate::codes::column::BinnedColumn;
use crate::codes::encoder::Coder;
use crate::codes::packed::CodeBuilder;
use crate::codes::quantiles::QuantileSketch;
use crate::data::special::SpecialCode;
use crate::data::table::{Column, Kind, Matrix, Values};
use crate::params::Cutting;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bins every column, in parallel. Numeric columns in `given` use the thresholds listed there.
pub(crate) fn bin(
    columns: &[Column],
    weight: Option<&[f64]>,
    cutting: Cutting,
    given: &BTreeMap<String, Vec<f64>>,
) -> Vec<BinnedColumn> {
    together(columns).into_par_iter().flat_map_iter(|columns| binned(columns, weight, cutting, given)).collect()
}

/// Rows that are read at a time from a matrix that lies row by row: those of a group of columns stay in the fastest
/// cache. Not a power of two, whose multiples would compete for the same places there.
const PIECE: usize = 264;

/// The columns in groups, one for each thread where neighbours lie in one matrix, else each by itself.
fn together(columns: &[Column]) -> Vec<&[Column]> {
    let matrix = |c: &Column| match &c.values {
        Values::Numeric(numbers) => numbers.place().map(|(matrix, _)| Arc::as_ptr(matrix).cast::<()>()),
        Values::Categorical { .. } => None,
    };
    let each = columns.len().div_ceil(rayon::current_num_threads()).clamp(1, 16);
    let neighbours = columns.chunk_by(move |a, b| matrix(a).is_some() && matrix(a) == matrix(b));
    neighbours.flat_map(|group| group.chunks(each)).collect()
}

/// Bins columns that are read together.
fn binned(
    columns: &[Column],
    weight: Option<&[f64]>,
    cutting: Cutting,
    given: &BTreeMap<String, Vec<f64>>,
) -> Vec<BinnedColumn> {
    let mut sketches: Vec<QuantileSketch> = columns.iter().map(|_| QuantileSketch::new(cutting)).collect();
    pieces(columns, |i, rows, values| {
        if !given.contains_key(&columns[i].name) {
            let plain = SpecialCode::masked(&columns[i].special, values);
            sketches[i].extend(&plain, weight.map(|w| &w[rows]));
        }
    });
    let coder = |(column, sketch): (&Column, QuantileSketch)| {
        let name = column.name.as_str();
        let (coder, rows) = match (&column.values, given.get(name)) {
            (Values::Numeric(values), Some(thresholds)) => (Coder::given(name, thresholds), values.len()),
            (Values::Numeric(values), None) => (Coder::of_sketch(name, sketch), values.len()),
            (Values::Categorical { codes, levels, kind: Kind::Ordered }, _) => {
                (Coder::ranked(name, levels.clone()), codes.len())
            }
            (Values::Categorical { codes, levels, .. }, _) => (Coder::nominal(name, levels.clone()), codes.len()),
        };
        let coder = coder.with_special(column.special.clone());
        let codes = CodeBuilder::new(coder.bins(), rows);
        (coder, codes)
    };
    let mut coders: Vec<(Coder, CodeBuilder)> = columns.iter().zip(sketches).map(coder).collect();
    pieces(columns, |i, _, values| {
        let (coder, to) = &mut coders[i];
        coder.numbers(values, to);
    });
    let finished = |(column, (coder, mut to)): (&Column, (Coder, CodeBuilder))| {
        if let Values::Categorical { codes, .. } = &column.values {
            coder.levels(codes.iter().copied(), &mut to);
        }
        coder.finish(to.finish())
    };
    columns.iter().zip(coders).map(finished).collect()
}

/// Calls `take` with the numbers of every numeric column: all at once, or some rows at a time where they lie in one
/// matrix; with the column's place and the rows.
fn pieces(columns: &[Column], mut take: impl FnMut(usize, Range<usize>, &[f64])) {
    let mut scattered: Vec<(usize, usize, &Arc<dyn Matrix>)> = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let Values::Numeric(values) = &column.values else { continue };
        match values.place() {
            Some((matrix, column)) => scattered.push((i, column, matrix)),
            None => take(i, 0..values.len(), values),
        }
    }
    let Some(&(_, _, matrix)) = scattered.first() else { return };
    let which: Vec<usize> = scattered.iter().map(|(_, column, _)| *column).collect();
    let mut buffer = vec![0.0; PIECE * which.len()];
    for start in (0..matrix.rows()).step_by(PIECE) {
        let rows = start..matrix.rows().min(start + PIECE);
        let some = &mut buffer[..rows.len() * which.len()];
        matrix.read(&which, start, some);
        for ((i, ..), numbers) in scattered.iter().zip(some.chunks_exact(rows.len())) {
            take(*i, rows.clone(), numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::code::Code;
    use crate::codes::packed::with_codes;
    use crate::codes::selection::Selection;
    use crate::data::table::Numbers;
    use crate::params::{MaxBins, Thresholds};
    use proptest::prelude::*;

    fn binned(values: Vec<f64>, max_bins: MaxBins) -> BinnedColumn {
        let column = Column::new("x", Values::Numeric(values.into()));
        super::binned(&[column], None, Cutting { max_bins, thresholds: Thresholds::Round }, &BTreeMap::new()).remove(0)
    }

    fn with_codes_of(values: Vec<f64>, max_bins: MaxBins, codes: &[SpecialCode]) -> BinnedColumn {
        let column = Column::new("x", Values::Numeric(values.into())).with_special(codes).unwrap();
        super::binned(&[column], None, Cutting { max_bins, thresholds: Thresholds::Round }, &BTreeMap::new()).remove(0)
    }

    fn code(column: &BinnedColumn, row: usize) -> usize {
        with_codes!(&column.codes, codes => codes[row].index())
    }

    /// Numbers row by row, this many in each.
    struct RowMajor(Vec<f64>, usize);

    impl Matrix for RowMajor {
        fn rows(&self) -> usize {
            self.0.len() / self.1
        }

        fn read(&self, columns: &[usize], start: usize, into: &mut [f64]) {
            let rows = into.len() / columns.len();
            for (j, c) in columns.iter().enumerate() {
                (0..rows).for_each(|i| into[j * rows + i] = self.0[(start + i) * self.1 + c]);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Where numbers lie does not matter, nor in how many pieces they are read.
        #[test]
        fn scattered_columns_have_the_same_bins(
            seed in any::<u32>(),
            rows in 1usize..3 * PIECE,
            width in 1usize..20,
            exact in any::<bool>(),
            weighted in any::<bool>(),
        ) {
            let number = |i: usize| {
                let x = (i as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 12;
                if x.is_multiple_of(11) { f64::NAN } else { f64::from(x % 300) / 7.0 }
            };
            let matrix = Arc::new(RowMajor((0..rows * width).map(number).collect(), width));
            let name = |c: usize| format!("x{c}");
            let side_by_side = |c| (0..rows).map(|r| matrix.0[r * width + c]).collect::<Vec<f64>>().into();
            let column = |c: usize| Column::new(name(c), Values::Numeric(side_by_side(c)));
            let whole: Vec<Column> = (0..width).map(column).collect();
            let part = |c| Numbers::column_of(matrix.clone(), c);
            let parts: Vec<Column> = (0..width).map(|c| Column::new(name(c), Values::Numeric(part(c)))).collect();
            let weight: Option<Vec<f64>> = weighted.then(|| (0..rows).map(|r| 1.0 + (r % 3) as f64).collect());
            let max_bins = if exact { MaxBins::Exact } else { MaxBins::AtMost(8) };
            let given = BTreeMap::from([(name(1), vec![3.0, 20.0])]);
            let cutting = Cutting { max_bins, thresholds: Thresholds::Round };
            let of = |columns: &[Column]| bin(columns, weight.as_deref(), cutting, &given);
            prop_assert_eq!(of(&parts), of(&whole));
            let still = |c: &Column| matches!(&c.values, Values::Numeric(numbers) if numbers.place().is_some());
            prop_assert!(parts.iter().all(still), "nothing was copied as a whole");
        }
    }

    #[test]
    fn quantile_bins_are_nearly_equal() {
        let column = binned((0..1000).map(f64::from).collect(), MaxBins::AtMost(10));
        assert_eq!(column.bins, 10);
        let mut counts = [0; 10];
        (0..1000).for_each(|r| counts[code(&column, r)] += 1);
        // They end at 100, 200, …, which belong to the bins below.
        assert_eq!(counts, [101, 100, 100, 100, 100, 100, 100, 100, 100, 99]);
    }

    #[test]
    fn a_heavy_value_does_not_starve_the_rest() {
        let values = std::iter::repeat_n(0.0, 900).chain((1..=100).map(f64::from)).collect();
        assert_eq!(binned(values, MaxBins::AtMost(10)).bins, 10);
    }

    /// The ends of the line of numbers, their neighbours, and those around 0.
    const EXTREMES: [f64; 12] = [
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MAX.next_down(),
        f64::MIN.next_up(),
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        0.0,
        -0.0,
        9_007_199_254_740_993e3,
    ];

    #[test]
    fn infinities_are_told_apart_by_finite_thresholds() {
        let thresholds = |values: &[f64]| {
            let column = binned(values.to_vec(), MaxBins::Exact);
            let ends = 0..column.bins.saturating_sub(1) as u32;
            let shown = |selection| column.condition(selection).to_string();
            ends.flat_map(|bin| [Selection::AtMost(bin), Selection::AtLeast(bin + 1)].map(shown)).collect::<Vec<_>>()
        };
        let (inf, max) = (f64::INFINITY, f64::MAX);
        assert_eq!(thresholds(&[1.0, 2.0, inf]), ["x <= 1", "x >= 2", "x <= 1e308", "x >= 1e308"]);
        assert_eq!(thresholds(&[-inf, -3.0]), ["x <= -1e308", "x >= -1e308"]);
        assert_eq!(thresholds(&[-inf, inf]), ["x <= 0", "x >= 0"]);
        // No finite number lies between the largest and infinity: they share a bin.
        assert!(thresholds(&[max, inf]).is_empty() && thresholds(&[-inf, -max]).is_empty());
        assert!(thresholds(&[inf, inf]).is_empty() && thresholds(&[-inf]).is_empty());
        assert_eq!(thresholds(&[-inf, -max, 5e-324, max, inf]).len(), 4);
    }

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            4 => (-20i32..20).prop_map(|x| f64::from(x) / 4.0),
            1 => any::<f64>(),
            1 => prop::sample::select(&EXTREMES[..]),
            1 => Just(f64::NAN),
        ];
        prop::collection::vec(value, 0..80)
    }

    proptest! {
        /// Codes follow the order of the values, and every threshold shown selects the rows of its bins.
        #[test]
        fn conditions_select_their_bins(
            values in numbers(),
            bins in 2u32..12,
            exact in any::<bool>(),
            special in any::<bool>(),
        ) {
            let max_bins = if exact { MaxBins::Exact } else { MaxBins::AtMost(bins) };
            let codes = [SpecialCode::new(-1.0, "refused"), SpecialCode::new(2.5, "unknown")];
            let column = with_codes_of(values.clone(), max_bins, if special { &codes } else { &[] });
            prop_assert!(exact || column.ordinary() <= bins as usize);
            // No threshold sees a special code, and what the codes stand for is what they came from.
            let again = column.decoded(Kind::Numeric);
            let Values::Numeric(again) = &again else { panic!("numbers") };
            for (&x, &y) in values.iter().zip(again.iter()) {
                let own = SpecialCode::place(&column.special, x);
                prop_assert_eq!(own, SpecialCode::place(&column.special, y));
                prop_assert_eq!(x.is_nan(), y.is_nan());
            }
            let all: Vec<u32> = (0..values.len() as u32).collect();
            let table = Values::Numeric(values.clone().into());
            let last = column.ordinary().saturating_sub(1) as u32;
            let places = 0..column.special.len() as u32;
            let selections = (0..last)
                .map(Selection::AtMost)
                .chain((1..=last).filter(|_| last > 0).map(Selection::AtLeast))
                .chain([Selection::Missing, Selection::Present])
                .chain(places.flat_map(|place| [Selection::Special(place), Selection::NotSpecial(place)]));
            for selection in selections {
                let mut shown = vec![true; values.len()];
                let condition = column.condition(selection);
                prop_assert!(condition.is_valid(), "{} could not be read back", condition);
                condition.narrow(&table, &mut shown);
                let rows = column.select(selection, &all);
                let naive: Vec<u32> = all.iter().copied().filter(|&r| shown[r as usize]).collect();
                prop_assert_eq!(rows, naive, "{}", column.condition(selection));
                let naive: Vec<u32> = all.iter().copied().filter(|&r| !shown[r as usize]).collect();
                let wanted = crate::codes::wanted::WantedCodes::Range(column.codes_of(selection));
                prop_assert_eq!(column.select_where(&wanted, &all, false, Vec::new()), naive.clone());
                prop_assert_eq!(column.select_range(&wanted, 0..all.len(), false, Vec::new()), naive);
            }
        }
    }
}
