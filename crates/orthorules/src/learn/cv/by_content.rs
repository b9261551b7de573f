//! Folds that know rows by what they say, not by their place.
//!
//! A row is known by its target and its bins, and a bin by the weight and the targets of its rows, by the bins beside
//! it, and then by what its rows are known by. So folds stay as they are when rows or columns come in another order,
//! when columns or levels have other names, and when a column is turned round. A row whose weight is a number of rows
//! is dealt out as this many rows.

use super::folds::too_few;
use crate::base::error::Result;
use crate::base::random::SplitMix64;
use crate::codes::column::{BinnedColumn, Code, Scale, with_codes};
use crate::data::columns::Target;
use crate::data::problem::Problem;
use crate::engine::mass::PerRow;
use crate::engine::targets::local::fitted_targets;
use crate::engine::targets::response::Response;

/// Units of a target of usual size. Targets that differ by less are the same: rounding must not decide.
const UNITS: f64 = (1u64 << 24) as f64;

/// How often bins learn what their rows are known by. Rows that are still alike after that are alike for all that
/// matters.
const ROUNDS: usize = 2;

/// How many copies of each row lie in each fold.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shares {
    pub(super) count: usize,
    /// The fold of the first copy of each row; the next one lies in the next fold.
    first: Vec<u32>,
    copies: PerRow<u32>,
}

/// What is known of the targets of a bin: their sum without its sign, or the weights of its classes in order of size.
#[derive(Clone)]
struct Bin {
    mass: u128,
    sum: i128,
    classes: Vec<u64>,
}

impl Shares {
    /// `count` folds of the rows of `problem`, whose columns are these.
    pub(super) fn new(problem: &Problem, columns: &[BinnedColumn], count: usize) -> Result<Self> {
        let response = Response::new(problem, 1);
        let copies = response.targets.all_stand_for();
        let keys = keys(problem, columns, &response);
        let class = |row: u32| match &problem.target {
            Target::Classes(classes) => classes[row as usize],
            Target::Numbers(_) => 0,
        };
        // Bins that look alike are told apart by their codes; rows that are the same after that are the same.
        let codes = |row: u32| columns.iter().map(move |c| with_codes!(&c.codes, codes => codes[row as usize].index()));
        let compare = |&a: &u32, &b: &u32| {
            let by_key = (class(a), keys[a as usize]).cmp(&(class(b), keys[b as usize]));
            by_key.then_with(|| codes(a).cmp(codes(b)))
        };
        let mut order: Vec<u32> = (0..problem.rows as u32).collect();
        order.sort_by(compare);
        let mut first = vec![0; problem.rows];
        let mut of_class = vec![0u64; problem.classes.len().max(1)];
        for row in order {
            let turn = &mut of_class[class(row) as usize];
            first[row as usize] = (*turn % count as u64) as u32;
            *turn += u64::from(copies.at(row as usize));
        }
        too_few(&of_class, &problem.classes, count)?;
        Ok(Self { count, first, copies })
    }

    /// How many copies of a row there are, and how many of them lie in `fold`.
    pub(super) fn of(&self, row: usize, fold: usize) -> (u32, u32) {
        let (copies, count) = (self.copies.at(row), self.count as u32);
        // The place of the fold among the folds from that of the first copy on.
        let place = (fold as u32 + count - self.first[row]) % count;
        (copies, copies / count + u32::from(copies % count > place))
    }
}

fn mixed(a: u64, b: u64) -> u64 {
    SplitMix64::new(a ^ SplitMix64::new(b).bits()).bits()
}

/// What each row is known by.
fn keys(problem: &Problem, columns: &[BinnedColumn], response: &Response) -> Vec<u64> {
    let targets = target_units(problem, response);
    let own: Vec<u64> = (0..problem.rows).map(|row| targets.get(row).map_or(0, |y| y.unsigned_abs())).collect();
    let copies = &response.targets.all_stand_for();
    let mut of_bins: Vec<Vec<u64>> = columns
        .iter()
        .map(|column| bins(problem, response, &targets, column).into_iter().map(Bin::key).collect::<Vec<u64>>())
        .collect();
    let mut keys = Vec::new();
    for round in 0..=ROUNDS {
        of_bins.iter_mut().zip(columns).for_each(|(keys, column)| *keys = with_neighbours(keys, column));
        keys.clone_from(&own);
        for (of_bins, column) in of_bins.iter().zip(columns) {
            with_codes!(&column.codes, codes => {
                for (key, code) in keys.iter_mut().zip(codes.iter()) {
                    *key = key.wrapping_add(of_bins[code.index()]);
                }
            });
        }
        keys.iter_mut().zip(&own).for_each(|(key, &own)| *key = mixed(*key, own));
        if round == ROUNDS {
            break;
        }
        for (of_bins, column) in of_bins.iter_mut().zip(columns) {
            with_codes!(&column.codes, codes => {
                for (row, (key, code)) in keys.iter().zip(codes.iter()).enumerate() {
                    let of_bin = &mut of_bins[code.index()];
                    *of_bin = of_bin.wrapping_add(key.wrapping_mul(u64::from(copies.at(row))));
                }
            });
        }
    }
    keys
}

/// The keys of the bins of a column, where those in an order know the bins beside them, whichever comes first.
fn with_neighbours(keys: &[u64], column: &BinnedColumn) -> Vec<u64> {
    if matches!(column.scale, Scale::Nominal { .. }) {
        return keys.to_vec();
    }
    // Those of special codes come after them, and that of missing values is the last.
    let ordered = &keys[..column.ordinary()];
    let beside = |bin: usize| {
        let at = |place: Option<usize>| place.and_then(|place| ordered.get(place)).copied().unwrap_or_default();
        at(bin.checked_sub(1)).wrapping_add(at(Some(bin + 1)))
    };
    let mut known: Vec<u64> = (0..ordered.len()).map(|bin| mixed(keys[bin], beside(bin))).collect();
    known.extend(&keys[ordered.len()..]);
    known
}

/// Numbers as they are fitted, those of squared loss beside their mean, in units that do not depend on weights; none of
/// classes.
fn target_units(problem: &Problem, response: &Response) -> Vec<i64> {
    let y = fitted_targets(problem, response);
    y.into_iter().map(|y| (y * UNITS).round() as i64).collect()
}

/// What each bin of a column has, missing values last.
fn bins(problem: &Problem, response: &Response, numbers: &[i64], column: &BinnedColumn) -> Vec<Bin> {
    let nothing = Bin { mass: 0, sum: 0, classes: vec![0; problem.classes.len()] };
    let mut bins = vec![nothing; column.bins + 1];
    let targets = &response.targets;
    let several = targets.stand_for_several();
    let weight = |row: usize| match problem.weight {
        // Weights that are numbers of rows count as such.
        _ if several => u64::from(targets.stands_for(row)),
        Some(_) => targets.weight().at(row),
        None => 1,
    };
    with_codes!(&column.codes, codes => {
        for (row, code) in codes.iter().enumerate() {
            let bin = &mut bins[code.index()];
            bin.mass += u128::from(weight(row));
            match &problem.target {
                Target::Classes(classes) => bin.classes[classes[row] as usize] += weight(row),
                Target::Numbers(_) => bin.sum += i128::from(numbers[row]) * i128::from(weight(row)),
            }
        }
    });
    bins
}

impl Bin {
    fn key(mut self) -> u64 {
        self.classes.sort_unstable();
        let key = mixed(self.mass as u64, self.sum.unsigned_abs() as u64);
        self.classes.into_iter().fold(key, mixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::problem::{Roles, Task};
    use crate::data::table::{Column, Table, Values};
    use crate::learn::one::Binned;
    use crate::params::{MaxBins, Params};

    /// Rows of two columns of numbers and one of letters, with weights.
    type Row = (f64, f64, &'static str, f64, f64);

    fn rows() -> Vec<Row> {
        let mut random = SplitMix64::new(9);
        let mut row = || {
            let (x, z) = ((random.uniform() * 20.0).floor(), random.uniform());
            (x, z, ["a", "b", "c"][random.below(3)], x + 3.0 * random.uniform(), 1.0 + random.below(2) as f64)
        };
        (0..120).map(|_| row()).collect()
    }

    /// How many copies of each row lie in each fold.
    fn folds(rows: &[Row], task: Task, turned: bool) -> Vec<Vec<u32>> {
        let numbers = |of: &dyn Fn(&Row) -> f64| Values::numbers(rows.iter().map(of));
        let sign = if turned { -1.0 } else { 1.0 };
        let y = |row: &Row| match task {
            Task::Classification => f64::from(row.3 > 9.0),
            Task::Poisson => row.3.floor(),
            Task::Regression | Task::Gamma => row.3,
        };
        let mut columns = vec![
            Column::new(if turned { "q" } else { "x" }, numbers(&|row| sign * row.0)),
            Column::new("z", numbers(&|row| row.1)),
            Column::new("c", Values::text(rows.iter().map(|row| Some(row.2)))),
            Column::new("y", numbers(&y)),
            Column::new("w", numbers(&|row| row.4)),
        ];
        if turned {
            columns.reverse();
        }
        let roles = Roles { target: "y".into(), weight: Some("w".into()), task: Some(task), ..Roles::default() };
        let problem = Problem::new(Table::new(columns).unwrap(), &roles).unwrap();
        let params = Params { max_bins: MaxBins::Exact, ..Params::default() };
        let checked = params.check(problem.task().loss(), problem.counted_rows()).unwrap();
        let shares = Shares::new(&problem, Binned::new(&problem, &checked).columns(), 5).unwrap();
        (0..rows.len()).map(|row| (0..5).map(|fold| shares.of(row, fold).1).collect()).collect()
    }

    #[test]
    fn places_and_names_do_not_matter() {
        for (task, turned) in
            [(Task::Regression, false), (Task::Classification, false), (Task::Poisson, false), (Task::Regression, true)]
        {
            let given = rows();
            let expected = folds(&given, task, false);
            let copies: u32 = expected.iter().flatten().sum();
            for fold in 0..5 {
                let size: u32 = expected.iter().map(|shares| shares[fold]).sum();
                assert!(size.abs_diff(copies / 5) <= 2, "{task}: fold {fold} has {size} of {copies} rows");
            }
            let mut order: Vec<usize> = (0..given.len()).collect();
            SplitMix64::new(4).shuffle(&mut order);
            let shuffled: Vec<Row> = order.iter().map(|&row| given[row]).collect();
            let again = folds(&shuffled, task, turned);
            for (place, &row) in order.iter().enumerate() {
                assert_eq!(again[place], expected[row], "{task}");
            }
        }
    }
}
