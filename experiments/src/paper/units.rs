//! The same comparisons with other units: whether a claim depends on what counts as one case.

use super::analysis::{COMPARED_LEVELS, Evaluation};
use super::curve::Part;
use super::method::Method;
use super::stats::{self, Test};

/// What one pair of numbers is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A data set: the risk averaged over complexities and splits.
    Set,
    /// The same, a difference beyond ±1 counted as ±1: one of the published notebooks does this.
    Clipped,
    /// The same, its logarithm.
    Log,
    /// The same, with the rival's ensembles counted one level more complex: the published curves of the stagewise
    /// systems have an offset rule that costs 1 and that COB does not have.
    Late,
    /// A split of a data set.
    Split,
    /// A complexity of a data set, 10 to 50 in tens.
    FewLevels,
    /// A complexity of a data set, 1 to 50.
    EveryLevel,
}

impl Unit {
    pub(crate) const ALL: [Self; 7] =
        [Self::Set, Self::Clipped, Self::Log, Self::Late, Self::Split, Self::FewLevels, Self::EveryLevel];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Set => "data set",
            Self::Clipped => "data set, differences within ±1",
            Self::Log => "data set, log risk",
            Self::Late => "data set, differences within ±1, the first one level late",
            Self::Split => "data set and split",
            Self::FewLevels => "data set and complexity 10, 20, … 50",
            Self::EveryLevel => "data set and complexity 1 … 50",
        }
    }
}

/// A pair whose difference stays within ±1.
fn clipped((a, b): (f64, f64)) -> (f64, f64) {
    (b + (a - b).clamp(-1.0, 1.0), b)
}

impl Evaluation<'_> {
    /// Risks of two methods for every unit that both have.
    pub(crate) fn unit_pairs(&self, worse: Method, better: Method, part: Part, unit: Unit) -> (Vec<f64>, Vec<f64>) {
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for set in self.sets {
            let at_levels = |levels: &mut dyn Iterator<Item = usize>| -> Vec<(f64, f64)> {
                levels.filter_map(|l| self.at(set, worse, part, l).zip(self.at(set, better, part, l))).collect()
            };
            let risk = self.risk(set, worse, part).zip(self.risk(set, better, part));
            match unit {
                Unit::Set => pairs.extend(risk),
                Unit::Clipped => pairs.extend(risk.map(clipped)),
                Unit::Late => {
                    let curves = self.curves(set, worse);
                    let late: f64 = curves.iter().map(|c| c.late_average(part, self.as_published, 1)).sum();
                    pairs.extend(risk.map(|(_, b)| clipped((late / curves.len() as f64, b))));
                }
                Unit::Log => pairs.extend(risk.map(|(a, b)| (a.ln(), b.ln()))),
                Unit::Split => {
                    let of = |m| self.curves(set, m).iter().map(|c| c.average(part, self.as_published));
                    pairs.extend(of(worse).zip(of(better)));
                }
                Unit::FewLevels => pairs.extend(at_levels(&mut COMPARED_LEVELS.into_iter())),
                Unit::EveryLevel => pairs.extend(at_levels(&mut Self::levels())),
            }
        }
        pairs.into_iter().unzip()
    }

    /// The one-sided test with a margin, and the share of pairs in which `better` is strictly better.
    pub(crate) fn unit_test(&self, worse: Method, better: Method, part: Part, unit: Unit, margin: f64) -> (Test, f64) {
        let (a, b) = self.unit_pairs(worse, better, part, unit);
        let wins = a.iter().zip(&b).filter(|(a, b)| **b < **a - 1e-9 * a.abs()).count();
        (stats::paired(&a, &b, margin), wins as f64 / a.len().max(1) as f64)
    }
}
