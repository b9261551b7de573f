//! The basis that candidates are orthogonal to: its values for every cell, and what they are made from.

use super::NOISE;
use crate::cells::Cells;
use crate::linalg::Cholesky;

/// The columns from which z is made, before they are orthogonal: the constant, if it is one of them, and the rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct Basis {
    pub(crate) constant: bool,
    /// Which rules are held at 0 and not in it.
    held: Vec<bool>,
    /// The rules of all cells, one cell after another; the number of a column. The constant is not listed.
    members: Vec<u32>,
    /// Where those of each cell end.
    ends: Vec<u32>,
    /// L, column by column.
    pub(crate) factor: Cholesky,
    rows: f64,
    /// Σ over rows of how many rules they are in.
    listed: f64,
}

impl Basis {
    /// The next cell, with so many rows.
    fn push(&mut self, members: &[usize], rows: u32) {
        self.members.extend(members.iter().map(|&k| k as u32));
        self.ends.push(self.members.len() as u32);
        self.rows += f64::from(rows);
        self.listed += f64::from(rows) * members.len() as f64;
    }

    /// The listed columns of a cell.
    #[inline]
    pub(crate) fn of(&self, cell: usize) -> &[u32] {
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.members[start as usize..self.ends[cell] as usize]
    }

    /// Where sums over a rule stand among those over all columns; nowhere if it is held.
    pub(crate) fn place(&self, rule: usize) -> Option<usize> {
        let held = self.held.get(rule).is_none_or(|&held| held);
        (!held).then_some(rule + usize::from(self.constant))
    }

    /// How many a row is in on average.
    pub(crate) fn mean(&self) -> f64 {
        if self.rows > 0.0 { self.listed / self.rows } else { 0.0 }
    }
}

/// z_c = L⁻¹ q_c for every cell, with LLᵀ = Qᵀ diag(d) Q + Λ; the constant column comes first and is not penalised. Rules
/// that are `held` at weight 0 cannot move with the others: their component of z is 0.
pub(super) fn basis(
    cells: &Cells,
    d: &[f64],
    t: usize,
    constant: bool,
    lambda: f64,
    held: &[bool],
) -> (Vec<f64>, Basis) {
    if t == 0 {
        return (Vec::new(), Basis::default());
    }
    let first = usize::from(constant);
    let free = |cell: usize| cells.rules_of(cell).iter().filter(|&&k| !held[k as usize]).map(|&k| first + k as usize);
    let mut gram = vec![0.0; t * t];
    let mut active = Vec::with_capacity(t);
    let mut basis = Basis { constant, held: held.to_vec(), ..Basis::default() };
    for (cell, d) in d.iter().enumerate() {
        active.clear();
        active.extend((0..first).chain(free(cell)));
        basis.push(&active[first..], cells.rows(cell));
        for (position, &i) in active.iter().enumerate() {
            active[..=position].iter().for_each(|&j| gram[i * t + j] += d);
        }
    }
    (first..t).for_each(|k| gram[k * t + k] += lambda);
    let factor = Cholesky::new(&gram, t, NOISE);
    let mut z = vec![0.0; cells.len() * t];
    for cell in 0..cells.len() {
        let row = &mut z[cell * t..(cell + 1) * t];
        (0..first).chain(free(cell)).for_each(|k| row[k] = 1.0);
        factor.solve_lower(row);
    }
    basis.factor = factor.transposed();
    (z, basis)
}
