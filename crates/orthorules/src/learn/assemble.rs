//! From the ensembles along a path to what a model holds: all rules once, and which of them each size has.

use crate::learn::setup::Setup;
use crate::model::rule::Rule;
use crate::model::{RuleList, Size};
use std::rc::Rc;

/// The list of all sizes of a path. The rules of the largest size come first, so that it is made of the first ones.
pub(crate) fn list(setup: &Setup, mut sizes: Vec<(Size, Vec<Rc<Rule>>)>) -> RuleList {
    let mut all = sizes.last().map_or(Vec::new(), |(_, rules)| rules.clone());
    for (size, rules) in &mut sizes {
        if rules.iter().zip(&all).all(|(a, b)| Rc::ptr_eq(a, b)) {
            continue;
        }
        let place = |rule: &Rc<Rule>| {
            all.iter().position(|known| known.is_same_term(rule)).unwrap_or_else(|| {
                all.push(Rc::clone(rule));
                all.len() - 1
            })
        };
        let places: Vec<usize> = rules.iter().map(place).collect();
        size.members = (!places.iter().copied().eq(0..places.len())).then_some(places);
    }
    let sizes: Vec<Size> = sizes.into_iter().map(|(size, _)| size).collect();
    let chosen = sizes.last().map_or(0, |size| size.rules);
    let rules = all.into_iter().map(Rc::unwrap_or_clone).collect();
    RuleList { class: setup.class.map(str::to_owned), rules, sizes, chosen, chosen_complexity: None }
}
