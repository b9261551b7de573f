//! Counts of remote rows: one question for all columns of some nodes.

use super::{CountSource, Method, NodeCounter};
use crate::base::wire::Wire;
use crate::codes::column::BinnedColumn;
use crate::codes::wanted::WantedCodes;
use crate::engine::cells::Cells;
use crate::engine::count::cell_counts::{CellCounts, Counts, NodeCounts};
use crate::engine::count::group::Group;
use crate::engine::count::root::RootCounts;
use crate::engine::mass::PerRow;
use crate::engine::rows::question::{Ask, Job, Request};
use crate::engine::rows::remote::{RemoteNode, RemoteRows};
use crate::engine::rows::{Rows, Selected};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A node whose rows are remote, with what is known of it.
pub(super) struct RemoteCounter<'a> {
    rows: &'a RemoteRows<'a>,
    node: &'a RemoteNode,
    answers: Mutex<HashMap<Job, NodeCounts>>,
}

impl<'a> RemoteCounter<'a> {
    pub(super) fn new(rows: &'a Rows, selected: &'a Selected) -> Option<Self> {
        let (rows, node) = rows.remote_node(selected)?;
        Some(Self { rows, node, answers: Mutex::default() })
    }

    pub(super) fn refuse(&self, why: String) {
        self.rows.access().refuse(why);
    }

    fn question(&self, jobs: Vec<Job>) -> Ask {
        Ask::Count(self.node.node.clone(), self.node.count, jobs)
    }

    /// Keeps the answers to some jobs.
    fn keep(&self, jobs: Vec<Job>, answer: &[u8]) {
        let Some(counted) = self.rows.read::<Vec<NodeCounts>>(answer) else { return };
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).extend(jobs.into_iter().zip(counted));
    }

    fn take(&self, job: Job) -> Option<NodeCounts> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).remove(&job)
    }
}

/// A candidate of a column, in a group of columns with this number.
pub(crate) struct CountedCandidate<'c> {
    pub(crate) group: (usize, &'c Group),
    pub(crate) column: usize,
    pub(crate) wanted: &'c WantedCodes,
}

impl<'a> NodeCounter<'a> {
    /// For this many rows in all partitions, of which some are here.
    pub(crate) fn among(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// This counter as if there were no rules: all rows are in the only cell of `one`.
    pub(crate) fn ignoring_rules(mut self, one: &'a Cells) -> Self {
        let target = u32::from(one.are_counted());
        self.parts.iter_mut().flat_map(|part| &mut part.keys).for_each(|key| *key &= target);
        Self { cells: one, ..self }
    }

    /// What one partition answers.
    pub(crate) fn answer(&self, method: Method, group: &Group) -> NodeCounts {
        match method {
            // Counts of some rows have 32 bits, those of all may need more.
            Method::Cells if self.response.is_vast() => NodeCounts::Cells(self.count(group).widened()),
            Method::Cells => NodeCounts::Cells(self.count(group)),
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
            CountSource::Root(_) | CountSource::AllBut(..) => Vec::new(),
            CountSource::Own | CountSource::AllRows | CountSource::SubtractedFrom(_) | CountSource::LeftOutOf(_) => {
                groups.iter().flat_map(of_group).collect()
            }
        }
    }

    /// Asks for all that the statistics of some nodes need, in one question. `also` are questions that are likely to
    /// come. Asks nothing where rows are here.
    pub(crate) fn ask_together(counters: &[Self], groups: &[Group], all: &[BinnedColumn], also: &[Ask]) {
        let asked: Vec<(&RemoteCounter, &Self, Vec<Job>)> = counters
            .iter()
            .filter_map(|counter| Some((counter.remote.as_ref()?, counter, counter.jobs(groups, all))))
            .collect();
        let Some((first, counter, _)) = asked.first() else { return };
        let by_vectors = asked.iter().flat_map(|(.., jobs)| jobs).any(|job| job.method != Method::Cells);
        let counts = asked.iter().map(|(remote, _, jobs)| remote.question(jobs.clone()));
        let request = Request {
            history: counter.cells.history().to_vec(),
            scorer: by_vectors.then(|| counter.scorer.bytes()),
            by_norm: counter.scorer.by_norm,
            asks: counts.chain(also.iter().cloned()).collect(),
        };
        let access = first.rows.access();
        let Some(answers) = access.ask(&request) else { return };
        let mut answers = answers.into_iter();
        for ((remote, _, jobs), answer) in asked.into_iter().zip(&mut answers) {
            remote.keep(jobs, &answer);
        }
        for (ask, answer) in also.iter().zip(answers) {
            access.keep(&request.history, ask, answer);
        }
    }

    /// Whether all rows of the `selected` node that are in a candidate are in rule k, or none is, if what was counted
    /// tells or, of remote rows, what came with it.
    pub(crate) fn all_in(
        &self,
        candidate: &CountedCandidate,
        (k, inside): (usize, bool),
        (root, rows, selected): (Option<&RootCounts>, &Rows, &Selected),
    ) -> Option<bool> {
        let &CountedCandidate { group: (index, group), column, wanted } = candidate;
        let place = group.columns().position(|c| c == column)?;
        let bins = group.starts()[place]..group.starts()[place + 1];
        let good: Vec<bool> = self.cells.are_in_rule(k).into_iter().map(|in_rule| in_rule == inside).collect();
        let chosen = |bin: usize| bins.contains(&bin) && wanted.has(bin - bins.start);
        if let CountSource::Root(root) = self.source {
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
        if let Some(remote) = &self.remote {
            self.ask_for(remote, groups.iter().map(Group::counted).collect());
        }
    }

    fn ask_for(&self, remote: &RemoteCounter, jobs: Vec<Job>) {
        let scorer = jobs.iter().any(|job| job.method != Method::Cells).then(|| self.scorer.bytes());
        let (history, by_norm) = (self.cells.history().to_vec(), self.scorer.by_norm);
        let (access, question) = (remote.rows.access(), remote.question(jobs.clone()));
        if let Some(answer) = access.take(&history, &question) {
            return remote.keep(jobs, &answer);
        }
        let request = Request { history, scorer, by_norm, asks: vec![question] };
        if let Some(answer) = access.ask(&request).and_then(|mut answers| answers.pop()) {
            remote.keep(jobs, &answer);
        }
    }

    /// What was counted, or is asked for now.
    fn take(&self, remote: &RemoteCounter, job: Job) -> Option<NodeCounts> {
        remote.take(job).or_else(|| {
            self.ask_for(remote, vec![job]);
            remote.take(job)
        })
    }

    /// What is counted of a group; nothing if there is no answer.
    pub(super) fn counted_remotely(&self, remote: &RemoteCounter, group: &Group) -> CellCounts {
        let nothing = self.nothing(group.bins());
        match self.take(remote, group.counted()) {
            Some(NodeCounts::Cells(cell_counts)) if cell_counts.is_like(&nothing) => cell_counts,
            _ => nothing,
        }
    }

    /// What is summed up of a group; nothing if there is no answer.
    pub(super) fn summed_remotely(&self, remote: &RemoteCounter, method: Method, group: &Group) -> Vec<f64> {
        let (columns, length) = (group.columns(), group.bins() * self.scorer.stride());
        match self.take(remote, Job { method, columns: (columns.start, columns.end) }) {
            Some(NodeCounts::Sums(sums)) if sums.len() == length => sums,
            _ => vec![0.0; length],
        }
    }

    /// A table of no rows.
    fn nothing(&self, bins: usize) -> CellCounts {
        let (targets, vast) = (&self.response.targets, self.response.is_vast());
        let counts = |amounts: &PerRow<u64>, count: usize| match amounts {
            PerRow::Same(_) if !vast => Counts::Rows(vec![0; count]),
            PerRow::Same(_) | PerRow::Each(_) => Counts::Units(vec![0; count]),
        };
        let (cells, classes) = (self.cells.len(), self.cells.classes());
        CellCounts {
            counts: counts(&targets.mass, bins * cells),
            norms: targets.norm.as_ref().filter(|_| self.scorer.by_norm).map(|norm| counts(norm, bins * cells)),
            rows: vec![0; if self.response.has_one_mass() && !vast { 0 } else { bins }],
            sums: vec![0; bins],
            classes: (classes > 0).then(|| counts(&targets.mass, bins * classes)),
            trends: Vec::new(),
        }
    }
}
