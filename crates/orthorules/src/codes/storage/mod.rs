//! Where codes, and numbers beside them, are: in memory, or in a temporary file that is mapped into memory.

#[cfg(feature = "files")]
mod mapped;

#[cfg(feature = "files")]
pub(crate) use mapped::Map;

use crate::codes::code::Stored;
use std::fmt;
use std::ops::Deref;

/// Numbers that do not change any more. Reads as a slice.
#[derive(Clone)]
pub(crate) struct Store<T: Stored>(StoredIn<T>);

#[derive(Clone)]
enum StoredIn<T: Stored> {
    Own(Vec<T>),
    #[cfg(feature = "files")]
    Mapped(mapped::Slice<T>),
}

impl<T: Stored> Deref for Store<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            StoredIn::Own(numbers) => numbers,
            #[cfg(feature = "files")]
            StoredIn::Mapped(slice) => slice.numbers(),
        }
    }
}

impl<T: Stored> From<Vec<T>> for Store<T> {
    fn from(numbers: Vec<T>) -> Self {
        Self(StoredIn::Own(numbers))
    }
}

#[cfg(feature = "files")]
impl<T: Stored> From<mapped::Slice<T>> for Store<T> {
    fn from(slice: mapped::Slice<T>) -> Self {
        Self(StoredIn::Mapped(slice))
    }
}

impl<T: Stored + fmt::Debug> fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Stored> PartialEq for Store<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
