//! What bounds are made of: units that stand for others, and their shares.

/// Rounding allowance on every bound.
pub(super) const SLACK: f64 = 1.0 + 1e-9;

/// A unit, by its position, and how many units with the same statistics it stands for.
pub(crate) type Item = (u32, f64);

/// What a cut before a child is built needs to know of it: Σ D, Σ G⁺²/D, Σ G⁻²/D and Σ D‖z‖² over its units.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ItemShares {
    pub(crate) d: f64,
    pub(crate) up: f64,
    pub(crate) down: f64,
    pub(crate) trace: f64,
}
