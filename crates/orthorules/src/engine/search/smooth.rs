//! Scores of thresholds, averaged with those of thresholds only a few rows away.
//!
//! A threshold that is good only because one row falls on its right side is good by chance. On small tables such
//! thresholds are many, and the best of many looks better than it is; so the choice goes by a mean in which a threshold
//! that is m rows away has the weight 1 − m / reach, but no threshold is worth more than its own score. Selecting no
//! row, or all rows of the node, is worth nothing and takes part. Where neighbouring thresholds are further apart than
//! `reach` rows, as on all larger tables, scores stay as they are.

use super::candidate::{Candidate, rounded};
use crate::model::condition::Op;

/// Replaces the scores of the comparisons among `candidates`, children of one node along one column in the order of
/// [`children`](super::candidate::children): for each comparison by growing coverage.
pub(crate) fn smooth(candidates: &mut [Candidate], node_rows: f64, reach: f64) {
    if candidates.iter().all(|c| c.rows >= reach && node_rows - c.rows >= reach) && apart(candidates, reach) {
        return;
    }
    let raw: Vec<(Op, f64, f64)> = candidates.iter().map(|c| (c.atom.selection.op(), c.rows, c.score)).collect();
    let weight = |away: f64| (1.0 - away / reach).max(0.0);
    for (k, candidate) in candidates.iter_mut().enumerate() {
        let (op, rows, own) = raw[k];
        if !op.has_threshold() {
            continue;
        }
        let (mut sum, mut total) = (own, 1.0 + weight(rows) + weight(node_rows - rows));
        let near = |other: &&(Op, f64, f64)| other.0 == op && (other.1 - rows).abs() < reach;
        let (before, after) = (raw[..k].iter().rev().take_while(near), raw[k + 1..].iter().take_while(near));
        for &(_, others, score) in before.chain(after) {
            let part = weight((others - rows).abs());
            sum += part * score;
            total += part;
        }
        candidate.score = rounded(own.min(sum / total));
    }
}

/// Whether no two neighbours are within reach of each other.
fn apart(candidates: &[Candidate], reach: f64) -> bool {
    let op = |c: &Candidate| c.atom.selection.op();
    candidates.windows(2).all(|w| op(&w[0]) != op(&w[1]) || (w[1].rows - w[0].rows).abs() >= reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::selection::{Atom, Selection};
    use proptest::prelude::*;

    fn candidate(selection: Selection, rows: f64, score: f64) -> Candidate {
        let atom = Atom { column: 0, selection };
        Candidate { score, value: score.sqrt(), length: 1, rows, raises: true, name_rank: 0, atom, parent: 0 }
    }

    #[test]
    fn a_lonely_peak_loses_to_a_plateau() {
        let scores = [1.0, 1.0, 9.0, 1.0, 1.0, 6.0, 6.5, 6.0, 1.0];
        let mut all: Vec<_> =
            scores.iter().zip(10..).map(|(&s, rows)| candidate(Selection::AtMost(0), f64::from(rows), s)).collect();
        smooth(&mut all, 40.0, 3.0);
        let best = all.iter().max_by(|a, b| a.score.total_cmp(&b.score)).unwrap();
        assert_eq!(best.rows, 16.0);
    }

    #[test]
    fn categories_and_distant_thresholds_stay() {
        let mut all = vec![
            candidate(Selection::Missing, 2.0, 3.0),
            candidate(Selection::AtMost(0), 10.0, 5.0),
            candidate(Selection::AtMost(0), 20.0, 4.0),
        ];
        let before = all.clone();
        smooth(&mut all, 40.0, 5.0);
        assert_eq!(all, before);
        let mut levels = vec![
            candidate(Selection::Is(0), 3.0, 5.0),
            candidate(Selection::IsNot(0), 4.0, 4.0),
            candidate(Selection::Is(0), 4.0, 2.0),
        ];
        let before = levels.clone();
        smooth(&mut levels, 9.0, 5.0);
        assert_eq!(levels, before);
    }

    proptest! {
        /// Against the definition: a sum over all thresholds of the comparison, the empty selection and the whole one.
        #[test]
        fn scores_are_weighted_means(
            steps in prop::collection::vec((1u32..4, 0u32..100), 1..12),
            end in 0u32..5,
            reach in 1u32..9,
        ) {
            let (mut rows, reach) = (0, f64::from(reach));
            let mut all = Vec::new();
            for selection in [Selection::AtMost(0), Selection::AtLeast(0)] {
                rows = 0;
                for &(step, score) in &steps {
                    rows += step;
                    all.push(candidate(selection, f64::from(rows), f64::from(score)));
                }
            }
            let node = f64::from(rows + end);
            let before = all.clone();
            smooth(&mut all, node, reach);
            for (k, after) in all.iter().enumerate() {
                let same = before.iter().filter(|c| c.atom == after.atom).map(|c| (c.rows, c.score));
                let points: Vec<(f64, f64)> = same.chain([(0.0, 0.0), (node, 0.0)]).collect();
                let part = |rows: f64| (1.0 - (rows - before[k].rows).abs() / reach).max(0.0);
                let total: f64 = points.iter().map(|p| part(p.0)).sum();
                let mean = points.iter().map(|p| part(p.0) * p.1).sum::<f64>() / total;
                let mean = mean.min(before[k].score);
                prop_assert!((after.score - mean).abs() <= 1e-9 * (1.0 + mean));
                prop_assert_eq!(after.value, before[k].value);
            }
        }
    }
}
