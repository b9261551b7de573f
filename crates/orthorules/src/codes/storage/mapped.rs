//! A file as memory. With `simd`, the only unsafe code of the library.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::codes::code::Stored;
use memmap2::Mmap;

/// A file that only this process can reach, mapped for reading.
#[derive(Clone)]
pub(crate) struct Map(Arc<Mmap>);

impl Map {
    /// Maps `file`, which must have no name: then no other process can cut it off or write to it, and it is gone with
    /// the process.
    #[allow(unsafe_code)]
    pub(crate) fn unnamed(file: &File) -> io::Result<Self> {
        // SAFETY: a mapping is undefined when the file changes underneath. The caller promises that the file has no
        // name, so that no other process can open it, and this process does not write to it again.
        Ok(Self(Arc::new(unsafe { Mmap::map(file) }?)))
    }

    /// `count` numbers from byte `start` on; `None` if they do not lie in the file or not on a boundary of their size.
    pub(crate) fn slice<T: Stored>(&self, start: usize, count: usize) -> Option<Slice<T>> {
        let bytes = self.0.get(start..)?.get(..count.checked_mul(size_of::<T>())?)?;
        let whole = aligned::<T>(bytes).len() == count;
        whole.then(|| Slice { map: self.clone(), start, bytes: bytes.len(), of: PhantomData })
    }
}

/// A part of a mapped file, as numbers.
#[derive(Clone)]
pub(crate) struct Slice<T> {
    map: Map,
    start: usize,
    bytes: usize,
    of: PhantomData<T>,
}

impl<T: Stored> Slice<T> {
    pub(super) fn numbers(&self) -> &[T] {
        aligned(&self.map.0[self.start..self.start + self.bytes])
    }
}

/// The numbers in `bytes`; none if these do not start at a boundary.
#[allow(unsafe_code)]
fn aligned<T: Stored>(bytes: &[u8]) -> &[T] {
    // SAFETY: these are integers or floating-point numbers, of which every pattern of bytes is one.
    let (before, numbers, _) = unsafe { bytes.align_to::<T>() };
    if before.is_empty() { numbers } else { &[] }
}
