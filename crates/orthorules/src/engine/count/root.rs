//! How many of all rows lie in every bin and every cell, kept from round to round.
//!
//! A new rule moves rows between cells. The rows that moved were counted already when the search looked below that
//! rule, so the tables of the next round follow by subtraction, without a pass over the rows. Counts are whole numbers,
//! of rows or of units of mass: nothing is lost to rounding.

mod remote;
#[cfg(test)]
mod tests;

use crate::codes::column::BinnedColumn;
use crate::engine::cells::Cells;
use crate::engine::count::amount::Amount;
use crate::engine::count::bin_statistics::BinStatistics;
use crate::engine::count::by_row;
use crate::engine::count::cell_counts::{self, CellCounts, Counts};
use crate::engine::count::group::Group;
use crate::engine::mass::PerRow;
use crate::engine::row_list::RowList;
use crate::engine::rows::{Rows, Selected};
use crate::engine::score::Scorer;
use crate::engine::targets::response::Response;
use rayon::prelude::*;

/// Bytes that the tables of all rows may take.
const LARGEST_TABLES_BYTES: usize = 128 << 20;
/// Counts of a column for each row that they may have: beyond that a pass over the rows costs less (measured with
/// 200,000).
const DENSE: usize = 4;
/// Counts of a column for each row, where the counts of rules can take the place of tables.
const DENSE_LINEAR: usize = 1;

/// Counts of a column up to which all rows are counted by cell even if they serve for nothing else.
const MOST_COUNTS: usize = 1 << 20;

/// What was counted of the rows of a node, one for each group.
pub(crate) type Tables = Vec<CellCounts>;

/// The tables of all rows.
#[derive(Debug, Clone)]
pub(crate) struct RootCounts {
    groups: Vec<Group>,
    tables: Tables,
    /// If so, of each group, the rows of every bin, then those of every bin in the first rule, and so on: all that is
    /// needed when the tables are too large. Else nothing.
    counts_by_rule: Vec<Vec<u32>>,
    /// Whether the loss is squared and rows have one mass, and are not too many for these counts.
    linear: bool,
    /// What they are for.
    serves: Serves,
    /// Whether the tables are there. If rows are here, they are as long as they serve for everything.
    has_tables: bool,
    cells: usize,
}

/// What the tables of all rows are for. Beyond some cells it is quicker to read the rows; but remote rows are not read
/// without need, so that tables stay for what gives the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Serves {
    Everything,
    /// Rows that are left out of others are not subtracted from them; all rows are computed from counts by rule.
    ByRule,
    /// All rows are computed from them, and no others.
    AllRows,
}

impl RootCounts {
    /// The tables before there is a rule, with the only cell that there is then. `count` counts groups of columns over
    /// all rows.
    pub(crate) fn new(columns: &[BinnedColumn], response: &Response, count: impl Fn(&[Group]) -> Tables) -> Self {
        let count = |constant: &[bool]| -> (Vec<Group>, Tables) {
            let groups = Group::all(columns, constant, rayon::current_num_threads());
            let tables = count(&groups);
            (groups, tables)
        };
        let (mut groups, mut tables) = count(&remote::constant_columns(columns));
        let constant: Vec<bool> = groups
            .iter()
            .zip(&tables)
            .flat_map(|(group, table)| group.are_constant(|bin| table.has_rows(bin)))
            .collect();
        // No condition can use a column that is the same in all rows, so nothing more is counted of it.
        if constant.contains(&true) {
            (groups, tables) = count(&constant);
        }
        let linear = response.loss.is_quadratic() && response.has_one_mass() && !response.is_vast();
        let counts = |table: &CellCounts| table.counts.of_rows().filter(|_| linear).map_or(Vec::new(), <[u32]>::to_vec);
        let counts_by_rule = tables.iter().map(counts).collect();
        Self { groups, tables, counts_by_rule, linear, serves: Serves::Everything, has_tables: true, cells: 1 }
    }

    /// Whether tables of this many cells are worth being made anew, of units of mass.
    pub(crate) fn fits(columns: &[BinnedColumn], cells: usize, rows: usize) -> bool {
        let bins = || columns.iter().map(|column| column.bins + 1);
        let (longest, all) = (bins().max().unwrap_or_default(), bins().sum::<usize>());
        longest * cells <= DENSE * rows && all * cells * size_of::<u64>() <= LARGEST_TABLES_BYTES
    }

    /// Whether all rows are counted by cell, of which there are this many, where these counts serve for nothing else.
    pub(crate) fn counts_all_rows(columns: &[BinnedColumn], cells: usize) -> bool {
        let bins = || columns.iter().map(|column| column.bins + 1);
        let (longest, all) = (bins().max().unwrap_or_default(), bins().sum::<usize>());
        longest * cells <= MOST_COUNTS && all * cells * size_of::<u64>() <= LARGEST_TABLES_BYTES
    }

    /// Rows, G, D and N of every bin of group `index`: `bins × stride`.
    pub(crate) fn statistics(&self, index: usize, scorer: &Scorer, response: &Response) -> Vec<f64> {
        let by_rules = match self.serves {
            Serves::Everything => self.linear && linear_is_cheaper(self.cells, scorer.t),
            Serves::ByRule => true,
            Serves::AllRows => false,
        };
        if let (true, Some((intercept, weights))) = (by_rules, &scorer.linear) {
            return self.linear_statistics(index, (scorer, response), *intercept, weights);
        }
        self.tables[index].statistics(scorer, response)
    }

    /// Statistics of all rows from the counts of rules: with one curvature δ for all, Σ d·q is δ times a count, and Σ μ
    /// a sum of weights times counts.
    fn linear_statistics(
        &self,
        index: usize,
        (scorer, response): (&Scorer, &Response),
        intercept: f64,
        weights: &[f64],
    ) -> Vec<f64> {
        let (sums, counts_by_rule, mass) = (&self.tables[index].sums, &self.counts_by_rule[index], response.mass_unit);
        let (bins, delta) = (sums.len(), mass * scorer.cell(0)[1]);
        let mut of_bins = BinStatistics::new(scorer, bins);
        let scaled = |counts: &[u32], by: f64, to: &mut [f64]| {
            to.iter_mut().zip(counts).for_each(|(x, &count)| *x += by * f64::from(count));
        };
        let (all, rules) = counts_by_rule.split_at(bins);
        scaled(all, 1.0, of_bins.rows());
        scaled(all, mass * intercept, of_bins.gradient());
        scaled(all, delta, of_bins.curvature());
        for (k, (counts, weight)) in rules.chunks_exact(bins).zip(weights).enumerate() {
            scaled(counts, mass * weight, of_bins.gradient());
            if let Some(place) = scorer.basis.place(k) {
                scaled(counts, delta, of_bins.along(place));
            }
        }
        of_bins.subtract_targets(sums, response.b_unit);
        of_bins.add_trends(&self.tables[index].trends);
        of_bins.statistics()
    }

    /// Follows a trend that was added as the newest term. `count` sums what rows add along it, by the bins of a group.
    pub(crate) fn add_trend(&mut self, count: impl Fn(&Group) -> Vec<f64> + Sync) {
        let sums: Vec<Vec<f64>> = self.groups.par_iter().map(&count).collect();
        let tables = self.tables.iter_mut().zip(&mut self.counts_by_rule);
        for ((table, counts), sums) in tables.zip(sums) {
            // No row is in it, as rules have rows.
            if self.linear {
                counts.resize(counts.len() + sums.len(), 0);
            }
            table.trends.extend(sums);
        }
    }

    /// The groups of columns that are counted together; columns that are the same in all rows are in none.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The tables of all groups, to subtract others from, unless they became too large.
    pub(crate) fn tables(&self) -> Option<&[CellCounts]> {
        (self.serves == Serves::Everything).then_some(&self.tables)
    }

    /// The tables of all groups, for all rows.
    pub(crate) fn own_tables(&self) -> Option<&[CellCounts]> {
        self.has_tables.then_some(&self.tables)
    }

    /// Whether it is of no use for some of the rows.
    pub(crate) fn serves_all_rows_alone(&self) -> bool {
        self.serves == Serves::AllRows
    }

    /// The bytes that tables of this many cells take.
    pub(crate) fn bytes(&self, cells: usize) -> usize {
        let each = self.tables.first().map_or(0, |table| table.counts.size());
        let norms = self.tables.first().and_then(|table| table.norms.as_ref()).map_or(0, Counts::size);
        self.groups.iter().map(Group::bins).sum::<usize>() * cells * (each + norms)
    }

    /// These counts without tables, if they would be too large for this many cells; nothing where they are all that is
    /// known. Of remote rows, tables of all `columns` stay for all rows.
    pub(crate) fn not_outgrown(self, cells: usize, rows: &Rows, columns: &[BinnedColumn]) -> Option<Self> {
        self.not_outgrown_within(LARGEST_TABLES_BYTES, cells, rows, columns)
    }

    /// These counts where tables may take `most` bytes. Where columns are many and rows are few, columns are left out
    /// of the search, which needs no counts of rules.
    pub(crate) fn not_outgrown_within(
        mut self,
        most: usize,
        cells: usize,
        rows: &Rows,
        columns: &[BinnedColumn],
    ) -> Option<Self> {
        let is_large = self.bytes(cells) > most.min(LARGEST_TABLES_BYTES);
        if is_large && most < LARGEST_TABLES_BYTES && by_row::is_wide(rows.len(), columns.len()) {
            return self.for_all_rows(cells, rows, columns);
        }
        let longest = self.groups.iter().map(Group::most_bins).max().unwrap_or_default();
        let dense = if self.linear { DENSE_LINEAR } else { DENSE };
        let outgrown = longest * cells > dense * rows.len() || is_large;
        if self.serves == Serves::AllRows || (outgrown && !self.linear) {
            return self.for_all_rows(cells, rows, columns);
        }
        if outgrown {
            self.serves = Serves::ByRule;
        }
        if self.serves == Serves::ByRule && !(rows.remote().is_some() && Self::counts_all_rows(columns, cells)) {
            self.drop_tables();
        }
        Some(self)
    }

    /// These counts for all rows alone, if these are remote and tables of this many cells are not too large.
    pub(crate) fn for_all_rows(mut self, cells: usize, rows: &Rows, columns: &[BinnedColumn]) -> Option<Self> {
        self.serves = Serves::AllRows;
        (self.has_tables && rows.remote().is_some() && Self::counts_all_rows(columns, cells)).then_some(self)
    }

    /// Does with the counts of rules alone.
    fn drop_tables(&mut self) {
        (self.serves, self.has_tables) = (Serves::ByRule, false);
        for table in &mut self.tables {
            table.counts.clear();
            table.norms = None;
        }
    }

    /// Follows a split of `cells`: the covered rows of cell c are now in `moved_to[c]`. `covered` are the tables of the
    /// covered rows before the split, if the search has them.
    pub(crate) fn split(
        &mut self,
        rows: &Rows,
        selected: &Selected,
        covered: Option<&Tables>,
        (cells, moved_to): (&Cells, &[u32]),
    ) {
        let new = cells.len();
        let asked = covered.is_none().then(|| self.moved_remotely(rows, selected, cells)).flatten();
        let covered = covered.or(asked.as_ref());
        let moved = covered.is_none().then(|| self.moved(rows, selected, (cells, moved_to)));
        let (has_tables, linear) = (self.has_tables, self.linear);
        let places = self.tables.par_iter_mut().zip(&mut self.counts_by_rule).zip(&self.groups).enumerate();
        places.for_each(|(index, ((table, counts_by_rule), group))| {
            let counted = moved.as_ref().map(|moved| moved.count(rows, group, table.norms.is_some()));
            let (moved, norms) = match (covered, &counted) {
                (Some(tables), _) => (&tables[index].counts, tables[index].norms.as_ref()),
                (None, Some((counts, norms))) => (counts, norms.as_ref()),
                (None, None) => return,
            };
            if let (true, Counts::Rows(moved)) = (linear, moved) {
                let before = counts_by_rule.len();
                counts_by_rule.resize(before + group.bins(), 0);
                cell_counts::add_rows_of_bins(moved, &mut counts_by_rule[before..]);
            }
            if has_tables {
                table.counts.follow(moved, moved_to, new);
                if let (Some(table), Some(norms)) = (&mut table.norms, norms) {
                    table.follow(norms, moved_to, new);
                }
            }
        });
        self.cells = new;
    }

    /// By how many cells the rows of a rule are counted.
    fn cells_of_moved(&self) -> usize {
        if self.has_tables { self.cells } else { 1 }
    }

    /// What is known of all rows without rule `k`: each cell is part of another one then, of which there are `new`.
    pub(crate) fn without(&self, k: usize, part_of: &[u32], new: usize) -> Self {
        let merge = |table: &CellCounts| {
            let bins = table.sums.len();
            let counts = |counts: &Counts| counts.merged(bins, part_of, new);
            let (all, norms) = (counts(&table.counts), table.norms.as_ref().map(counts));
            CellCounts {
                counts: all,
                norms,
                rows: table.rows.clone(),
                sums: table.sums.clone(),
                classes: table.classes.clone(),
                trends: table.trends.clone(),
            }
        };
        let others = |counts: &Vec<u32>, group: &Group| {
            let (bins, mut counts) = (group.bins(), counts.clone());
            if !counts.is_empty() {
                counts.drain((1 + k) * bins..(2 + k) * bins);
            }
            counts
        };
        Self {
            groups: self.groups.clone(),
            tables: self.tables.iter().map(merge).collect(),
            counts_by_rule: self.counts_by_rule.iter().zip(&self.groups).map(|(c, g)| others(c, g)).collect(),
            linear: self.linear,
            serves: self.serves,
            has_tables: self.has_tables,
            cells: new,
        }
    }

    /// The rows that a rule covers, with the cells that they come from.
    fn moved<'s>(&self, rows: &Rows, selected: &'s Selected, (cells, moved_to): (&Cells, &[u32])) -> CoveredRows<'s> {
        let mut origin: Vec<u32> = (0..cells.len() as u32).collect();
        moved_to.iter().zip(0..).for_each(|(&to, cell)| origin[to as usize] = cell);
        let part = |number: usize| {
            let (list, targets) = (&selected.lists()[number], &rows.parts()[number].targets);
            let old = |key: u32| if self.has_tables { origin[cells.cell_of(key)] } else { 0 };
            MovedPart {
                list,
                keys: list.gather(cells.keys(number)).into_iter().map(old).collect(),
                mass: targets.mass.gather(list),
                norm: targets.norm.as_ref().map(|norm| norm.gather(list)),
            }
        };
        CoveredRows { parts: (0..rows.parts().len()).map(part).collect(), cells: self.cells_of_moved() }
    }
}

impl Counts {
    /// Follows a split of cells, of which there are `new` in all then: what is `moved` leaves its cells for others.
    fn follow(&mut self, moved: &Self, moved_to: &[u32], new: usize) {
        match (self, moved) {
            (Self::Rows(counts), Self::Rows(moved)) => move_counts(counts, moved, moved_to, new),
            (Self::Units(counts), Self::Units(moved)) => move_counts(counts, moved, moved_to, new),
            _ => unreachable!("a fit counts rows or units, not both"),
        }
    }

    /// What there is of `new` cells that each of these is part of; nothing where nothing is counted.
    fn merged(&self, bins: usize, part_of: &[u32], new: usize) -> Self {
        match self {
            Self::Rows(counts) => Self::Rows(merged(counts, bins, part_of, new)),
            Self::Units(counts) => Self::Units(merged(counts, bins, part_of, new)),
        }
    }
}

fn merged<T: Amount>(counts: &[T], bins: usize, part_of: &[u32], new: usize) -> Vec<T> {
    if counts.is_empty() {
        return Vec::new();
    }
    let mut all = vec![T::default(); new * bins];
    for (counts, &place) in counts.chunks_exact(bins).zip(part_of) {
        let all = &mut all[place as usize * bins..][..bins];
        all.iter_mut().zip(counts).for_each(|(all, &count)| *all = all.plus(count));
    }
    all
}

/// Takes what is `moved` from the cells that rows leave to those that they move to, of which there are `new` in all
/// then.
fn move_counts<T: Amount>(counts: &mut Vec<T>, moved: &[T], moved_to: &[u32], new: usize) {
    let old = moved_to.len();
    let bins = counts.len() / old;
    counts.reserve((new - old) * bins);
    // New cells have their numbers in the order of those that they come from.
    for (cell, _) in moved_to.iter().enumerate().filter(|&(cell, &to)| to as usize != cell) {
        let moved = &moved[cell * bins..][..bins];
        counts[cell * bins..].iter_mut().zip(moved).for_each(|(count, moved)| *count = count.minus(*moved));
        counts.extend_from_slice(moved);
    }
}

/// Whether statistics from the counts of rules cost less than from those of cells.
fn linear_is_cheaper(cells: usize, t: usize) -> bool {
    let (cells, t) = (cells as f64, t as f64);
    0.2 * t * t + 2.0 * t < 0.25 * cells * (t + 3.0)
}

/// Rows that a rule covers.
struct CoveredRows<'s> {
    parts: Vec<MovedPart<'s>>,
    cells: usize,
}

/// Those of one partition, with the cells that they come from.
struct MovedPart<'s> {
    list: &'s RowList,
    keys: Vec<u32>,
    mass: PerRow<u64>,
    norm: Option<PerRow<u64>>,
}

impl CoveredRows<'_> {
    /// By cell and bin: rows or masses, and what makes up the norm if that is counted, too.
    fn count(&self, rows: &Rows, group: &Group, norms: bool) -> (Counts, Option<Counts>) {
        let parts = self.parts.iter().zip(rows.parts()).map(|(moved, part)| {
            let node = cell_counts::NodeRows { rows: moved.list, keys: &moved.keys, cells: self.cells };
            let of = |amounts: &PerRow<u64>| cell_counts::counts_alone(node, amounts, (group, &part.columns));
            (of(&moved.mass), moved.norm.as_ref().filter(|_| norms).map(of))
        });
        let both = |mut all: (Counts, Option<Counts>), more: (Counts, Option<Counts>)| {
            all.0.add(&more.0);
            if let (Some(all), Some(more)) = (&mut all.1, &more.1) {
                all.add(more);
            }
            all
        };
        parts.reduce(both).unwrap_or((Counts::Rows(Vec::new()), None))
    }
}
