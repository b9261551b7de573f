//! The little algebra that small symmetric systems need.

use crate::base::wire::wire;

/// Lower triangle L of a positive semidefinite matrix M = LLᵀ, row by row. A column whose pivot is rounding noise is
/// dropped: its pivot is 0 and it takes no part in solutions.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cholesky {
    size: usize,
    /// Row-major, lower triangle filled.
    lower: Vec<f64>,
}
wire!(Cholesky { size, lower });

impl Cholesky {
    /// Whether it is a factor of this size.
    pub(crate) fn has_size(&self, size: usize) -> bool {
        self.size == size && self.is_whole()
    }

    /// Whether it has as many numbers as its size says: what came as bytes may not.
    pub(crate) fn is_whole(&self) -> bool {
        self.size.checked_mul(self.size) == Some(self.lower.len())
    }

    /// Factors the row-major `size × size` matrix; a pivot counts as noise below `tolerance` times its diagonal entry.
    pub(crate) fn new(matrix: &[f64], size: usize, tolerance: f64) -> Self {
        let mut lower = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| lower[i * size + k] * lower[j * size + k]).sum();
                let rest = matrix[i * size + j] - dot;
                lower[i * size + j] = if i == j {
                    if rest > tolerance * matrix[i * size + i] && rest.is_finite() { rest.sqrt() } else { 0.0 }
                } else {
                    let pivot = lower[j * size + j];
                    if pivot > 0.0 { rest / pivot } else { 0.0 }
                };
            }
        }
        Self { size, lower }
    }

    /// Overwrites `x` with L⁻¹x; dropped components become 0.
    pub(crate) fn solve_lower(&self, x: &mut [f64]) {
        for i in 0..self.size {
            let dot: f64 = (0..i).map(|k| self.lower[i * self.size + k] * x[k]).sum();
            let pivot = self.lower[i * self.size + i];
            x[i] = if pivot > 0.0 { (x[i] - dot) / pivot } else { 0.0 };
        }
    }

    /// [`Self::solve_lower`] column by column, for which `self` must be [`Self::transposed`]: no addition waits for
    /// another.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn solve_lower_by_columns(&self, x: &mut [f64]) {
        for (j, column) in self.columns().enumerate() {
            let pivot = column[j];
            let (now, rest) = x[j..self.size].split_at_mut(1);
            now[0] = if pivot > 0.0 { now[0] / pivot } else { 0.0 };
            rest.iter_mut().zip(&column[j + 1..]).for_each(|(x, l)| *x -= now[0] * l);
        }
    }

    /// Overwrites `x` with L⁻ᵀx, for which `self` must be [`Self::transposed`]; dropped components become 0.
    pub(crate) fn solve_upper_by_columns(&self, x: &mut [f64]) {
        for (i, column) in self.columns().enumerate().rev() {
            let dot: f64 = column[i + 1..].iter().zip(&x[i + 1..]).map(|(l, x)| l * x).sum();
            x[i] = if column[i] > 0.0 { (x[i] - dot) / column[i] } else { 0.0 };
        }
    }

    /// The columns, if `self` is [`Self::transposed`].
    pub(crate) fn columns(&self) -> std::slice::ChunksExact<'_, f64> {
        self.lines()
    }

    /// The rows, or the columns if `self` is [`Self::transposed`].
    pub(crate) fn lines(&self) -> std::slice::ChunksExact<'_, f64> {
        self.lower.chunks_exact(self.size.max(1))
    }

    /// Column by column instead of row by row.
    pub(crate) fn transposed(&self) -> Self {
        let lower = (0..self.size * self.size).map(|at| self.lower[at % self.size * self.size + at / self.size]);
        Self { size: self.size, lower: lower.collect() }
    }

    /// Overwrites `x` with M⁻¹x on the columns that were kept, 0 elsewhere.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.solve_lower(x);
        for i in (0..self.size).rev() {
            let dot: f64 = (i + 1..self.size).map(|k| self.lower[k * self.size + i] * x[k]).sum();
            let pivot = self.lower[i * self.size + i];
            x[i] = if pivot > 0.0 { (x[i] - dot) / pivot } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gram(rows: &[Vec<f64>], size: usize) -> Vec<f64> {
        let mut matrix = vec![0.0; size * size];
        for row in rows {
            for i in 0..size {
                for j in 0..size {
                    matrix[i * size + j] += row[i] * row[j];
                }
            }
        }
        matrix
    }

    proptest! {
        #[test]
        fn solves_like_nalgebra(rows in prop::collection::vec(prop::collection::vec(-3.0..3.0f64, 4), 4..9),
                                rhs in prop::collection::vec(-3.0..3.0f64, 4)) {
            let mut matrix = gram(&rows, 4);
            (0..4).for_each(|i| matrix[i * 5] += 0.1);
            let mut x = rhs.clone();
            Cholesky::new(&matrix, 4, 1e-12).solve(&mut x);
            let oracle = nalgebra::DMatrix::from_row_slice(4, 4, &matrix).lu()
                .solve(&nalgebra::DVector::from_vec(rhs)).unwrap();
            for i in 0..4 {
                prop_assert!((x[i] - oracle[i]).abs() < 1e-8 * (1.0 + oracle[i].abs()));
            }
        }

        /// By columns or by rows, also where columns were dropped.
        #[test]
        fn columns_solve_like_rows(rows in prop::collection::vec(prop::collection::vec(0u8..2, 5), 3..12),
                                   rhs in prop::collection::vec(-3.0..3.0f64, 5)) {
            let rows: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().map(|&x| f64::from(x)).collect()).collect();
            let factor = Cholesky::new(&gram(&rows, 5), 5, 1e-9);
            let (mut by_rows, mut by_columns) = (rhs.clone(), rhs.clone());
            factor.solve_lower(&mut by_rows);
            factor.transposed().solve_lower_by_columns(&mut by_columns);
            let (mut whole, mut in_turn) = (rhs, by_columns.clone());
            factor.solve(&mut whole);
            factor.transposed().solve_upper_by_columns(&mut in_turn);
            for (a, b) in whole.iter().zip(&in_turn) {
                prop_assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{} {}", a, b);
            }
            for (a, b) in by_rows.iter().zip(&by_columns) {
                prop_assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{} {}", a, b);
            }
        }

        /// A dependent column is dropped, and the rest still reproduces the projection.
        #[test]
        fn rank_is_found(rows in prop::collection::vec(prop::collection::vec(0u8..2, 3), 3..12)) {
            let rows: Vec<Vec<f64>> = rows.iter()
                .map(|r| vec![f64::from(r[0]), f64::from(r[1]), f64::from(r[0]) + f64::from(r[1]), f64::from(r[2])])
                .collect();
            let matrix = gram(&rows, 4);
            let factor = Cholesky::new(&matrix, 4, 1e-9);

            let rank = (0..4).filter(|&i| factor.lower[i * 5] > 0.0).count();
            let oracle = nalgebra::DMatrix::from_fn(rows.len(), 4, |i, j| rows[i][j]).rank(1e-9);
            prop_assert_eq!(rank, oracle);
        }
    }
}
