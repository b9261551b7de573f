//! What is done beyond one search for each complexity where nobody says what is wanted.
//!
//! Folds that choose λ, and rules that are given up for better ones, gain a few per cent of risk and take several times as long. So they are
//! the default where a fit stays within seconds. That is decided by the size of the table, so that it gets the same answer on every
//! machine.

use crate::data::outline::Outline;
use crate::params::{Checked, LambdaFrom, Learner, Objective, Params, PathKind, Polish, Terms};

/// What may be done where a table is not too large for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As many fits as there are folds, and more.
    Folds,
    /// Searches for better rules in the place of some.
    Polish,
}

impl Effort {
    /// Cells of a table, with [`COLUMN`] more for each column, for which it takes a few seconds.
    fn cells(self) -> u64 {
        match self {
            Self::Folds => 4_000_000,
            Self::Polish => 16_000_000,
        }
    }
}

/// The usual limit of complexity.
const USUAL_SIZE: usize = 50;

/// What a column costs beside its rows: the search looks at all its thresholds again and again.
const COLUMN: u64 = 5_000;

/// Whether an effort takes no more than seconds for a table with so many rows.
pub(crate) fn is_affordable(effort: Effort, problem: &Outline, rows: usize, params: &Checked) -> bool {
    let scores = if problem.classes.len() > 2 { problem.classes.len() as u64 } else { 1 };
    // Twice the usual size takes about four times as long.
    let larger = (params.max_complexity.min(params.max_rules.saturating_mul(4)) / USUAL_SIZE).max(1) as u64;
    let cost = (rows as u64 + COLUMN)
        .saturating_mul(problem.specs.len() as u64)
        .saturating_mul(scores)
        .saturating_mul(larger.saturating_pow(2));
    cost <= effort.cells()
}

/// The parameters with what was left open. The table counts as so many rows.
pub(crate) fn completed(checked: Checked, given: &Params, problem: &Outline, counted_rows: usize) -> Checked {
    let usual = checked.learner == Learner::Boosting
        && checked.objective == Objective::Onb
        && checked.path == PathKind::Best
        && checked.terms == Terms::Rules
        && checked.time_limit.is_none();
    // With several classes every λ would have fits of its own, and nobody has measured what polish gains.
    if !usual || problem.classes.len() > 2 {
        return checked;
    }
    let [folds, polish] =
        [Effort::Folds, Effort::Polish].map(|effort| is_affordable(effort, problem, counted_rows, &checked));
    let mut checked = checked;
    if given.polish.is_none() && polish {
        (checked.polish, checked.polishes_folds) = (Polish::Light, false);
    }
    // Folds that choose a size choose λ, too.
    if given.reg_lambda.is_none() && checked.cv.is_none() && folds {
        checked.lambda_from = LambdaFrom::FoldsIfAny;
    }
    checked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::columns::Target;
    use crate::data::problem::{Problem, Roles};
    use crate::data::table::{Column, Table, Values};
    use crate::params::{Cv, RegLambda, Search, Update};

    /// What is done for a table with so many columns that counts as so many rows and has so many classes, or numbers.
    fn done(given: &Params, columns: usize, rows: usize, classes: usize) -> (Polish, LambdaFrom) {
        let y = Values::numbers((0..12).map(|row| (row % classes.max(2)) as f64));
        let feature = |c: usize| Column::new(format!("x{c}"), Values::numbers((0..12).map(|row| (row * c) as f64)));
        let table = Table::new((1..=columns).map(feature).chain([Column::new("y", y)]).collect()).unwrap();
        let task = if classes > 0 { "classification" } else { "regression" };
        let roles = Roles { target: "y".into(), task: Some(task.parse().unwrap()), ..Roles::default() };
        let problem = Problem::new(table, &roles).unwrap();
        assert_eq!(matches!(problem.target, Target::Classes(_)), classes > 0);
        let checked = given.check(problem.task().loss(), rows).unwrap();
        let completed = completed(checked, given, &problem.outline(), rows);
        assert_eq!(completed.polishes_folds, given.polish.is_some() || completed.polish == Polish::Off);
        (completed.polish, completed.lambda_from)
    }

    #[test]
    fn small_tables_get_more_than_one_search() {
        let open = Params::default();
        let (all, plain) = ((Polish::Light, LambdaFrom::FoldsIfAny), (Polish::Off, LambdaFrom::Loss));
        assert_eq!(done(&open, 3, 100, 0), all);
        assert_eq!(done(&open, 3, 100, 2), all);
        assert_eq!(done(&open, 3, 100, 3), plain, "several classes");
        let polished = (Polish::Light, LambdaFrom::Loss);
        assert_eq!((done(&open, 10, 395_000, 0), done(&open, 10, 395_001, 0)), (all, polished), "4 million cells");
        assert_eq!((done(&open, 10, 1_595_000, 0), done(&open, 10, 1_595_001, 0)), (polished, plain), "16 million");
        let larger = Params { max_complexity: Some(100), ..open.clone() };
        assert_eq!((done(&larger, 10, 95_000, 0), done(&larger, 10, 95_001, 0)), (all, polished), "twice the size");
        for params in [
            Params { search: Search::Exact, ..open.clone() },
            Params { path: Some(PathKind::Nested), ..open.clone() },
            Params { update: Update::Stagewise, ..open.clone() },
            Params { objective: Objective::Ogb, ..open.clone() },
            Params { terms: Terms::Linear, ..open.clone() },
            Params { time_limit: Some(9.0), ..open.clone() },
            Params { learner: Learner::Sirus, ..open.clone() },
        ] {
            assert_eq!(done(&params, 3, 100, 0), plain, "{params:?}");
        }
    }

    #[test]
    fn what_was_asked_for_is_done() {
        let open = Params::default();
        let off = Params { polish: Some(Polish::Off), ..open.clone() };
        assert_eq!(done(&off, 3, 100, 0), (Polish::Off, LambdaFrom::FoldsIfAny));
        let full = Params { polish: Some(Polish::Full), reg_lambda: Some(RegLambda::Cv), ..open.clone() };
        assert_eq!(done(&full, 10, 1_000_000, 0), (Polish::Full, LambdaFrom::Folds));
        let number = Params { reg_lambda: Some(RegLambda::Value(3.0)), ..open.clone() };
        assert_eq!(done(&number, 3, 100, 0), (Polish::Light, LambdaFrom::User));
        // Folds that choose a size choose λ.
        let folds = Params { cv: Some(Cv::Folds(5)), ..open };
        assert_eq!(done(&folds, 3, 100, 0), (Polish::Light, LambdaFrom::Loss));
    }
}
