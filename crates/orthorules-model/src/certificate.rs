//! What the search can say about the rule that it returns.

/// Which test cut branches of exact search, and how often, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Pruned {
    /// Children whose own share of the gradient is too small, seen from their parent's sums.
    pub share: u64,
    /// Nodes whose inherited bound fell behind the best rule, at once or while they waited.
    pub inherited: u64,
    /// Row sets that had been reached before by a query that is not longer.
    pub repeated: u64,
    /// Nodes cut by the relaxation (or the prefix bound) over their own rows.
    pub relaxation: u64,
}

/// The account of one search: how good the rule is, and how good any other could have been.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Certificate {
    /// The rule's objective value.
    pub value: f64,
    /// No query had a higher score than one of this value at the rule's length; absent when nothing is known.
    pub bound: Option<f64>,
    /// Whether it was proven that no query was better.
    pub proven: bool,
    /// Queries expanded.
    pub nodes: u64,
    /// Seconds spent. Not part of the model, which depends on data and parameters alone.
    pub seconds: f64,
    /// What cut how many branches.
    pub pruned: Pruned,
}

impl Pruned {
    /// Adds what another search cut.
    #[doc(hidden)]
    pub fn add(&mut self, other: Self) {
        self.share += other.share;
        self.inherited += other.inherited;
        self.repeated += other.repeated;
        self.relaxation += other.relaxation;
    }
}
