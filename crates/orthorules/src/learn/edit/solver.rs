//! The weights of given terms that minimise the regularised risk within bounds: a projected Newton method.
//!
//! Terms are rules, which hold for whole cells of rows, and trends, which have a number for each row. There is one
//! score, or one for each of several classes that share the terms. All weights of all scores are found together, so
//! that any of them may be bounded.

use crate::base::linalg::Cholesky;
use crate::model::Status;
use crate::model::edit::Bounds;

/// Steps after which the search for the minimum ends in any case.
const MOST_STEPS: usize = 100;
/// How often a step is halved.
const MOST_HALVINGS: usize = 40;
/// A pivot below this part of its diagonal entry is noise.
const NOISE: f64 = 1e-13;
/// What a step promises is too little to be seen in the risk below this part of it.
const UNSEEN: f64 = 1e-9;
/// Steps that are taken on trust once they can no longer be seen in the risk.
const TRUSTED: usize = 3;

/// A smooth convex function whose minimum is wanted.
pub(super) trait Risk {
    /// Number of unknowns.
    fn size(&self) -> usize;
    /// The value at `x`.
    fn value(&self, x: &[f64]) -> f64;
    /// The gradient and the Hessian (row by row) at `x`.
    fn derivatives(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>);
}

/// Where the minimum is.
pub(super) struct BoundedMinimum {
    pub(super) x: Vec<f64>,
    pub(super) status: Status,
}

/// The minimum of `risk` from `x` on, each unknown within its bounds.
pub(super) fn minimum(risk: &impl Risk, mut x: Vec<f64>, bounds: &[Bounds]) -> BoundedMinimum {
    x.iter_mut().zip(bounds).for_each(|(x, bounds)| *x = bounds.nearest(*x));
    let mut value = risk.value(&x);
    let mut trusted = 0;
    for _ in 0..MOST_STEPS {
        let (gradient, hessian) = risk.derivatives(&x);
        let step = newton_step(&x, &gradient, &hessian, bounds);
        let promised: f64 = -gradient.iter().zip(&step).map(|(g, d)| g * d).sum::<f64>();
        if promised <= 0.0 || !promised.is_finite() {
            let status = if promised.is_finite() { Status::Converged } else { Status::Stalled };
            return BoundedMinimum { x, status };
        }
        let moved = |part: f64| -> Vec<f64> {
            let to = |((x, d), bounds): ((&f64, &f64), &Bounds)| bounds.nearest(x + part * d);
            x.iter().zip(&step).zip(bounds).map(to).collect()
        };
        if promised <= UNSEEN * (value.abs() + 1e-300) {
            // Newton's method is as good as at its end; the risk no longer tells better from worse.
            x = moved(1.0);
            trusted += 1;
            if trusted >= TRUSTED {
                return BoundedMinimum { x, status: Status::Converged };
            }
            continue;
        }
        let mut part = 1.0;
        let better = (0..MOST_HALVINGS).find_map(|_| {
            let candidate = moved(part);
            let found = risk.value(&candidate);
            part *= 0.5;
            let slope: f64 = gradient.iter().zip(candidate.iter().zip(&x)).map(|(g, (new, old))| g * (new - old)).sum();
            (found.is_finite() && found <= value + 1e-4 * slope).then_some((candidate, found))
        });
        match better {
            Some((candidate, found)) => (x, value) = (candidate, found),
            None => return BoundedMinimum { x, status: Status::Stalled },
        }
    }
    BoundedMinimum { x, status: Status::Unbounded }
}

/// Newton's step of what is free to move: what lies at a bound and would leave it stays.
fn newton_step(x: &[f64], gradient: &[f64], hessian: &[f64], bounds: &[Bounds]) -> Vec<f64> {
    let size = x.len();
    let is_free = |i: &usize| {
        let Bounds { low, high } = bounds[*i];
        low < high && !(x[*i] <= low && gradient[*i] > 0.0) && !(x[*i] >= high && gradient[*i] < 0.0)
    };
    let free: Vec<usize> = (0..size).filter(is_free).collect();
    let matrix: Vec<f64> = free.iter().flat_map(|&i| free.iter().map(move |&j| hessian[i * size + j])).collect();
    let mut solution: Vec<f64> = free.iter().map(|&i| -gradient[i]).collect();
    Cholesky::new(&matrix, free.len(), NOISE).solve(&mut solution);
    let mut step = vec![0.0; size];
    free.iter().zip(&solution).for_each(|(&i, d)| step[i] = *d);
    step
}
