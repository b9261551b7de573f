//! The rules of cells, several at a time.
//!
//! A pass over the cells adds what all classes have of the rules that a cell is in, or hands what a cell has to these
//! rules. The plain loop is `for cell, rule of the cell, class: sum[cell][class] += vector[rule][class]`. Departures
//! from it:
//! 1. Rules come in groups. A group of six has 64 patterns of rules that a cell may be in. What a pattern adds up to is
//!    known beforehand, so that a cell takes one addition for a group and not one for each of its rules.
//! 2. Classes lie side by side, four to a register, and the last register is filled up with zeros.

use crate::engine::cells::Cells;
use std::ops::Range;

/// What four neighbouring classes have.
pub(super) type Four = [f64; 4];

/// More rules of a group have more patterns than stay in the nearest cache.
const MOST_IN_A_GROUP: usize = 6;

/// Which patterns the cells have.
pub(super) struct Patterns {
    /// Registers that hold all classes.
    fours: usize,
    /// The rules of each group, of which there is at least one.
    groups: Vec<Range<usize>>,
    /// Where the patterns of each group begin among those of all, and the last end.
    starts: Vec<usize>,
    /// The pattern of every cell in every group, cell by cell.
    of_cells: Vec<u32>,
}

impl Patterns {
    pub(super) fn new(cells: &Cells, classes: usize) -> Self {
        let rules = cells.rules();
        // Where cells are few, so must patterns be.
        let most = (cells.len().max(8).ilog2() as usize - 2).min(MOST_IN_A_GROUP);
        let each = rules.div_ceil(rules.div_ceil(most).max(1)).max(1);
        let groups: Vec<Range<usize>> =
            (0..rules.max(1)).step_by(each).map(|first| first..rules.min(first + each)).collect();
        let mut starts = vec![0];
        groups.iter().for_each(|group| starts.push(starts[starts.len() - 1] + (1 << group.len())));
        let mut of_cells = vec![0; cells.len() * groups.len()];
        for (cell, own) in of_cells.chunks_exact_mut(groups.len()).enumerate() {
            own.iter_mut().zip(&starts).for_each(|(own, &start)| *own = start as u32);
            cells.rules_of(cell).iter().map(|&k| k as usize).for_each(|k| own[k / each] += 1 << (k % each));
        }
        Self { fours: classes.div_ceil(4), groups, starts, of_cells }
    }

    /// Numbers that a variable has: one for each class, filled up.
    pub(super) fn stride(&self) -> usize {
        4 * self.fours
    }

    /// The patterns of a cell.
    #[inline]
    pub(super) fn of(&self, cell: usize) -> &[u32] {
        &self.of_cells[cell * self.groups.len()..][..self.groups.len()]
    }

    /// Nothing of any pattern.
    pub(super) fn zeros(&self) -> Vec<Four> {
        vec![[0.0; 4]; self.starts[self.groups.len()] * self.fours]
    }

    /// What every pattern adds up to, for a vector of the intercepts and the weights of every rule.
    pub(super) fn sums(&self, vector: &[f64]) -> Vec<Four> {
        let (mut sums, fours) = (self.zeros(), self.fours);
        let (intercepts, rules) = vector.as_chunks::<4>().0.split_at(fours);
        sums[..fours].copy_from_slice(intercepts);
        for (group, &start) in self.groups.iter().zip(&self.starts) {
            for pattern in 1..1 << group.len() {
                let rule = group.start + (pattern as u32).trailing_zeros() as usize;
                let (without, here) = ((start + (pattern & (pattern - 1))) * fours, (start + pattern) * fours);
                for v in 0..fours {
                    sums[here + v] = added(sums[without + v], rules[rule * fours + v]);
                }
            }
        }
        sums
    }

    /// What intercepts and rules have, where this is what cells have handed to their patterns.
    pub(super) fn vector(&self, mut handed: Vec<Four>) -> Vec<f64> {
        let fours = self.fours;
        let mut vector = vec![[0.0; 4]; (1 + self.groups[self.groups.len() - 1].end) * fours];
        for (group, &start) in self.groups.iter().zip(&self.starts) {
            for pattern in (1..1 << group.len()).rev() {
                let rule = group.start + (pattern as u32).trailing_zeros() as usize;
                let (without, here) = ((start + (pattern & (pattern - 1))) * fours, (start + pattern) * fours);
                for v in 0..fours {
                    let own = &mut vector[(1 + rule) * fours + v];
                    *own = added(*own, handed[here + v]);
                    handed[without + v] = added(handed[without + v], handed[here + v]);
                }
            }
        }
        vector[..fours].copy_from_slice(&handed[..fours]);
        vector.into_flattened()
    }
}

/// The sum, class by class.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(crate) fn added(a: Four, b: Four) -> Four {
    std::array::from_fn(|k| a[k] + b[k])
}

/// Adds up what the patterns of a cell have.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(super) fn gather(patterns: &[u32], sums: &[Four], to: &mut [Four]) {
    let of = |pattern: u32| &sums[pattern as usize * to.len()..][..to.len()];
    let [first, others @ ..] = patterns else { return };
    let first = of(*first);
    match others {
        [] => to.copy_from_slice(first),
        [second, others @ ..] => {
            let second = of(*second);
            (0..to.len()).for_each(|v| to[v] = added(first[v], second[v]));
            for &pattern in others {
                let own = &sums[pattern as usize * to.len()..][..to.len()];
                to.iter_mut().zip(own).for_each(|(to, own)| *to = added(*to, *own));
            }
        }
    }
}

/// Hands what a cell has to its patterns.
#[inline(always)]
#[allow(clippy::inline_always)]
pub(super) fn scatter(patterns: &[u32], what: &[Four], handed: &mut [Four]) {
    for &pattern in patterns {
        let own = &mut handed[pattern as usize * what.len()..][..what.len()];
        own.iter_mut().zip(what).for_each(|(own, what)| *own = added(*own, *what));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cases::{cases_of_classes, one_cell, selected, split};
    use proptest::prelude::*;

    proptest! {
        /// What cells gather from their patterns, and hand to them, is what they have of their rules one by one.
        #[test]
        fn patterns_are_the_rules_of_cells(case in cases_of_classes(9), seed in 0u32..1000) {
            let response = case.shared_response();
            let mut cells = one_cell(&response);
            case.rules.iter().for_each(|rule| split(&mut cells, selected(rule), &response));
            let patterns = Patterns::new(&cells, response.classes);
            let (stride, rules) = (patterns.stride(), cells.rules());
            prop_assert!(stride % 4 == 0 && stride >= response.classes && stride < response.classes + 4);
            let number = |at: usize| f64::from((at as u32).wrapping_mul(2_654_435_761).wrapping_add(seed) % 64);
            let vector: Vec<f64> = (0..(1 + rules) * stride).map(number).collect();
            let sums = patterns.sums(&vector);
            let (mut handed, mut expected) = (patterns.zeros(), vec![0.0; vector.len()]);
            for cell in 0..cells.len() {
                let variables = || [0].into_iter().chain(cells.rules_of(cell).iter().map(|&k| 1 + k as usize));
                let mut found = vec![[0.0; 4]; stride / 4];
                gather(patterns.of(cell), &sums, &mut found);
                for (class, found) in found.as_flattened().iter().enumerate() {
                    let sum: f64 = variables().map(|i| vector[i * stride + class]).sum();
                    prop_assert_eq!(*found, sum);
                }
                scatter(patterns.of(cell), &found, &mut handed);
                for i in variables() {
                    (0..stride).for_each(|c| expected[i * stride + c] += found.as_flattened()[c]);
                }
            }
            prop_assert_eq!(patterns.vector(handed), expected);
        }
    }
}
