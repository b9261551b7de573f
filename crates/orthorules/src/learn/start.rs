//! Where every path starts: at the constant model, and then at the ensembles of the required rules.

use crate::engine::search::Found;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::model::rule::Rule;

/// The ensembles of the required rules, each with one more than the one before, as far as there is room. `added` hears
/// of each rule, as a path does.
pub(crate) fn states(setup: &Setup, constant: &State, mut added: impl FnMut(&State, Found, &[u32])) -> Vec<State> {
    let (mut states, mut state) = (Vec::new(), constant.clone());
    for pin in &setup.pins {
        let has_room = state.complexity + pin.rule.complexity() <= setup.params.max_complexity;
        if !has_room || state.rules.len() >= setup.params.max_rules {
            continue;
        }
        let (found, rule) = if let Some(trend) = &pin.rule.trend {
            // A column without spread has no trend.
            let Some(found) = setup.given_trend(trend) else { continue };
            let rule = setup.rule_of(&found);
            (found, rule)
        } else {
            let narrower = |rows, atom: &_| setup.rows.select_known(&rows, *atom, true, || None);
            let rows = pin.query.atoms.iter().fold(setup.rows.all(), narrower);
            let found = Found { query: pin.query.clone(), rows, ..Found::default() };
            let rule = Rule { covered: found.rows.len() as u64, ..pin.rule.clone() };
            (found, rule)
        };
        let moved_to = state.add(&found, rule, setup);
        added(&state, found, &moved_to);
        states.push(state.clone());
    }
    states
}
