//! Losses of the exponential family in canonical form.
//!
//! In the score f, the loss of a row with mass a and weighted target b is `a ψ(f) − b f` plus a constant; its gradient
//! is `a μ(f) − b`, its second derivative `a μ′(f)`, with μ = ψ′. Squared loss doubles a and b, so that ψ(f) = f²/2.

/// How a prediction is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Loss {
    /// (f − y)².
    Squared,
    /// log(1 + exp(−f)) for the positive class, log(1 + exp(f)) for the other.
    Logistic,
    /// Half the Poisson deviance: y log(y/m) − y + m with the mean m = exposure · exp(f).
    Poisson,
}

/// What the score of a model is of its mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Link {
    /// The loss's own: the mean, the log-odds or the log of the mean.
    #[default]
    Canonical,
    /// The score of a class is its probability, cut off at 0 and 1.
    Identity,
}

/// A λ that goes with a loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DefaultLambda {
    Fixed(f64),
    /// What the curvature of a row is on average, as it is 1 for squared loss.
    MeanTarget,
}

impl Link {
    /// Whether this is the loss's own link, which a model file need not mention.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks by reference
    pub(crate) fn is_canonical(&self) -> bool {
        *self == Self::Canonical
    }

    /// Probabilities of the other class and of the class with this score.
    pub(crate) fn probabilities(self, score: f64) -> [f64; 2] {
        match self {
            Self::Canonical => [Loss::Logistic.mean(-score), Loss::Logistic.mean(score)],
            Self::Identity => [1.0 - score.clamp(0.0, 1.0), score.clamp(0.0, 1.0)],
        }
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Squared => "squared",
            Self::Logistic => "logistic",
            Self::Poisson => "poisson",
        })
    }
}

/// log(1 + exp(f)) without overflow.
fn softplus(f: f64) -> f64 {
    f.max(0.0) + (-f.abs()).exp().ln_1p()
}

impl Loss {
    /// ψ(f), the cumulant.
    pub fn psi(self, f: f64) -> f64 {
        match self {
            Self::Squared => 0.5 * f * f,
            Self::Logistic => softplus(f),
            Self::Poisson => f.exp(),
        }
    }

    /// μ(f) = ψ′(f), the mean (per unit of exposure).
    pub fn mean(self, f: f64) -> f64 {
        match self {
            Self::Squared => f,
            Self::Logistic => 1.0 / (1.0 + (-f).exp()),
            Self::Poisson => f.exp(),
        }
    }

    /// μ′(f), the second derivative of ψ.
    pub fn curvature(self, f: f64) -> f64 {
        match self {
            Self::Squared => 1.0,
            Self::Logistic => {
                let e = (-f.abs()).exp();
                e / ((1.0 + e) * (1.0 + e))
            }
            Self::Poisson => f.exp(),
        }
    }

    /// Whether μ′ is the same for all scores: one Newton step leads to the minimum, and sums by rule tell what sums by cell do.
    pub fn is_quadratic(self) -> bool {
        self == Self::Squared
    }

    /// μ′ where the mean is μ.
    pub(crate) fn curvature_at(self, mean: f64) -> f64 {
        match self {
            Self::Squared => 1.0,
            Self::Logistic => mean * (1.0 - mean),
            Self::Poisson => mean,
        }
    }

    /// Whether rows of this mass and weighted target are of one class alone, or have no count at all: their best score is
    /// infinite.
    pub(crate) fn is_pure(self, a: f64, b: f64) -> bool {
        match self {
            Self::Squared => false,
            Self::Logistic => b <= 0.0 || b >= a,
            Self::Poisson => b <= 0.0,
        }
    }

    /// λ, where nobody says otherwise.
    pub(crate) fn default_lambda(self) -> DefaultLambda {
        match self {
            Self::Squared => DefaultLambda::Fixed(8.0),
            Self::Logistic => DefaultLambda::Fixed(1.0),
            Self::Poisson => DefaultLambda::MeanTarget,
        }
    }

    /// Whether trees can be grown for it, by the impurity of their leaves.
    pub(crate) fn has_trees(self) -> bool {
        self != Self::Poisson
    }

    /// The factor of a and b: 2 for squared loss, else 1.
    pub fn factor(self) -> f64 {
        if self == Self::Squared { 2.0 } else { 1.0 }
    }

    /// Loss of one row of weight 1: score `f`, target `y` (1 for the positive class, else 0), exposure `e`.
    pub fn of_row(self, f: f64, y: f64, e: f64) -> f64 {
        match self {
            Self::Squared => (f - y) * (f - y),
            Self::Logistic => softplus(f) - y * f,
            Self::Poisson => Self::poisson_of(f, f.exp(), (y, Self::saturated(y, e)), e),
        }
    }

    /// The Poisson loss of one row whose score `f` has the mean `mean` per unit of exposure. Besides its target it takes what
    /// depends on that alone.
    pub(crate) fn poisson_of(f: f64, mean: f64, (y, saturated): (f64, f64), e: f64) -> f64 {
        // Nothing is left of it where y is 0, without a branch that no processor could foresee.
        let log_term = saturated - y * f.clamp(-f64::MAX, f64::MAX);
        log_term + e * mean
    }

    /// The part of a row's Poisson loss that depends on its target alone: the negative of what a perfect score would leave.
    pub(crate) fn saturated(y: f64, e: f64) -> f64 {
        if y > 0.0 { y * (y / e).ln() - y } else { 0.0 }
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Loss; 3] = [Loss::Squared, Loss::Logistic, Loss::Poisson];

    proptest! {
        #[test]
        fn derivatives_agree(f in -8.0..8.0f64) {
            let step = 1e-5;
            for loss in ALL {
                let slope = (loss.psi(f + step) - loss.psi(f - step)) / (2.0 * step);
                prop_assert!((slope - loss.mean(f)).abs() < 1e-6 * (1.0 + slope.abs()));
                let bend = (loss.mean(f + step) - loss.mean(f - step)) / (2.0 * step);
                prop_assert!((bend - loss.curvature(f)).abs() < 1e-6 * (1.0 + bend.abs()));
            }
        }

        #[test]
        fn row_loss_is_canonical(f in -5.0..5.0f64, y in 0u8..2, e in 0.1..3.0f64) {
            let y = f64::from(y);
            for loss in ALL {
                let e = if loss == Loss::Poisson { e } else { 1.0 };
                let canonical = |f: f64| loss.factor() * (e * loss.psi(f) - y * f);
                let difference = loss.of_row(f, y, e) - loss.of_row(0.0, y, e);
                prop_assert!((difference - (canonical(f) - canonical(0.0))).abs() < 1e-9);
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
            for b in [0.0, mass * 1e-16, mass / 3.0, mass, mass.min(1e-300)] {
                for loss in ALL {
                    assert!(loss.best_constant(mass, b).is_finite(), "{loss} {mass} {b}");
                }
            }
        }
    }
}
