//! Exact search and its bounds against brute force over every row set that the language can express.

mod budgets;
mod shared;

use super::Workspace;
use super::candidate::{children, score};
use super::{Closed, Exact, Found, Keyed, Searcher};
use crate::codes::column::BinnedColumn;
use crate::codes::selection::Atom;
use crate::engine::cases::{Case, cases, selected};
use crate::engine::cells::Cells;
use crate::engine::row_list::RowList;
use crate::engine::rows::{Rows, Selected};
use crate::engine::score::Scorer;
use crate::engine::score::statistics::Statistics;
use crate::engine::search::directions::Directions;
use crate::engine::search::exact::bound::SubsetBounds;
use crate::engine::search::exact::item::Item;
use crate::engine::search::exact::units::{SHARES, UnitStats, Units};
use crate::engine::targets::response::Response;
use crate::model::Status;
use crate::model::observer::Silent;
use crate::model::signs::Signs;
use crate::params::{Bound, Checked, Intercept, Monotone, Objective};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// A state of the fit in which the next rule is sought.
struct State {
    columns: Vec<BinnedColumn>,
    response: Response,
    cells: Cells,
    scorer: Scorer,
    params: Checked,
    directions: Directions,
    /// Scores up to this are rounding errors.
    noise: f64,
    /// Every row set that some query selects, as a bit mask, with the length of the shortest such query.
    sets: HashMap<u64, usize>,
}

/// Every row set that some query selects, with the length of the shortest such query.
fn selectable(columns: &[BinnedColumn], rows: usize) -> HashMap<u64, usize> {
    let unsigned = Directions::new(columns, &BTreeMap::new());
    let sets = expressible(columns, &unsigned, rows, usize::MAX);
    sets.into_iter().map(|((mask, _), length)| (mask, length)).collect()
}

/// Chosen rules must be queries: the first expressible sets that a case's random masks point at.
fn with_queries(case: &Case, sets: &HashMap<u64, usize>) -> Case {
    let mut masks: Vec<u64> = sets.keys().copied().filter(|&m| m != 0 && m.count_ones() < case.rows() as u32).collect();
    masks.sort_unstable();
    let mut rules = Vec::new();
    for (k, rule) in case.rules.iter().enumerate() {
        if !masks.is_empty() {
            let pick = selected(rule).iter().map(|&r| r as usize).sum::<usize>() * 7 + k;
            let mask = masks[pick % masks.len()];
            if !rules.contains(&mask) {
                rules.push(mask);
            }
        }
    }
    let rules = rules.iter().map(|m| (0..case.rows()).map(|r| m >> r & 1 == 1).collect()).collect();
    Case { rules, ..case.clone() }
}

fn state(case: &Case, params: Checked, max_length: usize) -> State {
    let columns = case.binned();
    let response = case.response();
    let sets = selectable(&columns, case.rows());
    let fitted = with_queries(case, &sets);
    let (cells, weights) = fitted.fitted(&response, &params);
    let scorer = Scorer::new(&response, &cells, &weights, &params);
    let sets = sets.into_iter().filter(|&(_, length)| length <= max_length).collect();
    let directions = Directions::new(&columns, &params.monotone);
    // Where classes are separated, gradients are tiny differences of ones.
    let noise = if weights.status == Status::Converged { 1e-16 } else { 1e-14 };
    State { columns, response, cells, scorer, params, directions, noise, sets }
}

/// All row sets with the signs that some query for them allows, and the length of the shortest such query, by
/// breadth-first search over conjunctions.
fn expressible(
    columns: &[BinnedColumn],
    directions: &Directions,
    rows: usize,
    max_length: usize,
) -> HashMap<(u64, Signs), usize> {
    let mut atoms = Vec::new();
    for (c, column) in columns.iter().enumerate() {
        // A histogram of ones makes `children` list every atom that can select anything.
        let ones: Vec<f64> = (0..=column.bins).flat_map(|_| [1.0, 0.0, 1.0]).collect();
        children(c as u32, column, &ones, 3, |atom, _| atoms.push(atom));
    }
    let all: Vec<u32> = (0..rows as u32).collect();
    let mask =
        |atom: &Atom| columns[atom.column as usize].select(atom.selection, &all).iter().fold(0u64, |m, r| m | 1 << r);
    let atoms: Vec<(u64, Signs)> = atoms.iter().map(|a| (mask(a), directions.of_atom(*a))).collect();
    let full = (if rows == 64 { u64::MAX } else { (1 << rows) - 1 }, Signs::Any);
    let mut sets = HashMap::from([(full, 0)]);
    let mut frontier = vec![full];
    let mut length = 0;
    while !frontier.is_empty() && length < max_length {
        length += 1;
        let mut next = Vec::new();
        for (set, signs) in frontier {
            for &(mask, sign) in &atoms {
                let below = (set & mask, signs.and(sign));
                if below.0 != 0 && below.1 != Signs::Neither && !sets.contains_key(&below) {
                    sets.insert(below, length);
                    next.push(below);
                }
            }
        }
        frontier = next;
    }
    sets
}

/// Parameters of a certified search.
fn certifying(
    case: &Case,
    objective: Objective,
    intercept: Intercept,
    (gamma, lambda, min_coverage): (usize, usize, usize),
) -> Checked {
    let mut params = case.checked(objective, intercept, [0.0, 1.5][lambda]);
    params.length_penalty = [0.0, 0.5, 1.0][gamma];
    params.exact = true;
    (params.min_coverage, params.beam_width) = (min_coverage, 2);
    params
}

/// Whether a rule of this many rows has enough of them, and leaves enough where the intercept moves.
fn is_enough(rows: f64, response: &Response, params: &Checked) -> bool {
    let least = params.min_coverage as f64;
    rows >= least && (params.intercept != Intercept::Corrected || response.rows_total - rows >= least)
}

/// The row sets that no further rule may have: those of the chosen rules and, where the intercept moves, of their
/// complements.
fn taken_sets(cells: &Cells, rows: usize, params: &Checked) -> Vec<u64> {
    let covers = |k: usize| (0..rows).filter(|&r| cells.in_rule(cells.of(r), k)).fold(0, |m, r| m | 1u64 << r);
    let mut taken: Vec<u64> = (0..cells.rules()).map(covers).collect();
    if params.intercept == Intercept::Corrected {
        taken.extend(taken.clone().iter().map(|m| !m & ((1 << rows) - 1)));
    }
    taken
}

impl State {
    fn is_enough(&self, rows: f64) -> bool {
        is_enough(rows, &self.response, &self.params)
    }

    fn taken(&self) -> Vec<u64> {
        taken_sets(&self.cells, self.response.rows(), &self.params)
    }

    /// An error unless `found` is proven and reaches `best`, the largest score there is.
    fn reaches(&self, found: Option<&Found>, best: f64) -> Result<(), TestCaseError> {
        let Some(found) = found else {
            prop_assert!(best <= self.noise, "nothing found, but {} exists", best);
            return Ok(());
        };
        let reached = score(found.value, found.query.len(), self.params.length_penalty);
        prop_assert!(found.proven);
        prop_assert_eq!(found.bound, Some(found.value));
        prop_assert!((reached - best).abs() <= 1e-7 * best + self.noise, "{} {} {}", reached, best, found.query.len());
        Ok(())
    }

    fn searcher<'a>(
        &'a self,
        rows: &'a Rows<'a>,
        units: &'a Units,
        name_rank: &'a [u32],
        max_length: usize,
    ) -> Searcher<'a> {
        Searcher {
            columns: &self.columns,
            rows,
            response: &self.response,
            cells: &self.cells,
            scorer: &self.scorer,
            classes: None,
            covered: self.cells.coverage(),
            name_rank,
            directions: &self.directions,
            params: &self.params,
            max_length,
            units: Some(units),
            trends: None,
            root: None,
            by_row: None,
            deadline: None,
            observer: &Silent,
        }
    }

    fn sums(&self, stats: &UnitStats, units: &Units, mask: u64) -> Vec<f64> {
        let rows: Vec<u32> = (0..self.response.rows() as u32).filter(|r| mask >> r & 1 == 1).collect();
        let mut sum = vec![0.0; stats.stride - SHARES];
        for unit in positions(stats, units, &rows) {
            sum.iter_mut().zip(stats.vector(unit)).for_each(|(s, x)| *s += x);
        }
        sum
    }
}

/// Rows of a single partition.
fn rows_of(selected: &Selected) -> Vec<u32> {
    match selected.lists() {
        [RowList::Some(rows)] => rows.clone(),
        other => panic!("rows of one partition, not {other:?}"),
    }
}

/// The units of `rows` by their positions.
fn positions(stats: &UnitStats, units: &Units, rows: &[u32]) -> Vec<u32> {
    let wanted = units.of(rows);
    (0..stats.order.len() as u32).filter(|&p| wanted.contains(&stats.order[p as usize])).collect()
}

fn objectives() -> impl Strategy<Value = Objective> {
    (0usize..5).prop_map(|i| [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][i])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn certified_is_brute_force(
        case in cases(3),
        objective in objectives(),
        gamma in 0usize..3,
        lambda in 0usize..2,
        corrected in any::<bool>(),
        limits in (1usize..4, 1usize..7),
        counted in any::<bool>(),
    ) {
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let (min_coverage, max_length) = limits;
        let params = certifying(&case, objective, intercept, (gamma, lambda, min_coverage));
        let state = state(&case, params, max_length);
        let rows = Rows::whole(&state.columns, &state.response);
        let units = Units::new(&state.columns, case.rows(), || false).unwrap();
        let stats = UnitStats::new(&units, &state.response, &state.cells, &state.scorer, Bound::Admissible);
        let ranks: Vec<u32> = (0..state.columns.len() as u32).collect();
        let searcher = state.searcher(&rows, &units, &ranks, max_length);
        // Both ways to tell row sets apart, whichever would be chosen.
        let found = match Closed::new(&searcher, &units) {
            Some(space) if counted => Exact::new(&searcher, space).search(searcher.beam()),
            _ => Exact::new(&searcher, Keyed::new(&searcher, &units)).search(searcher.beam()),
        };
        let taken = state.taken();
        let mut best: f64 = 0.0;
        for (&mask, &length) in &state.sets {
            let sums = state.sums(&stats, &units, mask);
            let sums = Statistics::of(&sums);
            if length > 0 && state.is_enough(sums.rows()) && !taken.contains(&mask) {
                best = best.max(score(state.scorer.value(sums), length, state.params.length_penalty));
            }
        }
        state.reaches(found.as_ref(), best)?;
    }

    /// With monotone columns the certified rule is the best among those whose weight may have the sign that it asks
    /// for.
    #[test]
    fn certified_is_brute_force_with_monotone_columns(
        case in cases(3),
        objective in objectives(),
        gamma in 0usize..3,
        lambda in 0usize..2,
        limits in (1usize..4, 1usize..5),
        falling in (any::<bool>(), any::<bool>()),
    ) {
        let (min_coverage, max_length) = limits;
        let direction = |falls: bool| if falls { Monotone::Falling } else { Monotone::Rising };
        let mut params = certifying(&case, objective, Intercept::Corrected, (gamma, lambda, min_coverage));
        params.monotone = [("x".to_owned(), direction(falling.0)), ("u".to_owned(), direction(falling.1))].into();
        let state = state(&case, params, max_length);
        let rows = Rows::whole(&state.columns, &state.response);
        let units = Units::new(&state.columns, case.rows(), || false).unwrap();
        let stats = UnitStats::new(&units, &state.response, &state.cells, &state.scorer, Bound::Admissible);
        let ranks: Vec<u32> = (0..state.columns.len() as u32).collect();
        let searcher = state.searcher(&rows, &units, &ranks, max_length);
        let taken = state.taken();
        let mut best: f64 = 0.0;
        let mut near = false;
        for (&(mask, signs), &length) in &expressible(&state.columns, &state.directions, case.rows(), max_length) {
            let sums = state.sums(&stats, &units, mask);
            let sums = Statistics::of(&sums);
            let slope = state.scorer.slope(sums);
            near |= slope.abs() < 1e-9 && state.scorer.value(sums) > 1e-9;
            let enough = length > 0 && state.is_enough(sums.rows());
            if enough && !taken.contains(&mask) && signs.allow(-slope) {
                best = best.max(score(state.scorer.value(sums), length, state.params.length_penalty));
            }
        }
        // A gradient that is 0 up to rounding has no sign to speak of.
        prop_assume!(!near);
        let found = searcher.best_query();
        state.reaches(found.as_ref(), best)?;
        if let Some(found) = found {
            let signs = state.directions.of_query(&found.query.atoms);
            let mask = rows_of(&found.rows).iter().fold(0u64, |m, r| m | 1 << r);
            let sums = state.sums(&stats, &units, mask);
            prop_assert!(signs.allow(-state.scorer.slope(Statistics::of(&sums))));
        }
    }

    #[test]
    fn bounds_hold_below_every_node(
        case in cases(4),
        objective in objectives(),
        lambda in 0usize..2,
        corrected in any::<bool>(),
        pick in any::<prop::sample::Index>(),
        threshold in 0usize..3,
    ) {
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let state = state(&case, case.checked(objective, intercept, [0.0, 1.5][lambda]), usize::MAX);
        let units = Units::new(&state.columns, case.rows(), || false).unwrap();
        let stats = UnitStats::new(&units, &state.response, &state.cells, &state.scorer, Bound::Admissible);
        let mut nodes: Vec<u64> = state.sets.keys().copied().collect();
        nodes.sort_unstable();
        let node = nodes[pick.index(nodes.len())];
        let below: Vec<(u64, f64)> = nodes
            .iter()
            .filter(|&&m| m & !node == 0)
            .map(|&m| (m, state.scorer.value(Statistics::of(&state.sums(&stats, &units, m)))))
            .collect();
        let best = below.iter().fold(0.0f64, |b, (_, v)| b.max(*v));
        let rows: Vec<u32> = (0..case.rows() as u32).filter(|r| node >> r & 1 == 1).collect();
        let bounds = SubsetBounds { stats: &stats, scorer: &state.scorer, kind: Bound::Admissible };
        // With a NaN the bound is made as tight as it gets.
        let threshold = [0.0, best, f64::NAN][threshold];
        let items: Vec<Item> = positions(&stats, &units, &rows).into_iter().map(|p| (p, 1.0)).collect();
        let mut work = Workspace::default();
        let value = bounds.node(&items, f64::MAX, threshold, &mut work);
        let bound = bounds.factor(&items, value, &mut work);
        // Where the gradient is rounding noise (separated classes without penalty), so are values and bounds.
        let noise = 1e-8;
        prop_assert!(bound.value >= best * (1.0 - 1e-12) - noise, "{} {}", bound.value, best);
        prop_assert!(state.scorer.ceiling >= best * (1.0 - 1e-9) - noise, "{} {}", state.scorer.ceiling, best);
        // The quick bound of a child from the parent's sums.
        for &(mask, value) in &below {
            let child: Vec<u32> = (0..case.rows() as u32).filter(|r| mask >> r & 1 == 1).collect();
            let mut sums = vec![0.0; stats.stride];
            for unit in positions(&stats, &units, &child) {
                sums.iter_mut().zip(stats.vector(unit)).for_each(|(s, x)| *s += x);
            }
            let quick = bounds.child(&bound, stats.shares(&sums));
            prop_assert!(quick >= value * (1.0 - 1e-9) - noise, "{} {}", quick, value);
        }
    }
}
