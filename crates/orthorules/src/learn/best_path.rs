//! The best ensemble found of every complexity: a path whose sizes need not extend one another.
//!
//! Complexity c is reached from every smaller one by a rule that makes up the difference: from c − 2 by the best rule
//! of one condition, from c − 3 by the best of two, and so on. All of these are refitted and the one of least risk is
//! kept. So one search for each complexity, which yields a rule of each length, takes the place of one for each rule;
//! and short and long rules compete by what they do for the complexity that they cost.

use crate::base::clock::Instant;
use crate::engine::count::root::RootCounts;
use crate::engine::refit::Weights;
use crate::engine::search::{Found, rounded};
use crate::learn::boosting::Path;
use crate::learn::enough::GrowthSoFar;
use crate::learn::kind::Newest;
use crate::learn::known::CountedEnsemble;
use crate::learn::polish;
use crate::learn::seconds::Seconds;
use crate::learn::setup::{Setup, certificate};
use crate::learn::state::State;
use crate::model::signs::Signs;
use crate::model::{Size, Status};
use crate::params::{Checked, Objective, Update};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many extensions, by their predicted risk, are refitted for one complexity. The prediction is exact for squared
/// loss and good to second order for others.
const REFITTED: usize = 3;

/// Promises are kept to this part where they are exact: rounding is far below it.
const ROUNDED: f64 = 1e-6;

/// What a term gains on a sample is right to about a tenth; none gains this many times as much on all rows.
const FAR_MORE: f64 = 1.25;

/// A path of best ensembles.
pub(crate) struct BestPath {
    /// Extensions by the complexity that they lead to; a state is freed when the last of its own is gone.
    waiting: BTreeMap<usize, Vec<Extension>>,
    /// What is known of all rows below the ensemble that was found last.
    root: Option<RootCounts>,
    /// The regularised risk without rules.
    constant: f64,
    /// The risk on the data of the ensemble that was found last.
    train_risk: f64,
    /// The columns of all ensembles so far, where there is a budget.
    paid: Rc<BTreeSet<String>>,
}

/// An ensemble and a rule to add to it.
struct Extension {
    from: Rc<CountedEnsemble>,
    found: Found,
    /// Seconds of the search that found the rule.
    searched: f64,
}

/// What became of an extension.
struct Refitted<'e> {
    state: State,
    /// Where the rows of the newest rule went, cell by cell.
    moved_to: Vec<u32>,
    by: &'e Extension,
}

impl BestPath {
    /// From the constant model on.
    pub(crate) fn new(setup: &Setup, constant: &State) -> Self {
        let train_risk = constant.size(setup.response).train_risk;
        let root = CountedEnsemble::root_of_constant(setup, constant);
        Self { waiting: BTreeMap::new(), root, constant: constant.risk, train_risk, paid: Rc::default() }
    }

    /// Learns that a required rule became part of `state`, and where its rows went, cell by cell.
    pub(crate) fn added(&mut self, setup: &Setup, state: &State, found: Found, moved_to: &[u32]) {
        let root = self.root.take();
        let root = root.and_then(|root| root.not_outgrown(state.cells.len(), &setup.rows, setup.columns));
        self.root = root.and_then(|root| state.follow(root, Newest { found: &found, moved_to }, setup));
        self.train_risk = state.size(setup.response).train_risk;
        found.rows.give();
    }

    /// By how much the regularised risk lies below that of the constant model.
    fn gain(&self, state: &State) -> f64 {
        (self.constant - state.risk).max(0.0)
    }

    /// The gain that the value of a rule promises.
    fn promise(&self, extension: &Extension) -> f64 {
        rounded(self.gain(&extension.from.state) + 0.5 * extension.found.value * extension.found.value)
    }

    /// Looks for the best rule of each length to add to an ensemble.
    fn extend(&mut self, setup: &Setup, from: &Rc<CountedEnsemble>, seconds: &mut Seconds) {
        if setup.observer.stop() {
            return;
        }
        let started = Instant::now();
        let rules = from.rules_up_to(setup, setup.params.max_complexity).rules;
        let searched = started.elapsed().as_secs_f64();
        seconds.search += searched;
        for found in rules.into_iter().filter(|_| !setup.observer.stop()) {
            let complexity = from.state.complexity + found.complexity();
            let extension = Extension { from: Rc::clone(from), found, searched };
            self.waiting.entry(complexity).or_default().push(extension);
        }
    }

    /// Whether an extension that was fitted to a sample would have to gain far more on all rows to be better than
    /// `now`.
    fn is_hopeless(&self, refitted: &Refitted, now: &State) -> bool {
        let before = self.gain(&refitted.by.from.state);
        let (found, needed) = (self.gain(&refitted.state) - before, self.gain(now) - before);
        refitted.state.kind.is_rough() && needed > FAR_MORE * found
    }

    /// The extension that leads to the least risk; ties go to the earlier one. Nothing if it cannot be better than
    /// `now`.
    fn least_risk<'e>(&self, setup: &Setup, extensions: &'e mut [Extension], now: &State) -> Option<Refitted<'e>> {
        extensions.sort_by(|a, b| self.promise(b).total_cmp(&self.promise(a)));
        let mut best: Option<Refitted> = None;
        for by in extensions.iter().take(REFITTED) {
            // What is promised exactly need not be tried beside what is better.
            let behind = |best: &Refitted| self.promise(by) < (1.0 - ROUNDED) * self.gain(&best.state);
            if is_exact(setup, by) && best.as_ref().is_some_and(behind) {
                continue;
            }
            let rival = best.as_ref().map_or(f64::INFINITY, |best| best.state.risk);
            let (state, moved_to) = by.from.state_trying(&by.found, setup, rival);
            if best.as_ref().is_none_or(|b| rounded(self.gain(&state)) > rounded(self.gain(&b.state))) {
                best = Some(Refitted { state, moved_to, by });
            }
        }
        best = best.filter(|best| !self.is_hopeless(best, now));
        if let Some(best) = &mut best {
            best.state.settle(Newest { found: &best.by.found, moved_to: &best.moved_to }, setup);
        }
        best
    }

    /// The best ensemble of the least complexity at which there is a better one than `now`.
    fn next_better(&mut self, setup: &Setup, now: &State, polishing: &mut f64) -> Option<(State, Size)> {
        loop {
            let (_, mut extensions) = self.waiting.pop_first()?;
            extensions.retain(|extension| self.is_affordable(setup, extension));
            let Some(best) = self.least_risk(setup, &mut extensions, now) else { continue };
            let size = best.state.size(setup.response);
            if self.pays(setup, (&best.state, &size), now) {
                let certificate = certificate(&best.by.found, setup.response, best.by.searched);
                setup.observer.searched(setup.class, &certificate);
                let mut best = best.known(setup);
                best.state.paid = Rc::clone(&self.paid);
                let CountedEnsemble { mut state, root } = polish::polished(setup, best, now.complexity, polishing);
                self.pay(setup, &mut state);
                let size = state.size(setup.response);
                self.root = root;
                self.train_risk = size.train_risk;
                return Some((state, size));
            }
        }
    }

    /// Whether the columns of an extension are within the budget beside those of all ensembles so far: others may have
    /// been bought since it was found.
    fn is_affordable(&self, setup: &Setup, extension: &Extension) -> bool {
        let rules = extension.from.state.rules.iter().map(Rc::as_ref);
        setup.directions_beside(rules, &self.paid).may_have(&setup.columns_of(&extension.found))
    }

    /// Pays for the columns of an ensemble that becomes a size.
    fn pay(&mut self, setup: &Setup, state: &mut State) {
        if let Some(budget) = setup.params.wishes.budget.as_ref().filter(|_| setup.prices.is_some()) {
            Rc::make_mut(&mut self.paid).extend(budget.paid(state.rules.iter().map(Rc::as_ref)));
            state.paid = Rc::clone(&self.paid);
        }
    }

    /// Whether an ensemble is better than one of less complexity. More complexity must bring a lower risk, with
    /// the penalty and without it.
    fn pays(&self, setup: &Setup, larger: (&State, &Size), smaller: &State) -> bool {
        let ((state, size), gain) = (larger, self.gain(larger.0));
        let grown = GrowthSoFar {
            rules: state.rules.len(),
            complexity: state.complexity,
            cells: state.groups(),
            newest: gain - self.gain(smaller),
            all: gain,
        };
        rounded(gain) > rounded(self.gain(smaller))
            && size.train_risk <= self.train_risk
            && grown.is_worth_it(setup.params)
    }
}

/// Whether the value of a rule tells its gain exactly: F is a quadratic function of the weights, these are the best
/// ones, and none of them must keep a sign.
fn is_exact(setup: &Setup, extension: &Extension) -> bool {
    let Checked { objective, update, .. } = *setup.params;
    let (found, state) = (&extension.found, &extension.from.state);
    let is_free = |weights: &Weights| {
        weights.status == Status::Converged && weights.signs.iter().all(|&signs| signs == Signs::Any)
    };
    setup.response.loss.is_quadratic()
        && objective == Objective::Onb
        && update == Update::Corrective
        && found.trend.is_none()
        && setup.signs_of(found) == Signs::Any
        && state.kind.weights().iter().all(is_free)
}

impl Path for BestPath {
    fn next(&mut self, setup: &Setup, now: State, seconds: &mut Seconds) -> Option<(State, Size)> {
        let now = Rc::new(CountedEnsemble { state: now, root: self.root.take() });
        self.extend(setup, &now, seconds);
        let (started, mut polishing) = (Instant::now(), 0.0);
        let next = self.next_better(setup, &now.state, &mut polishing);
        seconds.search += polishing;
        seconds.refit += (started.elapsed().as_secs_f64() - polishing).max(0.0);
        next
    }
}

impl Refitted<'_> {
    /// The ensemble with what is known of all rows now that the rule was added.
    fn known(self, setup: &Setup) -> CountedEnsemble {
        let root = self.by.from.root_with(&self.by.found, (&self.state, &self.moved_to), setup);
        CountedEnsemble { state: self.state, root }
    }
}
