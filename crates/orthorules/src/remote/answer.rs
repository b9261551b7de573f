//! What a partition answers, and how answers are added up.
//!
//! Every answer follows from the question and the rows. What is kept between questions, the cells of rows and lists of
//! rows, only saves time: it may vanish, and is found out again. Rows are visited some at a time, so that a question
//! takes little memory beside them.

mod row_lists;

use crate::base::error::Result;
use crate::base::wire::{Wire, damaged, wire};
use crate::codes::column::BinnedColumn;
use crate::engine::cells::Cells;
use crate::engine::cells::sums::AllSums;
use crate::engine::count::cell_counts::NodeCounts;
use crate::engine::count::group::Group;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::rows::question::{Ask, CellSplit, Job, Method, Node, Request};
use crate::engine::rows::{Rows, Selected};
use crate::engine::score::Scorer;
use crate::engine::targets::numbers::TargetRows;
use crate::engine::targets::plan::TargetPlan;
use crate::engine::targets::response::Response;
use rayon::prelude::*;
use row_lists::RowLists;
use std::sync::Arc;

/// A partition of more rows keeps the cells of one point of a fit alone, since they take 4 bytes a row; others keep
/// those of two. Paths of large tables are nested by default, and never come back to an earlier point. Small in tests,
/// so that both are met.
const MANY_ROWS: usize = if cfg!(test) { 100 } else { 1 << 21 };

/// The answer to one question: its kind, and what it holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeAnswer {
    kind: u8,
    pub(crate) bytes: Vec<u8>,
}
wire!(NodeAnswer { kind, bytes });

/// Kinds of answers.
const ROWS: u8 = 0;
const SUMS: u8 = 1;
const NEEDED: u8 = 2;
const ALL_IN: u8 = 3;
const COUNTS: u8 = 4;
const CODES: u8 = 5;

impl NodeAnswer {
    fn new(kind: u8, value: &impl Wire) -> Self {
        Self { kind, bytes: value.bytes() }
    }

    /// The answer of the rows of both.
    pub(crate) fn with(self, other: &Self) -> Result<Self> {
        if self.kind != other.kind {
            return Err(damaged());
        }
        let (a, b) = (&self.bytes, &other.bytes);
        let added = match self.kind {
            ROWS => usize::of_bytes(a)?.checked_add(usize::of_bytes(b)?).ok_or_else(damaged)?.bytes(),
            SUMS => {
                let mut sums = AllSums::of_bytes(a)?;
                sums.add(&AllSums::of_bytes(b)?)?;
                sums.bytes()
            }
            CODES => {
                let mut rows = Vec::<u64>::of_bytes(a)?;
                let mut fits = true;
                each(&mut rows, &Vec::of_bytes(b)?, |a, b| {
                    fits &= a.checked_add(*b).is_some();
                    *a = a.wrapping_add(*b);
                })?;
                if !fits {
                    return Err(damaged());
                }
                rows.bytes()
            }
            NEEDED => {
                let mut needed = Vec::<bool>::of_bytes(a)?;
                each(&mut needed, &Vec::of_bytes(b)?, |a, b| *a |= *b)?;
                needed.bytes()
            }
            ALL_IN => (bool::of_bytes(a)? && bool::of_bytes(b)?).bytes(),
            COUNTS => {
                let mut counts = Vec::<NodeCounts>::of_bytes(a)?;
                add(&mut counts, &Vec::of_bytes(b)?)?;
                counts.bytes()
            }
            _ => return Err(damaged()),
        };
        Ok(Self { kind: self.kind, bytes: added })
    }
}

/// Combines two lists of one length, place by place.
fn each<T>(all: &mut [T], more: &[T], mut combine: impl FnMut(&mut T, &T)) -> Result<()> {
    if all.len() != more.len() {
        return Err(damaged());
    }
    all.iter_mut().zip(more).for_each(|(a, b)| combine(a, b));
    Ok(())
}

/// The rows of one partition.
#[derive(Debug)]
pub(crate) struct PartitionRows {
    columns: Vec<BinnedColumn>,
    /// What is fitted to, as far as it is known.
    aim: Option<Aim>,
}

/// The rows with what is to be fitted.
#[derive(Debug)]
struct Aim {
    plan: TargetPlan,
    response: Response,
    /// Cells at some points of the fit.
    points: Vec<(Vec<Arc<CellSplit>>, Cells)>,
    lists: RowLists,
}

impl PartitionRows {
    pub(crate) fn new(columns: Vec<BinnedColumn>) -> Self {
        Self { columns, aim: None }
    }

    pub(crate) fn columns(&self) -> &[BinnedColumn] {
        &self.columns
    }

    /// Whether it is ready for questions about what this plan fits.
    pub(crate) fn aims_at(&self, plan: &TargetPlan) -> bool {
        self.aim.as_ref().is_some_and(|aim| aim.plan == *plan)
    }

    /// Makes it ready, from what is known of its rows.
    pub(crate) fn aim(&mut self, plan: &TargetPlan, known: TargetRows) -> Result<()> {
        self.aim = None;
        self.aim = Some(Aim::new(plan, plan.response_of(known)?));
        Ok(())
    }

    /// Makes it ready for another of several classes, if it is for one; these are the classes of its rows.
    pub(crate) fn aim_at_another(&mut self, plan: &TargetPlan, classes: &[u32]) -> bool {
        let aim = self.aim.take();
        let response = aim.and_then(|aim| plan.response_of_class(aim.response, classes));
        self.aim = response.map(|response| Aim::new(plan, response));
        self.aim.is_some()
    }

    /// The answers to all questions of a request.
    pub(crate) fn answers(&mut self, request: &Request) -> Result<Vec<NodeAnswer>> {
        self.aim.as_mut().ok_or_else(damaged)?.answers(&self.columns, request)
    }
}

impl Aim {
    fn new(plan: &TargetPlan, response: Response) -> Self {
        let lists = RowLists::new(response.targets.b.len());
        Self { plan: plan.clone(), response, points: Vec::new(), lists }
    }

    fn answers(&mut self, columns: &[BinnedColumn], request: &Request) -> Result<Vec<NodeAnswer>> {
        self.reach(columns, &request.history)?;
        let point = self.points.pop().ok_or_else(damaged)?;
        let answers = self.answers_at(columns, request, &point.1);
        self.points.push(point);
        answers
    }

    /// The answers at the point of the fit where these are the cells.
    fn answers_at(&mut self, columns: &[BinnedColumn], request: &Request, cells: &Cells) -> Result<Vec<NodeAnswer>> {
        let scorer = match &request.scorer {
            Some(bytes) => Scorer::of_bytes(bytes)?,
            None => Scorer::bare(0, 0.0).by_norm(request.by_norm),
        };
        if request.scorer.is_some() && !scorer.fits(cells.len()) {
            return Err(damaged());
        }
        request.asks.iter().map(|ask| self.answer(columns, cells, &scorer, ask)).collect()
    }

    /// Points of a fit whose cells are kept.
    fn points_kept(&self) -> usize {
        if self.response.targets.b.len() > MANY_ROWS { 1 } else { 2 }
    }

    /// Makes the last point that of `history`.
    fn reach(&mut self, columns: &[BinnedColumn], history: &[Arc<CellSplit>]) -> Result<()> {
        let nearest = (0..self.points.len())
            .filter(|&k| history.starts_with(&self.points[k].0))
            .max_by_key(|&k| self.points[k].0.len());
        let (mut before, mut cells) = match nearest {
            Some(nearest) if self.points[nearest].0.len() == history.len() => {
                let point = self.points.remove(nearest);
                self.points.push(point);
                return Ok(());
            }
            Some(nearest) => {
                // One copy at a time: what is the oldest then goes first, or goes on as the new one.
                if self.points.len() < self.points_kept() {
                    self.points[nearest].clone()
                } else if nearest == 0 {
                    self.points.remove(0)
                } else {
                    self.points.remove(0);
                    self.points[nearest - 1].clone()
                }
            }
            None => (Vec::new(), Cells::empty(&Rows::whole(columns, &self.response), &self.response)),
        };
        for split in &history[before.len()..] {
            let old = cells.len();
            let fits = split.moved_to.len() == old && split.moved_to.iter().all(|&to| (to as usize) < split.cells);
            if !fits || split.cells < old || split.cells > 2 * old {
                return Err(damaged());
            }
            self.lists.each_chunk(columns, &split.node, |chunk| {
                cells.move_rows(chunk, &split.moved_to);
                Ok(())
            })?;
            cells.follow_split(split);
            before.push(Arc::clone(split));
        }
        if self.points.len() >= self.points_kept() {
            self.points.remove(0);
        }
        self.points.push((before, cells));
        Ok(())
    }

    fn answer(&mut self, columns: &[BinnedColumn], cells: &Cells, scorer: &Scorer, ask: &Ask) -> Result<NodeAnswer> {
        let Self { response, lists, .. } = self;
        let (rows, nothing) = (Rows::whole(columns, response), Selected::single(Vec::new()));
        let answer = match ask {
            Ask::Rows(node) => {
                let mut count = 0;
                lists.each_chunk(columns, node, |chunk| {
                    count += chunk.len();
                    Ok(())
                })?;
                NodeAnswer::new(ROWS, &count)
            }
            Ask::Sums(node) => {
                let sums_of = |chunk: &Selected| cells.all_sums_of(chunk, &rows, response);
                let mut sums = sums_of(&nothing);
                lists.each_chunk(columns, node, |chunk| sums.add(&sums_of(chunk)))?;
                NodeAnswer::new(SUMS, &sums)
            }
            Ask::Needed(clauses) => {
                row_lists::check(columns, clauses)?;
                let mut needed = vec![false; clauses.len()];
                rows.parts().iter().for_each(|part| part.note_needed(clauses, &mut needed));
                NodeAnswer::new(NEEDED, &needed)
            }
            Ask::AllIn(node, good) => {
                if good.len() != cells.len() {
                    return Err(damaged());
                }
                let mut all = true;
                lists.each_chunk(columns, node, |chunk| {
                    let mut keys = chunk.lists().iter().flat_map(|list| list.gather(cells.keys(0)));
                    all = all && keys.all(|key| good[cells.cell_of(key)]);
                    Ok(())
                })?;
                NodeAnswer::new(ALL_IN, &all)
            }
            Ask::Codes(node) => {
                let mut codes = codes_of(columns, &nothing);
                let add = |all: &mut u64, more: &u64| *all += more;
                lists.each_chunk(columns, node, |chunk| each(&mut codes, &codes_of(columns, chunk), add))?;
                NodeAnswer::new(CODES, &codes)
            }
            Ask::Count(node, total, jobs) => lists.counts(columns, node, |chunk| {
                let counter = NodeCounter::new(chunk, &rows, response, cells, scorer);
                counts(counter.among(*total), columns, jobs)
            })?,
            Ask::Bins(node, total, jobs) => {
                if jobs.iter().any(|job| job.method != Method::Cells) {
                    return Err(damaged());
                }
                let one = Cells::empty(&Rows::here(Vec::new(), Arc::default()), response);
                lists.counts(columns, node, |chunk| {
                    let counter = NodeCounter::new(chunk, &rows, response, cells, scorer);
                    counts(counter.ignoring_rules(&one).among(*total), columns, jobs)
                })?
            }
        };
        Ok(answer)
    }
}

impl RowLists {
    /// What is counted of the rows of a node, chunk by chunk.
    fn counts(
        &mut self,
        columns: &[BinnedColumn],
        node: &Node,
        count: impl Fn(&Selected) -> Result<Vec<NodeCounts>>,
    ) -> Result<NodeAnswer> {
        let mut all = count(&Selected::single(Vec::new()))?;
        self.each_chunk(columns, node, |chunk| add(&mut all, &count(chunk)?))?;
        Ok(NodeAnswer::new(COUNTS, &all))
    }
}

/// How many of some rows have each code of every column.
fn codes_of(columns: &[BinnedColumn], some: &Selected) -> Vec<u64> {
    let of_column = |column| some.lists().iter().flat_map(move |list| list.codes_of(column));
    columns.par_iter().flat_map_iter(of_column).collect()
}

/// What is counted of some rows.
fn counts(counter: NodeCounter, columns: &[BinnedColumn], jobs: &[Job]) -> Result<Vec<NodeCounts>> {
    let count = |&Job { method, columns: (first, end) }: &Job| {
        if first >= end || end > columns.len() {
            return Err(damaged());
        }
        Ok(counter.answer(method, &Group::new(first..end, columns)))
    };
    let counts = jobs.iter().map(count).collect();
    // Its memory is of use for the next chunk.
    counter.into_tables();
    counts
}

/// Adds what was counted of other rows.
fn add(all: &mut [NodeCounts], more: &[NodeCounts]) -> Result<()> {
    let mut fits = true;
    each(all, more, |a, b| fits &= a.add(b))?;
    if fits { Ok(()) } else { Err(damaged()) }
}
