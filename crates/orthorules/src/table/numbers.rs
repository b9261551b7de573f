//! The numbers of a column: its own, or those of whoever made the table.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Numbers that may be shared, so that a table over an array that exists already does not copy it. Reads as `[f64]`;
/// NaN is missing.
#[derive(Clone)]
pub struct Numbers(Source);

#[derive(Clone)]
enum Source {
    Own(Vec<f64>),
    Shared(Arc<dyn AsRef<[f64]> + Send + Sync>),
}

impl Numbers {
    /// The numbers that `owner` keeps. They must stay the same while it lives.
    pub fn shared(owner: Arc<dyn AsRef<[f64]> + Send + Sync>) -> Self {
        Self(Source::Shared(owner))
    }

    /// The numbers as a vector; copied only if they are shared.
    pub fn into_vec(self) -> Vec<f64> {
        match self.0 {
            Source::Own(numbers) => numbers,
            Source::Shared(owner) => (*owner).as_ref().to_vec(),
        }
    }
}

impl Deref for Numbers {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match &self.0 {
            Source::Own(numbers) => numbers,
            Source::Shared(owner) => (**owner).as_ref(),
        }
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        Self(Source::Own(numbers))
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
