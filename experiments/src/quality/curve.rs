//! Relative risk for every complexity, and what can be said of many such curves.

use orthorules::evaluate::Evaluation;

/// Complexities 1 to this are looked at.
pub(crate) const LEVELS: usize = 50;

/// Risk divided by that of the constant model, for complexities 1..=50: a step function of the sizes there are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve(pub(crate) Vec<f64>);

impl Curve {
    /// That of sizes given as complexity and risk, ascending from the constant model.
    pub(crate) fn new(sizes: &[(usize, f64)]) -> Self {
        let constant = sizes.first().map_or(f64::NAN, |s| s.1);
        let at = |level: usize| sizes.iter().rfind(|s| s.0 <= level).map_or(constant, |s| s.1);
        Self((1..=LEVELS).map(|level| at(level) / constant).collect())
    }

    /// That of an evaluated path.
    pub(crate) fn of_path(path: &[Evaluation]) -> Self {
        Self::new(&path.iter().map(|e| (e.complexity, e.risk)).collect::<Vec<_>>())
    }

    /// The mean over complexities: the measure by which the product is judged.
    pub(crate) fn average(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The mean of several curves, complexity by complexity.
    pub(crate) fn mean(curves: &[&Self]) -> Self {
        let at = |level: usize| curves.iter().map(|c| c.0[level]).sum::<f64>() / curves.len() as f64;
        Self((0..LEVELS).map(at).collect())
    }
}

/// The geometric mean.
pub(crate) fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

/// How two systems compare over data sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) wins: usize,
    pub(crate) ties: usize,
    pub(crate) losses: usize,
    /// Data sets where the first is better by half a per cent or more, and where it is worse.
    pub(crate) clear: [usize; 2],
    /// The mean log ratio and its standard error over data sets.
    pub(crate) mean: [f64; 2],
    /// Two-sided p of Wilcoxon's signed-rank test.
    pub(crate) p: f64,
}

impl Comparison {
    /// Of logarithms of ratios, negative where the first is better; less than 1 % either way is a tie.
    pub(crate) fn new(log_ratios: &[f64]) -> Self {
        let count = |wanted: fn(f64) -> bool| log_ratios.iter().filter(|&&x| wanted(x)).count();
        Self {
            wins: count(|x| x < -0.01),
            ties: count(|x| x.abs() <= 0.01),
            losses: count(|x| x > 0.01),
            clear: [count(|x| x < -0.005), count(|x| x > 0.005)],
            mean: mean(log_ratios),
            p: wilcoxon(log_ratios),
        }
    }
}

/// The mean and its standard error, which a single value does not have.
fn mean(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    [mean, (square / (n * (n - 1.0))).sqrt()]
}

/// Two-sided p of the signed-rank test: normal approximation with corrections for ties and continuity. Zeros are
/// dropped.
fn wilcoxon(differences: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|&x| x != 0.0).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = sorted.len() as f64;
    if sorted.is_empty() {
        return 1.0;
    }
    let (mut positive, mut correction, mut before) = (0.0, 0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let t = tied.len() as f64;
        positive += (before + f64::midpoint(t, 1.0)) * tied.iter().filter(|&&x| x > 0.0).count() as f64;
        correction += t * t * t - t;
        before += t;
    }
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - correction / 48.0;
    let distance = ((positive - n * (n + 1.0) / 4.0).abs() - 0.5).max(0.0);
    upper_tail(distance / variance.sqrt()) * 2.0
}

/// The normal distribution beyond `z` ≥ 0: Abramowitz and Stegun 26.2.17, good to 7.5e-8.
fn upper_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = series.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    (sum * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()).min(0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_step_functions() {
        let curve = Curve::new(&[(0, 2.0), (3, 1.0), (48, 0.5)]);
        assert_eq!((curve.0[1], curve.0[2], curve.0[46], curve.0[49]), (1.0, 0.5, 0.5, 0.25));
        assert!((curve.average() - (2.0 + 45.0 * 0.5 + 3.0 * 0.25) / 50.0).abs() < 1e-12);
    }

    #[test]
    fn the_test_is_wilcoxons() {
        // R: wilcox.test(c(-1:-10, 11, 12) * 1.0, exact = FALSE) has V = 23 and p = 0.2238.
        let differences: Vec<f64> = (1..=10).map(|i| -f64::from(i)).chain([11.0, 12.0]).collect();
        let z = (39.0 - 23.0 - 0.5) / (12.0f64 * 13.0 * 25.0 / 24.0).sqrt();
        assert!((wilcoxon(&differences) - 2.0 * upper_tail(z)).abs() < 1e-9);
        assert!((upper_tail(1.959_964) - 0.025).abs() < 1e-6 && (upper_tail(0.0) - 0.5).abs() < 1e-7);
        assert_eq!(wilcoxon(&[0.0, 0.0]), 1.0);
        let comparison = Comparison::new(&[-0.5, -0.2, 0.001, 0.3]);
        assert_eq!((comparison.wins, comparison.ties, comparison.losses), (2, 1, 1));
        assert_eq!(comparison.clear, [2, 1]);
        let [mean, se] = Comparison::new(&[0.1, 0.2, 0.6]).mean;
        // The standard deviation is √.07.
        assert!((mean - 0.3).abs() < 1e-12 && (se - (0.07f64 / 3.0).sqrt()).abs() < 1e-12);
    }
}
