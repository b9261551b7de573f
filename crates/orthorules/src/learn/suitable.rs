//! Parameters that suit the rows that they are for.

use crate::base::error::{Error, Result};
use crate::data::outline::Outline;
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::model::signs;
use crate::params::{Checked, Learner, Params, Sets, Terms};

/// The parameters, if they suit the problem, which counts as this many rows.
pub(crate) fn checked(problem: &Outline, counted_rows: usize, params: &Params) -> Result<Checked> {
    let checked = params.check(problem.task.loss(), counted_rows)?;
    checked.cuts.keys().try_for_each(|name| problem.require_numeric("cuts", name))?;
    signs::check(problem, &checked.monotone)?;
    if problem.offset.is_some() && checked.learner == Learner::Sirus {
        let what = "sirus takes no offset: choose another preset, or leave out the offset".into();
        return Err(Error::Excluded { name: "offset", what });
    }
    if params.terms.has_trends() {
        require_numbers(problem, params.terms)?;
    }
    if params.sets == Some(Sets::On) {
        require_levels(problem)?;
    }
    checked.for_table(params, problem, counted_rows).with_wishes(params, problem)
}

/// Fewer levels have no sets: of three, two are all but one.
const FEWEST_LEVELS: usize = 4;

/// Sets of levels need a column with some.
fn require_levels(problem: &Outline) -> Result<()> {
    let has_levels = |column: &ColumnSpec| column.kind == Kind::Categorical && column.levels.len() >= FEWEST_LEVELS;
    if problem.specs.iter().any(has_levels) {
        return Ok(());
    }
    let what = format!(
        "sets are for columns of categories with at least {FEWEST_LEVELS} levels, but there is none: leave out sets"
    );
    Err(Error::Excluded { name: "sets", what })
}

/// Trends need a column of numbers.
fn require_numbers(problem: &Outline, terms: Terms) -> Result<()> {
    if problem.specs.iter().any(|column| column.kind == Kind::Numeric) {
        return Ok(());
    }
    let what = format!("terms {terms} are for columns of numbers, but there is none: leave out terms");
    Err(Error::Excluded { name: "terms", what })
}
