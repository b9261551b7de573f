//! What a run leaves: the risks of every ensemble, and the step function that they make.

use super::LEVELS;
use serde::{Deserialize, Serialize};

/// One ensemble on the way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CurveSize {
    pub(crate) rules: usize,
    pub(crate) complexity: usize,
    pub(crate) train: f64,
    pub(crate) test: f64,
    /// λ that was chosen for it.
    pub(crate) lambda: Option<f64>,
    /// Its rules with their weights; kept for the first split only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) text: Vec<String>,
}

/// A method on a split of a data set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Curve {
    /// What the run depended on: a stored curve with another setting is computed again.
    pub(crate) setting: String,
    /// What risks are divided by, on training and test rows.
    pub(crate) normaliser: [f64; 2],
    /// Risk of the best constant.
    pub(crate) constant: [f64; 2],
    /// In the order of the number of rules; complexities need not ascend, since each has its own λ.
    pub(crate) sizes: Vec<CurveSize>,
    /// Mean seconds of one fit up to complexity 50.
    pub(crate) seconds: f64,
    /// Seconds of everything, cross-validation included.
    pub(crate) total_seconds: f64,
    /// By how many levels the published code lets ensembles enter early: one for counts.
    #[serde(default)]
    pub(crate) early: usize,
    /// Rules whose branch and bound stopped at the limit of nodes, and all rules searched that way.
    pub(crate) stopped: usize,
    pub(crate) searched: usize,
}

/// Training or test rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Train,
    Test,
}

impl Part {
    pub(crate) const BOTH: [Self; 2] = [Self::Train, Self::Test];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

impl CurveSize {
    fn risk(&self, part: Part) -> f64 {
        match part {
            Part::Train => self.train,
            Part::Test => self.test,
        }
    }
}

impl Curve {
    /// Normalised risk of the last ensemble that is not more complex than `level`, or of the best constant.
    pub(crate) fn at(&self, part: Part, level: usize) -> f64 {
        let last = self.sizes.iter().rfind(|s| s.complexity <= level);
        last.map_or(self.constant[part as usize], |s| s.risk(part)) / self.normaliser[part as usize]
    }

    /// Normalised risk of one of its ensembles on test rows: comparable between curves, whatever their loss and scale.
    pub(crate) fn test_risk(&self, size: &CurveSize) -> f64 {
        size.test / self.normaliser[1]
    }

    /// The normalised risk averaged over complexities 1 to 50. As published, over the normaliser itself and 51 levels.
    pub(crate) fn average(&self, part: Part, as_published: bool) -> f64 {
        self.late_average(part, as_published, 0)
    }

    /// The same with every ensemble counted `late` levels more complex.
    pub(crate) fn late_average(&self, part: Part, as_published: bool, late: usize) -> f64 {
        let at = |level: usize| self.at(part, (level + self.early).saturating_sub(late));
        if as_published {
            (1.0 + (1..=LEVELS + 1).map(at).sum::<f64>()) / (LEVELS + 2) as f64
        } else {
            (1..=LEVELS).map(at).sum::<f64>() / LEVELS as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(early: usize) -> Curve {
        let size =
            |complexity, train| CurveSize { rules: 1, complexity, train, test: 1.0, lambda: None, text: Vec::new() };
        Curve {
            normaliser: [2.0; 2],
            constant: [2.0; 2],
            sizes: vec![size(2, 1.0), size(11, 0.5)],
            early,
            ..Curve::default()
        }
    }

    #[test]
    fn risks_are_averaged_over_levels() {
        // One level of the constant, nine of the first ensemble, forty of the second.
        assert!((curve(0).average(Part::Train, false) - (1.0 + 9.0 * 0.5 + 40.0 * 0.25) / 50.0).abs() < 1e-12);
        assert!((curve(0).late_average(Part::Train, false, 1) - (2.0 + 9.0 * 0.5 + 39.0 * 0.25) / 50.0).abs() < 1e-12);
        // As published, the normaliser and 51 levels; counts enter one level early.
        assert!((curve(0).average(Part::Train, true) - (2.0 + 9.0 * 0.5 + 41.0 * 0.25) / 52.0).abs() < 1e-12);
        assert!((curve(1).average(Part::Train, true) - (1.0 + 9.0 * 0.5 + 42.0 * 0.25) / 52.0).abs() < 1e-12);
    }
}
