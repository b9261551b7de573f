//! Every method against the definition.

use super::*;
use crate::cases::{Case, cases, selected};
use crate::params::{Intercept, Objective};
use crate::rule::Op;
use proptest::prelude::*;

/// The definition: for every bin, sums over the node's rows in it.
fn naive(case: &Case, scorer: &Scorer, cells: &Cells, rows: &[u32], column: &BinnedColumn) -> Vec<f64> {
    let response = case.response();
    let stride = scorer.stride();
    let mut stats = vec![0.0; (column.bins + 1) * stride];
    for &r in rows {
        let r = r as usize;
        let code = with_codes!(&column.codes, codes => codes[r].index());
        let cell = cells.of(r);
        let shared: Vec<f64> = scorer.cell(cell).into_iter().chain(scorer.vector(cell)).collect();
        let bin = &mut stats[code * stride..(code + 1) * stride];
        let a = response.mass.at(r);
        let d = if scorer.by_norm { response.norm.as_ref().map_or(1.0, |w| w.at(r)) } else { a };
        bin[ROWS] += response.rows_each.at(r);
        bin[G] += a * shared[0] - response.b[r];
        for k in 0..=scorer.t {
            bin[D + k] += d * shared[1 + k];
        }
        for (k, v) in scorer.lean.iter().enumerate() {
            bin[G] -= v * d * shared[2 + k];
        }
    }
    stats
}

proptest! {
    #[test]
    fn all_methods_match_the_definition(case in cases(4), objective in 0usize..5, whole in any::<bool>()) {
        let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
        let response = case.response();
        let params = case.checked(objective, Intercept::Corrected, 0.7);
        let (cells, weights) = case.fitted(&response, &params);
        let scorer = Scorer::new(&response, &cells, &weights, &params);
        let all: Vec<u32> = (0..case.rows() as u32).collect();
        let some = selected(&case.query);
        let rows = if whole { Rows::All(case.rows()) } else { Rows::Some(some.clone()) };
        let gathered = Gathered::new(&rows, &response, &cells, &scorer);
        // Masses that cannot be counted are added.
        let mut added = response.clone();
        added.grid = None;
        let added = Gathered::new(&rows, &added, &cells, &scorer);
        let columns = case.binned();
        for group in Group::all(&columns, &[], 1) {
            let naive = |(column, _)| naive(&case, &scorer, &cells, if whole { &all } else { &some }, column);
            let expected: Vec<f64> = group.of(&columns).flat_map(naive).collect();
            let ways = [(&gathered, Method::Cells), (&added, Method::Cells)];
            for (gathered, method) in ways.into_iter().chain([(&gathered, Method::Vectors), (&gathered, Method::Rules)]) {
                let found = gathered.statistics_by(method, &group, &columns);
                prop_assert_eq!(found.len(), expected.len());
                for (f, e) in found.iter().zip(&expected) {
                    prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{:?} {} {}", method, f, e);
                }
            }
        }
    }

    /// What a node's children report is what the selected rows sum to.
    #[test]
    fn children_carry_their_own_statistics(case in cases(3)) {
        let response = case.response();
        let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
        let (cells, weights) = case.fitted(&response, &params);
        let scorer = Scorer::new(&response, &cells, &weights, &params);
        let rows = Rows::Some(selected(&case.query));
        let gathered = Gathered::new(&rows, &response, &cells, &scorer);
        let columns = case.binned();
        for (index, column) in columns.iter().enumerate() {
            let alone = Group::new(index..index + 1, &columns);
            let stats = gathered.statistics(index, &alone, &columns);
            let mut seen = Vec::new();
            crate::search::children(index as u32, column, &stats, scorer.stride(), |atom, sums| {
                seen.push((atom, sums.to_vec()));
            });
            for (atom, sums) in seen {
                let below = Rows::Some(rows.select(column, atom));
                prop_assert!(below.len() > 0 && below.len() < rows.len(), "{:?}", atom);
                prop_assert!(atom.op != Op::Le || (atom.bin as usize) + 1 < column.bins);
                let total = Gathered::new(&below, &response, &cells, &scorer).statistics(index, &alone, &columns);
                for (k, sum) in sums.iter().enumerate() {
                    let expected: f64 = total.chunks_exact(scorer.stride()).map(|bin| bin[k]).sum();
                    prop_assert!((sum - expected).abs() <= 1e-9 * (1.0 + expected.abs()));
                }
            }
        }
    }
}
