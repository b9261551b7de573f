//! The best query of each length, for paths on which every complexity has its own ensemble.

use super::candidate::{Candidate, order};
use super::screen::Bar;
use super::{BeamNode, Found, Query, Searcher};
use crate::engine::rows::Selected;

impl Searcher<'_> {
    /// The best query found of each length, shortest first; each is worth more than the one before it.
    pub(crate) fn best_of_each_length(&self) -> Vec<Found> {
        let mut beam = vec![BeamNode::all(self.rows)];
        let mut best: Vec<(Candidate, Query, Selected)> = Vec::new();
        let (mut nodes, mut highest) = (0, 0.0);
        let mut parents = Vec::new();
        while !beam.is_empty() {
            nodes += beam.len() as u64;
            let before = highest;
            let worth = best.iter().map(|(candidate, ..)| candidate.value).fold(0.0, f64::max);
            let (next, counted) = self.expand(&beam, &parents, Bar { score: highest, value: worth });
            parents = counted;
            for (candidate, node) in &next {
                highest = candidate.score.max(highest);
                let at = best.partition_point(|(b, ..)| b.length < candidate.length);
                let entry = || (*candidate, node.query.clone(), node.rows.clone());
                match best.get_mut(at) {
                    Some(held) if held.0.length == candidate.length => {
                        if order(candidate, &held.0).is_lt() {
                            *held = entry();
                        }
                    }
                    _ => best.insert(at, entry()),
                }
            }
            let next = if highest > before { next.into_iter().map(|(_, node)| node).collect() } else { Vec::new() };
            std::mem::replace(&mut beam, next).into_iter().for_each(BeamNode::give);
        }
        let mut found: Vec<Found> = Vec::new();
        for (candidate, query, rows) in best {
            if found.last().is_none_or(|f| f.value < candidate.value) {
                let query = self.rows.minimal(query);
                let bound = Some(self.ceiling(query.len()).max(candidate.value));
                found.push(Found { query, rows, value: candidate.value, nodes, bound, ..Found::default() });
            }
        }
        found
    }
}
