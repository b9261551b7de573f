//! From curves to the numbers that the paper claims.

use super::curve::{Curve, CurveSize, Part};
use super::extras::{COMPARED, Extras};
use super::method::Method;
use super::published::Published;
use super::stats::{self, Test};
use super::units::Unit;
use super::{LEVELS, Results};

/// Everything that was computed.
pub(crate) struct Evaluation<'a> {
    pub(crate) sets: &'a [Results],
    pub(crate) methods: &'a [Method],
    pub(crate) extras: &'a [Extras],
    pub(crate) as_published: bool,
}

/// Levels at which ensembles are compared one by one.
pub(crate) const COMPARED_LEVELS: [usize; 5] = [10, 20, 30, 40, 50];

/// A claim that one method is better than another.
pub(crate) struct Claim {
    pub(crate) better: Method,
    pub(crate) worse: Method,
    pub(crate) part: Part,
    pub(crate) test: Test,
    /// The level that p must stay below.
    pub(crate) alpha: f64,
}

/// The margin of the paper's tests.
pub(crate) const MARGIN: f64 = 0.001;
/// The systems that COB is compared with.
pub(crate) const RIVALS: [Method; 4] = [Method::Sgs, Method::Sgb, Method::Sxb, Method::Sirus];
/// The paper's level for eight tests.
const EIGHT: f64 = 0.05 / 8.0;

impl Claim {
    pub(crate) fn verdict(&self) -> &'static str {
        if self.test.p < self.alpha { "holds" } else { "does not hold" }
    }
}

/// An ensemble that is shown with its rules.
pub(crate) struct Marked<'a> {
    pub(crate) method: Method,
    /// Normalised test risk.
    pub(crate) risk: f64,
    pub(crate) size: &'a CurveSize,
}

/// How often a change helps.
pub(crate) struct Improved {
    pub(crate) from: Method,
    pub(crate) to: Method,
    pub(crate) part: Part,
    /// Percentage of the paper.
    pub(crate) paper: f64,
    /// The margin of the paper's test.
    pub(crate) margin: f64,
    /// Part of the pairs in which `to` is strictly better, and in which both are equal.
    pub(crate) better: f64,
    pub(crate) equal: f64,
    pub(crate) test: Test,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn curves(&self, set: &'a Results, method: Method) -> &'a [Curve] {
        self.methods.iter().position(|&m| m == method).map_or(&[], |i| &set.curves[i])
    }

    /// The mean over splits of the averaged risk.
    pub(crate) fn risk(&self, set: &'a Results, method: Method, part: Part) -> Option<f64> {
        let curves = self.curves(set, method);
        let sum: f64 = curves.iter().map(|c| c.average(part, self.as_published)).sum();
        (!curves.is_empty()).then(|| sum / curves.len() as f64)
    }

    /// Mean seconds of a fit.
    pub(crate) fn seconds(&self, set: &'a Results, method: Method) -> Option<f64> {
        let curves = self.curves(set, method);
        (!curves.is_empty()).then(|| curves.iter().map(|c| c.seconds).sum::<f64>() / curves.len() as f64)
    }

    /// The mean over splits of the risk at one level.
    pub(crate) fn at(&self, set: &'a Results, method: Method, part: Part, level: usize) -> Option<f64> {
        let curves = self.curves(set, method);
        let sum: f64 = curves.iter().map(|c| c.at(part, level)).sum();
        (!curves.is_empty()).then(|| sum / curves.len() as f64)
    }

    /// The mean log risk over data sets, of the averaged risk.
    pub(crate) fn mean_log(&self, method: Method, part: Part) -> f64 {
        let logs: Vec<f64> = self.sets.iter().filter_map(|s| self.risk(s, method, part)).map(f64::ln).collect();
        logs.iter().sum::<f64>() / logs.len() as f64
    }

    /// The mean log risk at a level.
    pub(crate) fn log_at(&self, method: Method, part: Part, level: usize) -> f64 {
        let logs: Vec<f64> = self.sets.iter().filter_map(|s| self.at(s, method, part, level)).map(f64::ln).collect();
        logs.iter().sum::<f64>() / logs.len() as f64
    }

    /// COB against its rivals as in the paper, and our defaults against COB.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        let mut pairs = Vec::new();
        for cob in [Method::CobExact, Method::CobGreedy] {
            pairs.extend(Part::BOTH.into_iter().flat_map(|part| RIVALS.map(|rival| (cob, rival, part, EIGHT))));
        }
        pairs.extend(Part::BOTH.map(|part| (Method::Ours, Method::CobExact, part, 0.05 / 2.0)));
        let present = |m: Method| self.methods.contains(&m);
        let known = pairs.into_iter().filter(|&(better, worse, ..)| present(better) && present(worse));
        known
            .map(|(better, worse, part, alpha)| {
                let test = self.unit_test(worse, better, part, Unit::Set, MARGIN).0;
                Claim { better, worse, part, test, alpha }
            })
            .collect()
    }

    /// The same tests on the published table.
    pub(crate) fn published_claims(&self, published: &Published) -> Vec<Claim> {
        let mut claims = Vec::new();
        for part in Part::BOTH {
            for worse in RIVALS {
                let of = |s: &Results, m| published.get(&s.entry.name, m, part.name());
                let pairs = self.sets.iter().filter_map(|s| of(s, worse).zip(of(s, Method::CobExact)));
                let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
                let test = stats::paired(&a, &b, MARGIN);
                claims.push(Claim { better: Method::CobExact, worse, part, test, alpha: EIGHT });
            }
        }
        claims
    }

    /// On how many data sets ours and the published risk differ by at most .01, and how many have both.
    pub(crate) fn close(&self, published: &Published, method: Method, part: Part) -> (usize, usize) {
        let of = |s| self.risk(s, method, part).zip(published.get(&s.entry.name, method, part.name()));
        let pairs: Vec<(f64, f64)> = self.sets.iter().filter_map(of).collect();
        // The table has three digits.
        (pairs.iter().filter(|(a, b)| (a - b).abs() <= 0.01 + 0.0005).count(), pairs.len())
    }

    /// The steps from stagewise gradient boosting to COB, over data sets and levels.
    pub(crate) fn ablation(&self) -> Vec<Improved> {
        let steps = [
            (Method::Sgb, Method::Cgb, 57.7, 0.0),
            (Method::Cgb, Method::CobGreedy, 78.9, 0.001),
            (Method::CobGreedy, Method::CobExact, 63.4, 0.001),
        ];
        let mut improved = Vec::new();
        for (from, to, paper, margin) in steps {
            for part in Part::BOTH {
                let (test, better) = self.unit_test(from, to, part, Unit::FewLevels, margin);
                let (a, b) = self.unit_pairs(from, to, part, Unit::FewLevels);
                let same = a.iter().zip(&b).filter(|(a, b)| (**a - **b).abs() <= **a * 1e-9).count();
                let equal = same as f64 / a.len().max(1) as f64;
                improved.push(Improved { from, to, part, paper, margin, better, equal, test });
            }
        }
        improved
    }

    /// Data set, level, and the risks of both methods there.
    pub(crate) fn points(&self, from: Method, to: Method, part: Part) -> Vec<(&'a str, usize, f64, f64)> {
        let mut points = Vec::new();
        for set in self.sets {
            for level in COMPARED_LEVELS {
                if let (Some(a), Some(b)) = (self.at(set, from, part, level), self.at(set, to, part, level)) {
                    points.push((set.entry.name.as_str(), level, a, b));
                }
            }
        }
        points
    }

    /// For each compared objective: percentages in which the orthogonal one covers more, and equally many, the pairs,
    /// and the paper's percentage.
    pub(crate) fn coverage(&self) -> Vec<(&'static str, f64, f64, usize, f64)> {
        let of = |(i, &(name, _, paper)): (usize, &(&'static str, _, f64))| {
            let all: Vec<_> = self.extras.iter().flat_map(|e| &e.coverage[i]).collect();
            let part = |count: usize| 100.0 * count as f64 / all.len().max(1) as f64;
            let more = all.iter().filter(|c| c.orthogonal > c.own).count();
            let same = all.iter().filter(|c| c.orthogonal == c.own).count();
            (name, part(more), part(same), all.len(), paper)
        };
        COMPARED.iter().enumerate().map(of).collect()
    }

    /// On how many data sets a method is strictly better than all of `rivals`.
    pub(crate) fn wins(&self, method: Method, rivals: &[Method], part: Part) -> usize {
        let wins = |s: &&'a Results| {
            let own = self.risk(s, method, part);
            own.is_some_and(|own| rivals.iter().all(|&r| self.risk(s, r, part).is_none_or(|risk| own < risk)))
        };
        self.sets.iter().filter(wins).count()
    }

    /// On the first split: COB's ensemble of complexity about 20, and the smallest of a rival with at most its test
    /// risk.
    pub(crate) fn marked(&self, set: &'a Results) -> Vec<Marked<'a>> {
        let of = |m: Method| self.curves(set, m).first();
        let Some(curve) = of(Method::CobExact) else { return Vec::new() };
        let Some(size) = curve.sizes.iter().rfind(|s| s.complexity <= 20) else { return Vec::new() };
        let risk = curve.test_risk(size);
        let as_good = |method: Method| {
            let curve = of(method)?;
            let size = curve.sizes.iter().find(|s| curve.test_risk(s) <= risk)?;
            (size.complexity <= LEVELS).then(|| Marked { method, risk: curve.test_risk(size), size })
        };
        let rival = RIVALS.into_iter().filter_map(as_good).min_by_key(|m| m.size.complexity);
        std::iter::once(Marked { method: Method::CobExact, risk, size }).chain(rival).collect()
    }

    /// All levels.
    pub(crate) fn levels() -> std::ops::RangeInclusive<usize> {
        1..=LEVELS
    }
}
