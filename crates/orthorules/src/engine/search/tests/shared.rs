//! The search where several classes share their rules.

use super::*;
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::score::{ClassScorers, of_classes};
use crate::engine::search::exact::joint::{Joint, JointBuffers};

/// A state of the fit in which the next rule for all classes is sought.
struct SharedState {
    columns: Vec<BinnedColumn>,
    response: Response,
    cells: Cells,
    scorer: Scorer,
    classes: ClassScorers,
    params: Checked,
    directions: Directions,
    noise: f64,
    sets: HashMap<u64, usize>,
}

/// Cases of three to five classes, or of as many as there are rows.
fn cases_of_several(rules: usize) -> impl Strategy<Value = Case> {
    (cases(rules), 3usize..=5, prop::collection::vec(0usize..5, 60)).prop_map(|(case, classes, labels)| {
        let classes = classes.min(case.target.len());
        let class = |r: usize| if r < classes { r } else { labels[r] % classes };
        let target = (0..case.target.len()).map(|r| class(r) as f64).collect();
        Case { task: crate::data::problem::Task::Classification, target, exposure: None, ..case }
    })
}

fn shared_state(case: &Case, params: Checked) -> SharedState {
    let columns = case.binned();
    let response = case.shared_response();
    let sets = selectable(&columns, case.rows());
    let (cells, weights) = with_queries(case, &sets).fitted_classes(&response, &params);
    let (scorer, classes) = of_classes(&response, &cells, &weights, &params);
    let directions = Directions::new(&columns, &BTreeMap::new());
    let noise = if weights.iter().all(|w| w.status == Status::Converged) { 1e-16 } else { 1e-14 };
    SharedState { columns, response, cells, scorer, classes, params, directions, noise, sets }
}

impl SharedState {
    /// The sums of a row set for a class, by definition.
    fn sums(&self, (class, scorer): (usize, &Scorer), mask: u64) -> Vec<f64> {
        let mut sums = vec![0.0; scorer.stride()];
        for r in (0..self.response.rows()).filter(|r| mask >> r & 1 == 1) {
            let (cell, mass) = (self.cells.of(r), self.response.mass(r));
            let [mean, delta] = scorer.cell(cell);
            let own = if self.response.targets.b[r] == class as i64 { mass } else { 0.0 };
            let stands_for = f64::from(self.response.targets.stands_for(r));
            let along = scorer.vector(cell).into_iter().map(|dz| mass * dz);
            StatisticsMut::of(&mut sums).add(stands_for, mass * mean - own, mass * delta, along);
        }
        scorer.project(StatisticsMut::of(&mut sums));
        sums
    }

    /// Rows and value of a row set, by definition.
    fn value(&self, mask: u64) -> (f64, f64) {
        let (mut rows, mut squares) = (0.0, 0.0);
        for (class, scorer) in self.classes.each.iter().enumerate() {
            let sums = self.sums((class, scorer), mask);
            squares += scorer.value(Statistics::of(&sums)).powi(2);
            rows = Statistics::of(&sums).rows();
        }
        let classes = self.classes.each.len() as f64;
        (rows, (squares * (classes - 1.0) / classes).sqrt())
    }

    /// Whether so little is left of a row set beside the rules, for some class, that rounding decides what that is
    /// worth. Without a penalty, classes that rules tell apart have curvatures of almost nothing.
    fn is_decided_by_rounding(&self, mask: u64) -> bool {
        self.classes.each.iter().enumerate().any(|class| {
            let sums = self.sums(class, mask);
            let (stats, rho) = (Statistics::of(&sums), class.1.rho());
            let along: f64 = stats.along().iter().map(|n| n * n).sum();
            let whole = stats.curvature() + rho;
            (whole - along).abs() <= 1e-7 * whole
        })
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
            classes: Some(&self.classes),
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
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn certified_is_brute_force(
        case in cases_of_several(3),
        objective in objectives(),
        gamma in 0usize..3,
        lambda in 0usize..2,
        corrected in any::<bool>(),
        limits in (1usize..4, 1usize..7),
    ) {
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let (min_coverage, max_length) = limits;
        let state = shared_state(&case, certifying(&case, objective, intercept, (gamma, lambda, min_coverage)));
        let rows = Rows::whole(&state.columns, &state.response);
        let units = Units::new(&state.columns, case.rows(), || false).unwrap();
        let ranks: Vec<u32> = (0..state.columns.len() as u32).collect();
        let searcher = state.searcher(&rows, &units, &ranks, max_length);
        let found = searcher.best_query();
        let taken = taken_sets(&state.cells, case.rows(), &state.params);
        let mut best: f64 = 0.0;
        for (&mask, &length) in &state.sets {
            let (rows, value) = state.value(mask);
            let possible = length > 0 && length <= max_length && !taken.contains(&mask);
            if possible && is_enough(rows, &state.response, &state.params) {
                best = best.max(score(value, length, state.params.length_penalty));
            }
        }
        let Some(found) = found else {
            prop_assert!(best <= state.noise, "nothing found, but {} exists", best);
            return Ok(());
        };
        let reached = score(found.value, found.query.len(), state.params.length_penalty);
        prop_assert!(found.proven);
        prop_assert_eq!(found.bound, Some(found.value));
        let mask = rows_of(&found.rows).iter().fold(0u64, |m, r| m | 1 << r);
        if state.is_decided_by_rounding(mask) {
            return Ok(());
        }
        prop_assert!((reached - best).abs() <= 1e-7 * best + state.noise, "{} {}", reached, best);
        let own = score(state.value(mask).1, found.query.len(), state.params.length_penalty);
        prop_assert!((own - reached).abs() <= 1e-7 * own + state.noise, "{} {}", own, reached);
    }

    /// With few nodes the certificate is honest: nothing is better than its bound.
    #[test]
    fn a_bound_at_the_limit_holds(
        case in cases_of_several(2),
        gamma in 0usize..3,
        limit in 1u64..12,
    ) {
        let mut params = certifying(&case, Objective::Onb, Intercept::Corrected, (gamma, 1, 1));
        (params.node_limit, params.beam_width) = (limit, 1);
        let state = shared_state(&case, params);
        let rows = Rows::whole(&state.columns, &state.response);
        let units = Units::new(&state.columns, case.rows(), || false).unwrap();
        let ranks: Vec<u32> = (0..state.columns.len() as u32).collect();
        let searcher = state.searcher(&rows, &units, &ranks, 4);
        let taken = taken_sets(&state.cells, case.rows(), &state.params);
        let mut best: f64 = 0.0;
        for (&mask, &length) in &state.sets {
            let (rows, value) = state.value(mask);
            if (1..=4).contains(&length) && !taken.contains(&mask) && is_enough(rows, &state.response, &state.params) {
                best = best.max(score(value, length, state.params.length_penalty));
            }
        }
        if let Some(found) = searcher.best_query() {
            let bound = found.bound.unwrap();
            let reachable = score(bound, found.query.len(), state.params.length_penalty);
            prop_assert!(reachable >= best * (1.0 - 1e-7) - state.noise, "{} {}", reachable, best);
            prop_assert!(bound >= found.value && (!found.proven || bound == found.value));
        }
    }

    #[test]
    fn bounds_hold_for_all_parts_of_a_node(
        case in cases_of_several(4),
        objective in objectives(),
        lambda in 0usize..2,
        corrected in any::<bool>(),
        pick in any::<prop::sample::Index>(),
        parts in prop::collection::vec(any::<u64>(), 20),
    ) {
        let intercept = if corrected { Intercept::Corrected } else { Intercept::Fixed };
        let state = shared_state(&case, case.checked(objective, intercept, [0.0, 1.5][lambda]));
        let rows = Rows::whole(&state.columns, &state.response);
        let units = Units::new(&state.columns, case.rows(), || false).unwrap();
        let ranks: Vec<u32> = (0..state.columns.len() as u32).collect();
        let searcher = state.searcher(&rows, &units, &ranks, usize::MAX);
        let joint = Joint::new(&searcher, &units);
        let mut nodes: Vec<u64> = state.sets.keys().copied().collect();
        nodes.sort_unstable();
        let node = nodes[pick.index(nodes.len())];
        let positions = |mask: u64| {
            let rows: Vec<u32> = (0..case.rows() as u32).filter(|r| mask >> r & 1 == 1).collect();
            let wanted = units.of(&rows);
            let place = |p: &u32| wanted.contains(&joint.order()[*p as usize]);
            (0..units.len() as u32).filter(place).collect::<Vec<u32>>()
        };
        let mut buffers = JointBuffers::default();
        let of_node = positions(node);
        let bound = joint.above(&of_node, f64::MAX, -1.0, &mut buffers).unwrap();
        // Where the gradient is rounding noise (separated classes without penalty), so are values and bounds.
        let noise = 1e-8;
        // Any units of the node, and what queries select of it.
        let of_units = |some: u64| {
            let unit = |p: &&u32| some >> (**p % 64) & 1 == 1;
            let chosen: Vec<u32> = of_node.iter().filter(unit).map(|&p| joint.order()[p as usize]).collect();
            units.rows(&chosen).iter().fold(0u64, |m, r| m | 1 << r)
        };
        for mask in nodes.iter().copied().filter(|m| m & !node == 0).chain(parts.into_iter().map(of_units)) {
            let (_, value) = state.value(mask);
            prop_assert!(bound >= value * (1.0 - 1e-12) - noise, "{} {}", bound, value);
            prop_assert!(state.scorer.ceiling >= value * (1.0 - 1e-9) - noise);
            let mut sums = vec![0.0; joint.stride()];
            for p in positions(mask) {
                sums.iter_mut().zip(joint.vector(p)).for_each(|(s, x)| *s += x);
            }
            prop_assert!((joint.value(&sums).0 - value).abs() <= 1e-9 * value + noise);
            let quick = joint.child(bound, &sums, &buffers);
            prop_assert!(quick >= value * (1.0 - 1e-9) - noise, "{} {}", quick, value);
            // The same threshold never cuts what is better.
            let cut = joint.above(&of_node, f64::MAX, 0.99 * value, &mut JointBuffers::default()).is_none();
            prop_assert!(!cut || value <= noise);
        }
    }
}
