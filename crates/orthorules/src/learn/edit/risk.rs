//! The regularised risk of a list of terms as a function of its weights, with its derivatives.

use super::rows::{CellTotals, ListTargets, MergedCells, RowCells};
use super::solver::Risk;
use crate::data::loss::Loss;

/// A trend of a list: its place among the terms, and its value for each row.
pub(super) struct TrendValues {
    pub(super) place: usize,
    pub(super) values: Vec<f64>,
}

/// Rows of a cell, or a single row beside trends: mass and targets in each score.
struct RiskUnit {
    cell: u32,
    mass: f64,
    b: Vec<f64>,
}

/// The risk of `terms` terms. The unknowns are, score by score, the intercept and the weight of each term.
pub(super) struct ListRisk<'t> {
    loss: Loss,
    scores: usize,
    terms: usize,
    cells: MergedCells,
    units: Vec<RiskUnit>,
    trends: &'t [TrendValues],
    /// What the square of each weight costs, times two.
    pub(super) penalty: Vec<f64>,
    /// What the square of the sum of all intercepts costs, times two: with several classes nothing else tells where
    /// they are.
    gauge: f64,
}

impl<'t> ListRisk<'t> {
    /// The risk of the terms `members`, where the cells of all terms have these `sums`.
    pub(super) fn new(
        targets: &ListTargets,
        (cells, sums): (&RowCells, &CellTotals),
        members: &[usize],
        (trends, penalty): (&'t [TrendValues], Vec<f64>),
    ) -> Self {
        let merged = cells.merged(members);
        let scores = targets.b.len();
        let units = if trends.is_empty() {
            let empty = |cell: u32| RiskUnit { cell, mass: 0.0, b: vec![0.0; scores] };
            let mut units: Vec<RiskUnit> = (0..merged.rules.len() as u32).map(empty).collect();
            for (cell, &part) in merged.part_of.iter().enumerate() {
                let unit = &mut units[part as usize];
                unit.mass += sums.mass[cell];
                unit.b.iter_mut().enumerate().for_each(|(s, b)| *b += sums.b[cell * scores + s]);
            }
            units
        } else {
            let of_row = |(row, &cell): (usize, &u32)| {
                let counts = sums.counts(row);
                RiskUnit {
                    cell: merged.part_of[cell as usize],
                    mass: if counts { targets.mass[row] } else { 0.0 },
                    b: targets.b.iter().map(|b| if counts { b[row] } else { 0.0 }).collect(),
                }
            };
            cells.of_row.iter().enumerate().map(of_row).collect()
        };
        let gauge = if scores > 1 { sums.mass.iter().sum::<f64>() / scores as f64 } else { 0.0 };
        Self { loss: targets.loss, scores, terms: members.len(), cells: merged, units, trends, penalty, gauge }
    }

    /// The sum of all intercepts.
    fn shift(&self, x: &[f64]) -> f64 {
        x.iter().step_by(self.terms + 1).sum()
    }

    /// The scores of a unit.
    fn scores(&self, unit: usize, bases: &[f64], x: &[f64]) -> Vec<f64> {
        let cell = self.units[unit].cell as usize;
        let score = |s: usize| {
            let weights = &x[s * (self.terms + 1)..];
            let grown: f64 = self.trends.iter().map(|trend| weights[1 + trend.place] * trend.values[unit]).sum();
            bases[cell * self.scores + s] + grown
        };
        (0..self.scores).map(score).collect()
    }

    /// The scores of each cell without trends.
    fn bases(&self, x: &[f64]) -> Vec<f64> {
        let of_cell = |rules: &Vec<usize>| {
            let score = |s: usize| {
                let weights = &x[s * (self.terms + 1)..];
                weights[0] + rules.iter().map(|&place| weights[1 + place]).sum::<f64>()
            };
            (0..self.scores).map(score).collect::<Vec<_>>()
        };
        self.cells.rules.iter().flat_map(of_cell).collect()
    }

    /// The sum of losses, up to what no score changes.
    pub(super) fn loss(&self, x: &[f64]) -> f64 {
        let bases = self.bases(x);
        let of_unit = |(place, unit): (usize, &RiskUnit)| {
            let scores = self.scores(place, &bases, x);
            let linear: f64 = unit.b.iter().zip(&scores).map(|(b, f)| if *b == 0.0 { 0.0 } else { b * f }).sum();
            let curved = if self.scores == 1 { self.loss.psi(scores[0]) } else { log_sum(&scores) };
            if unit.mass == 0.0 { -linear } else { unit.mass * curved - linear }
        };
        self.units.iter().enumerate().map(of_unit).sum()
    }

    /// Slopes of a unit in each score, and its curvatures between scores.
    fn slopes(&self, unit: &RiskUnit, scores: &[f64]) -> (Vec<f64>, Vec<f64>) {
        if let [f] = scores {
            return (vec![unit.mass * self.loss.slope(*f) - unit.b[0]], vec![unit.mass * self.loss.curvature(*f)]);
        }
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let each: Vec<f64> = scores.iter().map(|f| (f - highest).exp()).collect();
        let total: f64 = each.iter().sum();
        let p: Vec<f64> = each.iter().map(|e| e / total).collect();
        let slopes = p.iter().zip(&unit.b).map(|(p, b)| unit.mass * p - b).collect();
        let curvature = |(s, t): (usize, usize)| {
            let own = if s == t { p[s] } else { 0.0 };
            unit.mass * (own - p[s] * p[t])
        };
        let pairs = (0..p.len()).flat_map(|s| (0..p.len()).map(move |t| (s, t)));
        (slopes, pairs.map(curvature).collect())
    }
}

/// log Σ exp, without overflow.
fn log_sum(scores: &[f64]) -> f64 {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    highest + scores.iter().map(|f| (f - highest).exp()).sum::<f64>().ln()
}

impl Risk for ListRisk<'_> {
    fn size(&self) -> usize {
        self.scores * (self.terms + 1)
    }

    fn value(&self, x: &[f64]) -> f64 {
        let penalty: f64 = x.iter().zip(&self.penalty).map(|(x, p)| 0.5 * p * x * x).sum();
        self.loss(x) + penalty + 0.5 * self.gauge * self.shift(x) * self.shift(x)
    }

    fn derivatives(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (size, width, scores) = (self.size(), self.terms + 1, self.scores);
        let (bases, trends) = (self.bases(x), self.trends.len());
        let (mut gradient, mut hessian) = (vec![0.0; size], vec![0.0; size * size]);
        // Of each cell: slopes, curvatures, and curvatures times each trend.
        let cells = self.cells.rules.len();
        let mut slopes = vec![0.0; cells * scores];
        let mut curvatures = vec![0.0; cells * scores * scores];
        let mut with_trends = vec![0.0; cells * trends];
        for (place, unit) in self.units.iter().enumerate() {
            let (own, curved) = self.slopes(unit, &self.scores(place, &bases, x));
            let cell = unit.cell as usize;
            slopes[cell * scores..].iter_mut().zip(&own).for_each(|(sum, g)| *sum += g);
            curvatures[cell * scores * scores..].iter_mut().zip(&curved).for_each(|(sum, h)| *sum += h);
            for (k, trend) in self.trends.iter().enumerate() {
                let value = trend.values[place];
                gradient[1 + trend.place] += own[0] * value;
                with_trends[cell * trends + k] += curved[0] * value;
                for other in &self.trends[..=k] {
                    let (i, j) = (1 + trend.place, 1 + other.place);
                    hessian[i.max(j) * size + i.min(j)] += curved[0] * value * other.values[place];
                }
            }
        }
        for (cell, rules) in self.cells.rules.iter().enumerate() {
            let places: Vec<usize> = std::iter::once(0).chain(rules.iter().map(|place| 1 + place)).collect();
            for s in 0..scores {
                places.iter().for_each(|i| gradient[s * width + i] += slopes[cell * scores + s]);
                for t in 0..=s {
                    let h = curvatures[(cell * scores + s) * scores + t];
                    for &i in &places {
                        for &j in &places {
                            let (i, j) = (s * width + i, t * width + j);
                            if j <= i {
                                hessian[i * size + j] += h;
                            }
                        }
                    }
                }
            }
            for (k, trend) in self.trends.iter().enumerate() {
                let j = 1 + trend.place;
                for &i in &places {
                    hessian[i.max(j) * size + i.min(j)] += with_trends[cell * trends + k];
                }
            }
        }
        let pull = self.gauge * self.shift(x);
        for s in 0..scores {
            gradient[s * width] += pull;
            (0..=s).for_each(|t| hessian[s * width * size + t * width] += self.gauge);
        }
        for i in 0..size {
            gradient[i] += self.penalty[i] * x[i];
            hessian[i * size + i] += self.penalty[i];
            (0..i).for_each(|j| hessian[j * size + i] = hessian[i * size + j]);
        }
        (gradient, hessian)
    }
}
