//! The best queries of all that a beam looks at, where one is not enough.

use super::screen::Bar;
use super::{BeamNode, Found, Searcher};

impl Searcher<'_> {
    /// The best queries found, of highest value first: of each number of steps as many as the beam is wide.
    pub(crate) fn several(&self) -> Vec<Found> {
        let mut beam = vec![BeamNode::all(self.rows)];
        let (mut parents, mut all) = (Vec::new(), Vec::<Found>::new());
        for _ in 0..2 * self.max_length {
            let (next, counted) = self.expand(&beam, &parents, Bar { score: 0.0, value: 0.0 });
            parents = counted;
            for (candidate, node) in &next {
                let query = self.rows.minimal(node.query.clone());
                if !all.iter().any(|found| found.query == query) {
                    let value = candidate.value;
                    all.push(Found { query, rows: node.rows.clone(), value, nodes: 1, ..Found::default() });
                }
            }
            let next = next.into_iter().map(|(_, node)| node).collect();
            std::mem::replace(&mut beam, next).into_iter().for_each(BeamNode::give);
            if beam.is_empty() {
                break;
            }
        }
        // Equal ones stay in the order of the search, which is total.
        all.sort_by(|a, b| b.value.total_cmp(&a.value));
        all
    }
}
