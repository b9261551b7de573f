//! What a query is worth to all classes that share it, and bounds on that. One score is the case of one class.
//!
//! docs/algorithm.md, "Bounds where classes share their rules". The square of the value is a sum over the classes, so
//! that the squares of their bounds bound it: each class may select its own best part of a node's units.

use super::bound::{BySign, NodeBound, SubsetBounds};
use super::relaxation::Workspace;
use super::units::{UnitStats, Units};
use crate::engine::score::statistics::Statistics;
use crate::engine::score::{ClassScorers, Scorer};
use crate::engine::search::Searcher;
use crate::engine::search::exact::item::{Item, SLACK};
use crate::params::Bound;

/// The units of one class, or of the only score.
struct ClassUnits<'a> {
    stats: UnitStats,
    scorer: &'a Scorer,
    /// Where each unit of the first class stands in the order of this one; empty for the first.
    places: Vec<u32>,
}

/// The units of all classes. They are named by their positions in the order of the first.
pub(crate) struct Joint<'a> {
    /// The only score, or the first class.
    first: ClassUnits<'a>,
    others: Vec<ClassUnits<'a>>,
    classes: Option<&'a ClassScorers>,
    kind: Bound,
    stride: usize,
}

/// What is known of a node for one class.
#[derive(Debug, Clone, Copy)]
struct ClassBound {
    by_sign: BySign,
    /// λ̄ of the node.
    largest: f64,
}

/// Scratch space of a thread, and the bounds of the node that it looked at last.
#[derive(Default)]
pub(crate) struct JointBuffers {
    work: Workspace,
    /// The units of a node as each class knows them.
    items: Vec<Vec<Item>>,
    /// Where classes share their rules, what is known for each.
    bounds: Vec<ClassBound>,
    /// Where there is one score, what is known for that.
    only: NodeBound,
}

impl<'a> Joint<'a> {
    pub(crate) fn new(searcher: &'a Searcher<'a>, units: &Units) -> Self {
        let (response, cells, kind) = (searcher.response, searcher.cells, searcher.params.bound);
        let Some(classes) = searcher.classes else {
            let stats = UnitStats::new(units, response, cells, searcher.scorer, kind);
            let (stride, first) = (stats.stride, ClassUnits { stats, scorer: searcher.scorer, places: Vec::new() });
            return Self { first, others: Vec::new(), classes: None, kind, stride };
        };
        let stats = |class: usize| UnitStats::of_class(units, response, cells, (class, &classes.each[class]), kind);
        let first = ClassUnits { stats: stats(0), scorer: &classes.each[0], places: Vec::new() };
        let other = |class: usize| {
            let stats = stats(class);
            let mut position = vec![0u32; units.len()];
            stats.order.iter().zip(0..).for_each(|(&u, p)| position[u as usize] = p);
            let places = first.stats.order.iter().map(|&u| position[u as usize]).collect();
            ClassUnits { stats, scorer: &classes.each[class], places }
        };
        let others: Vec<ClassUnits> = (1..classes.each.len()).map(other).collect();
        let stride = classes.each.len() * first.stats.stride;
        Self { first, others, classes: Some(classes), kind, stride }
    }

    /// The classes, or the only score.
    fn each(&self) -> impl Iterator<Item = &ClassUnits<'a>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Which unit stands at a position.
    pub(crate) fn order(&self) -> &[u32] {
        &self.first.stats.order
    }

    /// How many numbers a unit has: statistics and shares, class by class.
    #[inline]
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// The numbers of the unit at `position`.
    pub(crate) fn vector(&self, position: u32) -> impl Iterator<Item = f64> + '_ {
        self.each().flat_map(move |class| class.stats.vector(class.place(position)).iter().copied())
    }

    /// The value of a query whose units have these sums, and whether its rule would raise the score, or that of the
    /// last class.
    #[inline]
    pub(crate) fn value(&self, sums: &[f64]) -> (f64, bool) {
        match self.classes {
            None => (self.first.scorer.value(self.first.stats.plain(sums)), Statistics::of(sums).gradient() < 0.0),
            Some(classes) => self.value_of_all(classes, sums),
        }
    }

    #[inline(never)]
    fn value_of_all(&self, classes: &ClassScorers, sums: &[f64]) -> (f64, bool) {
        let (mut squares, mut raises) = (0.0, false);
        for (class, sums) in self.each().zip(sums.chunks_exact(self.first.stats.stride)) {
            squares += class.scorer.value(class.stats.plain(sums)).powi(2);
            raises = Statistics::of(sums).gradient() < 0.0;
        }
        (classes.joint_value(squares), raises)
    }

    /// The statistics of the only score, or of the first class.
    #[inline]
    pub(crate) fn first<'v>(&self, sums: &'v [f64]) -> Statistics<'v> {
        self.first.stats.plain(sums)
    }

    /// A bound on the values below the node of `units`, of which `inherited` is known already; `None` when it is not
    /// above `threshold`. What quick bounds of the node's children need is left in `buffers`.
    pub(crate) fn above(
        &self,
        units: &[u32],
        inherited: f64,
        threshold: f64,
        buffers: &mut JointBuffers,
    ) -> Option<f64> {
        let JointBuffers { work, items, bounds, only } = buffers;
        items.resize_with(1 + self.others.len(), Vec::new);
        for (class, items) in self.each().zip(items.iter_mut()) {
            items.clear();
            items.extend(units.iter().map(|&u| (class.place(u), 1.0)));
            // Prefixes go by the order; the relaxation wants cells together, which they are in every order that has
            // them so.
            if !class.places.is_empty() && !self.bounds(class).relaxes() {
                items.sort_unstable_by_key(|&(place, _)| place);
            }
        }
        let Some(classes) = self.classes else {
            *only = self.bounds(&self.first).above(&items[0], inherited, threshold, work)?;
            return Some(only.value);
        };
        bounds.clear();
        // Shares are quick; where they do not cut the node, one class after another gets the bound of its relaxation.
        let most = inherited / classes.joint_value(1.0);
        for (class, items) in self.each().zip(&*items) {
            let value = class.scorer.ceiling.min(most);
            let by_sign = self.bounds(class).by_shares(items, BySign { up: value, down: value });
            bounds.push(ClassBound { by_sign, largest: f64::INFINITY });
        }
        let mut value = inherited.min(joint(classes, bounds.iter().map(|bound| bound.by_sign)));
        for (k, class) in self.each().enumerate() {
            if value <= threshold {
                return None;
            }
            let known = bounds[k].by_sign;
            let tight = self.bounds(class).signed(&items[k], known.up.max(known.down), work);
            bounds[k].by_sign = BySign { up: tight.up.min(known.up), down: tight.down.min(known.down) };
            value = inherited.min(joint(classes, bounds.iter().map(|bound| bound.by_sign)));
        }
        if value <= threshold {
            return None;
        }
        for ((class, items), bound) in self.each().zip(&*items).zip(bounds.iter_mut()) {
            bound.largest = self.bounds(class).factor(items, value, work).largest;
        }
        Some(value)
    }

    /// A bound on the values below a child, whose units have these sums, of the node with the bound `value` that was
    /// looked at last.
    #[inline]
    pub(crate) fn child(&self, value: f64, sums: &[f64], buffers: &JointBuffers) -> f64 {
        match self.classes {
            None => self.bounds(&self.first).child(&buffers.only, self.first.stats.shares(sums)),
            Some(classes) => self.child_of_all(classes, value, sums, buffers),
        }
    }

    #[inline(never)]
    fn child_of_all(&self, classes: &ClassScorers, value: f64, sums: &[f64], buffers: &JointBuffers) -> f64 {
        let of_class = |((class, bound), sums): ((&ClassUnits, &ClassBound), &[f64])| {
            self.bounds(class).signed_child(bound.by_sign, bound.largest, class.stats.shares(sums))
        };
        let each = self.each().zip(&buffers.bounds).zip(sums.chunks_exact(self.first.stats.stride));
        value.min(joint(classes, each.map(of_class)))
    }

    #[inline]
    fn bounds<'b>(&self, class: &'b ClassUnits) -> SubsetBounds<'b> {
        SubsetBounds { stats: &class.stats, scorer: class.scorer, kind: self.kind }
    }
}

impl ClassUnits<'_> {
    /// Where the unit that has a position in the order of the first class stands in the order of this one.
    #[inline]
    fn place(&self, position: u32) -> u32 {
        if self.places.is_empty() { position } else { self.places[position as usize] }
    }
}

/// The bound of all classes from those of each. The gradients of a row add up to 0 over the classes, and so do sums of
/// them: not all classes have one sign. Where all bounds are larger for the same sign, the class that loses least takes
/// the other.
fn joint(classes: &ClassScorers, each: impl Iterator<Item = BySign>) -> f64 {
    let (mut sum, mut least, mut all_up, mut all_down) = (0.0, f64::INFINITY, true, true);
    for BySign { up, down } in each {
        let [up, down] = [up, down].map(|bound| bound * bound);
        sum += f64::max(up, down);
        least = f64::min(least, (up - down).abs());
        all_up &= up > down;
        all_down &= down > up;
    }
    let squares: f64 = if all_up || all_down { sum - least } else { sum };
    if squares.is_finite() { classes.joint_value(squares.max(0.0)) * SLACK } else { f64::MAX }
}
