//! Exact search within a budget of columns against brute force over every conjunction that the budget allows.

use super::*;
use crate::engine::search::allowance::Prices;
use crate::params::Params;
use std::collections::BTreeSet;

/// Every row set that some query selects, with the columns of such a query as bits, and the least length.
fn with_columns(columns: &[BinnedColumn], rows: usize, max_length: usize) -> HashMap<(u64, u8), usize> {
    let mut atoms: Vec<(u64, u8)> = Vec::new();
    let all: Vec<u32> = (0..rows as u32).collect();
    for (c, column) in columns.iter().enumerate() {
        let ones: Vec<f64> = (0..=column.bins).flat_map(|_| [1.0, 0.0, 1.0]).collect();
        children(c as u32, column, &ones, 3, |atom, _| {
            let mask = column.select(atom.selection, &all).iter().fold(0u64, |mask, r| mask | 1 << r);
            atoms.push((mask, 1 << c));
        });
    }
    let full = (if rows == 64 { u64::MAX } else { (1 << rows) - 1 }, 0);
    let (mut sets, mut frontier) = (HashMap::from([(full, 0)]), vec![full]);
    for length in 1..=max_length {
        let mut next = Vec::new();
        for (set, used) in frontier {
            for &(mask, column) in &atoms {
                let below = (set & mask, used | column);
                if below.0 != 0 && !sets.contains_key(&below) {
                    sets.insert(below, length);
                    next.push(below);
                }
            }
        }
        frontier = next;
    }
    sets
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The certified rule is the best of those that the budget leaves, whatever is paid for already and however many
    /// columns a rule brings at once; and so is the best single condition of greedy search.
    #[test]
    fn certified_is_brute_force_within_a_budget(
        case in cases(2),
        objective in objectives(),
        gamma in 0usize..3,
        limits in (1usize..4, 1usize..5),
        most in prop_oneof![Just(None), (1usize..4).prop_map(Some)],
        costs in prop::array::uniform3(0u8..4),
        most_cost in 0u8..9,
        paid in 0u8..8,
    ) {
        let ((min_coverage, max_length), names) = (limits, ["x", "u", "c"]);
        let params = certifying(&case, objective, Intercept::Corrected, (gamma, 1, min_coverage));
        let mut state = state(&case, params.clone(), max_length);
        let wished = Params {
            max_columns: most,
            column_cost: (0..3).map(|c| (names[c].to_owned(), f64::from(costs[c]) / 10.0)).collect(),
            max_cost: Some(f64::from(most_cost) / 10.0),
            ..Params::default()
        };
        let allowed = |used: u8| {
            let cost: u8 = (0..3).filter(|c| used >> c & 1 == 1).map(|c| costs[c]).sum();
            most.is_none_or(|most| used.count_ones() as usize <= most) && cost <= most_cost
        };
        // What is paid for is within the budget.
        prop_assume!(allowed(paid));
        let budget = params.with_wishes(&wished, &case.problem().outline()).unwrap().wishes.budget.unwrap();
        let owned: BTreeSet<String> = (0..3).filter(|c| paid >> c & 1 == 1).map(|c| names[c].to_owned()).collect();
        let prices = Prices::new(&budget, &state.columns);
        prop_assert_eq!(prices.is_none(), allowed(7));
        if let Some(prices) = prices {
            state.directions = state.directions.with_allowance(prices.allowance(&owned));
        }
        let rows = Rows::whole(&state.columns, &state.response);
        let units = Units::new(&state.columns, case.rows(), || false).unwrap();
        let stats = UnitStats::new(&units, &state.response, &state.cells, &state.scorer, Bound::Admissible);
        let ranks: Vec<u32> = (0..3).collect();
        let taken = state.taken();
        let (mut best, mut single) = (0.0f64, 0.0f64);
        for ((mask, used), length) in with_columns(&state.columns, case.rows(), max_length) {
            let sums = state.sums(&stats, &units, mask);
            let sums = Statistics::of(&sums);
            if length > 0 && allowed(used | paid) && state.is_enough(sums.rows()) && !taken.contains(&mask) {
                let score = score(state.scorer.value(sums), length, state.params.length_penalty);
                best = best.max(score);
                single = single.max(if length == 1 { score } else { 0.0 });
            }
        }
        let found = state.searcher(&rows, &units, &ranks, max_length).best_query();
        state.reaches(found.as_ref(), best)?;
        if let Some(found) = found {
            let used = found.query.atoms.iter().fold(paid, |used, atom| used | 1 << atom.column);
            prop_assert!(allowed(used));
        }
        // Without units there is no proof: the best single condition is what greedy search begins with.
        let mut greedy = state.params.clone();
        (greedy.exact, greedy.beam_width) = (false, 1);
        let greedy = Searcher { units: None, params: &greedy, ..state.searcher(&rows, &units, &ranks, 1) };
        let found = greedy.best_query().map_or(0.0, |found| score(found.value, 1, state.params.length_penalty));
        prop_assert!((found - single).abs() <= 1e-7 * single + state.noise, "{} {}", found, single);
    }
}
