//! When a path that has no limit of size, or a large one, ends by itself.
//!
//! A penalty on squared weights never stops to invite rules: two near copies of a rule share its weight and pay half
//! the penalty, three pay a third. The regularised risk then goes on falling, about as 1 / rules, although nothing new
//! is said.

use crate::params::{Checked, DEFAULT_COMPLEXITY, Update};

/// A rule beyond the default size must add at least this part to what all rules together gain.
const LEAST_PART: f64 = 1e-6;

/// An ensemble that has just got a rule.
pub(crate) struct GrowthSoFar {
    pub(crate) rules: usize,
    pub(crate) complexity: usize,
    /// Groups of rows that its rules tell apart.
    pub(crate) cells: usize,
    /// By how much the newest rule lowers the regularised risk.
    pub(crate) newest: f64,
    /// By how much all rules do.
    pub(crate) all: f64,
}

impl GrowthSoFar {
    /// Whether the newest rule was worth adding. Up to the default size every rule is that lowers the risk. Beyond it,
    /// a rule must add a meaningful part; and rules that are more than the groups of rows that they tell apart are sums
    /// of each other, so that another one says nothing new.
    pub(crate) fn is_worth_it(&self, params: &Checked) -> bool {
        if self.complexity <= DEFAULT_COMPLEXITY {
            return true;
        }
        match params.update {
            Update::Corrective => self.rules <= self.cells && self.newest > LEAST_PART * self.all,
            Update::Stagewise => self.newest > LEAST_PART * self.all,
            // A closed-form step may overshoot and recover later.
            Update::Newton => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::loss::Loss;
    use crate::params::Params;

    #[test]
    fn only_what_is_beyond_the_default_size_must_be_worth_it() {
        let params = |update| Params { update, ..Params::default() }.check(Loss::Squared, 100).unwrap();
        let worth = |grown: &GrowthSoFar| {
            [Update::Corrective, Update::Stagewise, Update::Newton].map(|update| grown.is_worth_it(&params(update)))
        };
        let good = || GrowthSoFar { rules: 30, complexity: 60, cells: 40, newest: 0.01, all: 5.0 };
        assert_eq!(worth(&good()), [true; 3]);
        assert_eq!(worth(&GrowthSoFar { cells: 30, ..good() }), [true; 3]);
        assert_eq!(worth(&GrowthSoFar { cells: 29, ..good() }), [false, true, true]);
        assert_eq!(worth(&GrowthSoFar { newest: 1e-6, ..good() }), [false, false, true]);
        // Nothing that is found without options changes.
        assert_eq!(
            worth(&GrowthSoFar { complexity: DEFAULT_COMPLEXITY, cells: 2, newest: 1e-12, ..good() }),
            [true; 3]
        );
    }
}
