//! Tables that follow the rules against tables that are made anew.

use super::*;
use crate::codes::column::{Code, with_codes};
use crate::engine::cases::{Case, cases, constant, selected};
use crate::engine::count::histogram::{Method, NodeCounter};
use crate::engine::refit;
use crate::model::signs::Signs;
use crate::params::{Intercept, Objective};
use proptest::prelude::*;

/// What is counted of some rows of a group, row by row.
fn naive_counts(case: &Case, group: &Group, covered: &[u32], cells: &Cells, first: &Scorer) -> CellCounts {
    let (response, columns) = (case.response(), case.binned());
    let count = |amount: &dyn Fn(usize) -> Option<u64>| {
        let bins = group.bins();
        let mut counts = vec![0; bins * cells.len()];
        let mut rows = true;
        for (column, first) in group.of(&columns) {
            for &r in covered {
                let r = r as usize;
                let bin = with_codes!(&column.codes, codes => codes[r].index());
                counts[cells.of(r) * bins + first + bin] += amount(r).unwrap_or(1);
                rows &= amount(r).is_none();
            }
        }
        if rows && !covered.is_empty() || amount(0).is_none() {
            Counts::Rows(counts.iter().map(|&n| n as u32).collect())
        } else {
            Counts::Units(counts)
        }
    };
    let each = |amounts: &PerRow<u64>, r: usize| match amounts {
        PerRow::Same(_) => None,
        PerRow::Each(v) => Some(v[r]),
    };
    let counts = count(&|r| each(&response.targets.mass, r));
    let norm = response.targets.norm.as_ref().filter(|_| first.by_norm);
    let norms = norm.map(|norm| count(&|r| each(norm, r)));
    CellCounts { counts, norms, rows: Vec::new(), sums: Vec::new(), classes: None, trends: Vec::new() }
}

proptest! {
    /// After any sequence of rules the tables give what a pass over the rows gives, to the last bit of the counts.
    #[test]
    fn tables_follow_the_rules(case in cases(5), known in any::<bool>(), objective in 0usize..5) {
        let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
        let response = case.response();
        let columns = case.binned();
        let params = case.checked(objective, Intercept::Corrected, 0.7);
        let rows = Rows::whole(&columns, &response);
        let mut cells = Cells::new(&rows, &response);
        let first = Scorer::new(&response, &cells, &constant(&response, &cells, &params), &params);
        let mut root = NodeCounter::new(&rows.all(), &rows, &response, &cells, &first).root_counts(&columns);
        for rule in &case.rules {
            let covered = selected(rule);
            let tables: Tables =
                root.groups().iter().map(|group| naive_counts(&case, group, &covered, &cells, &first)).collect();
            let covered = Selected::single(covered);
            let moved = cells.split(&covered, &rows, &response);
            root.split(&rows, &covered, known.then_some(&tables), (&cells, &moved));
        }
        let (_, weights) = case.fitted(&response, &params);
        let scorer = Scorer::new(&response, &cells, &weights, &params);
        let all = rows.all();
        let gathered = NodeCounter::new(&all, &rows, &response, &cells, &scorer);
        let (some, rest): (Vec<u32>, Vec<u32>) = (0..case.rows() as u32).partition(|&r| case.query[r as usize]);
        let (some, rest) = (Selected::single(some), Selected::single(rest));
        let of = |selected| NodeCounter::new(selected, &rows, &response, &cells, &scorer);
        let directly = of(&some);
        let by_others = of(&rest).subtracted_from(root.tables().unwrap());
        let mut less = root.clone();
        less.drop_tables();
        let by_less = of(&rest).left_out_of(&less);
        for (index, group) in root.groups().iter().enumerate() {
            let by = |gathered: &NodeCounter, method| gathered.statistics_by(method, group);
            let pairs = [
                (by(&gathered, Method::Cells), root.statistics(index, &scorer, &response)),
                (by(&directly, Method::Vectors), by_others.statistics(index, group, &columns)),
            ];
            let without_tables = || {
                [
                    (by(&gathered, Method::Rules), less.statistics(index, &scorer, &response)),
                    (by(&directly, Method::Rules), by_less.statistics(index, group, &columns)),
                ]
            };
            let more = less.linear.then(without_tables);
            for (expected, found) in pairs.into_iter().chain(more.into_iter().flatten()) {
                prop_assert_eq!(found.len(), expected.len());
                for (f, e) in found.iter().zip(&expected) {
                    prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{} {}", f, e);
                }
            }
        }
    }

    /// Once a rule is dropped, the tables give what a pass over the rows gives.
    #[test]
    fn tables_follow_a_rule_that_goes(
        case in cases(5),
        pick in any::<prop::sample::Index>(),
        dropped in any::<bool>(),
    ) {
        prop_assume!(!case.rules.is_empty());
        let (response, columns, k) = (case.response(), case.binned(), pick.index(case.rules.len()));
        let params = case.checked(Objective::Onb, Intercept::Corrected, 0.7);
        let rows = Rows::whole(&columns, &response);
        let (mut cells, mut weights) = (Cells::new(&rows, &response), None);
        let first = Scorer::new(&response, &cells, &constant(&response, &cells, &params), &params);
        let all = rows.all();
        let mut root = NodeCounter::new(&all, &rows, &response, &cells, &first).root_counts(&columns);
        for rule in &case.rules {
            let covered = Selected::single(selected(rule));
            let moved = cells.split(&covered, &rows, &response);
            root.split(&rows, &covered, None, (&cells, &moved));
            let before = weights.unwrap_or_else(|| constant(&response, &cells, &params));
            weights = Some(refit::update(&before, Signs::Any, response.loss, &cells, &params));
        }
        if dropped && root.linear {
            root.drop_tables();
        }
        let mut weights = weights.unwrap();
        weights.rules.remove(k);
        weights.signs.remove(k);
        let (cells, part_of) = cells.without(k, &response);
        let root = root.without(k, &part_of, cells.len());
        let weights = refit::again(weights, response.loss, &cells, &params);
        let scorer = Scorer::new(&response, &cells, &weights, &params);
        let counted = NodeCounter::new(&all, &rows, &response, &cells, &scorer);
        for (index, group) in root.groups().iter().enumerate() {
            let expected = counted.statistics_by(Method::Cells, group);
            for (f, e) in root.statistics(index, &scorer, &response).iter().zip(&expected) {
                prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{} {}", f, e);
            }
        }
    }
}
