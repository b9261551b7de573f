//! How many of all rows lie in every bin and every cell, kept from round to round.
//!
//! A new rule moves rows between cells. The rows that moved were counted already when the search looked below that
//! rule, so the tables of the next round follow by subtraction, without a pass over the rows. Counts are whole numbers,
//! of rows or of units of mass: nothing is lost to rounding.

use crate::bins::BinnedColumn;
use crate::cells::Cells;
use crate::group::Group;
use crate::histogram::{Lanes, Rows};
use crate::loss::Loss;
use crate::masses::Grid;
use crate::objective::{D, G, N, ROWS, Scorer};
use crate::params::Objective;
use crate::response::{PerRow, Response};
use crate::tally::{self, Amount, Counts, Tally, What};
use rayon::prelude::*;

/// Bytes that the tables of all rows may take.
const LARGEST: usize = 128 << 20;
/// Counts of a column for each row that they may have: beyond that a pass over the rows costs less (measured with 200,000).
const DENSE: usize = 4;
/// The same where the counts of rules can take their place.
const DENSE_LINEAR: usize = 1;

/// What was counted of the rows of a node, one for each group.
pub(crate) type Tables = Vec<Tally>;

/// The tables of all rows.
#[derive(Debug, Clone)]
pub(crate) struct RootCounts {
    groups: Vec<Group>,
    tables: Tables,
    /// If so, of each group, the rows of every bin, then those of every bin in the first rule, and so on: all that is needed
    /// when the tables are too large. Else nothing.
    inside: Vec<Vec<u32>>,
    /// Whether the loss is squared and rows have one mass.
    linear: bool,
    /// Whether the tables are gone.
    shed: bool,
    /// Of a row, or a unit.
    mass: f64,
    cells: usize,
}

impl RootCounts {
    /// The tables before there is a rule, with the only cell that there is then; nothing where masses are too different to be
    /// counted, or a norm is needed besides them.
    pub(crate) fn new(
        columns: &[BinnedColumn],
        response: &Response,
        cells: &Cells,
        objective: Objective,
    ) -> Option<Self> {
        if response.norm.is_some() && !objective.is_second_order() {
            return None;
        }
        let Response { b, rows_each, .. } = response;
        let (what, mass) = What::of(&response.mass, response.grid, response.counted, (b, rows_each))?;
        let rows = &Rows::All(response.rows());
        let node = tally::Node { rows, keys: &cells.keys, cells: 1 };
        let count = |constant: &[bool]| -> (Vec<Group>, Tables) {
            let groups = Group::all(columns, constant, rayon::current_num_threads());
            let tables = groups.par_iter().map(|group| tally::count(node, what, group, columns)).collect();
            (groups, tables)
        };
        let (mut groups, mut tables) = count(&[]);
        let constant: Vec<bool> = groups
            .iter()
            .zip(&tables)
            .flat_map(|(group, table)| group.are_constant(|bin| table.has_rows(bin)))
            .collect();
        // No condition can use a column that is the same in all rows, so nothing more is counted of it.
        if constant.contains(&true) {
            (groups, tables) = count(&constant);
        }
        let linear = response.loss == Loss::Squared && matches!(response.mass, PerRow::Same(_));
        let counts = |table: &Tally| table.counts.of_rows().filter(|_| linear).map_or(Vec::new(), <[u32]>::to_vec);
        let inside = tables.iter().map(counts).collect();
        Some(Self { groups, tables, inside, linear, shed: false, mass, cells: 1 })
    }

    /// Rows, G, D and N of every bin of group `index`: `bins × stride`.
    pub(crate) fn statistics(&self, index: usize, scorer: &Scorer) -> Vec<f64> {
        let by_rules = self.linear && (self.shed || linear_is_cheaper(self.cells, scorer.t));
        if let (true, Some((intercept, weights))) = (by_rules, &scorer.linear) {
            return self.linear_statistics(index, scorer, *intercept, weights);
        }
        self.tables[index].statistics(scorer, self.mass)
    }

    /// The same from the counts of rules: with one curvature δ for all, Σ d·q is δ times a count, and Σ μ a sum of weights times counts.
    fn linear_statistics(&self, index: usize, scorer: &Scorer, intercept: f64, weights: &[f64]) -> Vec<f64> {
        let (sums, inside) = (&self.tables[index].sums, &self.inside[index]);
        let (bins, delta) = (sums.len(), self.mass * scorer.cell(0)[1]);
        let mut lanes = Lanes::new(scorer, bins);
        let scaled = |counts: &[u32], by: f64, lane: &mut [f64]| {
            lane.iter_mut().zip(counts).for_each(|(x, &count)| *x += by * f64::from(count));
        };
        let (all, rules) = inside.split_at(bins);
        scaled(all, 1.0, lanes.lane(ROWS));
        scaled(all, self.mass * intercept, lanes.lane(G));
        scaled(all, delta, lanes.lane(D));
        for (k, (counts, weight)) in rules.chunks_exact(bins).zip(weights).enumerate() {
            scaled(counts, self.mass * weight, lanes.lane(G));
            if let Some(place) = scorer.basis.place(k) {
                scaled(counts, delta, lanes.lane(N + place));
            }
        }
        lanes.subtract_targets(sums);
        lanes.statistics()
    }

    /// The groups of columns that are counted together; columns that are the same in all rows are in none.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// How many rows of `tables`, which are those of a node, each cell has; nothing if they do not tell.
    pub(crate) fn rows_of_cells(&self, tables: &Tables) -> Option<Vec<u32>> {
        let (group, table) = self.groups.iter().zip(tables).next()?;
        let cells = table.counts.of_rows()?.chunks_exact(group.bins());
        Some(cells.map(|cell| cell[..group.first_bins()].iter().sum()).collect())
    }

    /// The tables of all groups, unless they became too large.
    pub(crate) fn tables(&self) -> Option<&[Tally]> {
        (!self.shed).then_some(&self.tables)
    }

    /// The bytes that tables of so many cells take.
    pub(crate) fn bytes(&self, cells: usize) -> usize {
        let each = self.tables.first().map_or(0, |table| table.counts.size());
        self.groups.iter().map(Group::bins).sum::<usize>() * cells * each
    }

    /// The same without tables, if they would be too large for so many cells; nothing where they are all that is known.
    pub(crate) fn not_outgrown(mut self, cells: usize, rows: usize) -> Option<Self> {
        let longest = self.groups.iter().map(Group::most_bins).max().unwrap_or_default();
        let dense = if self.linear { DENSE_LINEAR } else { DENSE };
        if longest * cells > dense * rows || self.bytes(cells) > LARGEST {
            self.shed();
            return self.linear.then_some(self);
        }
        Some(self)
    }

    fn shed(&mut self) {
        self.shed = true;
        self.tables.iter_mut().for_each(|table| table.counts.clear());
    }

    /// Follows a split of `cells`: the covered rows of cell c are now in `moved_to[c]`. `covered` are the tables of the
    /// covered rows before the split, if the search has them.
    pub(crate) fn split(
        &mut self,
        (columns, response): (&[BinnedColumn], &Response),
        rows: &[u32],
        covered: Option<&Tables>,
        (cells, moved_to): (&Cells, &[u32]),
    ) {
        let (old, new) = (self.cells, cells.len());
        let mut origin: Vec<u32> = (0..new as u32).collect();
        moved_to.iter().zip(0..).for_each(|(&to, cell)| origin[to as usize] = cell);
        let (shed, linear) = (self.shed, self.linear);
        let cell = |&r: &u32| if shed { 0 } else { origin[cells.of(r as usize)] };
        let missing = covered.is_none().then(|| Moved {
            rows: Rows::Some(rows.to_vec()),
            keys: rows.iter().map(cell).collect(),
            cells: if shed { 1 } else { old },
            units: response.grid.map(|grid| (grid, rows.iter().map(|&r| response.mass.at(r as usize)).collect())),
        });
        let places = self.tables.par_iter_mut().zip(&mut self.inside).zip(&self.groups).enumerate();
        places.for_each(|(index, ((table, inside), group))| {
            let counted = missing.as_ref().map(|moved| moved.count(group, columns));
            let moved = covered.map(|tables| &tables[index].counts).or(counted.as_ref());
            match (&mut table.counts, moved) {
                (Counts::Rows(counts), Some(Counts::Rows(moved))) => {
                    if linear {
                        inside.extend(tally::rows_of_bins(moved, group.bins()));
                    }
                    if !shed {
                        move_counts(counts, moved, moved_to, new);
                    }
                }
                (Counts::Units(counts), Some(Counts::Units(moved))) => move_counts(counts, moved, moved_to, new),
                _ => unreachable!("a fit counts rows or units, not both"),
            }
        });
        self.cells = new;
    }
}

/// Takes what is `moved` from the cells that rows leave to those that they move to, of which there are `new` in all then.
fn move_counts<T: Amount>(counts: &mut Vec<T>, moved: &[T], moved_to: &[u32], new: usize) {
    let old = moved_to.len();
    let bins = counts.len() / old;
    counts.resize(new * bins, T::default());
    let (before, after) = counts.split_at_mut(old * bins);
    for (cell, &to) in moved_to.iter().enumerate().filter(|&(cell, &to)| to as usize != cell) {
        let moved = &moved[cell * bins..][..bins];
        before[cell * bins..].iter_mut().zip(moved).for_each(|(count, moved)| *count = count.minus(*moved));
        after[(to as usize - old) * bins..][..bins].copy_from_slice(moved);
    }
}

/// Whether statistics from the counts of rules cost less than from those of cells.
fn linear_is_cheaper(cells: usize, t: usize) -> bool {
    let (cells, t) = (cells as f64, t as f64);
    0.2 * t * t + 2.0 * t < 0.25 * cells * (t + 3.0)
}

/// Rows that a rule covers, with the cells that they come from.
struct Moved {
    rows: Rows,
    keys: Vec<u32>,
    cells: usize,
    /// Their masses, where units are counted.
    units: Option<(Grid, Vec<f64>)>,
}

impl Moved {
    /// By cell and bin.
    fn count(&self, group: &Group, columns: &[BinnedColumn]) -> Counts {
        let node = tally::Node { rows: &self.rows, keys: &self.keys, cells: self.cells };
        let units = self.units.as_ref().map(|(grid, mass)| (*grid, &mass[..]));
        tally::counts_alone(node, units, group, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::{Code, with_codes};
    use crate::cases::{cases, selected};
    use crate::histogram::{Gathered, Method};
    use crate::params::{Intercept, Objective};
    use proptest::prelude::*;

    proptest! {
        /// After any sequence of rules the tables give what a pass over the rows gives, to the last bit of the counts.
        #[test]
        fn tables_follow_the_rules(case in cases(5), known in any::<bool>(), objective in 0usize..5) {
            let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
            let response = case.response();
            let columns = case.binned();
            let params = case.checked(objective, Intercept::Corrected, 0.7);
            let Some(mut root) = RootCounts::new(&columns, &response, &Cells::new(&response), objective) else { return Ok(()) };
            let mut cells = Cells::new(&response);
            for rule in &case.rules {
                let rows = selected(rule);
                let of = |group: &Group| {
                    let bins = group.bins();
                    let mut units = vec![0; bins * cells.len()];
                    for (column, first) in group.of(&columns) {
                        for &r in &rows {
                            let r = r as usize;
                            let amount = response.grid.map_or(1, |grid| grid.units(response.mass.at(r)));
                            let bin = with_codes!(&column.codes, codes => codes[r].index());
                            units[cells.of(r) * bins + first + bin] += amount;
                        }
                    }
                    let counts = match response.grid {
                        None => Counts::Rows(units.iter().map(|&n| n as u32).collect()),
                        Some(_) => Counts::Units(units),
                    };
                    Tally { counts, rows: Vec::new(), sums: Vec::new() }
                };
                let tables: Tables = root.groups().iter().map(of).collect();
                let moved = cells.split(&rows, &response);
                root.split((&columns, &response), &rows, known.then_some(&tables), (&cells, &moved));
            }
            let (_, weights) = case.fitted(&response, &params);
            let scorer = Scorer::new(&response, &cells, &weights, &params);
            let rows = Rows::All(case.rows());
            let gathered = Gathered::new(&rows, &response, &cells, &scorer);
            let (some, rest): (Vec<u32>, Vec<u32>) = (0..case.rows() as u32).partition(|&r| case.query[r as usize]);
            let (some, rest) = (Rows::Some(some), Rows::Some(rest));
            let directly = Gathered::new(&some, &response, &cells, &scorer);
            let by_others = Gathered::new(&rest, &response, &cells, &scorer).subtracted_from(root.tables().unwrap());
            let mut less = root.clone();
            less.shed();
            let by_less = Gathered::new(&rest, &response, &cells, &scorer).left_out_of(&less);
            for (index, group) in root.groups().iter().enumerate() {
                let by = |gathered: &Gathered, method| gathered.statistics_by(method, group, &columns);
                let pairs = [
                    (by(&gathered, Method::Cells), root.statistics(index, &scorer)),
                    (by(&directly, Method::Vectors), by_others.statistics(index, group, &columns)),
                ];
                let without_tables = || {
                    [
                        (by(&gathered, Method::Rules), less.statistics(index, &scorer)),
                        (by(&directly, Method::Rules), by_less.statistics(index, group, &columns)),
                    ]
                };
                let more = less.linear.then(without_tables);
                for (expected, found) in pairs.into_iter().chain(more.into_iter().flatten()) {
                    prop_assert_eq!(found.len(), expected.len());
                    for (f, e) in found.iter().zip(&expected) {
                        prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{} {}", f, e);
                    }
                }
            }
        }
    }
}
