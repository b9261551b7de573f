//! For which tables the slower defaults stay within seconds. The size of the table decides, so that the answer is the
//! same on every machine.

use super::DEFAULT_COMPLEXITY;
use super::checked::Checked;
use crate::data::outline::Outline;

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

/// What a column costs beside its rows: the search looks at all its thresholds again and again.
const COLUMN: u64 = 5_000;

/// Whether an effort takes no more than seconds for a table with this many rows.
pub(crate) fn is_affordable(effort: Effort, problem: &Outline, rows: usize, params: &Checked) -> bool {
    let scores = if problem.classes.len() > 2 { problem.classes.len() as u64 } else { 1 };
    // Twice the usual size takes about four times as long.
    let larger = (params.max_complexity.min(params.max_rules.saturating_mul(4)) / DEFAULT_COMPLEXITY).max(1) as u64;
    let cost = (rows as u64 + COLUMN)
        .saturating_mul(problem.specs.len() as u64)
        .saturating_mul(scores)
        .saturating_mul(larger.saturating_pow(2));
    cost <= effort.cells()
}
