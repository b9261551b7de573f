//! Folds that know rows by what they say, not by their place.
//!
//! A row is known by its target and its bins, and a bin by the weight and the targets of its rows. So folds stay as they are when
//! rows come in another order; and mostly, as far as bins differ in weight or targets, also when columns do, when columns or levels
//! have other names, and when a column is turned round.

use super::folds::{Folds, check};
use crate::base::error::Result;
use crate::base::random::SplitMix64;
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::data::columns::Target;
use crate::data::problem::Problem;
use crate::engine::mass::PerRow;
use crate::engine::response::Response;

/// Units of a target of usual size.
const UNITS: f64 = (1u64 << 40) as f64;

/// What is known of the targets of a bin: their sum without its sign, or the weights of its classes in order of size.
#[derive(Clone)]
struct Bin {
    mass: u128,
    sum: i128,
    classes: Vec<u64>,
}

impl Folds {
    /// `count` folds of the rows of `problem`, whose columns are these.
    pub(super) fn by_content(problem: &Problem, columns: &[BinnedColumn], count: usize) -> Result<Self> {
        check(problem, count)?;
        let keys = keys(problem, columns);
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
        let mut of_row = vec![0; problem.rows];
        let (mut last, mut turn) = (None, 0);
        for row in order {
            turn = if last == Some(class(row)) { (turn + 1) % count as u32 } else { 0 };
            (of_row[row as usize], last) = (turn, Some(class(row)));
        }
        let folds = Self { count, of_row };
        folds.check_classes(problem)?;
        Ok(folds)
    }
}

fn mixed(a: u64, b: u64) -> u64 {
    SplitMix64::new(a ^ SplitMix64::new(b).bits()).bits()
}

/// What each row is known by.
fn keys(problem: &Problem, columns: &[BinnedColumn]) -> Vec<u64> {
    let response = Response::new(problem, 1);
    let mut keys = vec![0u64; problem.rows];
    for column in columns {
        let of_bins: Vec<u64> = bins(problem, &response, column).into_iter().map(Bin::key).collect();
        with_codes!(&column.codes, codes => {
            keys.iter_mut().zip(codes.iter()).for_each(|(key, code)| *key = key.wrapping_add(of_bins[code.index()]));
        });
    }
    let own = |row: usize| match &problem.target {
        Target::Classes(_) => 0,
        Target::Numbers(y) => units(y[row], &response).unsigned_abs(),
    };
    keys.into_iter().enumerate().map(|(row, key)| mixed(key, own(row))).collect()
}

/// A target beside the mean, in units that do not depend on weights.
fn units(y: f64, response: &Response) -> i64 {
    ((y / response.scale - response.shift) * UNITS).round() as i64
}

/// What each bin of a column has, missing values last.
fn bins(problem: &Problem, response: &Response, column: &BinnedColumn) -> Vec<Bin> {
    let nothing = Bin { mass: 0, sum: 0, classes: vec![0; problem.classes.len()] };
    let mut bins = vec![nothing; column.bins + 1];
    let targets = &response.targets;
    let weight = |row: usize| match &targets.stands_for {
        // Weights that are numbers of rows count as such.
        PerRow::Each(rows) => u64::from(rows[row]),
        PerRow::Same(_) if problem.weight.is_some() => targets.norm.as_ref().unwrap_or(&targets.mass).at(row),
        PerRow::Same(_) => 1,
    };
    with_codes!(&column.codes, codes => {
        for (row, code) in codes.iter().enumerate() {
            let bin = &mut bins[code.index()];
            bin.mass += u128::from(weight(row));
            match &problem.target {
                Target::Classes(classes) => bin.classes[classes[row] as usize] += weight(row),
                Target::Numbers(y) => bin.sum += i128::from(units(y[row], response)) * i128::from(weight(row)),
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

    /// The fold of each row.
    fn folds(rows: &[Row], task: Task, turned: bool) -> Vec<u32> {
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
        Folds::by_content(&problem, Binned::new(&problem, &checked).columns(), 5).unwrap().of_row
    }

    #[test]
    fn places_and_names_do_not_matter() {
        for (task, turned) in
            [(Task::Regression, false), (Task::Classification, false), (Task::Poisson, false), (Task::Regression, true)]
        {
            let given = rows();
            let expected = folds(&given, task, false);
            for fold in 0..5 {
                let size = expected.iter().filter(|&&f| f == fold).count();
                assert!((23..=25).contains(&size), "{task}: fold {fold} has {size} rows");
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
