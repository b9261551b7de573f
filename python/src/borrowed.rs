//! Numbers of a NumPy array, read where they lie. The only unsafe code of the project is in this file.
#![allow(unsafe_code)]

use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use orthorules::table::Numbers;
use pyo3::prelude::*;
use std::sync::Arc;

/// A piece of an array's memory, with the array that keeps it.
struct Borrowed {
    start: *const f64,
    len: usize,
    _array: Py<PyAny>,
}

// SAFETY: the memory is only read, and `_array` keeps it until the last reader is gone. NumPy neither moves nor frees the
// memory of an array that is referred to (`resize` refuses). A caller that writes into the array from another Python
// thread during a fit races with the reading, as with every extension that computes without the interpreter's lock; the
// worst outcome is a wrong number.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl AsRef<[f64]> for Borrowed {
    fn as_ref(&self) -> &[f64] {
        // SAFETY: `start` and `len` come from a slice of the array's memory, which `_array` keeps.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

fn shared(slice: &[f64], array: Py<PyAny>) -> Numbers {
    Numbers::shared(Arc::new(Borrowed { start: slice.as_ptr(), len: slice.len(), _array: array }))
}

/// The numbers of a one-dimensional array if they lie in one piece.
pub(crate) fn whole(array: &PyReadonlyArray1<'_, f64>) -> Option<Numbers> {
    let slice = array.as_slice().ok()?;
    Some(shared(slice, array.as_any().clone().unbind()))
}

/// The columns `which` of a two-dimensional array if each lies in one piece: an array in Fortran order.
pub(crate) fn columns(array: &PyReadonlyArray2<'_, f64>, which: &[usize]) -> Option<Vec<Numbers>> {
    if array.is_c_contiguous() && array.shape()[1] != 1 {
        return None;
    }
    let view = array.as_array();
    let column = |&c: &usize| Some(shared(view.column(c).to_slice()?, array.as_any().clone().unbind()));
    which.iter().map(column).collect()
}
