//! Statistics of every bin of a column, over the rows of a node.
//!
//! Three ways to the same numbers. *Cells*: count rows (or add masses) by (bin, cell), then multiply by what the cells of a
//! row share: O(rows + bins · p · t). *Vectors*: add each row's own vector (1, g, d, d·z) to its bin: O(rows · t). *Rules*: add
//! each row's d for every rule that it is in, m on average, and make the sums orthogonal afterwards: O(rows · m + bins · t²). The
//! cheapest one is taken; which one depends only on sizes, so the bits do not depend on threads.

mod lanes;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use lanes::Lanes;
pub(crate) use rows::Rows;

use crate::bins::{BinnedColumn, Code, with_codes};
use crate::cells::Cells;
use crate::counts::RootCounts;
use crate::cpu::vectorised;
use crate::group::Group;
use crate::masses::Grid;
use crate::objective::{D, G, N, ROWS, Scorer};
use crate::response::{PerRow, Response};
use crate::spare;
use crate::tally::{self, Tally, What};
use std::sync::OnceLock;

/// How the statistics of a column are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Cells,
    Vectors,
    Rules,
}

/// Tables of a column with more counts would be made of new memory every time, which costs more than what is counted in them.
const MOST_COUNTS: f64 = (1 << 20) as f64;

impl Method {
    /// The cheaper one, by the measured cost of their inner loops in nanoseconds.
    pub(crate) fn cheaper(rows: usize, column: &BinnedColumn, cells: &Cells, scorer: &Scorer) -> Self {
        let (bins, t, rules) = ((column.bins + 1) as f64, scorer.t as f64, scorer.basis.mean());
        let counts = bins * cells.keys_in_use() as f64;
        let (cells, rows) = (cells.len().min(rows) as f64, rows as f64);
        // Bins of a cell are added side by side, or one by one where few have rows.
        let spread = (bins * cells * (0.5 + 0.1 * rules)).min(rows * (3.0 + rules));
        let table = if counts > MOST_COUNTS { f64::INFINITY } else { 0.25 * counts };
        let by_cells = 2.0 * rows + table + spread + 0.1 * bins * t * t;
        let by_vectors = (1.0 + 0.6 * scorer.stride() as f64) * rows;
        let by_rules = (4.0 + 2.4 * rules) * rows + 0.2 * bins * t * t;
        if by_cells <= by_vectors.min(by_rules) {
            Self::Cells
        } else if by_rules < by_vectors {
            Self::Rules
        } else {
            Self::Vectors
        }
    }
}

/// What the kernels read of a node's rows, gathered once for all columns.
pub(crate) struct Gathered<'a> {
    rows: &'a Rows,
    scorer: &'a Scorer,
    cells: &'a Cells,
    /// Keys as the cells have them, and whether these tell the targets.
    keys: Vec<u32>,
    counted: bool,
    /// Empty if they do.
    b: Vec<f64>,
    mass: PerRow,
    grid: Option<Grid>,
    norm: PerRow,
    rows_each: PerRow,
    /// Row vectors (1, g, d, d·z), made when they are first asked for.
    vectors: OnceLock<Vec<f64>>,
    /// g and d of the rows, made when they are first asked for.
    sides: OnceLock<Vec<f64>>,
    /// What is known of all rows without looking at them.
    root: Option<&'a RootCounts>,
    /// More rows, from which those gathered here are subtracted.
    whole: Option<&'a [Tally]>,
    /// All rows, from whose statistics those of the rows gathered here are subtracted.
    all: Option<&'a RootCounts>,
    /// What was counted on the way, one place for each group; empty when nobody wants it.
    tables: Vec<OnceLock<Tally>>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(rows: &'a Rows, response: &Response, cells: &'a Cells, scorer: &'a Scorer) -> Self {
        let per_row = |values: &PerRow| match values {
            PerRow::Same(x) => PerRow::Same(*x),
            PerRow::Each(v) => PerRow::Each(rows.gather(v)),
        };
        let (keys, b) = if cells.are_counted() {
            (rows.gather(&cells.keys), Vec::new())
        } else {
            rows.gather_both(&cells.keys, &response.b)
        };
        Self {
            rows,
            scorer,
            cells,
            keys,
            counted: cells.are_counted(),
            b,
            mass: per_row(&response.mass),
            grid: response.grid,
            norm: response.norm.as_ref().map_or(PerRow::Same(1.0), per_row),
            rows_each: per_row(&response.rows_each),
            vectors: OnceLock::new(),
            sides: OnceLock::new(),
            root: None,
            whole: None,
            all: None,
            tables: Vec::new(),
        }
    }

    /// Statistics of the rows of `whole` but those gathered here.
    pub(crate) fn subtracted_from(self, whole: &'a [Tally]) -> Self {
        Self { whole: Some(whole), ..self }
    }

    /// Statistics of all rows but those gathered here, where `root` has no tables.
    pub(crate) fn left_out_of(self, root: &'a RootCounts) -> Self {
        Self { all: Some(root), ..self }
    }

    /// All rows, of which `root` knows everything.
    pub(crate) fn of_root(rows: &'a Rows, cells: &'a Cells, root: &'a RootCounts, scorer: &'a Scorer) -> Self {
        let none = PerRow::Same(0.0);
        let [mass, norm, rows_each] = [none.clone(), none.clone(), none];
        let (keys, counted, b, tables) = (Vec::new(), false, Vec::new(), Vec::new());
        let (vectors, sides) = (OnceLock::new(), OnceLock::new());
        let (root, whole, all, grid) = (Some(root), None, None, None);
        Self {
            rows,
            scorer,
            cells,
            keys,
            counted,
            b,
            mass,
            grid,
            norm,
            rows_each,
            vectors,
            sides,
            root,
            whole,
            all,
            tables,
        }
    }

    /// Keeps the tables of counts that statistics of so many groups go through.
    pub(crate) fn keeping_tables(self, groups: usize) -> Self {
        Self { tables: (0..groups).map(|_| OnceLock::new()).collect(), ..self }
    }

    /// The tables of all groups, if all were made.
    pub(crate) fn into_tables(self) -> Option<Vec<Tally>> {
        spare::give(self.keys);
        spare::give(self.b);
        [self.vectors, self.sides].into_iter().filter_map(OnceLock::into_inner).for_each(spare::give);
        for values in [self.mass, self.norm, self.rows_each] {
            if let PerRow::Each(values) = values {
                spare::give(values);
            }
        }
        let tables: Option<Vec<Tally>> = self.tables.into_iter().map(OnceLock::into_inner).collect();
        tables.filter(|t| !t.is_empty())
    }

    /// The cell of the i-th row of the node.
    fn cell(&self, i: usize) -> usize {
        (self.keys[i] >> u32::from(self.counted)) as usize
    }

    /// Its weighted target.
    fn b(&self, i: usize) -> f64 {
        if self.counted { f64::from(self.keys[i] & 1) } else { self.b[i] }
    }

    /// g of the i-th row, and its d before and after it is multiplied by what its cell shares.
    fn row(&self, i: usize) -> (f64, f64, f64) {
        let (mass, [mean, curvature]) = (self.mass.at(i), self.scorer.cell(self.cell(i)));
        let weight = if self.scorer.by_norm { self.norm.at(i) } else { mass };
        (mass * mean - self.b(i), weight, weight * curvature)
    }

    /// Rows, G, D and N of every bin of a group, whose number is `index`: `bins × stride`.
    pub(crate) fn statistics(&self, index: usize, group: &Group, all: &[BinnedColumn]) -> Vec<f64> {
        if let Some(root) = self.root {
            return root.statistics(index, self.scorer);
        }
        // What is subtracted must be counted.
        let cheaper = |column| match self.whole {
            Some(_) => Method::Cells,
            None => Method::cheaper(self.rows.len(), column, self.cells, self.scorer),
        };
        let mut methods = group.of(all).map(|(column, _)| cheaper(column));
        let method = methods.next().filter(|&first| methods.all(|method| method == first));
        let stats = match (method, self.what()) {
            (Some(Method::Cells), Some((what, mass))) => self.by_counts(index, group, all, (what, mass)),
            (Some(method), _) => self.statistics_by(method, group, all),
            // Which method a column gets must not depend on who its neighbours are.
            (None, _) => {
                let alone = |c: usize| self.statistics_by(cheaper(&all[c]), &Group::new(c..c + 1, all), all);
                group.columns().flat_map(alone).collect()
            }
        };
        match self.all {
            Some(root) => {
                let mut others = root.statistics(index, self.scorer);
                others.iter_mut().zip(&stats).for_each(|(all, some)| *all -= some);
                spare::give(stats);
                others
            }
            None => stats,
        }
    }

    /// Statistics by a method of the caller's choice.
    pub(crate) fn statistics_by(&self, method: Method, group: &Group, all: &[BinnedColumn]) -> Vec<f64> {
        match (method, self.what()) {
            (Method::Cells, Some((what, mass))) => {
                tally::count(self.node(), what, group, all).statistics(self.scorer, mass)
            }
            (Method::Cells, _) => self.by_masses(group, all),
            (Method::Vectors, _) => self.by_vectors(group, all),
            (Method::Rules, _) => self.by_rules(group, all),
        }
    }

    /// What is to be counted, and its mass, where counts are all that is needed.
    fn what(&self) -> Option<(What<'_>, f64)> {
        if self.scorer.by_norm {
            return None;
        }
        What::of(&self.mass, self.grid, self.counted, (&self.b, &self.rows_each))
    }

    /// From counts to statistics. What was counted is kept if somebody wants it.
    fn by_counts(&self, index: usize, group: &Group, all: &[BinnedColumn], (what, mass): (What, f64)) -> Vec<f64> {
        let mut tally = tally::count(self.node(), what, group, all);
        if let Some(whole) = self.whole {
            tally.subtract_from(&whole[index]);
        }
        let stats = tally.statistics(self.scorer, mass);
        match self.tables.get(index) {
            Some(place) => drop(place.set(tally)),
            None => tally.give(),
        }
        stats
    }

    fn node(&self) -> tally::Node<'_> {
        tally::Node { rows: self.rows, keys: &self.keys, cells: self.cells.len() }
    }

    fn by_vectors(&self, group: &Group, all: &[BinnedColumn]) -> Vec<f64> {
        let stride = self.scorer.stride();
        let vectors = self.vectors.get_or_init(|| self.row_vectors());
        let mut stats = spare::zeros(group.bins() * stride);
        for (column, first) in group.of(all) {
            let stats = &mut stats[first * stride..];
            with_codes!(&column.codes, codes => self.each(codes, |i, bin| {
                let (bin, vector) = (&mut stats[bin * stride..][..stride], &vectors[i * stride..][..stride]);
                bin.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
            }));
        }
        stats
    }

    fn row_vectors(&self) -> Vec<f64> {
        let stride = self.scorer.stride();
        let mut vectors = spare::zeros(self.keys.len() * stride);
        // Of the cells that occur, in the order in which they do.
        let (mut places, mut shared) = (vec![u32::MAX; self.cells.len()], Vec::new());
        for (i, vector) in vectors.chunks_exact_mut(stride).enumerate() {
            let (gradient, weight, d) = self.row(i);
            let place = &mut places[self.cell(i)];
            if *place == u32::MAX {
                *place = shared.len() as u32;
                shared.push(self.scorer.vector(self.cell(i)));
            }
            (vector[ROWS], vector[G], vector[D]) = (self.rows_each.at(i), gradient, d);
            vector[N..].iter_mut().zip(&shared[*place as usize]).for_each(|(x, dz)| *x = weight * dz);
            self.scorer.project(vector);
        }
        vectors
    }

    fn by_rules(&self, group: &Group, all: &[BinnedColumn]) -> Vec<f64> {
        let (stride, basis) = (self.scorer.stride(), &self.scorer.basis);
        let sides = self.sides.get_or_init(|| self.gradients_and_weights());
        let mut stats = spare::zeros(group.bins() * stride);
        for (column, first) in group.of(all) {
            let stats = &mut stats[first * stride..];
            with_codes!(&column.codes, codes => self.each(codes, |i, bin| {
                let bin = &mut stats[bin * stride..(bin + 1) * stride];
                let (g, d) = (sides[2 * i], sides[2 * i + 1]);
                bin[ROWS] += self.rows_each.at(i);
                bin[G] += g;
                bin[D] += d;
                let columns = &mut bin[N..];
                basis.of(self.cell(i)).iter().for_each(|&k| columns[k as usize] += d);
            }));
        }
        orthogonalise(self.scorer, &mut stats);
        stats
    }

    /// g and d of every row.
    fn gradients_and_weights(&self) -> Vec<f64> {
        let mut sides = spare::take(2 * self.keys.len());
        for i in 0..self.keys.len() {
            let (gradient, _, d) = self.row(i);
            sides.extend([gradient, d]);
        }
        sides
    }

    fn by_masses(&self, group: &Group, all: &[BinnedColumn]) -> Vec<f64> {
        let bins = group.bins();
        let mut lanes = Lanes::new(self.scorer, bins);
        let mut sums = vec![0.0; bins * self.cells.len()];
        for (column, first) in group.of(all) {
            let (rows, gradients) = lanes.rows_and_gradients();
            with_codes!(&column.codes, codes => self.each(codes, |i, bin| {
                sums[self.cell(i) * bins + first + bin] += self.mass.at(i);
                gradients[first + bin] -= self.b(i);
                rows[first + bin] += self.rows_each.at(i);
            }));
        }
        if self.scorer.by_norm {
            lanes.add_gradients(&sums);
            sums.fill(0.0);
            for (column, first) in group.of(all) {
                with_codes!(&column.codes, codes => {
                    self.each(codes, |i, bin| sums[self.cell(i) * bins + first + bin] += self.norm.at(i));
                });
            }
            lanes.add_weights(&sums);
        } else {
            lanes.add_masses(&sums);
        }
        lanes.statistics()
    }

    /// Calls `visit(i, bin)` for the i-th row of the node.
    fn each<C: Code>(&self, codes: &[C], mut visit: impl FnMut(usize, usize)) {
        match self.rows {
            Rows::All(_) => codes.iter().enumerate().for_each(|(i, c)| visit(i, c.index())),
            Rows::Some(rows) => rows.iter().enumerate().for_each(|(i, &r)| visit(i, codes[r as usize].index())),
        }
    }
}

vectorised! {
    /// [`Scorer::orthogonalise`] for every bin that has rows.
    pub(crate) fn orthogonalise(scorer: &Scorer, stats: &mut [f64]) {
        for bin in stats.chunks_exact_mut(scorer.stride()).filter(|bin| bin[ROWS] > 0.0) {
            scorer.orthogonalise(bin);
        }
    }
}
