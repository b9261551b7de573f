//! One-sided paired t-tests, by hand.

/// The outcome of a test whether one method is worse than another by more than a margin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Test {
    /// Mean of worse − better.
    pub(crate) difference: f64,
    pub(crate) t: f64,
    /// Probability of such a t, or a larger one, when the difference is the margin.
    pub(crate) p: f64,
    pub(crate) pairs: usize,
}

/// Tests whether `worse` exceeds `better` by more than `margin` in the mean.
pub(crate) fn paired(worse: &[f64], better: &[f64], margin: f64) -> Test {
    let differences: Vec<f64> = worse.iter().zip(better).map(|(a, b)| a - b).collect();
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = (mean - margin) / (variance / n).sqrt();
    Test { difference: mean, t, p: upper_tail(t, n - 1.0), pairs: differences.len() }
}

/// P(T > t) of Student's distribution.
fn upper_tail(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom < 1.0 {
        return f64::NAN;
    }
    let tail = 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    if t >= 0.0 { tail } else { 1.0 - tail }
}

/// The regularised incomplete beta function, by its continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let tiny = 1e-300;
    let guard = |v: f64| if v.abs() < tiny { tiny } else { v };
    let (mut c, mut d) = (1.0, 1.0 / guard(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..300 {
        let m = f64::from(m);
        for numerator in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / guard(1.0 + numerator * d);
            c = guard(1.0 + numerator / c);
            fraction *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// Lanczos' approximation.
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.001_208_650_973_866_179,
        -0.000_005_395_239_384_953,
    ];
    let base = x + 5.5 - (x + 0.5) * (x + 5.5).ln();
    let series = TERMS.iter().enumerate().fold(1.000_000_000_190_015, |s, (i, c)| s + c / (x + 1.0 + i as f64));
    -base + (2.506_628_274_631_000_5 * series / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_tables() {
        // Upper 5 %, 2.5 % and 0.5 % points.
        for (freedom, t, p) in [(10.0, 1.812_461, 0.05), (33.0, 2.034_515, 0.025), (1.0, 63.656_741, 0.005)] {
            assert!((upper_tail(t, freedom) - p).abs() < 1e-6, "{freedom}");
            assert!((upper_tail(-t, freedom) - (1.0 - p)).abs() < 1e-6);
        }
        assert!((upper_tail(0.0, 5.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn pairs_are_compared() {
        let test = paired(&[1.0, 2.0, 4.0], &[0.5, 1.0, 3.0], 0.0);
        assert!((test.difference - 5.0 / 6.0).abs() < 1e-12 && (test.t - 5.0).abs() < 1e-9);
        assert!((test.p - 0.018_874_775).abs() < 1e-6, "{}", test.p);
    }
}
