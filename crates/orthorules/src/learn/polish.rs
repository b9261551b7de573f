//! Rules that are given up for better ones.
//!
//! What was chosen early was chosen without sight of what came later. So each of some rules of an ensemble is dropped,
//! all other weights are fitted again, and the search looks for a rule in its place. The new one is taken if it lowers
//! the regularised risk by more than chance would: on a small table some rule always looks a little better.

use crate::base::clock::Instant;
use crate::engine::search::{Found, rounded};
use crate::learn::kind::Newest;
use crate::learn::known::{CountedEnsemble, FoundRules};
use crate::learn::setup::{Setup, certificate};
use crate::learn::state::State;
use crate::model::rule::Rule;
use crate::params::Polish;
use std::rc::Rc;

/// The least useful rules that a light polish tries to replace.
const LEAST_USEFUL: usize = 5;

/// How often a full polish goes over all rules.
const MOST_ROUNDS: usize = 10;

/// How much the regularised risk must fall, in parts of what one rule gains by chance (docs/quality.md has others).
const BEYOND_CHANCE: f64 = 4.0;

/// The ensemble `now`, which has just got its last rule, with better rules in place of some; its complexity stays above
/// `least`. Seconds are those of the searches.
pub(crate) fn polished(setup: &Setup, now: CountedEnsemble, least: usize, seconds: &mut f64) -> CountedEnsemble {
    let (count, rounds) = match setup.params.polish {
        Polish::Off => return now,
        Polish::Light => (LEAST_USEFUL, 1),
        Polish::Full => (usize::MAX, MOST_ROUNDS),
    };
    let started = Instant::now();
    let mut now = now;
    for round in 0..rounds {
        // The rule that was just added is the best that the search finds beside the others.
        let newest = now.state.rules.last().filter(|_| round == 0).map(Rc::clone);
        let tried = least_useful(setup, &now.state, count, newest.as_ref());
        let mut changed = false;
        for rule in tried {
            if setup.observer.stop() {
                return now;
            }
            if let Some(better) = replaced(setup, &now, &rule, least) {
                now = better;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    *seconds += started.elapsed().as_secs_f64();
    now
}

/// The least useful rules of an ensemble but one and those that are required, the least useful first; of equals the
/// newer one comes first.
fn least_useful(setup: &Setup, state: &State, count: usize, spared: Option<&Rc<Rule>>) -> Vec<Rc<Rule>> {
    let useful: Vec<f64> = state.usefulness(setup).into_iter().map(|useful| rounded(useful.max(0.0))).collect();
    let mut order: Vec<usize> = (0..useful.len()).collect();
    order.sort_by(|&a, &b| useful[a].total_cmp(&useful[b]).then(b.cmp(&a)));
    let rules = order.into_iter().map(|k| &state.rules[k]);
    let rules = rules.filter(|rule| spared.is_none_or(|spared| !Rc::ptr_eq(rule, spared)) && !setup.is_pinned(rule));
    rules.take(count).cloned().collect()
}

/// The ensemble with the best rule that the search finds in place of `rule`, if it is better beyond chance.
fn replaced(setup: &Setup, now: &CountedEnsemble, rule: &Rc<Rule>, least: usize) -> Option<CountedEnsemble> {
    let k = now.state.rules.iter().position(|known| Rc::ptr_eq(known, rule))?;
    let dropped = now.without(k, setup)?;
    let started = Instant::now();
    let FoundRules { rules, noise } = dropped.rules_up_to(setup, now.state.complexity);
    if setup.observer.stop() {
        return None;
    }
    let elapsed = started.elapsed().as_secs_f64();
    let enough =
        |risk: f64| now.state.risk - risk > BEYOND_CHANCE * noise && now.state.risk - risk > unseen(&now.state);
    let mut best: Option<(Found, State, Vec<u32>)> = None;
    for found in rules.into_iter().filter(|found| dropped.state.complexity + found.complexity() > least) {
        // For squared loss the promise is kept to the last digit, so that others need not be fitted.
        let promised = dropped.state.risk - 0.5 * found.value * found.value;
        if setup.response.loss.is_quadratic() && !enough(promised) {
            continue;
        }
        let rival = best.as_ref().map_or(f64::INFINITY, |(_, best, _)| best.risk);
        let (state, moved_to) = dropped.state_trying(&found, setup, rival);
        if enough(state.risk) && best.as_ref().is_none_or(|(_, best, _)| state.risk < best.risk) {
            best = Some((found, state, moved_to));
        }
    }
    let (found, mut state, moved_to) = best?;
    state.settle(Newest { found: &found, moved_to: &moved_to }, setup);
    setup.observer.searched(setup.class, &certificate(&found, setup.response, elapsed));
    let root = dropped.root_with(&found, (&state, &moved_to), setup);
    Some(CountedEnsemble { state, root })
}

/// Differences of risk that rounding alone may make.
fn unseen(state: &State) -> f64 {
    1e-9 * state.cells.mass.iter().sum::<f64>().max(state.risk.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cases::{cases, cases_of_classes};
    use crate::engine::targets::response::Response;
    use crate::learn::best_path::BestPath;
    use crate::learn::boosting::Path;
    use crate::learn::seconds::Seconds;
    use crate::model::observer::Silent;
    use crate::params::{Checked, Params, PathKind};
    use proptest::prelude::*;

    /// Every ensemble along a path, polished: never of higher risk, never more complex, and what it says of itself is
    /// true.
    fn never_worse(response: &Response, columns: &[crate::codes::column::BinnedColumn], params: &Checked) {
        let mut plain = params.clone();
        plain.polish = Polish::Off;
        let setup = Setup::new(response, columns, &plain, &Silent);
        let polishing = Setup::new(response, columns, params, &Silent);
        let mut state = State::constant(&setup);
        let mut path = BestPath::new(&setup, &state);
        let mut seconds = Seconds::default();
        while let Some((next, _)) = path.next(&setup, state, &mut seconds) {
            let (before, complexity) = (next.risk, next.complexity);
            let known = CountedEnsemble { state: next.clone(), root: None };
            let CountedEnsemble { state: better, .. } = polished(&polishing, known, 0, &mut 0.0);
            assert!(better.risk <= before, "{} {before}", better.risk);
            assert!(better.complexity <= complexity);
            assert_eq!(better.complexity, better.rules.iter().map(|rule| rule.complexity()).sum::<usize>());
            assert_eq!(
                (better.rules.len(), better.kind.weights()[0].rules.len()),
                (better.cells.rules(), better.cells.rules())
            );
            state = next;
        }
    }

    fn checked(task: crate::Task, rows: usize, polish: Polish) -> Checked {
        let params =
            Params { polish: Some(polish), path: Some(PathKind::Best), max_complexity: Some(16), ..Params::default() };
        params.check(task.loss(), rows).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_polished_ensemble_is_never_worse(case in cases(0), full in any::<bool>()) {
            let polish = if full { Polish::Full } else { Polish::Light };
            let response = case.response();
            never_worse(&response, &case.binned(), &checked(case.task, case.rows(), polish));
        }

        #[test]
        fn nor_is_one_of_several_classes(case in cases_of_classes(0)) {
            prop_assume!(case.target.contains(&2.0));
            let response = case.shared_response();
            never_worse(&response, &case.binned(), &checked(case.task, case.rows(), Polish::Light));
        }
    }
}
