//! Where bins end.

/// The cuts of distinct values with their weights.
pub(super) fn quantiles(distinct: &[(f64, f64)], bins: usize) -> Vec<f64> {
    let left: f64 = distinct.iter().map(|d| d.1).sum();
    let mut cutter = Cutter::new(left, bins);
    for (i, &value) in distinct.iter().enumerate() {
        if cutter.is_last() {
            break;
        }
        cutter.take(value, distinct.get(i + 1).map(|next| next.1));
    }
    cutter.finish(distinct[distinct.len() - 1].0)
}

/// Closes a bin when it holds its share of the weight that is left for the bins that are left, or when the next
/// value would take it further past its share than it is short of it.
pub(super) struct Cutter {
    left: f64,
    /// What the open bin holds.
    pub(super) held: f64,
    bins: usize,
    cuts: Vec<f64>,
}

impl Cutter {
    /// For this many bins of values of this weight in all.
    pub(super) fn new(weight: f64, bins: usize) -> Self {
        Self { left: weight, held: 0.0, bins, cuts: Vec::with_capacity(bins) }
    }

    /// Whether the bin that is open takes whatever comes.
    pub(super) fn is_last(&self) -> bool {
        self.cuts.len() + 1 == self.bins
    }

    /// What the open bin should hold.
    pub(super) fn share(&self) -> f64 {
        self.left / (self.bins - self.cuts.len()) as f64
    }

    /// Takes the next value with its weight; `next` is the weight of the one after it.
    pub(super) fn take(&mut self, (value, weight): (f64, f64), next: Option<f64>) {
        self.held += weight;
        let share = self.share();
        let overshoot = next.map_or(0.0, |next| self.held + next - share);
        if self.held >= share || overshoot > share - self.held {
            self.cuts.push(value);
            self.left -= self.held;
            self.held = 0.0;
        }
    }

    /// The cuts, of which `last`, the largest value, is the last.
    pub(super) fn finish(mut self, last: f64) -> Vec<f64> {
        if self.cuts.last() != Some(&last) {
            self.cuts.push(last);
        }
        self.cuts
    }
}
