//! From the ensembles along a path to what a model holds: all rules once, and which of them each size has.

use crate::learn::setup::Setup;
use crate::model::rule::Rule;
use crate::model::{Ensemble, Size};
use std::rc::Rc;

/// The ensemble of the only score from all sizes of its path; or those of all classes, where these sizes are the first class's, and
/// `others` those of the others.
pub(crate) fn ensembles(setup: &Setup, sizes: Vec<(Size, Vec<Rc<Rule>>)>, others: &[Vec<Size>]) -> Vec<Ensemble> {
    let mut all = vec![ensemble(setup, sizes)];
    for (class, name) in setup.classes.iter().enumerate().skip(1) {
        let mut ensemble = all[0].clone();
        ensemble.class = Some(name.clone());
        for (size, others) in ensemble.path.iter_mut().zip(others) {
            *size = Size { members: size.members.take(), ..others[class - 1].clone() };
        }
        all.push(ensemble);
    }
    if let Some(name) = setup.classes.first() {
        all[0].class = Some(name.clone());
    }
    all
}

/// All rules of the path, those of the largest size first, so that this size is made of the first ones.
fn ensemble(setup: &Setup, mut sizes: Vec<(Size, Vec<Rc<Rule>>)>) -> Ensemble {
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
    let path: Vec<Size> = sizes.into_iter().map(|(size, _)| size).collect();
    let chosen = path.last().map_or(0, |size| size.rules);
    let rules = all.into_iter().map(Rc::unwrap_or_clone).collect();
    Ensemble { class: setup.class.map(str::to_owned), rules, path, chosen, chosen_complexity: None }
}
