//! The non-negative relaxation of a node: the best value if every unit could be selected to any degree.
//!
//! docs/algorithm.md, "Bounds", has the derivation. The node's units are copied together, run by run of units of one
//! cell, so that a step costs a few operations on neighbouring numbers for each unit.

use super::units::UnitStats;
use crate::base::linalg::Cholesky;
use crate::base::simd::vectorised;
use crate::engine::search::exact::item::{Item, SLACK};

/// Newton steps of the relaxation before its best safe bound is taken.
const MAX_STEPS: usize = 20;
/// Queries whose residual norm is a smaller part of their own are worth nothing (see `Scorer::value`), so what a dual
/// point violates counts at most 1/√this times.
const NOISE: f64 = 1e-10;
/// What sums of products may lose to rounding, as a part of their terms.
const ROUNDING: f64 = 1e-14;
/// Units that are looked at together.
type FourNumbers = [f64; 4];

/// The units of a node, and scratch space for its bounds; one for each thread's task.
#[derive(Default)]
pub(crate) struct Workspace {
    units: UnitLanes,
    pub(super) runs: Vec<Run>,
    /// Run of each cell, while runs are made.
    run_of: Vec<u32>,
    matrix: Vec<f64>,
    nu: Vec<f64>,
    step: Vec<f64>,
    w: Vec<f64>,
    /// Whether negative gradients are the likelier to exceed a threshold: a hint.
    pub(super) falling: bool,
}

/// D, G and 1/D of units; zeros fill up the last lanes of a run.
#[derive(Default)]
struct UnitLanes {
    d: Vec<FourNumbers>,
    g: Vec<FourNumbers>,
    inverse: Vec<FourNumbers>,
}

impl UnitLanes {
    /// Moves lanes that are not empty to the end.
    fn store(&mut self, lanes: &mut [FourNumbers; 3], lane: &mut usize) {
        if *lane > 0 {
            self.d.push(lanes[0]);
            self.g.push(lanes[1]);
            self.inverse.push(lanes[2]);
            (*lanes, *lane) = ([[0.0; 4]; 3], 0);
        }
    }
}

/// Neighbouring units of one cell. A cell may have several runs.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) cell: u32,
    /// Where its lanes end.
    end: usize,
    /// Σ d.
    pub(super) mass: f64,
    /// z·ν and z·w.
    along: f64,
    toward: f64,
    /// Σ d and κ Σ d x over the units with x > 0.
    active_mass: f64,
    active_sum: f64,
}

impl Run {
    fn new(cell: u32) -> Self {
        Self { cell, end: 0, mass: 0.0, along: 0.0, toward: 0.0, active_mass: 0.0, active_sum: 0.0 }
    }
}

impl Workspace {
    /// Copies the units of a node together. Those without curvature play no part.
    pub(super) fn gather(&mut self, stats: &UnitStats, items: &[Item]) {
        self.units.d.clear();
        self.units.g.clear();
        self.units.inverse.clear();
        self.runs.clear();
        // Lanes are filled here before they are stored; a run starts with the first lane.
        let (mut lanes, mut lane) = ([[0.0; 4]; 3], 0);
        let mut run = Run::new(u32::MAX);
        for &(u, times) in items {
            let (cell, [d, g, inverse]) = (stats.cell[u as usize], stats.core[u as usize]);
            if d <= 0.0 {
                continue;
            }
            if lane == 4 || cell != run.cell {
                self.units.store(&mut lanes, &mut lane);
            }
            if cell != run.cell {
                self.close(run);
                run = Run::new(cell);
            }
            let (d, inverse) = if times == 1.0 { (d, inverse) } else { (times * d, inverse / times) };
            (lanes[0][lane], lanes[1][lane], lanes[2][lane]) = (d, times * g, inverse);
            lane += 1;
            run.mass += d;
        }
        self.units.store(&mut lanes, &mut lane);
        self.close(run);
    }

    /// The mass of every cell of a node, one run for each cell; its units are not copied.
    pub(super) fn masses(&mut self, stats: &UnitStats, items: &[Item]) {
        self.run_of.resize(stats.z.len() / stats.t.max(1), u32::MAX);
        self.runs.clear();
        for &(u, times) in items {
            let (cell, [d, ..]) = (stats.cell[u as usize], stats.core[u as usize]);
            let run = &mut self.run_of[cell as usize];
            if *run == u32::MAX {
                *run = self.runs.len() as u32;
                self.runs.push(Run::new(cell));
            }
            self.runs[*run as usize].mass += times * d;
        }
        self.runs.iter().for_each(|run| self.run_of[run.cell as usize] = u32::MAX);
    }

    fn close(&mut self, run: Run) {
        if run.mass > 0.0 {
            self.runs.push(Run { end: self.units.d.len(), ..run });
        }
    }

    /// ν = 0, of `t` numbers.
    fn begin_at_zero(&mut self, t: usize) {
        for buffer in [&mut self.nu, &mut self.step, &mut self.w] {
            buffer.clear();
            buffer.resize(t, 0.0);
        }
        self.runs.iter_mut().for_each(|run| run.along = 0.0);
    }

    /// A safe bound for one sign of the gradient on the gathered units. `inherited` is known already; as soon as it is
    /// clear on which side of `threshold` the bound lies, no more work is put into it.
    pub(super) fn relaxation(
        &mut self,
        stats: &UnitStats,
        sign: f64,
        kappa: f64,
        threshold: f64,
        inherited: f64,
    ) -> f64 {
        let t = stats.t;
        let z = |cell: u32| &stats.z[cell as usize * t..(cell as usize + 1) * t];
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        self.begin_at_zero(t);
        let mut reached = f64::NEG_INFINITY;
        let mut best = inherited;
        for _ in 0..MAX_STEPS {
            // x_i = max(r_i + z_c·ν, 0) / κ with r = s·g/d.
            let square = activate(&self.units, &mut self.runs, sign);
            // 2ψ(ν) never exceeds the relaxation's maximum: above the threshold, nothing can be cut.
            let psi = square / kappa - norm(&self.nu);
            if psi.max(0.0).sqrt() > threshold {
                return best;
            }
            // A Newton step that overshoots, because the active units changed, is halved.
            if psi < reached - 1e-12 * reached.abs() {
                self.step.iter_mut().for_each(|s| *s *= 0.5);
                self.nu.iter_mut().zip(&self.step).for_each(|(n, s)| *n -= s);
                along(&mut self.runs, &stats.z, &self.nu);
                continue;
            }
            reached = psi;
            self.w.fill(0.0);
            for run in &self.runs {
                let sum = run.active_sum / kappa;
                self.w.iter_mut().zip(z(run.cell)).for_each(|(w, z)| *w += sum * z);
            }
            // xᵀPx, and what sg exceeds Px by: δ_i/d_i = r_i − κ x_i + z_c·w where positive.
            // Near the span both terms are huge: what their difference may have lost to rounding is added back.
            let rounding = ROUNDING * (square / kappa + norm(&self.w));
            let energy = (square / kappa - norm(&self.w)).max(0.0) + rounding;
            for run in &mut self.runs {
                run.toward = z(run.cell).iter().zip(&self.w).map(|(z, x)| z * x).sum();
            }
            let excess = ROUNDING * ROUNDING * square + exceed(&self.units, &self.runs, sign);
            let safe = (energy.sqrt() + (excess / NOISE).sqrt()) * SLACK;
            best = best.min(safe);
            if best <= threshold || excess <= 1e-6 * NOISE * energy {
                return best;
            }
            // Newton: (I − M_active/κ) Δ = w − ν.
            self.matrix.clear();
            self.matrix.resize(t * t, 0.0);
            residual_matrix(&mut self.matrix, &self.runs, &stats.z, kappa, t);
            self.step.iter_mut().zip(self.w.iter().zip(&self.nu)).for_each(|(s, (w, n))| *s = w - n);
            Cholesky::new(&self.matrix, t, 1e-13).solve(&mut self.step);
            self.nu.iter_mut().zip(&self.step).for_each(|(n, s)| *n += s);
            along(&mut self.runs, &stats.z, &self.nu);
        }
        best
    }
}

/// z·ν of every run.
fn along(runs: &mut [Run], z: &[f64], nu: &[f64]) {
    let t = nu.len();
    for run in runs {
        run.along = z[run.cell as usize * t..][..t].iter().zip(nu).map(|(z, n)| z * n).sum();
    }
}

fn total(lanes: FourNumbers) -> f64 {
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

vectorised! {
    /// The active units' Σ d and Σ x of every run, with x = max(s·g + d·along, 0); returns Σ x²/d over all.
    fn activate(units: &UnitLanes, runs: &mut [Run], sign: f64) -> f64 {
        let (mut start, mut square) = (0, [0.0; 4]);
        for run in runs {
            let (mut mass, mut sum) = ([0.0; 4], [0.0; 4]);
            let (d, g, inverse) =
                (&units.d[start..run.end], &units.g[start..run.end], &units.inverse[start..run.end]);
            for ((d, g), inverse) in d.iter().zip(g).zip(inverse) {
                for j in 0..4 {
                    let x = sign * g[j] + d[j] * run.along;
                    let x = if x > 0.0 { x } else { 0.0 };
                    mass[j] += if x > 0.0 { d[j] } else { 0.0 };
                    sum[j] += x;
                    square[j] += x * x * inverse[j];
                }
            }
            (run.active_mass, run.active_sum) = (total(mass), total(sum));
            start = run.end;
        }
        total(square)
    }
}

vectorised! {
    /// Σ δ²/d over the units where s·g exceeds Px, by δ = s·g − κ d x + d·toward.
    fn exceed(units: &UnitLanes, runs: &[Run], sign: f64) -> f64 {
        let (mut start, mut excess) = (0, [0.0; 4]);
        for run in runs {
            let (d, g, inverse) =
                (&units.d[start..run.end], &units.g[start..run.end], &units.inverse[start..run.end]);
            for ((d, g), inverse) in d.iter().zip(g).zip(inverse) {
                for j in 0..4 {
                    let gradient = sign * g[j];
                    let x = gradient + d[j] * run.along;
                    let over = gradient - if x > 0.0 { x } else { 0.0 } + d[j] * run.toward;
                    let over = if over > 0.0 { over } else { 0.0 };
                    excess[j] += over * over * inverse[j];
                }
            }
            start = run.end;
        }
        total(excess)
    }
}

vectorised! {
    /// Adds I − Σ (active mass) z zᵀ / κ to the lower triangle of `matrix`.
    fn residual_matrix(matrix: &mut [f64], runs: &[Run], z: &[f64], kappa: f64, t: usize) {
        for run in runs {
            let mass = run.active_mass / kappa;
            if mass == 0.0 {
                continue;
            }
            let z = &z[run.cell as usize * t..][..t];
            for i in 0..t {
                let factor = mass * z[i];
                if factor != 0.0 {
                    matrix[i * t..=i * t + i].iter_mut().zip(z).for_each(|(m, z)| *m -= factor * z);
                }
            }
        }
        (0..t).for_each(|i| matrix[i * t + i] += 1.0);
    }
}
