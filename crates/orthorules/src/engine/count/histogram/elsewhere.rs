//! Counting where the rows lie: one question for all columns of some nodes.

use super::{Method, NodeCounter, Source};
use crate::base::wire::Wire;
use crate::codes::column::BinnedColumn;
use crate::codes::wanted::Wanted;
use crate::engine::cells::Cells;
use crate::engine::count::group::Group;
use crate::engine::count::root::RootCounts;
use crate::engine::count::tally::{Counts, NodeCounts, Tally};
use crate::engine::mass::PerRow;
use crate::engine::rows::ask::{Ask, Elsewhere, Job, Node, Request};
use crate::engine::rows::{Rows, Selected};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A node whose rows lie elsewhere, with what is known of it.
pub(super) struct Asked<'a> {
    door: &'a Elsewhere<'a>,
    node: &'a Node,
    rows: usize,
    answers: Mutex<HashMap<Job, NodeCounts>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(rows: &'a Rows, selected: &'a Selected) -> Option<Self> {
        let (door, (node, rows)) = (rows.elsewhere.as_ref()?, selected.elsewhere.as_ref()?);
        Some(Self { door, node, rows: *rows, answers: Mutex::default() })
    }

    pub(super) fn refuse(&self, why: String) {
        self.door.refuse(why);
    }

    fn ask(&self, jobs: Vec<Job>) -> Ask {
        Ask::Count(self.node.clone(), self.rows, jobs)
    }

    /// Keeps the answers to some jobs.
    fn keep(&self, jobs: Vec<Job>, answer: &[u8]) {
        let Some(counted) = self.door.read::<Vec<NodeCounts>>(answer) else { return };
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(jobs.into_iter().zip(counted));
    }

    fn take(&self, job: Job) -> Option<NodeCounts> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&job)
    }
}

impl<'a> NodeCounter<'a> {
    /// For so many rows in all partitions, of which some are here.
    pub(crate) fn among(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// The same as if there were no rules: all rows are in the only cell of `one`.
    pub(crate) fn ignoring_rules(mut self, one: &'a Cells) -> Self {
        let target = u32::from(one.are_counted());
        self.parts.iter_mut().flat_map(|part| &mut part.keys).for_each(|key| *key &= target);
        Self { cells: one, ..self }
    }

    /// What one partition answers.
    pub(crate) fn answer(&self, method: Method, group: &Group) -> NodeCounts {
        match method {
            // Counts of some rows have 32 bits, those of all may need more.
            Method::Cells if self.response.is_vast() => NodeCounts::Tally(self.count(group).widened()),
            Method::Cells => NodeCounts::Tally(self.count(group)),
            Method::Vectors => NodeCounts::Sums(self.sums_of_vectors(group)),
            Method::Rules => NodeCounts::Sums(self.sums_by_rule(group)),
        }
    }

    /// What is to be counted for the statistics of these groups.
    fn jobs(&self, groups: &[Group], all: &[BinnedColumn]) -> Vec<Job> {
        let of_group = |group: &Group| -> Vec<Job> {
            let job = |method, columns: std::ops::Range<usize>| Job { method, columns: (columns.start, columns.end) };
            if self.cells.classes() > 0 {
                group.of(all).for_each(|(column, _)| {
                    self.counts_classes(column);
                });
                return vec![group.counted()];
            }
            match self.method(group, all) {
                Some(method) => vec![job(method, group.columns())],
                None => group.columns().map(|c| job(self.cheaper(&all[c]), c..c + 1)).collect(),
            }
        };
        match self.source {
            Source::Root(_) | Source::AllBut(..) => Vec::new(),
            Source::Own | Source::AllRows | Source::SubtractedFrom(_) | Source::LeftOutOf(_) => {
                groups.iter().flat_map(of_group).collect()
            }
        }
    }

    /// Asks for all that the statistics of some nodes need, in one question. `also` are questions that are likely to come.
    pub(crate) fn ask_together(counters: &[Self], groups: &[Group], all: &[BinnedColumn], also: &[Ask]) {
        let asked: Vec<(&Asked, &Self, Vec<Job>)> = counters
            .iter()
            .filter_map(|counter| Some((counter.asked.as_ref()?, counter, counter.jobs(groups, all))))
            .collect();
        let Some((first, counter, _)) = asked.first() else { return };
        let by_vectors = asked.iter().flat_map(|(.., jobs)| jobs).any(|job| job.method != Method::Cells);
        let counts = asked.iter().map(|(asked, _, jobs)| asked.ask(jobs.clone()));
        let request = Request {
            history: counter.cells.history().to_vec(),
            scorer: by_vectors.then(|| counter.scorer.bytes()),
            by_norm: counter.scorer.by_norm,
            asks: counts.chain(also.iter().cloned()).collect(),
        };
        let door = first.door;
        let Some(answers) = door.ask(&request) else { return };
        let mut answers = answers.into_iter();
        for ((asked, _, jobs), answer) in asked.into_iter().zip(&mut answers) {
            asked.keep(jobs, &answer);
        }
        for (ask, answer) in also.iter().zip(answers) {
            door.keep(&request.history, ask, answer);
        }
    }

    /// Whether all rows with the codes `wanted` of a column, which is in group `index`, are in rule k, or none is, if the rows lie
    /// elsewhere and what was counted tells, or what came with it of the `selected` rows of the node.
    pub(crate) fn all_in(
        &self,
        (index, group): (usize, &Group),
        (column, wanted): (usize, &Wanted),
        (k, inside): (usize, bool),
        (root, rows, selected): (Option<&RootCounts>, &Rows, &Selected),
    ) -> Option<bool> {
        let place = group.columns().position(|c| c == column)?;
        let bins = group.starts()[place]..group.starts()[place + 1];
        let good: Vec<bool> = self.cells.are_in_rule(k).into_iter().map(|in_rule| in_rule == inside).collect();
        let chosen = |bin: usize| bins.contains(&bin) && wanted.has(bin - bins.start);
        if let Source::Root(root) = self.source {
            return match root.own_tables() {
                Some(tables) => Some(tables[index].lies_in(chosen, &good)),
                None => root.all_in(index, bins.clone(), wanted, (k, inside)),
            };
        }
        if let Some(table) = self.tables.get(index).and_then(OnceLock::get) {
            return Some(table.lies_in(chosen, &good));
        }
        let root = root.filter(|root| root.own_tables().is_some())?;
        Some(root.tables_that_came(rows, selected, self.cells)?.get(index)?.lies_in(chosen, &good))
    }

    /// Asks for counts of all groups in one question.
    pub(super) fn ask_for_counts(&self, groups: &[Group]) {
        if let Some(asked) = &self.asked {
            self.ask_for(asked, groups.iter().map(Group::counted).collect());
        }
    }

    fn ask_for(&self, asked: &Asked, jobs: Vec<Job>) {
        let scorer = jobs.iter().any(|job| job.method != Method::Cells).then(|| self.scorer.bytes());
        let (history, by_norm) = (self.cells.history().to_vec(), self.scorer.by_norm);
        if let Some(answer) = asked.door.kept(&history, &asked.ask(jobs.clone())) {
            return asked.keep(jobs, &answer);
        }
        let request = Request { history, scorer, by_norm, asks: vec![asked.ask(jobs.clone())] };
        if let Some(answer) = asked.door.ask(&request).and_then(|mut answers| answers.pop()) {
            asked.keep(jobs, &answer);
        }
    }

    /// What was counted, or is asked for now.
    fn take(&self, asked: &Asked, job: Job) -> Option<NodeCounts> {
        asked.take(job).or_else(|| {
            self.ask_for(asked, vec![job]);
            asked.take(job)
        })
    }

    /// What is counted of a group; nothing if nobody answers.
    pub(super) fn counted_elsewhere(&self, asked: &Asked, group: &Group) -> Tally {
        let nothing = self.nothing(group.bins());
        match self.take(asked, group.counted()) {
            Some(NodeCounts::Tally(tally)) if tally.is_like(&nothing) => tally,
            _ => nothing,
        }
    }

    /// What is summed up of a group; nothing if nobody answers.
    pub(super) fn summed_elsewhere(&self, asked: &Asked, method: Method, group: &Group) -> Vec<f64> {
        let (columns, length) = (group.columns(), group.bins() * self.scorer.stride());
        match self.take(asked, Job { method, columns: (columns.start, columns.end) }) {
            Some(NodeCounts::Sums(sums)) if sums.len() == length => sums,
            _ => vec![0.0; length],
        }
    }

    /// A table of no rows.
    fn nothing(&self, bins: usize) -> Tally {
        let (targets, vast) = (&self.response.targets, self.response.is_vast());
        let counts = |amounts: &PerRow<u64>, count: usize| match amounts {
            PerRow::Same(_) if !vast => Counts::Rows(vec![0; count]),
            PerRow::Same(_) | PerRow::Each(_) => Counts::Units(vec![0; count]),
        };
        let (cells, classes) = (self.cells.len(), self.cells.classes());
        Tally {
            counts: counts(&targets.mass, bins * cells),
            norms: targets.norm.as_ref().filter(|_| self.scorer.by_norm).map(|norm| counts(norm, bins * cells)),
            rows: vec![0; if self.response.has_one_mass() && !vast { 0 } else { bins }],
            sums: vec![0; bins],
            classes: (classes > 0).then(|| counts(&targets.mass, bins * classes)),
            trends: Vec::new(),
        }
    }
}
