//! Statistics of every bin of a column, over the rows of a node.
//!
//! Three ways to the same numbers. *Cells*: count rows (or add masses) by (bin, cell), then multiply by what the cells
//! of a row share: O(rows + bins · p · t). *Vectors*: add each row's own vector (1, g, d, d·z) to its bin: O(rows ·
//! t). *Rules*: add each row's d for every rule that it is in, m on average, and make the sums orthogonal afterwards:
//! O(rows · m + bins · t²). The cheapest one is taken; which one depends only on sizes, so the bits do not depend on
//! threads.

mod by_cell;
mod by_rule;
mod classes;
mod remote;
#[cfg(test)]
mod tests;
mod trends;
mod uncommon;

pub(crate) use remote::CountedCandidate;
pub(crate) use trends::newest_trend_sums;

pub(crate) use crate::engine::count::bin_statistics::BinStatistics;
use crate::engine::count::orthogonal::orthogonalise_each;
pub(crate) use crate::engine::rows::question::Method;

use crate::base::scratch;
use crate::base::simd::vectorised;
use crate::codes::column::{BinnedColumn, Code, with_codes};
use crate::codes::packed::Codes;
use crate::engine::cells::Cells;
use crate::engine::count::cell_counts::{self, CellCounts, Counting};
use crate::engine::count::group::Group;
use crate::engine::count::root::RootCounts;
use crate::engine::mass::{PerRow, Rounding};
use crate::engine::row_list::RowList;
use crate::engine::rows::{LocalPartition, Rows, Selected};
use crate::engine::score::Scorer;
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::targets::response::Response;
use by_cell::RowsByCell;
use by_rule::CountedBins;
use rayon::prelude::*;
use remote::RemoteCounter;
use std::sync::OnceLock;
use trends::TrendBlock;
use uncommon::Uncommon;

/// Tables of a column with more counts would be made of new memory every time, which costs more than what is counted
/// in them.
const MOST_COUNTS: f64 = (1 << 20) as f64;

impl Method {
    /// The cheaper one, by the measured cost of their inner loops in nanoseconds.
    pub(crate) fn cheaper(
        rows: usize,
        column: &BinnedColumn,
        cells: &Cells,
        (scorer, response): (&Scorer, &Response),
    ) -> Self {
        let has_one_d = scorer.linear.is_some() && response.has_one_mass() && !scorer.by_norm;
        let (bins, t, rules) = ((column.bins + 1) as f64, scorer.t as f64, scorer.basis.mean());
        let counts = bins * cells.keys_in_use() as f64;
        let (cells, rows) = (cells.len().min(rows) as f64, rows as f64);
        // Bins of a cell are added side by side, or one by one where few have rows.
        let spread = (bins * cells * (0.5 + 0.1 * rules)).min(rows * (3.0 + rules));
        let table = if counts > MOST_COUNTS { f64::INFINITY } else { 0.25 * counts };
        let by_cells = 2.0 * rows + table + spread + 0.1 * bins * t * t;
        // Beside trends rows of a cell have no vector in common.
        let by_vectors =
            if scorer.trends.is_some() { f64::INFINITY } else { (1.0 + 0.6 * scorer.stride() as f64) * rows };
        let in_bytes = has_one_d && by_rule::fits(scorer.t, column.bins + 1);
        let sums = if in_bytes { by_rule::cost(rows, scorer.t, bins) } else { (4.0 + 2.4 * rules) * rows };
        let by_rules = sums + 0.2 * bins * t * t;
        if by_cells <= by_vectors.min(by_rules) {
            Self::Cells
        } else if by_rules < by_vectors {
            Self::Rules
        } else {
            Self::Vectors
        }
    }
}

/// A node whose statistics are asked for: what the kernels read of its rows, gathered once for all columns, or where
/// else its counts come from.
pub(crate) struct NodeCounter<'a> {
    source: CountSource<'a>,
    response: &'a Response,
    scorer: &'a Scorer,
    cells: &'a Cells,
    /// The rows that are counted, partition by partition.
    parts: Vec<PartitionReads<'a>>,
    /// How many they are in all partitions.
    rows: usize,
    /// What was counted on the way, one place for each group; empty when they are not kept.
    tables: Vec<OnceLock<CellCounts>>,
    /// Which rules each cell is in, as bytes that rows add up, made when they are first asked for.
    bytes_of_cells: OnceLock<Vec<u64>>,
    /// What counts, if the rows are remote.
    remote: Option<RemoteCounter<'a>>,
}

/// Where the counts of a node come from.
#[derive(Clone, Copy)]
enum CountSource<'a> {
    /// Its own rows are counted.
    Own,
    /// All rows, counted as if there were tables of them.
    AllRows,
    /// It is all rows, of which everything is known.
    Root(&'a RootCounts),
    /// The rows that it lacks are counted, and subtracted from these tables.
    SubtractedFrom(&'a [CellCounts]),
    /// All rows, whose tables are the first, but those that the others are of.
    AllBut(&'a [CellCounts], &'a [CellCounts]),
    /// Rows that are left out: subtracted from the statistics of all rows, where there are no tables.
    LeftOutOf(&'a RootCounts),
}

/// What the kernels read of the rows of one partition.
struct PartitionReads<'a> {
    /// Which partition it is.
    number: usize,
    columns: &'a [BinnedColumn],
    rows: &'a RowList,
    /// Keys as the cells have them.
    keys: Vec<u32>,
    /// Empty if keys tell the targets.
    b: Vec<i64>,
    mass: PerRow<u64>,
    norm: Option<PerRow<u64>>,
    stands_for: PerRow<u32>,
    /// The class of each row, where classes share their rules.
    class: Vec<u32>,
    /// Row vectors (1, g, d, d·z), made when they are first asked for.
    vectors: OnceLock<Vec<f64>>,
    /// g and d of the rows, made when they are first asked for.
    sides: OnceLock<Vec<f64>>,
    /// What the rows add along trends, up to four side by side, made when it is first asked for.
    trends: OnceLock<Vec<TrendBlock>>,
    /// What is counted of all rows by rule, made when it is first asked for.
    whole: OnceLock<CountedBins>,
    /// The rows in the order of their cells, made when it is first asked for.
    by_cell: OnceLock<RowsByCell>,
}

impl<'a> PartitionReads<'a> {
    fn new((number, part): (usize, &'a LocalPartition), rows: &'a RowList, keys: &[u32], cells: &Cells) -> Self {
        let (targets, counted) = (&part.targets, cells.are_counted());
        let (keys, b) = if counted { (rows.gather(keys), Vec::new()) } else { rows.gather_both(keys, &targets.b) };
        let class = if cells.classes() > 0 { b.iter().map(|&class| class as u32).collect() } else { Vec::new() };
        Self {
            number,
            columns: &part.columns,
            rows,
            keys,
            b,
            mass: targets.mass.gather(rows),
            norm: targets.norm.as_ref().map(|norm| norm.gather(rows)),
            stands_for: targets.stand_for(rows),
            class,
            vectors: OnceLock::new(),
            sides: OnceLock::new(),
            trends: OnceLock::new(),
            whole: OnceLock::new(),
            by_cell: OnceLock::new(),
        }
    }

    /// Keeps the memory for others.
    fn give(self) {
        scratch::give(self.keys);
        scratch::give(self.b);
        self.mass.give();
        if let Some(norm) = self.norm {
            norm.give();
        }
        self.stands_for.give();
        [self.vectors, self.sides].into_iter().filter_map(OnceLock::into_inner).for_each(scratch::give);
        self.trends.into_inner().into_iter().flatten().for_each(TrendBlock::give);
        self.whole.into_inner().into_iter().for_each(CountedBins::give);
        self.by_cell.into_inner().into_iter().for_each(RowsByCell::give);
    }

    /// Calls `visit(i, bin)` for the i-th row of the node.
    fn each<C: Code>(&self, codes: &[C], mut visit: impl FnMut(usize, usize)) {
        match self.rows {
            RowList::All(_) => codes.iter().enumerate().for_each(|(i, c)| visit(i, c.index())),
            RowList::Some(rows) => rows.iter().enumerate().for_each(|(i, &r)| visit(i, codes[r as usize].index())),
        }
    }
}

impl<'a> NodeCounter<'a> {
    /// Statistics of the `selected` rows.
    pub(crate) fn new(
        selected: &'a Selected,
        rows: &'a Rows,
        response: &'a Response,
        cells: &'a Cells,
        scorer: &'a Scorer,
    ) -> Self {
        let parts = rows.parts().iter().zip(selected.lists()).enumerate();
        let part = |(number, (part, list))| PartitionReads::new((number, part), list, cells.keys(number), cells);
        let parts = parts.map(part).collect();
        let remote = RemoteCounter::new(rows, selected);
        Self {
            source: CountSource::Own,
            response,
            scorer,
            cells,
            parts,
            rows: selected.len(),
            tables: Vec::new(),
            bytes_of_cells: OnceLock::new(),
            remote,
        }
    }

    /// The counts of the rows gathered here, which are all rows, to be followed from round to round.
    pub(crate) fn root_counts(&self, columns: &[BinnedColumn]) -> RootCounts {
        RootCounts::new(columns, self.response, |groups| {
            self.ask_for_counts(groups);
            groups.par_iter().map(|group| self.count(group)).collect()
        })
    }

    /// Statistics from counts by cell of the rows gathered here, which are all rows.
    pub(crate) fn of_all_rows(self) -> Self {
        Self { source: CountSource::AllRows, ..self }
    }

    /// Statistics of the rows of `whole` but those gathered here.
    pub(crate) fn subtracted_from(self, whole: &'a [CellCounts]) -> Self {
        Self { source: CountSource::SubtractedFrom(whole), ..self }
    }

    /// Statistics of all rows but those gathered here, where `root` has no tables.
    pub(crate) fn left_out_of(self, root: &'a RootCounts) -> Self {
        Self { source: CountSource::LeftOutOf(root), ..self }
    }

    /// All rows, of which `root` knows everything.
    pub(crate) fn of_root(root: &'a RootCounts, response: &'a Response, cells: &'a Cells, scorer: &'a Scorer) -> Self {
        Self::without_rows(CountSource::Root(root), response, cells, scorer)
    }

    /// All rows, of which these are the tables, but some, of which `counted` are.
    pub(crate) fn all_but(
        whole: &'a [CellCounts],
        counted: &'a [CellCounts],
        response: &'a Response,
        cells: &'a Cells,
        scorer: &'a Scorer,
    ) -> Self {
        Self::without_rows(CountSource::AllBut(whole, counted), response, cells, scorer)
    }

    /// What follows from counts that are known.
    fn without_rows(source: CountSource<'a>, response: &'a Response, cells: &'a Cells, scorer: &'a Scorer) -> Self {
        let (parts, tables, bytes_of_cells) = (Vec::new(), Vec::new(), OnceLock::new());
        Self { source, response, scorer, cells, parts, rows: 0, tables, bytes_of_cells, remote: None }
    }

    /// Keeps the tables of counts that statistics of this many groups go through.
    pub(crate) fn keeping_tables(self, groups: usize) -> Self {
        Self { tables: (0..groups).map(|_| OnceLock::new()).collect(), ..self }
    }

    /// The tables of all groups, if all were made.
    pub(crate) fn into_tables(self) -> Option<Vec<CellCounts>> {
        self.parts.into_iter().for_each(PartitionReads::give);
        let tables: Option<Vec<CellCounts>> = self.tables.into_iter().map(OnceLock::into_inner).collect();
        tables.filter(|t| !t.is_empty())
    }

    /// How many rows are counted.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Of each partition, its rows, and (1, g, d, d·z) of every one of them.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = (&'a RowList, &[f64])> {
        self.parts.iter().map(|part| (part.rows, &part.vectors.get_or_init(|| self.row_vectors(part))[..]))
    }

    /// The cell of the i-th row of a part.
    fn cell(&self, part: &PartitionReads, i: usize) -> usize {
        self.cells.cell_of(part.keys[i])
    }

    /// g of the i-th row of a part, and its d before and after it is multiplied by what its cell shares.
    fn row(&self, part: &PartitionReads, i: usize) -> (f64, f64, f64) {
        let response = self.response;
        let (mass, [mean, curvature]) =
            (part.mass.at(i) as i64 as f64 * response.mass_unit, self.scorer.cell(self.cell(part, i)));
        let weight = match &part.norm {
            Some(norm) if self.scorer.by_norm => norm.at(i) as i64 as f64 * response.norm_unit,
            _ => mass,
        };
        let b = if self.cells.are_counted() { f64::from(part.keys[i] & 1) } else { part.b[i] as f64 * response.b_unit };
        (mass * mean - b, weight, weight * curvature)
    }

    /// Rows, G, D and N of every bin of a group, whose number is `index`: `bins × stride`.
    pub(crate) fn statistics(&self, index: usize, group: &Group, all: &[BinnedColumn]) -> Vec<f64> {
        if let CountSource::Root(root) = self.source {
            return root.statistics(index, self.scorer, self.response);
        }
        if let CountSource::AllBut(..) = self.source {
            return self.by_counts(index, group);
        }
        if self.goes_cell_by_cell(group) {
            return self.by_cell(group);
        }
        let stats = match self.method(group, all) {
            Some(Method::Cells) => self.by_counts(index, group),
            Some(method) => self.statistics_by(method, group),
            // Which method a column gets must not depend on who its neighbours are.
            None => {
                let alone = |c: usize| self.statistics_by(self.cheaper(&all[c]), &Group::new(c..c + 1, all));
                group.columns().flat_map(alone).collect()
            }
        };
        match self.source {
            CountSource::LeftOutOf(root) => {
                let mut others = root.statistics(index, self.scorer, self.response);
                others.iter_mut().zip(&stats).for_each(|(all, some)| *all -= some);
                scratch::give(stats);
                others
            }
            _ => stats,
        }
    }

    /// How the statistics of a column are computed.
    fn cheaper(&self, column: &BinnedColumn) -> Method {
        match self.source {
            // What is subtracted must be counted.
            CountSource::SubtractedFrom(_) | CountSource::AllRows => Method::Cells,
            _ => Method::cheaper(self.rows, column, self.cells, (self.scorer, self.response)),
        }
    }

    /// The method of all columns of a group, if it is the same.
    fn method(&self, group: &Group, all: &[BinnedColumn]) -> Option<Method> {
        let mut methods = group.of(all).map(|(column, _)| self.cheaper(column));
        methods.next().filter(|&first| methods.all(|method| method == first))
    }

    /// Statistics by a method of the caller's choice.
    pub(crate) fn statistics_by(&self, method: Method, group: &Group) -> Vec<f64> {
        match method {
            Method::Cells => {
                let cell_counts = self.count(group);
                let stats = cell_counts.statistics(self.scorer, self.response);
                cell_counts.give();
                stats
            }
            Method::Vectors => self.by_vectors(group),
            Method::Rules => self.by_rules(group),
        }
    }

    /// What is counted of a group, in all partitions.
    pub(crate) fn count(&self, group: &Group) -> CellCounts {
        let count = |part: &PartitionReads| {
            let node = cell_counts::NodeRows { rows: part.rows, keys: &part.keys, cells: self.cells.len() };
            let what = match &part.mass {
                PerRow::Same(_) if self.cells.are_counted() => Counting::RowsByTarget,
                PerRow::Same(_) => Counting::Rows(&part.b),
                PerRow::Each(mass) => Counting::Units(mass, &part.b, &part.stands_for),
            };
            let norm = part.norm.as_ref().filter(|_| self.scorer.by_norm);
            if self.cells.classes() > 0 {
                return self.count_classes(part, node, group);
            }
            let cell_counts = cell_counts::count(node, what, norm, (group, part.columns));
            if self.scorer.trends.is_none() {
                return cell_counts;
            }
            let uncommon = part.uncommon(group);
            let trends = self.count_trends((part, &uncommon), group);
            uncommon.into_iter().flatten().for_each(Uncommon::give);
            CellCounts { trends, ..cell_counts }
        };
        if let Some(remote) = &self.remote {
            return self.counted_remotely(remote, group);
        }
        let mut cell_counts = count(&self.parts[0]);
        for part in &self.parts[1..] {
            let more = count(part);
            cell_counts.add(&more);
            more.give();
        }
        cell_counts
    }

    /// From counts to statistics. The table of counts is kept if there is a place for it.
    fn by_counts(&self, index: usize, group: &Group) -> Vec<f64> {
        let cell_counts = match self.source {
            CountSource::SubtractedFrom(whole) => self.count(group).left_of(&whole[index]),
            CountSource::AllBut(whole, counted) => counted[index].clone().left_of(&whole[index]),
            _ => self.count(group),
        };
        let stats = cell_counts.statistics(self.scorer, self.response);
        match self.tables.get(index) {
            Some(place) => drop(place.set(cell_counts)),
            None => cell_counts.give(),
        }
        stats
    }

    /// How to round g, d and d·z of a row, so that sums over the rows of the node are exact.
    fn roundings(&self) -> [Rounding; 3] {
        let [g, d] = self.scorer.largest(self.response);
        // d z² of a row is part of a sum that is 1.
        [g, d, 2.0 * d.sqrt()].map(|largest| Rounding::new(self.rows as f64, largest))
    }

    fn by_vectors(&self, group: &Group) -> Vec<f64> {
        let (stride, mut stats) = (self.scorer.stride(), self.sums_of_vectors(group));
        if !self.scorer.gradient_along_basis.is_empty() {
            stats.chunks_exact_mut(stride).for_each(|bin| self.scorer.project(StatisticsMut::of(bin)));
        }
        stats
    }

    /// The sums of the vectors of rows.
    fn sums_of_vectors(&self, group: &Group) -> Vec<f64> {
        if let Some(remote) = &self.remote {
            return self.summed_remotely(remote, Method::Vectors, group);
        }
        let stride = self.scorer.stride();
        let mut stats = scratch::zeros(group.bins() * stride);
        for part in &self.parts {
            let vectors = part.vectors.get_or_init(|| self.row_vectors(part));
            for (column, first) in group.of(part.columns) {
                add_vectors(part.rows, &column.codes, vectors, stride, &mut stats[first * stride..]);
            }
        }
        stats
    }

    fn row_vectors(&self, part: &PartitionReads) -> Vec<f64> {
        let stride = self.scorer.stride();
        let mut vectors = scratch::any(part.keys.len() * stride);
        let [for_g, for_d, for_n] = self.roundings();
        // Of the cells that occur, in the order in which they do.
        let (mut places, mut shared) = (vec![u32::MAX; self.cells.len()], Vec::new());
        for (i, vector) in vectors.chunks_exact_mut(stride).enumerate() {
            let (gradient, weight, d) = self.row(part, i);
            let place = &mut places[self.cell(part, i)];
            if *place == u32::MAX {
                *place = shared.len() as u32;
                shared.push(self.scorer.vector(self.cell(part, i)));
            }
            let sums = StatisticsMut::of(vector);
            *sums.rows = f64::from(part.stands_for.at(i));
            (*sums.gradient, *sums.curvature) = (for_g.round(gradient), for_d.round(d));
            sums.along.iter_mut().zip(&shared[*place as usize]).for_each(|(x, dz)| *x = for_n.round(weight * dz));
        }
        vectors
    }

    fn by_rules(&self, group: &Group) -> Vec<f64> {
        let mut stats = self.sums_by_rule(group);
        self.scorer.add_slopes(&mut stats);
        orthogonalise_each(self.scorer, &mut stats);
        stats
    }

    /// The sums of rows, g, d and d·q.
    fn sums_by_rule(&self, group: &Group) -> Vec<f64> {
        if let Some(remote) = &self.remote {
            return self.summed_remotely(remote, Method::Rules, group);
        }
        self.sums_of_equal_rows(group).unwrap_or_else(|| self.sums_row_by_row(group))
    }
}

vectorised! {
    /// Adds the vector of every row to its bin.
    fn add_vectors(rows: &RowList, codes: &Codes, vectors: &[f64], stride: usize, stats: &mut [f64]) {
        let mut add = |bin: usize, vector: &[f64]| {
            stats[bin * stride..][..stride].iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
        };
        let vectors = vectors.chunks_exact(stride);
        with_codes!(codes, codes => match rows {
            RowList::All(_) => codes.iter().zip(vectors).for_each(|(code, vector)| add(code.index(), vector)),
            RowList::Some(rows) => {
                rows.iter().zip(vectors).for_each(|(&r, vector)| add(codes[r as usize].index(), vector));
            }
        });
    }
}
