//! Cells without one of their rules: those that only it told apart become one.

use super::{CellSums, Cells, ROWS_IN_A_TASK};
use crate::engine::rows::question::CellSplit;
use crate::engine::targets::response::Response;
use rayon::prelude::*;
use std::sync::Arc;

/// A rule, where its rows went, cell by cell, and how many cells there were then.
type RuleSplit = (usize, Vec<u32>, usize);

impl Cells {
    /// The cells of all rules but `k`, as if that one had never been added, and the cell that each of these is part of
    /// then. Rules behind `k` move up by one.
    pub(crate) fn without(&self, k: usize, response: &Response) -> (Self, Vec<u32>) {
        let (part_of, splits) = self.told_apart((0..self.rules).filter(|&rule| rule != k));
        let count = splits.last().map_or(1, |(_, _, count)| *count);
        let mut rules_of = vec![Arc::default(); count];
        let mut sums = vec![CellSums::default(); count];
        let mut class_units = vec![0; count * self.classes];
        let mut norm_squares = vec![[0; 3]; if self.norm_squares.is_empty() { 0 } else { count }];
        for (cell, &place) in part_of.iter().enumerate() {
            let place = place as usize;
            let others = self.rules_of[cell].iter().filter(|&&rule| rule as usize != k);
            rules_of[place] = others.map(|&rule| rule - u32::from(rule as usize > k)).collect();
            sums[place] += self.sums[cell];
            let units = &self.class_units[cell * self.classes..][..self.classes];
            let all = &mut class_units[place * self.classes..][..self.classes];
            all.iter_mut().zip(units).for_each(|(all, units)| *all += units);
            if let (Some(all), Some(squares)) = (norm_squares.get_mut(place), self.norm_squares.get(cell)) {
                all.iter_mut().zip(squares).for_each(|(all, square)| *all += square);
            }
        }
        let shift = u32::from(self.counted);
        let to_key = |key: &u32| (part_of[(key >> shift) as usize] << shift) | (key & shift);
        let moved = |keys: &Vec<u32>| keys.par_iter().with_min_len(ROWS_IN_A_TASK).map(to_key).collect();
        let split = |(rule, moved_to, cells): RuleSplit| {
            let node = self.history.get(rule)?.node.clone();
            Some(Arc::new(CellSplit { node, moved_to, cells }))
        };
        let mut cells = Self {
            keys: self.keys.iter().map(moved).collect(),
            counted: self.counted,
            rules_of,
            sums,
            mass: Vec::new(),
            b: Vec::new(),
            norm: Vec::new(),
            square: Vec::new(),
            norm_squares,
            by_norm: Vec::new(),
            rules: self.rules - 1,
            classes: self.classes,
            class_units,
            by_class: Vec::new(),
            history: splits.into_iter().filter_map(split).collect(),
        };
        cells.follow(response);
        (cells, part_of)
    }

    /// The cells that some of the rules tell apart: the one that each of these is part of; and of each rule where its
    /// rows went, and how many cells there were then. They have the numbers that they would have if these rules had
    /// been added one after the other.
    fn told_apart(&self, rules: impl Iterator<Item = usize>) -> (Vec<u32>, Vec<RuleSplit>) {
        let (mut part_of, mut count, mut splits) = (vec![0; self.len()], 1, Vec::new());
        for rule in rules {
            let covered = self.are_in_rule(rule);
            let mut has = vec![[false; 2]; count];
            part_of
                .iter()
                .zip(&covered)
                .for_each(|(&place, &covered)| has[place as usize][usize::from(covered)] = true);
            let mut moved_to: Vec<u32> = (0..count as u32).collect();
            for (place, _) in has.iter().enumerate().filter(|(_, has)| has[0] && has[1]) {
                moved_to[place] = count as u32;
                count += 1;
            }
            let moving = part_of.iter_mut().zip(&covered).filter(|(_, covered)| **covered);
            moving.for_each(|(place, _): (&mut u32, _)| *place = moved_to[*place as usize]);
            splits.push((rule, moved_to, count));
        }
        (part_of, splits)
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::cases::{cases, one_cell, selected, split};
    use proptest::prelude::*;

    proptest! {
        /// Whichever rule is dropped, each row is in the cell of the others, and the sums are those of cells that never
        /// had it.
        #[test]
        fn as_if_the_rule_had_never_been(case in cases(5), pick in any::<prop::sample::Index>()) {
            prop_assume!(!case.rules.is_empty());
            let (response, k) = (case.response(), pick.index(case.rules.len()));
            let (mut with, mut never) = (one_cell(&response), one_cell(&response));
            for (number, rule) in case.rules.iter().enumerate() {
                split(&mut with, selected(rule), &response);
                if number != k {
                    split(&mut never, selected(rule), &response);
                }
            }
            let (dropped, part_of) = with.without(k, &response);
            // The cells even have the same numbers.
            prop_assert_eq!(dropped.keys(0), never.keys(0));
            prop_assert_eq!((&dropped.rules_of, &dropped.sums), (&never.rules_of, &never.sums));
            prop_assert_eq!((&dropped.mass, &dropped.b, dropped.rules()), (&never.mass, &never.b, never.rules()));
            for r in 0..case.rows() {
                prop_assert_eq!(part_of[with.of(r)] as usize, dropped.of(r));
            }
        }
    }
}
