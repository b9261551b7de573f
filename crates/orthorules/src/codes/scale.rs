//! What the bins of a column mean.

/// What the bins of a column mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    /// Ordered bins; the smallest and largest training value in each.
    Ordered { lowest: Vec<f64>, highest: Vec<f64> },
    /// Bins around given thresholds t₀ < t₁ < …: below t₀, equal to t₀, between t₀ and t₁, equal to t₁, …, above.
    /// Conditions end only at thresholds.
    Given { thresholds: Vec<f64> },
    /// One bin for each level, in order.
    Ranked { levels: Vec<String> },
    /// One bin for each level.
    Nominal { levels: Vec<String> },
}

impl Scale {
    /// Whether an ordered condition may end at `bin`.
    pub(crate) fn ends_at(&self, bin: usize) -> bool {
        !matches!(self, Self::Given { .. }) || bin % 2 == 1
    }
}
