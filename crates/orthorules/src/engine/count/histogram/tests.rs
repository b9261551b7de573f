//! Every method against the definition.

use super::*;
use crate::base::random::SplitMix64;
use crate::codes::selection::Selection;
use crate::data::problem::Task;
use crate::data::table::{Column, Values};
use crate::engine::cases::{Case, cases, selected};
use crate::params::{Intercept, Objective};
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
        let ([mean, curvature], vector) = (scorer.cell(cell), scorer.vector(cell));
        let bin = StatisticsMut::of(&mut stats[code * stride..(code + 1) * stride]);
        let a = response.mass(r);
        let d = if scorer.by_norm { response.norm(r) } else { a };
        let projected: f64 = scorer.gradient_along_basis.iter().zip(&vector).map(|(v, dz)| v * d * dz).sum();
        let gradient = a * mean - response.b(r) - projected;
        let rows = f64::from(response.targets.stands_for(r));
        bin.add(rows, gradient, d * curvature, vector.iter().map(|dz| d * dz));
    }
    stats
}

proptest! {
    /// In one partition or several, which give the same bits; all rows cell by cell, too.
    #[test]
    fn all_methods_match_the_definition(
        case in cases(4),
        objective in 0usize..5,
        whole in any::<bool>(),
        ends in prop::collection::vec(0usize..61, 0..4),
    ) {
        let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
        let response = case.response();
        let params = case.checked(objective, Intercept::Corrected, 0.7);
        let columns = case.binned();
        let mut ends: Vec<usize> = ends.into_iter().map(|end| end.min(case.rows())).collect();
        ends.sort_unstable();
        let covers = |rule: &[bool]| {
            let starts = [0].into_iter().chain(ends.iter().copied());
            let bounds = starts.zip(ends.iter().copied().chain([case.rows()]));
            let part = |(first, end): (usize, usize)| {
                RowList::Some((first..end).filter(|&r| rule[r]).map(|r| (r - first) as u32).collect())
            };
            Selected::Here(bounds.map(part).collect())
        };
        let (cells, weights) = case.fitted(&response, &params);
        let rows = Rows::whole(&columns, &response);
        let divided = Rows::divided(&columns, &response, &ends);
        let mut cells_of_parts = Cells::new(&divided, &response);
        case.rules.iter().for_each(|rule| drop(cells_of_parts.split(&covers(rule), &divided, &response)));
        let scorer = Scorer::new(&response, &cells, &weights, &params);
        let scorer_of_parts = Scorer::new(&response, &cells_of_parts, &weights, &params);
        prop_assert_eq!(scorer.ceiling.to_bits(), scorer_of_parts.ceiling.to_bits());
        let all: Vec<u32> = (0..case.rows() as u32).collect();
        let some = selected(&case.query);
        let query = if whole { rows.all() } else { Selected::single(some.clone()) };
        let query_of_parts = if whole { divided.all() } else { covers(&case.query) };
        let gathered = NodeCounter::new(&query, &rows, &response, &cells, &scorer);
        let of_parts = NodeCounter::new(&query_of_parts, &divided, &response, &cells_of_parts, &scorer);
        for group in Group::all(&columns, &[], 1) {
            let naive = |(column, _)| naive(&case, &scorer, &cells, if whole { &all } else { &some }, column);
            let expected: Vec<f64> = group.of(&columns).flat_map(naive).collect();
            let bits = |stats: Vec<f64>| stats.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
            if whole {
                let table = bits(gathered.statistics_by(Method::Cells, &group));
                prop_assert_eq!(bits(gathered.by_cell(&group)), table.clone());
                prop_assert_eq!(bits(of_parts.by_cell(&group)), table);
            }
            // In bytes or row by row, the sums by rule have the same bits.
            if let Some(in_bytes) = gathered.sums_of_equal_rows(&group) {
                prop_assert_eq!(bits(in_bytes), bits(gathered.sums_row_by_row(&group)));
            }
            for method in [Method::Cells, Method::Vectors, Method::Rules] {
                let found = gathered.statistics_by(method, &group);
                prop_assert_eq!(found.len(), expected.len());
                for (f, e) in found.iter().zip(&expected) {
                    prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{:?} {} {}", method, f, e);
                }
                prop_assert_eq!(bits(of_parts.statistics_by(method, &group)), bits(found), "{:?}", method);
            }
        }
    }

    /// What a node's children report is what the selected rows sum to.
    #[test]
    fn children_carry_their_own_statistics(case in cases(3)) {
        let response = case.response();
        let params = case.checked(Objective::Onb, Intercept::Corrected, 1.0);
        let (cells, weights) = case.fitted(&response, &params);
        let columns = case.binned();
        let rows = Rows::whole(&columns, &response);
        let scorer = Scorer::new(&response, &cells, &weights, &params);
        let node = Selected::single(selected(&case.query));
        let gathered = NodeCounter::new(&node, &rows, &response, &cells, &scorer);
        for (index, column) in columns.iter().enumerate() {
            let alone = Group::new(index..index + 1, &columns);
            let stats = gathered.statistics(index, &alone, &columns);
            let mut seen = Vec::new();
            crate::engine::search::children(index as u32, column, &stats, scorer.stride(), |atom, sums| {
                seen.push((atom, sums.numbers().to_vec()));
            });
            for (atom, sums) in seen {
                let below = rows.select(&node, atom, true);
                prop_assert!(below.len() > 0 && below.len() < node.len(), "{:?}", atom);
                prop_assert!(atom.selection != Selection::AtMost(column.bins as u32 - 1));
                let counter = NodeCounter::new(&below, &rows, &response, &cells, &scorer);
                let total = counter.statistics(index, &alone, &columns);
                for (k, sum) in sums.iter().enumerate() {
                    let expected: f64 = total.chunks_exact(scorer.stride()).map(|bin| bin[k]).sum();
                    prop_assert!((sum - expected).abs() <= 1e-9 * (1.0 + expected.abs()));
                }
            }
        }
    }
}

/// More rows than a byte counts, and more rules than bytes are added at once: some rows, and all.
#[test]
fn many_rows_of_many_rules_are_counted_in_bytes() {
    let (count, mut random) = (700, SplitMix64::new(5));
    let mut numbers = |most: u64| (0..count).map(|_| (random.bits() % most) as f64).collect::<Vec<f64>>();
    let columns = [3, 40].map(|most| Column::new(format!("x{most}"), Values::Numeric(numbers(most).into())));
    let target = numbers(90);
    for t in [1, 31, 32, 90] {
        let rules = (0..t).map(|_| numbers(9).into_iter().map(|x| x < 2.0).collect()).collect();
        let case = Case {
            columns: columns.to_vec(),
            task: Task::Regression,
            target: target.clone(),
            weight: None,
            exposure: None,
            rules,
            query: numbers(4).into_iter().map(|x| x > 0.0).collect(),
        };
        let (response, columns) = (case.response(), case.binned());
        let params = case.checked(Objective::Onb, Intercept::Corrected, 0.7);
        let (cells, weights) = case.fitted(&response, &params);
        let (rows, scorer) = (Rows::whole(&columns, &response), Scorer::new(&response, &cells, &weights, &params));
        let (all, some) = (rows.all(), Selected::single(selected(&case.query)));
        for query in [&all, &some] {
            let counter = NodeCounter::new(query, &rows, &response, &cells, &scorer);
            let group = Group::new(0..2, &columns);
            assert_eq!(counter.sums_of_equal_rows(&group), Some(counter.sums_row_by_row(&group)), "{t}");
        }
    }
}
