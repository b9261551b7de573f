//! The numbers of a column, owned or borrowed (for example from NumPy).

use crate::base::error::Result;
use crate::base::wire::{ByteReader, Wire};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Numbers that may be shared, so that a table over an array that exists already does not copy it. Reads as `[f64]`;
/// NaN is missing.
#[derive(Clone)]
pub struct Numbers(Backing);

#[derive(Clone)]
enum Backing {
    Own(Vec<f64>),
    Shared(Arc<dyn AsRef<[f64]> + Send + Sync>),
    Scattered(Arc<Scattered>),
}

/// Numbers that lie row by row, or are not `f64`: what is to be read where it is.
pub trait Matrix: Send + Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// Fills `into` with as many rows of `columns` as it has room for, from row `start` on, one column after the other.
    fn read(&self, columns: &[usize], start: usize, into: &mut [f64]);
}

/// A column of a matrix, and a copy of it side by side once that is needed.
struct Scattered {
    matrix: Arc<dyn Matrix>,
    column: usize,
    copy: OnceLock<Vec<f64>>,
}

impl Scattered {
    fn all(&self) -> &[f64] {
        self.copy.get_or_init(|| {
            let mut numbers = vec![0.0; self.matrix.rows()];
            self.matrix.read(&[self.column], 0, &mut numbers);
            numbers
        })
    }
}

impl Wire for Numbers {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        self.iter().for_each(|x| x.put(to));
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        Ok(Vec::take(from)?.into())
    }
}

impl Numbers {
    /// A column of a matrix that is read where it is, some rows at a time, and copied only for those who need all of it
    /// side by side. The matrix must stay the same while it lives.
    pub fn column_of(matrix: Arc<dyn Matrix>, column: usize) -> Self {
        Self(Backing::Scattered(Arc::new(Scattered { matrix, column, copy: OnceLock::new() })))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Backing::Scattered(numbers) => numbers.matrix.rows(),
            _ => (**self).len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The matrix that they lie in and the column that they are, unless they lie side by side somewhere.
    #[doc(hidden)]
    pub fn place(&self) -> Option<(&Arc<dyn Matrix>, usize)> {
        match &self.0 {
            Backing::Scattered(numbers) if numbers.copy.get().is_none() => Some((&numbers.matrix, numbers.column)),
            _ => None,
        }
    }

    /// The numbers that `owner` keeps. They must stay the same while it lives.
    pub fn shared(owner: Arc<dyn AsRef<[f64]> + Send + Sync>) -> Self {
        Self(Backing::Shared(owner))
    }

    /// The numbers as a vector; copied only if they are shared.
    pub fn into_vec(self) -> Vec<f64> {
        match self.0 {
            Backing::Own(numbers) => numbers,
            Backing::Shared(owner) => (*owner).as_ref().to_vec(),
            Backing::Scattered(numbers) => numbers.all().to_vec(),
        }
    }
}

impl Deref for Numbers {
    type Target = [f64];

    #[inline]
    fn deref(&self) -> &[f64] {
        match &self.0 {
            Backing::Own(numbers) => numbers,
            Backing::Shared(owner) => (**owner).as_ref(),
            Backing::Scattered(numbers) => numbers.all(),
        }
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        Self(Backing::Own(numbers))
    }
}

impl FromIterator<f64> for Numbers {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        Vec::from_iter(numbers).into()
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of three.
    struct Threes(Vec<f32>);

    impl Matrix for Threes {
        fn rows(&self) -> usize {
            self.0.len() / 3
        }

        fn read(&self, columns: &[usize], start: usize, into: &mut [f64]) {
            let rows = into.len() / columns.len();
            for (j, c) in columns.iter().enumerate() {
                (0..rows).for_each(|i| into[j * rows + i] = f64::from(self.0[(start + i) * 3 + c]));
            }
        }
    }

    #[test]
    fn scattered_numbers_are_copied_only_when_all_are_needed() {
        let numbers = Numbers::column_of(Arc::new(Threes((0..12).map(|i| i as f32).collect())), 1);
        assert_eq!((numbers.len(), numbers.is_empty()), (4, false));
        assert!(numbers.place().is_some_and(|(_, column)| column == 1));
        assert_eq!(numbers.clone().into_vec(), [1.0, 4.0, 7.0, 10.0]);
        assert!(numbers.place().is_none());
        assert_eq!(numbers, Numbers::from(vec![1.0, 4.0, 7.0, 10.0]));
    }

    #[test]
    fn shared_numbers_are_not_copied() {
        let owner: Arc<Vec<f64>> = Arc::new(vec![1.0, 2.0]);
        let place = owner.as_ptr();
        let shared = Numbers::shared(owner);
        assert_eq!(shared.as_ptr(), place);
        assert_eq!(shared.clone().as_ptr(), place);
        assert_eq!(shared, Numbers::from(vec![1.0, 2.0]));
        assert_eq!(shared.into_vec(), [1.0, 2.0]);
    }
}
