//! Cells: groups of rows that satisfy the same chosen rules.
//!
//! Rows of a cell share their score and their row of the orthogonal basis, so everything but the histograms themselves
//! is computed once for each cell. Adding a rule splits the cells that it covers in part. All sums are whole numbers:
//! those of the covered rows are taken from the cells that they leave, and the others are not visited. With one list of
//! rules for several classes a cell has the mass of each class in place of B.

mod remote;
pub(crate) mod sums;
#[cfg(test)]
mod tests;
mod without;

use crate::codes::wanted::WantedCodes;
use crate::engine::mass::WideUnit;
use crate::engine::row_list::RowList;
use crate::engine::rows::question::CellSplit;
use crate::engine::rows::{Rows, Selected};
use crate::engine::targets::response::{Response, Targets};
use rayon::prelude::*;
use std::sync::Arc;
use sums::{AllSums, CellSums, NormSquares};

/// Above this many rows a pass is shared among threads, in blocks of this size.
const ROWS_IN_A_TASK: usize = 1 << 16;

/// The partition of the rows by the rules chosen so far, with its sums.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// Of each partition, the cell of each row; where targets are counted, twice its cell, and 1 more if its target is
    /// 1.
    keys: Vec<Vec<u32>>,
    /// Whether targets are counted.
    counted: bool,
    /// The rules that each cell lies in, ascending.
    rules_of: Vec<Arc<[u32]>>,
    sums: Vec<CellSums>,
    /// A as a number.
    pub(crate) mass: Vec<f64>,
    /// B.
    pub(crate) b: Vec<f64>,
    /// W; equal to A / factor without exposure.
    pub(crate) norm: Vec<f64>,
    /// Σ b²/a.
    pub(crate) square: Vec<f64>,
    /// Σ a²/w, Σ ab/w and Σ b²/w in units; none where W is A / factor.
    norm_squares: Vec<NormSquares>,
    /// Those sums as numbers.
    pub(crate) by_norm: Vec<[f64; 3]>,
    rules: usize,
    /// How many classes share the rules; 0 where there is one score, of which B is the sum of targets.
    classes: usize,
    /// Units of mass of every cell and class, cell by cell.
    class_units: Vec<u64>,
    /// Those masses as numbers: B of every class.
    by_class: Vec<f64>,
    /// The rules with where their rows went, if rows are remote.
    history: Vec<Arc<CellSplit>>,
}

impl Cells {
    /// One cell with all rows.
    pub(crate) fn new(rows: &Rows, response: &Response) -> Self {
        let mut cells = Self::empty(rows, response);
        let sums = cells.all_sums_of(&rows.all(), rows, response);
        (cells.sums, cells.class_units, cells.norm_squares) = (sums.cells, sums.class_units, sums.norm_squares);
        if cells.sums[0].rows == 0 {
            // There was no answer, and the fit ends: numbers that do no harm.
            cells.sums[0] = CellSums { rows: 1, stands_for: 1, mass: 1, norm: 1, ..CellSums::default() };
        }
        cells.follow(response);
        cells
    }

    /// One cell with all rows, of which no sum is known.
    pub(crate) fn empty(rows: &Rows, response: &Response) -> Self {
        let counted = response.counted;
        let keys = |targets: &Targets| {
            if counted { targets.b.iter().map(|&b| u32::from(b != 0)).collect() } else { vec![0; targets.b.len()] }
        };
        Self {
            keys: rows.parts().iter().map(|part| keys(&part.targets)).collect(),
            counted,
            rules_of: vec![Arc::default()],
            sums: Vec::new(),
            mass: Vec::new(),
            b: Vec::new(),
            norm: Vec::new(),
            square: Vec::new(),
            norm_squares: Vec::new(),
            by_norm: Vec::new(),
            rules: 0,
            classes: response.classes,
            class_units: Vec::new(),
            by_class: Vec::new(),
            history: Vec::new(),
        }
    }

    /// The rules with where their rows went, if rows are remote.
    pub(crate) fn history(&self) -> &[Arc<CellSplit>] {
        &self.history
    }

    /// The cell of a row, where all rows are in one partition.
    pub(crate) fn of(&self, row: usize) -> usize {
        self.cell_of(self.keys[0][row])
    }

    /// The cell that a key stands for.
    pub(crate) fn cell_of(&self, key: u32) -> usize {
        (key >> u32::from(self.counted)) as usize
    }

    /// The keys of the rows of a partition.
    pub(crate) fn keys(&self, part: usize) -> &[u32] {
        &self.keys[part]
    }

    /// Whether keys tell the target of a row.
    pub(crate) fn are_counted(&self) -> bool {
        self.counted
    }

    /// The sums of a cell.
    pub(crate) fn sums(&self, cell: usize) -> &CellSums {
        &self.sums[cell]
    }

    /// How many classes share the rules; 0 where there is one score.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// B of every class in a cell.
    pub(crate) fn by_class(&self, cell: usize) -> &[f64] {
        &self.by_class[cell * self.classes..][..self.classes]
    }

    /// p, the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.rules_of.len()
    }

    /// How many keys there are.
    pub(crate) fn keys_in_use(&self) -> usize {
        self.len() << u32::from(self.counted)
    }

    /// t, the number of rules.
    pub(crate) fn rules(&self) -> usize {
        self.rules
    }

    /// The rules that `cell` lies in, ascending.
    pub(crate) fn rules_of(&self, cell: usize) -> &[u32] {
        &self.rules_of[cell]
    }

    /// Whether `cell` lies in rule `k`.
    pub(crate) fn in_rule(&self, cell: usize, k: usize) -> bool {
        self.rules_of[cell].binary_search(&(k as u32)).is_ok()
    }

    /// Of each cell, whether it lies in rule `k`.
    pub(crate) fn are_in_rule(&self, k: usize) -> Vec<bool> {
        (0..self.len()).map(|cell| self.in_rule(cell, k)).collect()
    }

    /// Whether all rows out of `from` that have the codes `wanted` in a column are in rule k, or none is.
    pub(crate) fn all_in(
        &self,
        rows: &Rows,
        from: &Selected,
        (column, wanted): (u32, &WantedCodes),
        (k, inside): (usize, bool),
    ) -> bool {
        let in_rule = self.are_in_rule(k);
        if let Some((remote, node)) = rows.remote_node(from) {
            return self.all_remote_in((remote, &node.node), (column, wanted), (k, inside));
        }
        let mut parts = rows.parts().iter().zip(from.lists()).enumerate();
        parts.all(|(number, (part, list))| {
            let keys = self.keys(number);
            let good = |row: u32| in_rule[self.cell_of(keys[row as usize])] == inside;
            list.all_selected(&part.columns[column as usize], wanted, good)
        })
    }

    /// For each rule, how many rows it covers, as the search counts coverage.
    pub(crate) fn coverage(&self) -> Vec<f64> {
        let mut covered = vec![0u64; self.rules];
        for (rules, sums) in self.rules_of.iter().zip(&self.sums) {
            rules.iter().for_each(|&k| covered[k as usize] += sums.stands_for);
        }
        covered.into_iter().map(|n| n as f64).collect()
    }

    /// Adds a rule that covers the `selected` rows: covered rows of a partly covered cell move to a new cell. Says
    /// where the covered rows of each cell are now.
    pub(crate) fn split(&mut self, selected: &Selected, rows: &Rows, response: &Response) -> Vec<u32> {
        let AllSums { cells: covered, class_units: covered_units, norm_squares } =
            self.all_sums_of(selected, rows, response);
        let (old, newest) = (self.len(), self.rules as u32);
        let mut moved_to: Vec<u32> = (0..old as u32).collect();
        for (cell, covered) in covered.into_iter().enumerate().filter(|(_, covered)| covered.rows > 0) {
            if covered.rows == self.sums[cell].rows {
                self.rules_of[cell] = self.with_rule(cell, newest);
                continue;
            }
            moved_to[cell] = self.rules_of.len() as u32;
            self.sums[cell] -= covered;
            self.sums.push(covered);
            let units = &covered_units[cell * self.classes..][..self.classes];
            let left = &mut self.class_units[cell * self.classes..][..self.classes];
            left.iter_mut().zip(units).for_each(|(left, units)| *left -= units);
            self.class_units.extend_from_slice(units);
            if let (Some(left), Some(squares)) = (self.norm_squares.get_mut(cell), norm_squares.get(cell)) {
                left.iter_mut().zip(squares).for_each(|(left, square)| *left -= square);
                self.norm_squares.push(*squares);
            }
            self.rules_of.push(self.with_rule(cell, newest));
        }
        self.move_rows(selected, &moved_to);
        if let Some(remote) = selected.remote() {
            let split = CellSplit { node: remote.node.clone(), moved_to: moved_to.clone(), cells: self.len() };
            self.history.push(Arc::new(split));
        }
        self.rules += 1;
        self.follow(response);
        moved_to
    }

    /// The rules that `cell` lies in, and one more.
    fn with_rule(&self, cell: usize, newest: u32) -> Arc<[u32]> {
        self.rules_of[cell].iter().copied().chain([newest]).collect()
    }

    /// Adds a term that no cell lies in: a trend.
    pub(crate) fn add_trend(&mut self) {
        self.rules += 1;
    }

    /// These cells with the sums of another response to the same rows, whose targets are not counted.
    pub(crate) fn with_response(&self, rows: &Rows, response: &Response) -> Self {
        self.with_all_keys(self.keys.clone(), rows, response)
    }

    /// These cells with some of the rows, of which these are the keys, in one partition.
    pub(crate) fn with_keys(&self, keys: Vec<u32>, rows: &Rows, response: &Response) -> Self {
        self.with_all_keys(vec![keys], rows, response)
    }

    fn with_all_keys(&self, mut keys: Vec<Vec<u32>>, rows: &Rows, response: &Response) -> Self {
        let shift = u32::from(self.counted);
        let each = |keys: &mut Vec<u32>| keys.par_iter_mut().with_min_len(ROWS_IN_A_TASK).for_each(|k| *k >>= shift);
        keys.iter_mut().for_each(each);
        let mut cells = Self { keys, counted: false, ..self.clone_without_keys() };
        cells.sums = cells.sums_of(&rows.all(), rows, response);
        cells.norm_squares = cells.norm_squares_of(&rows.all(), rows, response);
        cells.follow(response);
        cells
    }

    fn clone_without_keys(&self) -> Self {
        Self {
            keys: Vec::new(),
            rules_of: self.rules_of.clone(),
            sums: Vec::new(),
            mass: Vec::new(),
            b: Vec::new(),
            norm: Vec::new(),
            square: Vec::new(),
            norm_squares: Vec::new(),
            by_norm: Vec::new(),
            class_units: Vec::new(),
            by_class: Vec::new(),
            history: self.history.clone(),
            ..*self
        }
    }

    /// Moves the `selected` rows of each cell.
    pub(crate) fn move_rows(&mut self, selected: &Selected, moved_to: &[u32]) {
        let shift = u32::from(self.counted);
        let to_key: Vec<u32> = (0..(moved_to.len() << shift) as u32)
            .map(|k| (moved_to[(k >> shift) as usize] << shift) | (k & shift))
            .collect();
        for (keys, list) in self.keys.iter_mut().zip(selected.lists()) {
            move_keys(keys, list, &to_key);
        }
    }

    /// Follows a split that was decided where all sums are known, and whose rows have been moved: of cells only their
    /// number is kept.
    pub(crate) fn follow_split(&mut self, split: &CellSplit) {
        self.rules_of.resize(split.cells, Arc::default());
        self.rules += 1;
    }

    /// All sums of the `selected` rows of every cell.
    pub(crate) fn all_sums_of(&self, selected: &Selected, rows: &Rows, response: &Response) -> AllSums {
        if let Some((remote, node)) = rows.remote_node(selected) {
            return self.remote_sums(remote, &node.node, response);
        }
        AllSums {
            cells: self.sums_of(selected, rows, response),
            class_units: self.class_units_of(selected, rows),
            norm_squares: self.norm_squares_of(selected, rows, response),
        }
    }

    /// Σ a²/w, Σ ab/w and Σ b²/w of the `selected` rows of every cell; none where the norm's weights are the masses.
    fn norm_squares_of(&self, selected: &Selected, rows: &Rows, response: &Response) -> Vec<NormSquares> {
        if response.targets.norm.is_none() {
            return Vec::new();
        }
        let (mut total, units) = (vec![[0; 3]; self.len()], response.norm_units());
        for ((part, keys), list) in rows.parts().iter().zip(&self.keys).zip(selected.lists()) {
            let Targets { mass, norm: Some(norm), b, .. } = &*part.targets else { continue };
            let sum = |some: RowRange| {
                let mut sums = vec![[0; 3]; self.len()];
                some.each(|r| {
                    let squares = response.squares_by_norm((b[r], mass.at(r), norm.at(r)), &units);
                    (0..3).for_each(|k| sums[keys[r] as usize][k] += squares[k]);
                });
                sums
            };
            for sums in RowRange::blocks(list).into_par_iter().map(sum).collect::<Vec<_>>() {
                let more = sums.as_flattened().iter();
                total.as_flattened_mut().iter_mut().zip(more).for_each(|(total, more)| *total += more);
            }
        }
        total
    }

    /// The sums of the `selected` rows of every cell.
    fn sums_of(&self, selected: &Selected, rows: &Rows, response: &Response) -> Vec<CellSums> {
        let mut total = vec![CellSums::default(); self.len()];
        let parts = rows.parts().iter().zip(&self.keys).zip(selected.lists());
        for ((part, keys), list) in parts {
            let sum = |some: RowRange| match (self.counted, response.has_one_mass()) {
                (true, _) => self.counted_sums(some, keys),
                (false, true) => self.plain_sums(some, keys, &part.targets, response),
                (false, false) => self.weighed_sums(some, keys, &part.targets, response),
            };
            for sums in RowRange::blocks(list).into_par_iter().map(sum).collect::<Vec<_>>() {
                total.iter_mut().zip(sums).for_each(|(total, sums)| *total += sums);
            }
        }
        total
    }

    /// Units of mass of the `selected` rows of every cell and class; none where there is one score.
    fn class_units_of(&self, selected: &Selected, rows: &Rows) -> Vec<u64> {
        let mut total = vec![0u64; self.len() * self.classes];
        if self.classes == 0 {
            return total;
        }
        let parts = rows.parts().iter().zip(&self.keys).zip(selected.lists());
        for ((part, keys), list) in parts {
            let (mass, class) = (&part.targets.mass, &part.targets.b);
            let sum = |some: RowRange| {
                let mut units = vec![0u64; self.len() * self.classes];
                some.each(|r| units[keys[r] as usize * self.classes + class[r] as usize] += mass.at(r));
                units
            };
            for units in RowRange::blocks(list).into_par_iter().map(sum).collect::<Vec<_>>() {
                total.iter_mut().zip(units).for_each(|(total, units)| *total += units);
            }
        }
        total
    }

    /// Rows whose keys tell their targets: b and b² are 0 or 1.
    fn counted_sums(&self, some: RowRange, keys: &[u32]) -> Vec<CellSums> {
        let mut counts = vec![0u32; self.keys_in_use()];
        some.each(|r| counts[keys[r] as usize] += 1);
        let sums = |pair: &[u32]| {
            let (rows, ones) = (u64::from(pair[0]) + u64::from(pair[1]), i128::from(pair[1]));
            CellSums { rows, stands_for: rows, mass: rows, norm: 0, b: ones, square: ones }
        };
        counts.chunks_exact(2).map(sums).collect()
    }

    /// Rows of one mass.
    fn plain_sums(&self, some: RowRange, keys: &[u32], targets: &Targets, response: &Response) -> Vec<CellSums> {
        let mut sums: Vec<(u64, i128, i128)> = vec![(0, 0, 0); self.len()];
        some.each(|r| {
            let (sum, b) = (&mut sums[keys[r] as usize], targets.b[r]);
            // Of 64 bits each, and fewer than 2³² of them: neither wraps.
            sum.0 = sum.0.wrapping_add(1);
            sum.1 = sum.1.wrapping_add(i128::from(b));
            sum.2 += response.square(b, 1);
        });
        let sums = sums.into_iter();
        sums.map(|(rows, b, square)| CellSums { rows, stands_for: rows, mass: rows, norm: 0, b, square }).collect()
    }

    /// Rows of any mass.
    fn weighed_sums(&self, some: RowRange, keys: &[u32], targets: &Targets, response: &Response) -> Vec<CellSums> {
        let mut sums = vec![CellSums::default(); self.len()];
        some.each(|r| {
            let (b, mass) = (targets.b[r], targets.mass.at(r));
            sums[keys[r] as usize] += CellSums {
                rows: 1,
                stands_for: u64::from(targets.stands_for(r)),
                mass,
                norm: targets.norm.as_ref().map_or(0, |norm| norm.at(r)),
                b: i128::from(b),
                square: response.square(b, mass),
            };
        });
        sums
    }

    /// The sums as numbers.
    fn follow(&mut self, response: &Response) {
        let factor = response.loss.factor();
        let has_norm = response.targets.norm.is_some();
        let all = |number: &dyn Fn(&CellSums) -> f64| self.sums.iter().map(number).collect::<Vec<f64>>();
        let square_unit = response.square_unit();
        let mass = all(&|s| s.mass as f64 * response.mass_unit);
        let b = all(&|s| s.b as f64 * response.b_unit);
        let square = all(&|s| s.square as f64 * square_unit);
        let norm = if has_norm {
            all(&|s| s.norm as f64 * response.norm_unit)
        } else {
            all(&|s| s.mass as f64 * response.mass_unit / factor)
        };
        (self.mass, self.b, self.square, self.norm) = (mass, b, square, norm);
        if has_norm {
            let sizes = response.norm_units().map(WideUnit::size);
            let numbers = |squares: &NormSquares| std::array::from_fn(|k| squares[k] as f64 * sizes[k]);
            self.by_norm = self.norm_squares.iter().map(numbers).collect();
        }
        self.by_class = self.class_units.iter().map(|&units| units as f64 * response.mass_unit).collect();
    }
}

/// Gives the rows of a list the keys of the cells that they move to.
fn move_keys(keys: &mut [u32], list: &RowList, to_key: &[u32]) {
    match list {
        RowList::All(_) => {
            keys.par_iter_mut().with_min_len(ROWS_IN_A_TASK).for_each(|key| *key = to_key[*key as usize]);
        }
        RowList::Some(rows) => keys.par_chunks_mut(ROWS_IN_A_TASK).enumerate().for_each(|(number, keys)| {
            let start = number * ROWS_IN_A_TASK;
            let place = |row: usize| rows.partition_point(|&r| (r as usize) < row);
            for &r in &rows[place(start)..place(start + keys.len())] {
                let key = &mut keys[r as usize - start];
                *key = to_key[*key as usize];
            }
        }),
    }
}

/// Some of the rows of a list.
enum RowRange<'l> {
    All(std::ops::Range<usize>),
    Some(&'l [u32]),
}

impl<'l> RowRange<'l> {
    /// A list in blocks.
    fn blocks(list: &'l RowList) -> Vec<Self> {
        match list {
            RowList::All(n) => {
                (0..*n).step_by(ROWS_IN_A_TASK).map(|s| Self::All(s..(*n).min(s + ROWS_IN_A_TASK))).collect()
            }
            RowList::Some(rows) => rows.chunks(ROWS_IN_A_TASK).map(Self::Some).collect(),
        }
    }

    #[inline]
    fn each(self, mut visit: impl FnMut(usize)) {
        match self {
            Self::All(range) => range.for_each(visit),
            Self::Some(rows) => rows.iter().for_each(|&r| visit(r as usize)),
        }
    }
}
