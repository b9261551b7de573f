//! Which conditions of a query some row needs.

use super::LocalPartition;
use super::question::Clause;
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::codes::wanted::with_wanted;
use rayon::prelude::*;
use std::ops::Range;

/// Rows looked at together: what is noted of them stays in the nearest cache.
const ROWS_IN_A_BLOCK: usize = 1 << 9;
/// Blocks that are looked at before the others: mostly they show that every condition is needed.
const FIRST: usize = 128;

impl LocalPartition<'_> {
    /// Notes for each condition whether some row violates it alone.
    pub(crate) fn note_needed(&self, conditions: &[Clause], needed: &mut Vec<bool>) {
        if !needed.iter().all(|&n| n) {
            *needed = violated_alone(&self.columns, self.rows(), conditions, std::mem::take(needed));
        }
    }
}

/// For each condition, whether some row violates it alone, or it was `needed` before.
fn violated_alone(columns: &[BinnedColumn], rows: usize, conditions: &[Clause], mut needed: Vec<bool>) -> Vec<bool> {
    let block = |start: usize| {
        let range = start..rows.min(start + ROWS_IN_A_BLOCK);
        let mut violated = [0u16; ROWS_IN_A_BLOCK];
        let violated = &mut violated[..range.len()];
        let mut alone = vec![false; conditions.len()];
        for condition in conditions {
            each(columns, condition, range.clone(), violated, |count, broken| *count += u16::from(broken));
        }
        for (alone, condition) in alone.iter_mut().zip(conditions) {
            let mut some = 0;
            each(columns, condition, range.clone(), violated, |count, broken| {
                some |= u16::from(*count == 1) & u16::from(broken);
            });
            *alone = some != 0;
        }
        alone
    };
    let either = |mut a: Vec<bool>, b: Vec<bool>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
        a
    };
    let starts: Vec<usize> = (0..rows).step_by(ROWS_IN_A_BLOCK).collect();
    let (first, later) = starts.split_at(starts.len().min(FIRST));
    for &start in first {
        needed = either(needed, block(start));
        if needed.iter().all(|&n| n) {
            return needed;
        }
    }
    later.par_iter().with_min_len(FIRST).map(|&s| block(s)).reduce(|| needed.clone(), either)
}

/// Calls `visit` with what is noted of each row of `range`, and whether the row violates a condition.
fn each(
    columns: &[BinnedColumn],
    Clause { column, wanted, .. }: &Clause,
    range: Range<usize>,
    noted: &mut [u16],
    mut visit: impl FnMut(&mut u16, bool),
) {
    let column = &columns[*column as usize];
    with_wanted!(wanted, contains => with_codes!(&column.codes, codes => {
        for (noted, code) in noted.iter_mut().zip(&codes[range]) {
            visit(noted, !contains(code.index()));
        }
    }));
}

#[cfg(test)]
mod tests {
    use crate::codes::query::Query;
    use crate::codes::selection::{Atom, Selection};
    use crate::engine::cases::cases;
    use crate::engine::rows::{Rows, Selected};
    use proptest::prelude::*;

    fn selected(rows: &Rows, query: &Query) -> Selected {
        query.atoms.iter().fold(rows.all(), |some, &atom| rows.select(&some, atom, true))
    }

    /// The definition: try every condition in turn.
    fn naive(rows: &Rows, mut query: Query) -> Query {
        let all = selected(rows, &query);
        let mut i = 0;
        while i < query.len() {
            let shorter = query.without(i);
            if query.len() > 1 && selected(rows, &shorter) == all {
                query = shorter;
            } else {
                i += 1;
            }
        }
        query
    }

    proptest! {
        #[test]
        fn the_same_conditions_go_as_by_trying(
            case in cases(1),
            atoms in prop::collection::vec((0u32..3, any::<prop::sample::Index>()), 1..7),
            set in prop::option::of((prop::collection::btree_set(0u32..4, 1..4), any::<bool>())),
        ) {
            let columns = case.binned();
            let mut query = atoms.into_iter().fold(Query::default(), |query, (column, pick)| {
                let all: Vec<Selection> = Selection::all(columns[column as usize].bins).collect();
                query.with(Atom { column, selection: *pick.get(&all) })
            });
            let response = case.response();
            let end = case.rows() / 3;
            let bins = columns[2].bins as u32;
            let known = |levels: std::collections::BTreeSet<u32>| -> Vec<u32> {
                levels.into_iter().filter(|&l| l < bins).collect()
            };
            let set = set.map(|(levels, inside)| (known(levels), inside));
            let selection_of = |inside: bool| if inside { Selection::In(0) } else { Selection::NotIn(0) };
            let selection = set.as_ref().map(|(_, inside)| selection_of(*inside));
            query.atoms.extend(selection.map(|selection| Atom { column: 2, selection }));
            for rows in [Rows::whole(&columns, &response), Rows::divided(&columns, &response, &[0, end, end + 1])] {
                if let Some((levels, _)) = &set {
                    rows.sets().number(levels.clone());
                }
                prop_assert_eq!(rows.minimal(query.clone()), naive(&rows, query.clone()));
            }
        }
    }
}
