//! Where codes are: in memory.

use std::ops::Deref;

/// Numbers that do not change any more. Reads as a slice.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Store<T>(Vec<T>);

impl<T> Deref for Store<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> From<Vec<T>> for Store<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self(numbers)
    }
}
