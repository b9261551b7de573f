//! Values of a slow function, remembered by its argument.

/// Places of a [`Memo`]: more than there are different scores in most models.
const PLACES: usize = 1 << 10;

/// The values of one function that were asked for last.
///
/// Rows of one cell have one score, so that few rows need an exponential of their own.
pub(crate) struct Memo<V> {
    known: Vec<(u64, V)>,
}

impl<V: Copy> Memo<V> {
    /// The value at `x`.
    pub(crate) fn of(&mut self, x: f64, function: impl Fn(f64) -> V) -> V {
        let bits = x.to_bits();
        if self.known.is_empty() {
            self.known = vec![(0, function(0.0)); PLACES];
        }
        // The high bits of the product depend on all bits of the score.
        let place = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize % PLACES;
        let (key, value) = &mut self.known[place];
        if *key != bits {
            (*key, *value) = (bits, function(x));
        }
        *value
    }
}

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self { known: Vec::new() }
    }
}
