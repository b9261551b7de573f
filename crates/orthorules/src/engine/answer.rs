//! What a partition answers, and how answers are added up.
//!
//! Every answer follows from the question and the rows. What is kept between questions, the cells of rows and lists of rows, only saves
//! time: it may vanish, and is found out again.

use crate::base::error::Result;
use crate::base::wire::{Wire, damaged, wire};
use crate::codes::column::BinnedColumn;
use crate::engine::cells::Cells;
use crate::engine::cells::sums::AllSums;
use crate::engine::count::group::Group;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::count::tally::NodeCounts;
use crate::engine::response::Response;
use crate::engine::row_list::RowList;
use crate::engine::row_numbers::KnownRows;
use crate::engine::rows::ask::{Ask, Clause, Job, Method, Node, Request, Split};
use crate::engine::rows::{Rows, Selected};
use crate::engine::score::Scorer;
use crate::engine::target_plan::TargetPlan;
use rayon::prelude::*;
use std::sync::Arc;

/// A partition of more rows keeps the cells of one point of a fit alone, since they take 4 bytes a row; others keep those of two. Paths
/// of so many rows are nested by default, and never come back to an earlier point. Small in tests, so that both are met.
const MANY_ROWS: usize = if cfg!(test) { 100 } else { 1 << 21 };
/// Lists of rows that are kept, of half as many rows as there are at most.
const LISTS_KEPT: usize = 16;

/// The answer to one question: its kind, and what it holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    kind: u8,
    pub(crate) bytes: Vec<u8>,
}
wire!(Answer { kind, bytes });

/// Kinds of answers.
const ROWS: u8 = 0;
const SUMS: u8 = 1;
const NEEDED: u8 = 2;
const ALL_IN: u8 = 3;
const COUNTS: u8 = 4;
const CODES: u8 = 5;

impl Answer {
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
                let mut fits = true;
                each(&mut counts, &Vec::of_bytes(b)?, |a, b| fits &= a.add(b))?;
                if !fits {
                    return Err(damaged());
                }
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
pub(crate) struct Held {
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
    points: Vec<(Vec<Arc<Split>>, Cells)>,
    /// The rows that satisfy some clauses.
    lists: Vec<(Vec<Clause>, RowList)>,
}

impl Held {
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
    pub(crate) fn aim(&mut self, plan: &TargetPlan, known: &KnownRows) -> Result<()> {
        self.aim = None;
        let response = plan.response_of(known)?;
        let (points, lists) = (Vec::new(), Vec::new());
        self.aim = Some(Aim { plan: plan.clone(), response, points, lists });
        Ok(())
    }

    /// The answers to all questions of a request.
    pub(crate) fn answers(&mut self, request: &Request) -> Result<Vec<Answer>> {
        self.aim.as_mut().ok_or_else(damaged)?.answers(&self.columns, request)
    }
}

impl Aim {
    fn answers(&mut self, columns: &[BinnedColumn], request: &Request) -> Result<Vec<Answer>> {
        self.reach(columns, &request.history)?;
        let point = self.points.pop().ok_or_else(damaged)?;
        let answers = self.answers_at(columns, request, &point.1);
        self.points.push(point);
        answers
    }

    /// The same at the point where these are the cells.
    fn answers_at(&mut self, columns: &[BinnedColumn], request: &Request, cells: &Cells) -> Result<Vec<Answer>> {
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
    fn reach(&mut self, columns: &[BinnedColumn], history: &[Arc<Split>]) -> Result<()> {
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
            let selected = self.selected(columns, &split.node)?;
            cells.follow_split(&selected, split);
            before.push(Arc::clone(split));
        }
        if self.points.len() >= self.points_kept() {
            self.points.remove(0);
        }
        self.points.push((before, cells));
        Ok(())
    }

    /// The rows of a node.
    fn selected(&mut self, columns: &[BinnedColumn], node: &Node) -> Result<Selected> {
        let has =
            |clause: &Clause| columns.get(clause.column as usize).is_some_and(|column| clause.wanted.fits(column.bins));
        if !node.clauses.iter().all(has) {
            return Err(damaged());
        }
        let total = self.response.targets.b.len();
        let nearest = (0..self.lists.len())
            .filter(|&k| node.clauses.starts_with(&self.lists[k].0))
            .max_by_key(|&k| self.lists[k].0.len());
        let known = nearest.map_or(0, |nearest| self.lists[nearest].0.len());
        let mut list = None;
        for clause in &node.clauses[known..] {
            let all = RowList::All(total);
            let from = list.as_ref().or_else(|| nearest.map(|nearest| &self.lists[nearest].1)).unwrap_or(&all);
            let rows = from.select_where(&columns[clause.column as usize], &clause.wanted, clause.holds);
            list = Some(RowList::Some(rows));
        }
        // The rows of a long list are found again by one pass over a column: it is not worth its memory.
        let long = list.take_if(|list| list.len() > total / 2);
        let selected = match (long, node.outside) {
            (Some(long), false) => long,
            (Some(long), true) => long.others(total),
            (None, outside) => match list.as_ref().or_else(|| nearest.map(|nearest| &self.lists[nearest].1)) {
                Some(list) if outside => list.others(total),
                Some(list) => list.clone(),
                None if outside => RowList::Some(Vec::new()),
                None => RowList::All(total),
            },
        };
        if let Some(list) = list {
            self.lists.push((node.clauses.clone(), list));
            let kept = |lists: &[(Vec<Clause>, RowList)]| lists.iter().map(|(_, list)| list.len()).sum::<usize>();
            while self.lists.len() > LISTS_KEPT || kept(&self.lists) > total / 2 {
                self.lists.remove(0);
            }
        }
        Ok(Selected { parts: vec![selected], elsewhere: None })
    }

    fn answer(&mut self, columns: &[BinnedColumn], cells: &Cells, scorer: &Scorer, ask: &Ask) -> Result<Answer> {
        let answer = match ask {
            Ask::Rows(node) => Answer::new(ROWS, &self.selected(columns, node)?.len()),
            Ask::Sums(node) => {
                let selected = self.selected(columns, node)?;
                let rows = Rows::whole(columns, &self.response);
                Answer::new(SUMS, &cells.all_sums_of(&selected, &rows, &self.response))
            }
            Ask::Needed(clauses) => {
                // That there are these columns and codes.
                self.selected(columns, &Node { clauses: clauses.clone(), outside: false })?;
                let mut needed = vec![false; clauses.len()];
                let rows = Rows::whole(columns, &self.response);
                rows.parts.iter().for_each(|part| part.note_needed(clauses, &mut needed));
                Answer::new(NEEDED, &needed)
            }
            Ask::AllIn(node, good) => {
                if good.len() != cells.len() {
                    return Err(damaged());
                }
                let selected = self.selected(columns, node)?;
                let keys = selected.parts[0].gather(cells.keys(0));
                Answer::new(ALL_IN, &keys.iter().all(|&key| good[cells.cell_of(key)]))
            }
            Ask::Codes(node) => {
                let selected = self.selected(columns, node)?;
                let of_column = |column: &BinnedColumn| selected.parts[0].codes_of(column);
                Answer::new(CODES, &columns.par_iter().flat_map_iter(of_column).collect::<Vec<u64>>())
            }
            Ask::Count(node, total, jobs) => {
                let selected = self.selected(columns, node)?;
                Answer::new(COUNTS, &self.counts(columns, &selected, (cells, scorer), (*total, jobs))?)
            }
            Ask::Bins(node, total, jobs) => {
                let selected = self.selected(columns, node)?;
                let one = Cells::empty(&Rows::whole(columns, &self.response), &self.response);
                if jobs.iter().any(|job| job.method != Method::Cells) {
                    return Err(damaged());
                }
                Answer::new(COUNTS, &self.counts(columns, &selected, (&one, scorer), (*total, jobs))?)
            }
        };
        Ok(answer)
    }

    /// What is counted of some rows.
    fn counts(
        &self,
        columns: &[BinnedColumn],
        selected: &Selected,
        (cells, scorer): (&Cells, &Scorer),
        (total, jobs): (usize, &[Job]),
    ) -> Result<Vec<NodeCounts>> {
        let rows = Rows::whole(columns, &self.response);
        let counter = NodeCounter::new(selected, &rows, &self.response, cells, scorer).among(total);
        let count = |&Job { method, columns: (first, end) }: &Job| {
            if first >= end || end > columns.len() {
                return Err(damaged());
            }
            Ok(counter.answer(method, &Group::new(first..end, columns)))
        };
        jobs.iter().map(count).collect()
    }
}
