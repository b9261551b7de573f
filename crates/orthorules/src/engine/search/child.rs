//! A child of a node where several classes share one list of rules: what it is worth to all of them.

use crate::codes::selection::Atom;
use crate::engine::score::Scorer;
use crate::engine::score::statistics::Statistics;

/// A child of a node, before all classes were asked.
#[derive(Debug)]
pub(super) struct ClassChild {
    pub(super) atom: Atom,
    pub(super) rows: f64,
    /// Σ value² of the classes.
    pub(super) squares: f64,
    /// Whether the last class would have a positive weight.
    pub(super) raises: bool,
}

/// What children are worth to the classes.
pub(super) struct Squares<'s>(pub(super) &'s [Scorer]);

impl Squares<'_> {
    /// Adds what child number `next` is worth to a class. Which children there are depends on rows alone: they are the
    /// same for every class.
    pub(super) fn add(&self, all: &mut Vec<ClassChild>, next: usize, class: usize, (atom, sums): (Atom, Statistics)) {
        if next == all.len() {
            all.push(ClassChild { atom, rows: sums.rows(), squares: 0.0, raises: false });
        }
        let child = &mut all[next];
        child.squares += self.0[class].squared_value(sums);
        child.raises = class + 1 == self.0.len() && sums.gradient() < 0.0;
    }
}
