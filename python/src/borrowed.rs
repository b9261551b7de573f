//! Numbers of a NumPy array, read where they lie. The only unsafe code of the project is in this file.
#![allow(unsafe_code)]

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use orthorules::table::{Matrix, Numbers};
use pyo3::prelude::*;
use std::sync::Arc;

/// A piece of an array's memory, with the array that keeps it.
struct Borrowed {
    start: *const f64,
    len: usize,
    _array: Py<PyAny>,
}

// SAFETY: the memory is only read, and `_array` keeps it until the last reader is gone. NumPy neither moves nor frees
// the memory of an array that is referred to (`resize` refuses). A caller that writes into the array from another
// Python thread during a fit races with the reading, as with every extension that computes without the interpreter's
// lock; the worst outcome is a wrong number.
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

/// A matrix whose columns do not lie in one piece, or are not of `f64`.
struct Strided<T> {
    start: *const T,
    rows: usize,
    columns: usize,
    /// From a number to that of the next row and to that of the next column, in numbers.
    strides: [isize; 2],
    _array: Py<PyAny>,
}

// SAFETY: as for `Borrowed`.
unsafe impl<T> Send for Strided<T> {}
// SAFETY: as for `Borrowed`.
unsafe impl<T> Sync for Strided<T> {}

impl<T: Copy + Into<f64>> Matrix for Strided<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn read(&self, columns: &[usize], start: usize, into: &mut [f64]) {
        let rows = into.len() / columns.len().max(1);
        assert!(start + rows <= self.rows && columns.iter().all(|&c| c < self.columns), "beyond the end of an array");
        // Row by row: memory is read in the order in which it lies.
        for i in 0..rows {
            // SAFETY: the array, which `_array` keeps, has a number at every row and column within its shape, and
            // `into` has one at every `j * rows + i`.
            unsafe {
                let row = self.start.offset((start + i).cast_signed() * self.strides[0]);
                for (j, &c) in columns.iter().enumerate() {
                    let number = row.offset(c.cast_signed() * self.strides[1]).read_unaligned();
                    *into.get_unchecked_mut(j * rows + i) = number.into();
                }
            }
        }
    }
}

/// The columns `which` of a two-dimensional array, to be read where they are.
pub(crate) fn scattered<T>(array: &PyReadonlyArray2<'_, T>, which: &[usize]) -> Vec<Numbers>
where
    T: Element + Copy + Into<f64> + 'static,
{
    let view = array.as_array();
    let ((rows, columns), strides) = (view.dim(), [view.strides()[0], view.strides()[1]]);
    let kept = array.as_any().clone().unbind();
    let matrix: Arc<dyn Matrix> = Arc::new(Strided { start: view.as_ptr(), rows, columns, strides, _array: kept });
    which.iter().map(|&c| Numbers::column_of(Arc::clone(&matrix), c)).collect()
}
