//! Where the time went.

/// Where the time went, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct Seconds {
    /// From columns to bins.
    pub bin: f64,
    /// Finding queries.
    pub search: f64,
    /// Fitting weights.
    pub refit: f64,
    /// Everything.
    pub total: f64,
}

impl Seconds {
    /// Adds the parts that another fit took.
    pub(crate) fn add(&mut self, other: &Self) {
        self.bin += other.bin;
        self.search += other.search;
        self.refit += other.refit;
    }
}
