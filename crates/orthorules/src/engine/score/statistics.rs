//! The sums of a candidate: its rows, G = Σ g, D = Σ d and N = Σ d·z.
//!
//! They lie side by side in vectors of numbers, which are added up and subtracted as a whole. Only this file, and the
//! arrays of [`crate::engine::count::bin_statistics`], know what stands where.

/// Where rows, G, D and N₁ stand.
pub(in crate::engine) const ROWS: usize = 0;
pub(in crate::engine) const G: usize = 1;
pub(in crate::engine) const D: usize = 2;
pub(in crate::engine) const N: usize = 3;

/// How many numbers they are with `t` basis vectors.
pub(crate) const fn length(t: usize) -> usize {
    N + t
}

/// The sums of some rows. Where only rows were counted, only these may be asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statistics<'a>(&'a [f64]);

/// Statistics that can be written to.
#[derive(Debug)]
pub(crate) struct StatisticsMut<'a> {
    pub(crate) rows: &'a mut f64,
    pub(crate) gradient: &'a mut f64,
    pub(crate) curvature: &'a mut f64,
    pub(crate) along: &'a mut [f64],
}

impl<'a> Statistics<'a> {
    /// Those that `numbers` are.
    #[inline]
    pub(crate) fn of(numbers: &'a [f64]) -> Self {
        Self(numbers)
    }

    /// How many rows there are.
    #[inline]
    pub(crate) fn rows(self) -> f64 {
        self.0[ROWS]
    }

    /// G, the sum of gradients.
    #[inline]
    pub(crate) fn gradient(self) -> f64 {
        self.0[G]
    }

    /// D, the sum of curvatures, or of what else the norm is made of.
    #[inline]
    pub(crate) fn curvature(self) -> f64 {
        self.0[D]
    }

    /// N, the sums along the basis.
    #[inline]
    pub(crate) fn along(self) -> &'a [f64] {
        &self.0[N..]
    }

    /// All of them, to be added to others.
    #[inline]
    pub(crate) fn numbers(self) -> &'a [f64] {
        self.0
    }
}

impl<'a> StatisticsMut<'a> {
    /// Those that `numbers` are.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn of(numbers: &'a mut [f64]) -> Self {
        let [rows, gradient, curvature, along @ ..] = numbers else {
            unreachable!("statistics are three sums or more")
        };
        Self { rows, gradient, curvature, along }
    }

    /// Adds rows with these sums of g and d, and d·z.
    pub(crate) fn add(self, rows: f64, gradient: f64, curvature: f64, along: impl IntoIterator<Item = f64>) {
        *self.rows += rows;
        *self.gradient += gradient;
        *self.curvature += curvature;
        self.along.iter_mut().zip(along).for_each(|(sum, n)| *sum += n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut numbers = vec![0.0; length(2)];
        StatisticsMut::of(&mut numbers).add(1.0, 2.0, 3.0, [4.0, 5.0]);
        StatisticsMut::of(&mut numbers).add(1.0, -5.0, 1.0, [0.0, 1.0]);
        let sums = Statistics::of(&numbers);
        assert_eq!((sums.rows(), sums.gradient(), sums.curvature(), sums.along()), (2.0, -3.0, 4.0, &[4.0, 6.0][..]));
        // As the arrays of many bins have them.
        assert_eq!([numbers[ROWS], numbers[G], numbers[D], numbers[N]], [2.0, -3.0, 4.0, 4.0]);
        assert_eq!(Statistics::of(&[7.0]).rows(), 7.0);
    }
}
