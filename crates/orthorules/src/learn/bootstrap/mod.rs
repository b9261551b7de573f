//! Bootstrap: how often a rule is found again, and how far its weight moves, when the rows are drawn anew.
//!
//! Rows (or whole groups) are drawn with replacement, as many as there are. Two things are then done with each draw.
//! The whole search is run again up to the chosen complexity: a rule's *frequency* is the part of draws in which a rule
//! like it is found. And the weights of the chosen rules alone are fitted again: the middle 95 % of them are the
//! weight's *interval*. The interval takes the rules as given, so it does not cover that they were selected by the same
//! rows.

mod alike;
mod draws;

use crate::base::error::Result;
use crate::base::random::SplitMix64;
use crate::data::problem::Problem;
use crate::data::warning::{TimeOver, Warning};
use crate::engine::targets::response::Response;
use crate::learn::one::Binned;
use crate::learn::watch::Watch;
use crate::model::observer::Observer;
use crate::model::report::{Bootstrap, RuleUncertainty, Uncertainty};
use crate::model::{Model, RuleList, Size};
use crate::params::{Checked, FEWEST_DRAWS};
use draws::{Draw, Draws, fired};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The part of the draws that an interval holds.
const LEVEL: f64 = 0.95;
/// Thresholds are alike when at most this part of the column's values lies between them.
const NEAR: f64 = 0.1;

/// Adds what `samples` draws say to `model`, which was fitted to `problem` with `params`. If the time is over before,
/// those that are done say it, unless they are too few, and a warning is returned. If the observer stops it, the model
/// stays as it is.
pub(crate) fn run(
    problem: &Problem,
    params: &Checked,
    samples: usize,
    model: &mut Model,
    watch: &Watch,
) -> Result<Option<Warning>> {
    let size = model.chosen();
    let chosen: Vec<(&RuleList, &Size)> = model.steps(size).collect();
    let mut params = params.for_target(|| Response::new(problem, 1).mean_target());
    if let Some(cv) = &model.cv {
        params.reg_lambda = cv.reg_lambda;
        params.terms = cv.terms.parse()?;
    }
    let mut search = params.clone();
    search.max_complexity = chosen.iter().map(|(_, step)| step.complexity).max().unwrap_or(0);
    let scales = if params.terms.has_trends() { Binned::new(problem, &params).scales() } else { Vec::new() };
    let fired = fired(problem, model)?;
    let draws = Draws { problem, params: &params, search: &search, model, chosen: &chosen, fired, scales };

    let mut random = SplitMix64::new(params.seed);
    let seeds: Vec<u64> = (0..samples).map(|_| random.bits()).collect();
    let done = AtomicUsize::new(0);
    let one = |&seed: &u64| {
        let draw = draws.draw(seed, watch);
        // A search that was cut short finds fewer rules again than there are.
        let is_whole = !watch.stop();
        watch.resampled(1 + done.fetch_add(1, Ordering::Relaxed), samples);
        is_whole.then_some(draw)
    };
    let mut all: Vec<Vec<Draw>> = Vec::with_capacity(samples);
    // As many at a time as there are threads: each needs a copy of the rows.
    for some in seeds.chunks(params.threads) {
        if watch.stop() {
            break;
        }
        all.extend(some.par_iter().map(one).collect::<Vec<_>>().into_iter().flatten());
    }
    if watch.is_stopped() {
        return Ok(None);
    }
    let warning = (all.len() < samples).then_some(Warning::TimeOver(TimeOver::Draws { done: all.len(), of: samples }));
    if all.len() < FEWEST_DRAWS {
        return Ok(warning);
    }
    let samples = all.len();
    let scores = chosen.iter().enumerate().flat_map(|(l, (_, step))| summaries(&all, l, step)).collect();
    let groups = problem.roles.groups.clone();
    model.bootstrap = Some(Bootstrap { samples, seed: params.seed, groups, rules: model.rule_count(size), scores });
    Ok(warning)
}

/// Frequencies and intervals over all draws, for each score of list `l`.
fn summaries(draws: &[Vec<Draw>], l: usize, step: &Size) -> Vec<Uncertainty> {
    let part = |hit: &dyn Fn(&Draw) -> bool| draws.iter().filter(|d| hit(&d[l])).count() as f64 / draws.len() as f64;
    let rule = |k: usize, s: usize| RuleUncertainty {
        frequency: part(&|d| d.found[k].0),
        conditions: (0..draws.first().map_or(0, |d| d[l].found[k].1.len()))
            .map(|c| part(&|d| d.found[k].1[c]))
            .collect(),
        interval: interval(draws.iter().map(|d| d[l].scores[s].1[k])),
    };
    let of_score = |s: usize| Uncertainty {
        intercept: interval(draws.iter().map(|d| d[l].scores[s].0)),
        rules: (0..step.rules).map(|k| rule(k, s)).collect(),
    };
    (0..step.scores.len()).map(of_score).collect()
}

/// The middle part of `values`: their quantiles by linear interpolation.
fn interval(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let quantile = |p: f64| {
        let position = p * sorted.len().saturating_sub(1) as f64;
        let (low, part) = (position.floor() as usize, position.fract());
        let high = sorted[(low + 1).min(sorted.len() - 1)];
        // A weighted mean rather than a step from the lower: the difference of two large numbers may overflow.
        sorted[low] * (1.0 - part) + high * part
    };
    (quantile((1.0 - LEVEL) / 2.0), quantile(1.0 - (1.0 - LEVEL) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::problem::{Roles, Task};
    use crate::data::table::{Column, Table, Values};
    use crate::model::observer::Silent;
    use crate::params::{Params, Preset};

    /// `x` decides, with an effect of 10; `noise` does not.
    fn problem(rows: usize, task: Task, groups: bool) -> Problem {
        let mut random = SplitMix64::new(3);
        let x: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
        let noise: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
        let y = (0..rows).map(|r| {
            let signal = if x[r] > 0.6 { 10.0 } else { 0.0 };
            match task {
                Task::Regression => signal + random.normal(),
                Task::Classification => f64::from(u8::from(signal + 12.0 * random.uniform() > 11.0)),
                Task::Poisson => (signal * random.uniform()).round(),
                Task::Gamma => (0.1 + signal) * random.uniform().max(0.01),
            }
        });
        let y: Vec<f64> = y.collect();
        let table = Table::new(vec![
            Column::new("x", Values::numbers(x)),
            Column::new("noise", Values::numbers(noise)),
            Column::new("y", Values::numbers(y)),
            Column::new("g", Values::numbers((0..rows).map(|r| (r / 5) as f64))),
        ])
        .unwrap();
        let roles = Roles {
            target: "y".into(),
            task: Some(task),
            groups: groups.then(|| "g".into()),
            ignore: vec!["g".into()],
            ..Roles::default()
        };
        Problem::new(table, &roles).unwrap()
    }

    fn params(rules: usize) -> Params {
        Params { bootstrap: Some(40), max_rules: Some(rules), threads: Some(2), ..Params::default() }
    }

    fn bootstrapped(problem: &Problem, params: &Params) -> Model {
        crate::fit(problem, params, &Silent).unwrap().model
    }

    #[test]
    fn a_clear_rule_is_found_again_and_its_interval_is_that_of_theory() {
        let problem = problem(400, Task::Regression, false);
        let model = bootstrapped(
            &problem,
            &Params { reg_lambda: Some(crate::params::RegLambda::Value(0.0)), bootstrap: Some(400), ..params(1) },
        );
        let found = &model.bootstrap.as_ref().unwrap().scores[0];
        assert_eq!((found.rules[0].frequency, found.rules[0].conditions.as_slice()), (1.0, &[1.0][..]));
        let (low, high) = found.rules[0].interval;
        let weight = model.lists[0].chosen().scores[0].weights[0];
        assert!(low < weight && weight < high, "{low} {weight} {high}");
        // The difference of two means of noise of variance 1 (and a little more, where the threshold is not quite
        // right).
        let covered = model.lists[0].rules[0].covered as f64;
        let error = (1.0 / covered + 1.0 / (400.0 - covered)).sqrt();
        let width = (high - low) / (2.0 * 1.96 * error);
        assert!((0.8..1.3).contains(&width), "{width}");
    }

    #[test]
    fn draws_that_are_done_in_time_are_kept() {
        let problem = problem(60, Task::Regression, false);
        let params = Params { bootstrap: None, threads: Some(1), ..params(2) };
        let checked = params.check(problem.task.loss(), 60).unwrap();
        let plain = bootstrapped(&problem, &params);
        let (mut none, mut some) = (0, 0);
        for asks in (0..4_000).step_by(200) {
            let mut model = plain.clone();
            let warning = run(&problem, &checked, 1000, &mut model, &Watch::after_asks(&Silent, asks)).unwrap();
            let Some(Warning::TimeOver(TimeOver::Draws { done, of: 1000 })) = warning else { panic!("{warning:?}") };
            assert_eq!(model.bootstrap.map(|b| b.samples), (done >= FEWEST_DRAWS).then_some(done));
            *if done < FEWEST_DRAWS { &mut none } else { &mut some } += 1;
        }
        assert!(none > 0 && some > 0, "{none} {some}");
    }

    #[test]
    fn noise_is_not_found_again() {
        let model = bootstrapped(&problem(120, Task::Regression, false), &params(8));
        let bootstrap = model.bootstrap.as_ref().unwrap();
        let step = model.lists[0].chosen();
        let frequency = |name: &str| {
            let of = |(k, r): (usize, &RuleUncertainty)| {
                let all = model.lists[0].rules[k].conditions.iter().all(|c| c.column == name);
                all.then_some(r.frequency)
            };
            step.members().zip(&bootstrap.scores[0].rules).filter_map(of).fold(0.0f64, f64::max)
        };
        assert!(frequency("x") > 0.9 && frequency("noise") < 0.9, "{} {}", frequency("x"), frequency("noise"));
    }

    #[test]
    fn every_task_update_and_thread_count() {
        for task in Task::ALL {
            for (grouped, preset) in [(false, None), (true, Some(Preset::Sgb)), (true, Some(Preset::Sxb))] {
                let problem = problem(80, task, grouped);
                let base = preset.map_or_else(Params::default, Preset::params);
                let params = |threads| Params {
                    bootstrap: Some(20),
                    max_complexity: Some(8),
                    threads: Some(threads),
                    cv: grouped.then_some(crate::params::Cv::Folds(3)),
                    ..base.clone()
                };
                let model = bootstrapped(&problem, &params(1));
                let bootstrap = model.bootstrap.as_ref().unwrap();
                assert_eq!(bootstrap.scores[0].rules.len(), model.lists[0].chosen().rules);
                assert_eq!(bootstrap.groups.is_some(), grouped);
                assert_eq!(model.to_json(), bootstrapped(&problem, &params(3)).to_json());
                assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
            }
        }
    }

    #[test]
    fn weights_on_the_rows_themselves_are_those_of_the_model() {
        for preset in [None, Some(Preset::Sgb), Some(Preset::Sxb)] {
            let problem = problem(100, Task::Poisson, false);
            let base = preset.map_or_else(Params::default, Preset::params);
            let params =
                Params { max_complexity: Some(9), reg_lambda: Some(crate::params::RegLambda::Value(1.0)), ..base };
            let model = crate::fit(&problem, &params, &Silent).unwrap().model;
            let checked = params.check(problem.task.loss(), problem.rows).unwrap();
            let chosen: Vec<(&RuleList, &Size)> = model.steps(model.chosen()).collect();
            let fired = fired(&problem, &model).unwrap();
            let (search, scales) = (&checked, Vec::new());
            let draws =
                Draws { problem: &problem, params: &checked, search, model: &model, chosen: &chosen, fired, scales };
            let rows: Vec<u32> = (0..100).collect();
            let (intercept, weights) = draws.weights(0, chosen[0].1, &rows, &problem);
            assert!((intercept - chosen[0].1.scores[0].intercept).abs() < 1e-6);
            for (a, b) in weights.iter().zip(&chosen[0].1.scores[0].weights) {
                assert!((a - b).abs() < 1e-6, "{preset:?}: {a} {b}");
            }
        }
    }
}
