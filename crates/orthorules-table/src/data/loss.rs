//! Losses of the exponential family in canonical form.
//!
//! In the score f, the loss of a row with mass a and weighted target b is `a ψ(f) − b f` plus a constant; its gradient
//! is `a μ(f) − b`, its second derivative `a μ′(f)`, with μ = ψ′. Squared loss doubles a and b, so that ψ(f) = f²/2.
//! Gamma loss is Poisson loss with the score negated: a is weight × target and b minus the weight, so that ψ(f) = e⁻ᶠ.

use crate::base::wire::wire_enum;

/// How a prediction is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// (f − y)².
    Squared,
    /// log(1 + exp(−f)) for the positive class, log(1 + exp(f)) for the other.
    Logistic,
    /// Half the Poisson deviance: y log(y/m) − y + m with the mean m = exposure · exp(f).
    Poisson,
    /// Half the gamma deviance: y/m − 1 − log(y/m) with the mean m = exposure · exp(f).
    Gamma,
}
wire_enum!(Loss { 0 => Squared, 1 => Logistic, 2 => Poisson, 3 => Gamma });

/// What the score of a model is of its mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Link {
    /// The loss's own: the mean, the log-odds or the log of the mean.
    #[default]
    Canonical,
    /// The score of a class is its probability, cut off at 0 and 1.
    Identity,
    /// The scores of all classes are the logarithms of their probabilities, up to what they share. Model files say
    /// `multiclass` instead.
    #[serde(skip)]
    Softmax,
}

/// A λ that goes with a loss.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DefaultLambda {
    /// This number.
    Fixed(f64),
    /// What the curvature of a row is on average, as it is 1 for squared loss.
    MeanTarget,
}

impl Link {
    /// Whether a model file need not mention it.
    #[doc(hidden)]
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub fn is_left_out(&self) -> bool {
        *self != Self::Identity
    }

    /// Turns the scores of several classes into their probabilities.
    #[doc(hidden)]
    pub fn probabilities_of_all(self, row: &mut [f64]) {
        if self != Self::Softmax {
            row.iter_mut().for_each(|score| *score = self.probabilities(*score)[1]);
            return scale(row);
        }
        let highest = row.iter().fold(f64::NEG_INFINITY, |most, &score| if score > most { score } else { most });
        row.iter_mut().for_each(|score| *score = (*score - highest).exp());
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    }

    /// Probabilities of the other class and of the class with this score.
    #[doc(hidden)]
    pub fn probabilities(self, score: f64) -> [f64; 2] {
        match self {
            Self::Canonical | Self::Softmax => [Loss::Logistic.mean(-score), Loss::Logistic.mean(score)],
            Self::Identity => [1.0 - score.clamp(0.0, 1.0), score.clamp(0.0, 1.0)],
        }
    }
}

/// Divides probabilities by their sum; where that is 0, all are alike.
#[doc(hidden)]
pub fn scale(row: &mut [f64]) {
    let total: f64 = row.iter().sum();
    let (scale, uniform) = if total > 0.0 { (1.0 / total, 0.0) } else { (0.0, 1.0 / row.len() as f64) };
    row.iter_mut().for_each(|p| *p = *p * scale + uniform);
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Squared => "squared",
            Self::Logistic => "logistic",
            Self::Poisson => "poisson",
            Self::Gamma => "gamma",
        })
    }
}

/// log(1 + exp(f)) without overflow.
#[inline]
fn softplus(f: f64) -> f64 {
    f.max(0.0) + (-f.abs()).exp().ln_1p()
}

impl Loss {
    /// ψ(f), the cumulant.
    #[inline]
    pub fn psi(self, f: f64) -> f64 {
        match self {
            Self::Squared => 0.5 * f * f,
            Self::Logistic => softplus(f),
            Self::Poisson => f.exp(),
            Self::Gamma => (-f).exp(),
        }
    }

    /// The mean of the target at the score f (per unit of exposure).
    #[inline]
    pub fn mean(self, f: f64) -> f64 {
        match self {
            Self::Squared => f,
            Self::Logistic => 1.0 / (1.0 + (-f).exp()),
            Self::Poisson | Self::Gamma => f.exp(),
        }
    }

    /// μ(f) = ψ′(f): the mean, but for gamma minus its inverse.
    #[inline]
    pub fn slope(self, f: f64) -> f64 {
        match self {
            Self::Squared | Self::Logistic | Self::Poisson => self.mean(f),
            Self::Gamma => -(-f).exp(),
        }
    }

    /// μ′(f), the second derivative of ψ.
    #[inline]
    pub fn curvature(self, f: f64) -> f64 {
        match self {
            Self::Squared => 1.0,
            Self::Logistic => {
                let e = (-f.abs()).exp();
                e / ((1.0 + e) * (1.0 + e))
            }
            Self::Poisson => f.exp(),
            Self::Gamma => (-f).exp(),
        }
    }

    /// Whether μ′ is the same for all scores: one Newton step leads to the minimum, and sums by rule tell what sums by
    /// cell do.
    #[inline]
    pub fn is_quadratic(self) -> bool {
        self == Self::Squared
    }

    /// μ′ where μ is `slope`.
    #[doc(hidden)]
    #[inline]
    pub fn curvature_at(self, slope: f64) -> f64 {
        match self {
            Self::Squared => 1.0,
            Self::Logistic => slope * (1.0 - slope),
            Self::Poisson => slope,
            Self::Gamma => -slope,
        }
    }

    /// Whether rows of this mass and weighted target are of one class alone, or have no count at all: their best score
    /// is infinite.
    #[doc(hidden)]
    #[inline]
    pub fn is_pure(self, a: f64, b: f64) -> bool {
        match self {
            Self::Squared | Self::Gamma => false,
            Self::Logistic => b <= 0.0 || b >= a,
            Self::Poisson => b <= 0.0,
        }
    }

    /// λ, where none is given.
    #[doc(hidden)]
    pub fn default_lambda(self) -> DefaultLambda {
        match self {
            Self::Squared => DefaultLambda::Fixed(8.0),
            Self::Logistic => DefaultLambda::Fixed(1.0),
            Self::Poisson => DefaultLambda::MeanTarget,
            Self::Gamma => DefaultLambda::Fixed(4.0),
        }
    }

    /// Whether trees can be grown for it, by the impurity of their leaves.
    #[doc(hidden)]
    pub fn has_trees(self) -> bool {
        matches!(self, Self::Squared | Self::Logistic)
    }

    /// The factor of a and b: 2 for squared loss, else 1.
    #[inline]
    pub fn factor(self) -> f64 {
        if self == Self::Squared { 2.0 } else { 1.0 }
    }

    /// Loss of one row of weight 1: score `f`, target `y` (1 for the positive class, else 0), exposure `e`.
    #[inline]
    pub fn of_row(self, f: f64, y: f64, e: f64) -> f64 {
        match self {
            Self::Squared => (f - y) * (f - y),
            Self::Logistic => softplus(f) - y * f,
            Self::Poisson => Self::poisson_of(f, f.exp(), (y, self.saturated(y, e)), e),
            Self::Gamma => {
                // With r = log(y/m) this is eʳ − 1 − r.
                let off = (y / e).ln() - f;
                (off.exp_m1() - off).max(0.0)
            }
        }
    }

    /// The Poisson loss of one row whose score `f` has the mean `mean` per unit of exposure. Besides its target it
    /// takes what depends on that alone.
    #[doc(hidden)]
    #[inline]
    pub fn poisson_of(f: f64, mean: f64, (y, saturated): (f64, f64), e: f64) -> f64 {
        // Nothing is left of it where y is 0, without a branch that no processor could foresee.
        let log_term = saturated - y * f.clamp(-f64::MAX, f64::MAX);
        log_term + e * mean
    }

    /// Whether targets alone add to the loss.
    #[doc(hidden)]
    #[inline]
    pub fn is_saturated(self) -> bool {
        matches!(self, Self::Poisson | Self::Gamma)
    }

    /// The part of a row's loss that depends on its target alone: the negative of what a perfect score would leave of
    /// a ψ(f) − b f.
    #[doc(hidden)]
    #[inline]
    pub fn saturated(self, y: f64, e: f64) -> f64 {
        match self {
            Self::Gamma => -(y / e).ln() - 1.0,
            Self::Poisson if y > 0.0 => y * (y / e).ln() - y,
            Self::Squared | Self::Logistic | Self::Poisson => 0.0,
        }
    }

    /// The score of the best constant for total mass `a` and total weighted target `b`, kept finite:
    /// pure classes and zero counts get the score at which half a row of the other kind would have been seen.
    pub fn best_constant(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Squared => b / a,
            Self::Logistic => {
                let least = 0.5 / (a + 1.0);
                let p =
                    if 0.0 < b && b < a { (b / a).max(f64::MIN_POSITIVE) } else { (b / a).clamp(least, 1.0 - least) };
                // Beside very large masses half a row does not count: what is left of 1 is taken from it directly.
                let rest = if p < 1.0 { 1.0 - p } else { ((a - b) / a).max(least) };
                (p / rest).ln()
            }
            Self::Poisson => {
                let events = if b > 0.0 { b } else { 0.5 };
                (events / a).clamp(f64::MIN_POSITIVE, f64::MAX).ln()
            }
            Self::Gamma => (a / -b).clamp(f64::MIN_POSITIVE, f64::MAX).ln(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Loss; 4] = [Loss::Squared, Loss::Logistic, Loss::Poisson, Loss::Gamma];

    proptest! {
        #[test]
        fn derivatives_agree(f in -8.0..8.0f64) {
            let step = 1e-5;
            for loss in ALL {
                let slope = (loss.psi(f + step) - loss.psi(f - step)) / (2.0 * step);
                prop_assert!((slope - loss.slope(f)).abs() < 1e-6 * (1.0 + slope.abs()));
                let bend = (loss.slope(f + step) - loss.slope(f - step)) / (2.0 * step);
                prop_assert!((bend - loss.curvature(f)).abs() < 1e-6 * (1.0 + bend.abs()));
                prop_assert!((loss.curvature_at(loss.slope(f)) - bend).abs() < 1e-6 * (1.0 + bend.abs()));
            }
        }

        #[test]
        fn row_loss_is_canonical(f in -5.0..5.0f64, y in 0u8..2, e in 0.1..3.0f64) {
            let y = f64::from(y);
            for loss in ALL {
                let e = if loss == Loss::Poisson || loss == Loss::Gamma { e } else { 1.0 };
                let y = if loss == Loss::Gamma { 0.3 + y } else { y };
                let (a, b) = if loss == Loss::Gamma { (y / e, -1.0) } else { (e, y) };
                let canonical = |f: f64| loss.factor() * (a * loss.psi(f) - b * f);
                let difference = loss.of_row(f, y, e) - loss.of_row(0.0, y, e);
                let expected = canonical(f) - canonical(0.0);
                prop_assert!((difference - expected).abs() < 1e-9 * (1.0 + expected.abs()));
                // The mean is the score at which the loss is least.
                let exposure = if loss == Loss::Gamma || loss == Loss::Poisson { e } else { 1.0 };
                let (at, near) = (loss.mean(f) * exposure, 1e-3);
                prop_assert!(loss.of_row(f, at, e) <= loss.of_row(f + near, at, e).min(loss.of_row(f - near, at, e)));
            }
        }
    }

    #[test]
    fn extremes_stay_finite() {
        for f in [-1e6, -700.0, 700.0, 1e6] {
            assert!(Loss::Logistic.of_row(f, 1.0, 1.0).is_finite());
            assert!(Loss::Logistic.curvature(f) >= 0.0);
        }
        assert!(Loss::Logistic.best_constant(10.0, 0.0).is_finite());
        assert!(Loss::Poisson.best_constant(10.0, 0.0).is_finite());
        for mass in [1e100f64, 1e20, 1e-300, 5e-324] {
            assert!(
                Loss::Gamma.best_constant(mass, -1e100).is_finite()
                    && Loss::Gamma.best_constant(mass, -1e-300).is_finite()
            );
            for b in [0.0, mass * 1e-16, mass / 3.0, mass, mass.min(1e-300)] {
                for loss in [Loss::Squared, Loss::Logistic, Loss::Poisson] {
                    assert!(loss.best_constant(mass, b).is_finite(), "{loss} {mass} {b}");
                }
            }
        }
    }
}
