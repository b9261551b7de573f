//! One formula for every objective.
//!
//! For the rows S of a candidate query, with `G = Σ gᵢ`, `D = Σ dᵢ`, `Nₖ = Σ dᵢ zᵢₖ`,
//! `value(S) = |G| / (√(D + ρ − Σ Nₖ²) + ε)`. The five objectives differ in d, in the basis z, in ρ and ε.

use crate::cells::Cells;
use crate::linalg::Cholesky;
use crate::params::{Checked, Intercept, Objective};
use crate::refit::Weights;
use crate::response::Response;

/// What is under the root counts as rounding noise below this part of D + ρ: the query lies in the span of the rules.
const NOISE: f64 = 1e-10;

/// Where rows, G, D and N₁ stand in a vector of statistics.
pub(crate) const ROWS: usize = 0;
pub(crate) const G: usize = 1;
pub(crate) const D: usize = 2;
pub(crate) const N: usize = 3;

/// The objective at the current weights: everything that a candidate's value depends on besides its rows.
#[derive(Debug, Clone)]
pub(crate) struct Scorer {
    /// Number of basis vectors.
    pub(crate) t: usize,
    /// Per cell: μ_c, δ_c, δ_c z_c1 … δ_c z_ct, where d = mass · δ_c (or norm · δ_c).
    pub(crate) per_cell: Vec<f64>,
    /// Σᵢ gᵢ zᵢ, to be taken out of G for the projected gradient; empty when g is used as it is.
    pub(crate) lean: Vec<f64>,
    /// Whether d comes from the norm's weights and not from the masses.
    pub(crate) by_norm: bool,
    gradient_only: bool,
    rho: f64,
    epsilon: f64,
}

impl Scorer {
    pub(crate) fn new(response: &Response, cells: &Cells, weights: &Weights, params: &Checked) -> Self {
        let objective = params.objective;
        let second_order = objective.is_second_order();
        let by_norm = !second_order && response.norm.is_some();
        let scores = weights.scores(cells);
        let loss = response.loss;
        let delta: Vec<f64> = match (second_order, by_norm) {
            (true, _) => scores.iter().map(|&f| loss.curvature(f)).collect(),
            (false, true) => vec![1.0; cells.len()],
            (false, false) => vec![1.0 / loss.factor(); cells.len()],
        };
        let d: Vec<f64> =
            (0..cells.len()).map(|c| delta[c] * if by_norm { cells.norm[c] } else { cells.mass[c] }).collect();
        let constant = params.intercept == Intercept::Corrected;
        let t = if objective.is_orthogonal() { cells.rules() + usize::from(constant) } else { 0 };
        let lambda = if second_order { params.reg_lambda } else { 0.0 };
        let z = basis(cells, &d, t, constant, lambda);
        let mut per_cell = Vec::with_capacity(cells.len() * (2 + t));
        for cell in 0..cells.len() {
            per_cell.extend([loss.mean(scores[cell]), delta[cell]]);
            per_cell.extend((0..t).map(|k| delta[cell] * z[cell * t + k]));
        }
        let mut lean = Vec::new();
        if objective == Objective::Ogb {
            lean.resize(t, 0.0);
            for cell in 0..cells.len() {
                let g = cells.mass[cell] * loss.mean(scores[cell]) - cells.b[cell];
                (0..t).for_each(|k| lean[k] += g * z[cell * t + k]);
            }
        }
        Self {
            t,
            per_cell,
            lean,
            by_norm,
            gradient_only: objective == Objective::Gs,
            rho: lambda,
            epsilon: params.epsilon,
        }
    }

    /// Length of a vector of statistics: rows, G, D, N.
    pub(crate) fn stride(&self) -> usize {
        N + self.t
    }

    /// μ_c, δ_c, δ_c z_c of a cell.
    pub(crate) fn cell(&self, cell: usize) -> &[f64] {
        &self.per_cell[cell * (2 + self.t)..(cell + 1) * (2 + self.t)]
    }

    /// Turns the plain gradient sum of `stats` into that of the projected gradient.
    pub(crate) fn project(&self, stats: &mut [f64]) {
        let along: f64 = self.lean.iter().zip(&stats[N..]).map(|(v, n)| v * n).sum();
        stats[G] -= along;
    }

    /// The objective's value from rows, G, D and N of the selected rows.
    pub(crate) fn value(&self, stats: &[f64]) -> f64 {
        let gradient = stats[G].abs();
        if self.gradient_only {
            return gradient;
        }
        let whole = stats[D] + self.rho;
        let rest = whole - stats[N..].iter().map(|n| n * n).sum::<f64>();
        if rest <= NOISE * whole { 0.0 } else { gradient / (rest.sqrt() + self.epsilon) }
    }
}

/// z_c = L⁻¹ q_c for every cell, with LLᵀ = Qᵀ diag(d) Q + Λ; the constant column comes first and is not penalised.
fn basis(cells: &Cells, d: &[f64], t: usize, constant: bool, lambda: f64) -> Vec<f64> {
    if t == 0 {
        return Vec::new();
    }
    let first = usize::from(constant);
    let member = |cell: usize, k: usize| k < first || cells.in_rule(cell, k - first);
    let mut gram = vec![0.0; t * t];
    let mut active = Vec::with_capacity(t);
    for cell in 0..cells.len() {
        active.clear();
        active.extend((0..t).filter(|&k| member(cell, k)));
        for (position, &i) in active.iter().enumerate() {
            active[..=position].iter().for_each(|&j| gram[i * t + j] += d[cell]);
        }
    }
    (first..t).for_each(|k| gram[k * t + k] += lambda);
    let factor = Cholesky::new(&gram, t, NOISE);
    let mut z = vec![0.0; cells.len() * t];
    for cell in 0..cells.len() {
        let row = &mut z[cell * t..(cell + 1) * t];
        row.iter_mut().enumerate().for_each(|(k, x)| *x = f64::from(u8::from(member(cell, k))));
        factor.solve_lower(row);
    }
    z
}
