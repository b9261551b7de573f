//! Vectors that have done their work, kept for the next one that is needed.
//!
//! The search wants vectors as long as a node has rows, for every node, and only for a moment. Memory of that size
//! comes from the system and goes back to it: every time its pages are cleared, and threads that do so wait for one
//! another. So each thread keeps a few. They go when the thread goes, and threads last as long as a fit.

use std::cell::RefCell;
use std::thread::LocalKey;

/// So many are kept of each kind,
const MOST_KEPT: usize = 64;
/// none of them with more bytes than this: on tables of many millions of rows memory is dearer than time.
const LARGEST_KEPT_BYTES: usize = 16 << 20;

/// The vectors that a thread keeps.
pub(crate) type Shelf<T> = RefCell<Vec<Vec<T>>>;

/// What vectors are kept of.
pub(crate) trait Reusable: Copy + Send + Sync + Sized + 'static {
    /// Those of this thread.
    fn shelf() -> &'static LocalKey<Shelf<Self>>;
}

macro_rules! kept {
    ($($kind:ty),*) => {$(
        impl $crate::base::scratch::Reusable for $kind {
            fn shelf() -> &'static std::thread::LocalKey<$crate::base::scratch::Shelf<Self>> {
                thread_local!(
                    static SHELF: $crate::base::scratch::Shelf<$kind> = const { std::cell::RefCell::new(Vec::new()) }
                );
                &SHELF
            }
        }
    )*};
}
kept!((), u8, u32, u64, i64, i128, f32, f64);
pub(crate) use kept;

/// An empty vector with room for this many: the smallest spare one that has it, or a new one.
pub(crate) fn take<T: Reusable>(room: usize) -> Vec<T> {
    let mut vector = used(room);
    vector.clear();
    vector
}

/// A vector with this room, with what it was last used for still in it.
fn used<T: Reusable>(room: usize) -> Vec<T> {
    T::shelf().with_borrow_mut(|shelf| {
        let enough = shelf.iter().enumerate().filter(|(_, v)| v.capacity() >= room);
        if let Some((place, _)) = enough.min_by_key(|(_, v)| v.capacity()) {
            return shelf.swap_remove(place);
        }
        // One that is too small for what is wanted now makes way for the new one, which will take its place.
        shelf.pop();
        let rounded = room.next_power_of_two();
        Vec::with_capacity(if rounded * size_of::<T>() <= LARGEST_KEPT_BYTES { rounded } else { room })
    })
}

/// So many zeros.
pub(crate) fn zeros<T: Reusable + Default>(count: usize) -> Vec<T> {
    let mut vector = take(count);
    vector.resize(count, T::default());
    vector
}

/// So many values, each of which is to be written before it is read.
pub(crate) fn any<T: Reusable + Default>(count: usize) -> Vec<T> {
    let mut vector = used(count);
    vector.resize(count, T::default());
    vector
}

/// Keeps a vector for later.
pub(crate) fn give<T: Reusable>(vector: Vec<T>) {
    T::shelf().with_borrow_mut(|shelf| {
        if shelf.len() < MOST_KEPT && (1..=LARGEST_KEPT_BYTES).contains(&(vector.capacity() * size_of::<T>())) {
            shelf.push(vector);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_taken_again() {
        let mut vector: Vec<u32> = take(100);
        vector.extend(0..90);
        let place = vector.as_ptr();
        give(vector);
        give(Vec::<u32>::with_capacity(1000));
        let again: Vec<u32> = take(60);
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
        assert!(take::<u32>(60).capacity() >= 1000);
        assert!(take::<u32>(60).capacity() >= 60);
    }

    #[test]
    fn zeros_are_zeros_and_others_have_their_length() {
        for used in [3, 300] {
            give(vec![7i64; used]);
            assert_eq!(zeros::<i64>(100), [0; 100]);
            give(vec![7i64; used]);
            assert_eq!(any::<i64>(100).len(), 100);
        }
    }

    #[test]
    fn no_more_are_kept_than_may_be() {
        give(Vec::<f64>::with_capacity(LARGEST_KEPT_BYTES));
        (0..2 * MOST_KEPT).for_each(|_| give(vec![0.0]));
        assert_eq!(f64::shelf().with_borrow(Vec::len), MOST_KEPT);
        assert!((10..LARGEST_KEPT_BYTES).contains(&take::<f64>(10).capacity()));
        assert_eq!(f64::shelf().with_borrow(Vec::len), MOST_KEPT - 1);
    }
}
