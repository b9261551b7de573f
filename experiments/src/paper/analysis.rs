//! From curves to the numbers that the paper claims.

use super::curve::{Curve, Part};
use super::extras::{COMPARED, Extras};
use super::method::Method;
use super::report::Published;
use super::stats::{self, Test};
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
    pub(crate) what: String,
    pub(crate) test: Test,
    /// The level that p must stay below.
    pub(crate) alpha: f64,
}

/// How often a change helps.
pub(crate) struct Improved {
    pub(crate) from: Method,
    pub(crate) to: Method,
    pub(crate) part: Part,
    /// Percentage of the paper.
    pub(crate) paper: f64,
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

    /// Risks of two methods on the data sets that both apply to; a risk above that of the constant counts as it if `capped`.
    fn pairs(&self, worse: Method, better: Method, part: Part, capped: bool) -> (Vec<f64>, Vec<f64>) {
        let cap = |x: f64| if capped { x.min(1.0) } else { x };
        let pair = |s| Some((cap(self.risk(s, worse, part)?), cap(self.risk(s, better, part)?)));
        self.sets.iter().filter_map(pair).unzip()
    }

    /// COB against its rivals as in the paper, and our defaults against COB.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        let mut claims = Vec::new();
        let mut claim = |better: Method, worse: Method, part: Part, alpha: f64, capped: bool| {
            if self.methods.contains(&better) && self.methods.contains(&worse) {
                let (a, b) = self.pairs(worse, better, part, capped);
                let note = if capped { ", risks above 1 as 1" } else { "" };
                let what = format!("{} better than {} on {} rows{note}", better.name(), worse.name(), part.name());
                claims.push(Claim { what, test: stats::paired(&a, &b, 0.001), alpha });
            }
        };
        let rivals = [Method::Sgs, Method::Sgb, Method::Sxb, Method::Sirus];
        for cob in [Method::CobExact, Method::CobGreedy] {
            for part in Part::BOTH {
                for rival in rivals {
                    claim(cob, rival, part, 0.05 / 8.0, false);
                }
                claim(cob, Method::Sxb, part, 0.05 / 8.0, true);
            }
        }
        for part in Part::BOTH {
            claim(Method::Ours, Method::CobExact, part, 0.05 / 2.0, false);
        }
        claims
    }

    /// The same tests on the published table.
    pub(crate) fn published_claims(&self, published: &Published) -> Vec<Claim> {
        let mut claims = Vec::new();
        for part in Part::BOTH {
            for rival in [Method::Sgs, Method::Sgb, Method::Sxb, Method::Sirus] {
                let of = |s: &Results, m| published.get(&s.entry.name, m, part.name());
                let pairs = self.sets.iter().filter_map(|s| of(s, rival).zip(of(s, Method::CobExact)));
                let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
                let what = format!("published table: COB_B better than {} on {} rows", rival.name(), part.name());
                claims.push(Claim { what, test: stats::paired(&a, &b, 0.001), alpha: 0.05 / 8.0 });
            }
        }
        claims
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
                let points = self.points(from, to, part);
                let count = points.len() as f64;
                let (a, b): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p.2, p.3)).unzip();
                let part_of =
                    |f: fn(f64, f64) -> bool| a.iter().zip(&b).filter(|(a, b)| f(**a, **b)).count() as f64 / count;
                let better = part_of(|a, b| b < a * (1.0 - 1e-9));
                let equal = part_of(|a, b| (a - b).abs() <= a * 1e-9);
                improved.push(Improved { from, to, part, paper, better, equal, test: stats::paired(&a, &b, margin) });
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

    /// For each compared objective: percentages in which the orthogonal one covers more, and equally many, and the pairs.
    pub(crate) fn coverage(&self) -> Vec<(&'static str, f64, f64, usize)> {
        let of = |(i, name): (usize, &'static str)| {
            let all: Vec<_> = self.extras.iter().flat_map(|e| &e.coverage[i]).collect();
            let part = |count: usize| 100.0 * count as f64 / all.len().max(1) as f64;
            let more = all.iter().filter(|c| c.orthogonal > c.own).count();
            let same = all.iter().filter(|c| c.orthogonal == c.own).count();
            (name, part(more), part(same), all.len())
        };
        COMPARED.iter().map(|c| c.0).enumerate().map(of).collect()
    }

    /// On how many data sets a method is strictly better than all of `rivals`.
    pub(crate) fn wins(&self, method: Method, rivals: &[Method], part: Part) -> usize {
        let wins = |s: &&'a Results| {
            let own = self.risk(s, method, part);
            own.is_some_and(|own| rivals.iter().all(|&r| self.risk(s, r, part).is_none_or(|risk| own < risk)))
        };
        self.sets.iter().filter(wins).count()
    }

    /// All levels.
    pub(crate) fn levels() -> std::ops::RangeInclusive<usize> {
        1..=LEVELS
    }
}
