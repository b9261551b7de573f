//! How the rules are combined: averaged for classes, by a ridge with weights of at least 0 for numbers.

use super::{Data, UnweightedRule};
use crate::base::random::SplitMix64;

/// Intercept and weights of one size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SizeWeights {
    pub(super) intercept: f64,
    pub(super) weights: Vec<f64>,
}

/// Total weight and weighted sum of the target over `rows`.
fn sums(data: &Data, rows: impl Iterator<Item = usize>) -> (f64, f64) {
    rows.fold((0.0, 0.0), |(w, s), r| (w + data.weight[r], s + data.weight[r] * data.y[r]))
}

/// For every size, the average of "if q then a else b", a and b the class shares inside and outside. A share of 0 or 1
/// is moved to where half a row of the other class would have been seen, so that no probability is 0.
pub(super) fn average(data: &Data, rules: &[UnweightedRule]) -> Vec<SizeWeights> {
    let share = |(weight, sum): (f64, f64)| {
        let least = 0.5 / (weight + 1.0);
        (sum / weight).clamp(least, 1.0 - least)
    };
    let whole = sums(data, 0..data.rows());
    let pairs: Vec<(f64, f64)> = rules
        .iter()
        .map(|c| {
            let inside = sums(data, c.rows.iter().map(|&r| r as usize));
            (share(inside), share((whole.0 - inside.0, whole.1 - inside.1)))
        })
        .collect();
    let size = |k: usize| {
        let each = 1.0 / k as f64;
        SizeWeights {
            intercept: pairs[..k].iter().map(|p| each * p.1).sum(),
            weights: pairs[..k].iter().map(|p| each * (p.0 - p.1)).collect(),
        }
    };
    let constant = SizeWeights { intercept: share(whole), weights: Vec::new() };
    std::iter::once(constant).chain((1..=rules.len()).map(size)).collect()
}

/// Weighted moments of the rules and the target: all that least squares needs.
#[derive(Clone)]
struct FoldMoments {
    total: f64,
    /// Σ w x and Σ w x x′ of x = (q₁, …, q_m, y).
    sum: Vec<f64>,
    product: Vec<f64>,
}

impl FoldMoments {
    fn new(size: usize) -> Self {
        Self { total: 0.0, sum: vec![0.0; size], product: vec![0.0; size * size] }
    }

    fn add(&mut self, weight: f64, active: &[usize], y: f64) {
        let size = self.sum.len();
        let last = size - 1;
        self.total += weight;
        for &i in active {
            self.sum[i] += weight;
            active.iter().for_each(|&j| self.product[i * size + j] += weight);
            self.product[i * size + last] += weight * y;
            self.product[last * size + i] += weight * y;
        }
        self.sum[last] += weight * y;
        self.product[last * size + last] += weight * y * y;
    }

    fn combine(&self, other: &Self, sign: f64) -> Self {
        let join = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x + sign * y).collect();
        Self {
            total: self.total + sign * other.total,
            sum: join(&self.sum, &other.sum),
            product: join(&self.product, &other.product),
        }
    }

    fn mean(&self, i: usize) -> f64 {
        self.sum[i] / self.total
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        self.product[i * self.sum.len() + j] / self.total - self.mean(i) * self.mean(j)
    }

    fn target(&self) -> usize {
        self.sum.len() - 1
    }
}

/// Folds of the cross-validation of the penalty.
const FOLDS: usize = 10;
/// Penalties that are tried, on standardised rules and target.
const PENALTIES: [f64; 13] = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// For every size, ridge weights of at least 0 on the rules' outputs, with the penalty of least cross-validated error.
/// The output of a rule rises with q exactly when the mean inside is the larger one, so its sign is that of the weight
/// of q.
pub(super) fn ridge(data: &Data, rules: &[UnweightedRule], seed: u64) -> Vec<SizeWeights> {
    let count = rules.len();
    let mut active = vec![Vec::new(); data.rows()];
    for (k, candidate) in rules.iter().enumerate() {
        candidate.rows.iter().for_each(|&r| active[r as usize].push(k));
    }
    let mut random = SplitMix64::new(seed);
    let folds = FOLDS.min(data.rows());
    let mut parts = vec![FoldMoments::new(count + 1); folds];
    for (row, active) in active.iter().enumerate() {
        let fold = (random.bits() % folds as u64) as usize;
        parts[fold].add(data.weight[row], active, data.y[row]);
    }
    let whole = parts.iter().fold(FoldMoments::new(count + 1), |sum, part| sum.combine(part, 1.0));
    let signs: Vec<f64> = (0..count).map(|k| whole.covariance(k, count).signum()).collect();
    let used: Vec<(FoldMoments, &FoldMoments)> =
        parts.iter().filter(|p| p.total > 0.0).map(|held_out| (whole.combine(held_out, -1.0), held_out)).collect();
    let size = |k: usize| {
        let error = |penalty: f64| -> f64 {
            let fold = |(train, held_out): &(FoldMoments, &FoldMoments)| {
                if train.total > 0.0 { squared_error(held_out, &solve(train, &signs[..k], penalty)) } else { 0.0 }
            };
            used.iter().map(fold).sum()
        };
        let errors = PENALTIES.map(error);
        let best = (0..PENALTIES.len()).fold(0, |best, i| if errors[i] < errors[best] { i } else { best });
        solve(&whole, &signs[..k], PENALTIES[best])
    };
    (0..=count).map(size).collect()
}

/// Coordinate descent on standardised columns.
fn solve(moments: &FoldMoments, signs: &[f64], penalty: f64) -> SizeWeights {
    let (size, target) = (signs.len(), moments.target());
    let deviation: Vec<f64> = (0..size).map(|k| moments.covariance(k, k).max(0.0).sqrt()).collect();
    let spread = moments.covariance(target, target).max(0.0).sqrt();
    let usable = |k: usize| deviation[k] > 1e-9 && spread > 0.0;
    let mut scaled = vec![0.0; size];
    for _ in 0..1000 {
        let mut moved: f64 = 0.0;
        for k in (0..size).filter(|&k| usable(k)) {
            let along = moments.covariance(k, target) / (deviation[k] * spread);
            let others = (0..size).filter(|&j| j != k && scaled[j] != 0.0);
            let shared: f64 =
                others.map(|j| scaled[j] * moments.covariance(k, j) / (deviation[k] * deviation[j])).sum();
            // In terms of the rule's output the weight is at least 0: in terms of q it has the sign of the output.
            let next = signs[k] * (signs[k] * (along - shared) / (1.0 + penalty)).max(0.0);
            moved = moved.max((next - scaled[k]).abs());
            scaled[k] = next;
        }
        if moved < 1e-9 {
            break;
        }
    }
    let weights: Vec<f64> =
        (0..size).map(|k| if usable(k) { scaled[k] * spread / deviation[k] } else { 0.0 }).collect();
    let intercept = moments.mean(target) - weights.iter().enumerate().map(|(k, w)| w * moments.mean(k)).sum::<f64>();
    SizeWeights { intercept, weights }
}

/// Σ w (y − f)² from moments.
fn squared_error(moments: &FoldMoments, model: &SizeWeights) -> f64 {
    let (target, size) = (moments.target(), moments.sum.len());
    let product = |i: usize, j: usize| moments.product[i * size + j];
    let b = model.intercept;
    let mut error = product(target, target) - 2.0 * b * moments.sum[target] + b * b * moments.total;
    for (i, wi) in model.weights.iter().enumerate() {
        error += 2.0 * wi * (b * moments.sum[i] - product(i, target));
        error += model.weights.iter().enumerate().map(|(j, wj)| wi * wj * product(i, j)).sum::<f64>();
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::query::Query;
    use proptest::prelude::*;

    fn candidates(rules: &[Vec<bool>]) -> Vec<UnweightedRule> {
        let rows = |rule: &Vec<bool>| (0..rule.len() as u32).filter(|&r| rule[r as usize]).collect();
        rules.iter().map(|r| UnweightedRule { query: Query::default(), frequency: 0.0, rows: rows(r) }).collect()
    }

    fn case() -> impl Strategy<Value = (Vec<f64>, Vec<Vec<bool>>)> {
        (20usize..40).prop_flat_map(|n| {
            let rule = prop::collection::vec(any::<bool>(), n);
            (prop::collection::vec(-3.0..3.0f64, n), prop::collection::vec(rule, 1..5))
        })
    }

    proptest! {
        /// At the solution no allowed move of a single weight lowers the penalised squares, and no weight has the wrong
        /// sign.
        #[test]
        fn ridge_weights_are_optimal((y, rules) in case(), penalty in 0.001..2.0f64) {
            let mut moments = FoldMoments::new(rules.len() + 1);
            for (row, &y) in y.iter().enumerate() {
                let active: Vec<usize> = (0..rules.len()).filter(|&k| rules[k][row]).collect();
                moments.add(1.0, &active, y);
            }
            let target = rules.len();
            let signs: Vec<f64> = (0..target).map(|k| moments.covariance(k, target).signum()).collect();
            let solved = solve(&moments, &signs, penalty);
            let n = y.len() as f64;
            // The penalty is on weights of standardised rules and target.
            let cost = |weights: &[f64]| {
                let mean = |k: usize| moments.mean(k);
                let center: f64 = mean(target) - weights.iter().enumerate().map(|(k, w)| w * mean(k)).sum::<f64>();
                let model = SizeWeights { intercept: center, weights: weights.to_vec() };
                let ridge: f64 = weights.iter().enumerate().map(|(k, w)| w * w * moments.covariance(k, k)).sum();
                squared_error(&moments, &model) / n + penalty * ridge
            };
            let least = cost(&solved.weights);
            for k in 0..target {
                prop_assert!(solved.weights[k] * signs[k] >= 0.0);
                for step in [-1e-3, 1e-3] {
                    let mut moved = solved.weights.clone();
                    moved[k] += step;
                    if moved[k] * signs[k] >= 0.0 {
                        prop_assert!(cost(&moved) >= least - 1e-9, "{} {}", cost(&moved), least);
                    }
                }
            }
        }

        /// The average of if-then-else rules, by its definition.
        #[test]
        fn classes_are_averaged((y, rules) in case()) {
            let y: Vec<f64> = y.iter().map(|v| f64::from(u8::from(*v > 0.0))).collect();
            prop_assume!(rules.iter().all(|r| r.contains(&true) && r.contains(&false)));
            let data = Data { columns: &[], weight: vec![1.0; y.len()], y };
            let sizes = average(&data, &candidates(&rules));
            let share = |rows: Vec<usize>| {
                let least = 0.5 / (rows.len() as f64 + 1.0);
                (rows.iter().map(|&r| data.y[r]).sum::<f64>() / rows.len() as f64).clamp(least, 1.0 - least)
            };
            for row in 0..data.rows() {
                let says = |rule: &Vec<bool>| share((0..data.rows()).filter(|&r| rule[r] == rule[row]).collect());
                let mean = rules.iter().map(says).sum::<f64>() / rules.len() as f64;
                let last = &sizes[rules.len()];
                let covering = (0..rules.len()).filter(|&k| rules[k][row]);
                let score = covering.fold(last.intercept, |s, k| s + last.weights[k]);
                prop_assert!((score - mean).abs() < 1e-9, "{score} {mean}");
            }
        }
    }
}
