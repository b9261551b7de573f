//! The search for the best query: one frontier for greedy and beam search, branch and bound for exact search.

mod bits;
mod bound;
mod candidate;
mod certificate;
mod closed;
mod cover;
mod descent;
mod exact;
mod extent;
mod holding;
mod keyed;
mod lengths;
mod minimal;
mod mirror;
mod prefix;
mod query;
mod relaxation;
mod row_set;
mod smooth;
mod sums;
#[cfg(test)]
mod tests;
mod units;

use crate::bins::{Atom, BinnedColumn};
use crate::cells::Cells;
use crate::counts::{RootCounts, Tables};
use crate::fit::Observer;
use crate::group::Group;
use crate::histogram::{Gathered, Method, Rows};
use crate::monotone::{Directions, Signs};
use crate::objective::{ROWS, Scorer};
use crate::params::{Checked, Intercept};
use crate::response::{PerRow, Response};
use crate::spare;
pub(crate) use bound::Bounds;
pub(crate) use candidate::children;
pub(crate) use candidate::rounded;
use candidate::{Candidate, Kept, order, price};
pub use certificate::{Certificate, Pruned};
use closed::Closed;
use exact::Exact;
use keyed::Keyed;
pub(crate) use query::Query;
use rayon::prelude::*;
pub(crate) use relaxation::Workspace;
use row_set::RowSet;
use std::borrow::Cow;
use std::time::Instant;
pub(crate) use units::{UnitStats, Units};

/// Nodes are expanded by one thread up to so many rows times columns.
const AT_ONCE: usize = 1 << 15;

/// What the search looks at: columns, the current cells and objective, and the rules that are already there.
pub(crate) struct Searcher<'a> {
    pub(crate) columns: &'a [BinnedColumn],
    pub(crate) response: &'a Response,
    pub(crate) cells: &'a Cells,
    pub(crate) scorer: &'a Scorer,
    /// The rules that are already there.
    pub(crate) chosen: &'a [Chosen],
    pub(crate) name_rank: &'a [u32],
    /// Which columns the score may only rise or only fall with.
    pub(crate) directions: &'a Directions,
    pub(crate) params: &'a Checked,
    /// Longest query allowed in this round.
    pub(crate) max_length: usize,
    /// What is known of all rows from earlier rounds.
    pub(crate) root: Option<&'a RootCounts>,
    /// The rows grouped by their codes, for exact search.
    pub(crate) units: Option<&'a Units>,
    /// When exact search must be done.
    pub(crate) deadline: Option<Instant>,
    pub(crate) observer: &'a dyn Observer,
}

/// The rows of a rule that is already there.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    rows: RowSet,
    /// How many rows they stand for, as the search counts coverage.
    covered: f64,
}

impl Chosen {
    pub(crate) fn new(rows: &[u32], response: &Response) -> Self {
        let covered = match &response.rows_each {
            PerRow::Same(each) => each * rows.len() as f64,
            PerRow::Each(each) => rows.iter().map(|&r| each[r as usize]).sum(),
        };
        Self { rows: RowSet::new(rows), covered }
    }
}

/// The best query that was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) query: Query,
    pub(crate) rows: Vec<u32>,
    pub(crate) value: f64,
    /// Queries expanded.
    pub(crate) nodes: u64,
    /// No query has a higher score than one of this value at this length; absent when nothing is known.
    pub(crate) bound: Option<f64>,
    /// Whether no query is better.
    pub(crate) proven: bool,
    pub(crate) pruned: Pruned,
    /// Counts over its rows by column, bin and cell, if the search made them.
    pub(crate) tables: Option<Tables>,
}

/// A query with its rows, to be extended.
struct Node {
    query: Query,
    rows: Rows,
    /// What is counted instead of its rows.
    rest: Option<Rest>,
}

/// Rows that a node lacks, where they are fewer than its own: counting them is enough.
struct Rest {
    rows: Rows,
    /// The node that has them, by its number among those expanded before; none if it is all rows that has them.
    of: Option<usize>,
}

impl Node {
    fn all(rows: usize) -> Self {
        Self { query: Query::default(), rows: Rows::All(rows), rest: None }
    }

    /// Keeps its memory for other nodes.
    fn give(self) {
        self.rows.give();
        if let Some(rest) = self.rest {
            rest.rows.give();
        }
    }
}

impl Searcher<'_> {
    /// The best query with a positive value, or none.
    pub(crate) fn best_query(&self) -> Option<Found> {
        let found = self.beam();
        match self.units {
            Some(units) => match self.closed(units) {
                Some(space) => Exact::new(self, space).search(found),
                None => Exact::new(self, Keyed::new(self, units)).search(found),
            },
            None => found,
        }
    }

    /// The space of counted bits, where it serves: under a low limit of length row sets are cheaper to enumerate by their
    /// queries, and where columns are monotone a row set does not tell which signs its query allows.
    fn closed<'s>(&'s self, units: &'s Units) -> Option<Closed<'s>> {
        if self.max_length < 6 || !self.directions.is_empty() { None } else { Closed::new(self, units) }
    }

    /// What a query of `length` conditions would have to be worth to match the best that any might be.
    fn ceiling(&self, length: usize) -> f64 {
        let gamma = self.params.length_penalty;
        self.scorer.ceiling * (price(length, gamma) / price(1, gamma)).sqrt()
    }

    /// Keys of the row sets that are no news: those of the chosen rules and, with a free intercept, their complements.
    fn taken_keys(&self, units: &Units) -> Vec<u128> {
        let all = units.keys.iter().fold(0, |all, key| all ^ key);
        let mut taken: Vec<u128> =
            self.chosen.iter().map(|c| units.key_of_rows(&c.rows.iter().collect::<Vec<_>>())).collect();
        if self.params.intercept == Intercept::Corrected {
            taken.extend(taken.clone().iter().map(|key| key ^ all));
        }
        taken
    }

    fn beam(&self) -> Option<Found> {
        let mut beam = vec![Node::all(self.response.rows())];
        // That of the first node of the beam.
        let mut best: Option<Candidate> = None;
        let mut nodes = 0;
        let mut parents = Vec::new();
        let tables = loop {
            nodes += beam.len() as u64;
            let (next, counted) = self.expand(&beam, &parents);
            match next.first() {
                Some((candidate, _)) if best.as_ref().is_none_or(|b| order(candidate, b).is_lt()) => {
                    best = Some(*candidate);
                    let next = next.into_iter().map(|(_, node)| node).collect();
                    std::mem::replace(&mut beam, next).into_iter().for_each(Node::give);
                    parents = counted;
                }
                _ => break counted.into_iter().next().flatten(),
            }
        };
        let candidate = best?;
        let Node { query, rows: Rows::Some(rows), .. } = beam.swap_remove(0) else { return None };
        let query = self.minimal(query);
        let bound = Some(self.ceiling(query.len()).max(candidate.value));
        Some(Found { query, rows, value: candidate.value, nodes, bound, tables, ..Found::default() })
    }

    fn gathered<'n>(&'n self, node: &'n Node, parents: &'n [Option<Tables>]) -> Gathered<'n> {
        let of = |rows| Gathered::new(rows, self.response, self.cells, self.scorer);
        match (self.root, &node.rows, &node.rest) {
            (None, rows, _) => of(rows),
            (Some(root), Rows::All(_), _) => Gathered::of_root(&node.rows, self.cells, root, self.scorer),
            (Some(root), _, Some(rest)) if root.tables().is_none() => of(&rest.rows).left_out_of(root),
            (Some(root), rows, None) if root.tables().is_none() => of(rows),
            (Some(root), _, Some(rest)) => {
                let parent = rest.of.and_then(|parent| parents[parent].as_deref());
                let whole = parent.or(root.tables()).unwrap_or_default();
                of(&rest.rows).subtracted_from(whole).keeping_tables(root.groups().len())
            }
            (Some(root), rows, None) => of(rows).keeping_tables(root.groups().len()),
        }
    }

    /// What to count instead of `rows`, which are those of `parent`, a node with `tables` and this number, that satisfy `atom`.
    ///
    /// Sums of targets are subtracted from those of all rows, or from any where they are counts: rounding errors must not
    /// depend on the way to a query.
    fn rest(
        &self,
        rows: &[u32],
        (parent, number): (&Node, usize),
        tables: Option<&Tables>,
        atom: Atom,
    ) -> Option<Rest> {
        self.root?;
        let (count, all) = (rows.len(), self.response.rows());
        let forced = 2 * count > all;
        let by_cells = |column| Method::cheaper(count, column, self.cells, self.scorer) == Method::Cells;
        let fewer = tables.is_some() && self.response.counted && 2 * count > parent.rows.len();
        let of = (fewer && (forced || self.columns.iter().all(by_cells))).then_some(number);
        if of.is_some() || (forced && parent.rows.len() == all) {
            let rows = parent.rows.select_where(&self.columns[atom.column as usize], atom, false);
            return Some(Rest { rows: Rows::Some(rows), of });
        }
        Rows::others(rows, all).map(|rows| Rest { rows, of: None })
    }

    /// The best `beam_width` children of the nodes of the beam, best first; and the tables of counts of these nodes. `parents` are the
    /// tables of the nodes expanded before.
    fn expand(&self, beam: &[Node], parents: &[Option<Tables>]) -> (Vec<(Candidate, Node)>, Vec<Option<Tables>>) {
        // Threads would cost more than they could take over.
        let at_once = beam.iter().map(|n| n.rows.len()).sum::<usize>() * self.columns.len() <= AT_ONCE;
        let gathered: Vec<Gathered> = if at_once {
            beam.iter().map(|n| self.gathered(n, parents)).collect()
        } else {
            beam.par_iter().map(|n| self.gathered(n, parents)).collect()
        };
        let groups = self.groups();
        let tasks: Vec<(usize, usize)> = (0..beam.len()).flat_map(|n| (0..groups.len()).map(move |g| (n, g))).collect();
        let best = |&(n, g): &(usize, usize)| self.group_candidates(&beam[n], &gathered[n], n, (g, &groups[g]));
        let mut candidates: Vec<Candidate> = if at_once {
            tasks.iter().flat_map(best).collect()
        } else {
            tasks.par_iter().flat_map_iter(best).collect()
        };
        let tables: Vec<Option<Tables>> = gathered.into_iter().map(Gathered::into_tables).collect();
        candidates.sort_unstable_by(order);
        let mut next: Vec<(Candidate, Node)> = Vec::new();
        for candidate in candidates {
            if next.len() == self.params.beam_width {
                break;
            }
            let parent = &beam[candidate.parent];
            let query = parent.query.with(candidate.atom);
            if next.iter().any(|(_, n)| n.query == query) {
                continue;
            }
            let rows = parent.rows.select(&self.columns[candidate.atom.column as usize], candidate.atom);
            let same_rows = |other: &Rows| matches!(other, Rows::Some(r) if *r == rows);
            let twin = next.iter().any(|(c, n)| c.rows == candidate.rows && same_rows(&n.rows));
            if !twin {
                let number = candidate.parent;
                let rest = self.rest(&rows, (parent, number), tables[number].as_ref(), candidate.atom);
                next.push((candidate, Node { query, rows: Rows::Some(rows), rest }));
            }
        }
        (next, tables)
    }

    /// The columns in groups that are counted together.
    fn groups(&self) -> Cow<'_, [Group]> {
        match self.root {
            Some(root) => Cow::Borrowed(root.groups()),
            None => Cow::Owned(Group::all(self.columns, &[], self.params.threads)),
        }
    }

    /// The best children of `node`, number `n`, along each column of a group.
    fn group_candidates(
        &self,
        node: &Node,
        gathered: &Gathered,
        n: usize,
        (index, group): (usize, &Group),
    ) -> Vec<Candidate> {
        // Whoever asked to stop does not want to wait for a large table; what was found is thrown away then.
        if self.observer.stop() {
            return Vec::new();
        }
        let mut best = Vec::new();
        let stats = gathered.statistics(index, group, self.columns);
        for (c, stats) in group.parts(&stats, self.scorer.stride()) {
            self.column_candidates(node, stats, (n, c), &mut best);
        }
        spare::give(stats);
        best
    }

    /// Adds the best children of node number `n` along column `c` to `best`: a few more than the beam holds, since some may be twins.
    fn column_candidates(&self, node: &Node, stats: &[f64], (n, c): (usize, usize), best: &mut Vec<Candidate>) {
        let Checked { length_penalty: gamma, smoothing, min_coverage, .. } = *self.params;
        let signs = self.directions.of_query(&node.query.atoms);
        let mut all: Vec<Candidate> = Vec::new();
        let mut column = Kept::new(best, self.params.beam_width);
        let mirror = self.mirror(node, &self.columns[c], stats);
        children(c as u32, &self.columns[c], stats, self.scorer.stride(), |atom, stats| {
            let length = node.query.length_with(atom);
            let enough = stats[ROWS] >= min_coverage as f64;
            if !enough || length > self.max_length || !self.admits(signs, atom, stats) {
                return;
            }
            let candidate = || Candidate::new(self.scorer, stats, gamma, (n, length), (atom, self.name_rank[c]));
            if smoothing > 0.0 {
                all.push(candidate());
            } else if !mirror.has_smaller(atom.op, stats[ROWS])
                && self.scorer.may_reach(stats, column.floor() * price(length, gamma))
            {
                column.offer(candidate(), |candidate| self.is_chosen(node, candidate));
            }
        });
        if smoothing > 0.0 {
            let rows = stats.chunks_exact(self.scorer.stride()).map(|bin| bin[ROWS]).sum();
            smooth::smooth(&mut all, rows, smoothing);
            all.retain(|candidate| !mirror.has_smaller(candidate.atom.op, candidate.rows));
            all.into_iter().for_each(|candidate| column.offer(candidate, |c| self.is_chosen(node, c)));
        }
    }

    /// Whether the rule of a query that allows `signs`, and `atom`, may have the weight that its rows ask for.
    fn admits(&self, signs: Signs, atom: Atom, stats: &[f64]) -> bool {
        self.directions.is_empty() || signs.and(self.directions.of_atom(atom)).allow(-self.scorer.slope(stats))
    }

    /// Whether the candidate selects exactly the rows of a rule that is already there; or exactly the others, which
    /// says the same when the intercept is free.
    fn is_chosen(&self, node: &Node, candidate: &Candidate) -> bool {
        let opposite = self.params.intercept == Intercept::Corrected;
        let total = self.response.rows_total;
        let same_count = |c: &&Chosen| c.covered == candidate.rows;
        let other_count = |c: &&Chosen| opposite && c.covered + candidate.rows == total;
        if !self.chosen.iter().any(|c| same_count(&c) || other_count(&c)) {
            return false;
        }
        let (column, atom) = (&self.columns[candidate.atom.column as usize], candidate.atom);
        let all = |in_rule: bool, c: &Chosen| node.rows.all_selected(column, atom, |r| c.rows.contains(r) == in_rule);
        let count = || node.rows.select(column, atom).len();
        let equals = |c: &Chosen| all(true, c) && count() == c.rows.len();
        let complements = |c: &Chosen| all(false, c) && count() + c.rows.len() == self.response.rows();
        self.chosen.iter().any(|c| (same_count(&c) && equals(c)) || (other_count(&c) && complements(c)))
    }

    /// `query` without conditions that do not change the rows it selects.
    fn minimal(&self, query: Query) -> Query {
        minimal::minimal(self.columns, self.response.rows(), query)
    }
}
