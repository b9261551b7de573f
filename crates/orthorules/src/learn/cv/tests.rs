//! Cross-validation against a plain loop of separate fits.

use super::*;
use crate::data::problem::{Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::model::evaluate::Evaluation;
use crate::model::observer::Silent;
use crate::params::{Cv, Params, PathKind, Polish, Preset, Search};
use proptest::prelude::*;

/// A table with gaps, categories, weights and groups, made from `seed`.
fn table(task: Task, rows: usize, seed: u64) -> Table {
    let mut random = crate::base::random::SplitMix64::new(seed);
    let x: Vec<f64> = (0..rows).map(|_| if random.below(9) == 0 { f64::NAN } else { random.uniform() }).collect();
    // Most levels are rare: some folds never see them.
    let level: Vec<usize> = (0..rows).map(|_| random.below(3) * random.below(8)).collect();
    let y = (0..rows).map(|r| {
        let signal = f64::from(u8::from(x[r] > 0.4)) + f64::from(u8::from(level[r] == 0)) + random.uniform();
        match task {
            Task::Regression => signal,
            Task::Classification => f64::from(r as u32 % 3).min((2.0 * signal).floor()),
            Task::Poisson => (3.0 * signal).floor(),
            Task::Gamma => 0.1 + signal,
        }
    });
    let y: Vec<f64> = y.collect();
    let text = level.iter().map(|l| Some(format!("level {l}")));
    Table::new(vec![
        Column::new("x", Values::numbers(x)),
        Column::new("c", Values::text(text)),
        Column::new("y", Values::numbers(y)),
        Column::new("w", Values::numbers((0..rows).map(|r| 1.0 + (r % 3) as f64))),
        Column::new("e", Values::numbers((0..rows).map(|r| 0.5 + (r % 4) as f64))),
        Column::new("g", Values::numbers((0..rows).map(|r| (r / 3) as f64))),
    ])
    .unwrap()
}

fn roles(task: Task, weighted: bool) -> Roles {
    let name = |name: &str| weighted.then(|| name.to_owned());
    Roles {
        target: "y".into(),
        task: Some(task),
        weight: name("w"),
        exposure: name("e").filter(|_| task.takes_exposure()),
        ignore: vec!["w".into(), "e".into(), "g".into()],
        ..Roles::default()
    }
}

fn tasks() -> impl Strategy<Value = Task> {
    prop::sample::select(&Task::ALL[..])
}

#[test]
fn folds_that_are_done_in_time_choose() {
    let problem = Problem::new(table(Task::Regression, 60, 5), &roles(Task::Regression, false)).unwrap();
    let params = Params { max_complexity: Some(8), threads: Some(1), ..Params::default() };
    let checked = params.check(crate::Loss::Squared, 60).unwrap();
    let binned = Binned::new(&problem, &checked);
    let (mut none, mut some, mut all) = (0, 0, 0);
    // The clock counts how often it is asked.
    for asks in (0..40_000).step_by(500) {
        let watch = Watch::after_asks(&Silent, asks);
        let fitted = fit(&problem, &binned, &checked, (5, Select::Simple), &watch).unwrap();
        let over = fitted.warnings.iter().find_map(|warning| match warning {
            Warning::TimeOver(TimeOver::Folds { done, of: 5 }) => Some(*done),
            _ => None,
        });
        match (&fitted.model.cv, over) {
            (None, None) => {
                assert!(fitted.warnings.contains(&Warning::NoFolds(NoFolds::TimeOver)), "{asks}");
                none += 1;
            }
            (Some(cv), Some(done)) => {
                assert!(cv.folds == done && (2..5).contains(&done), "{asks}");
                some += 1;
            }
            (Some(cv), None) => {
                assert_eq!(cv.folds, 5);
                all += 1;
            }
            (None, Some(_)) => panic!("{asks}"),
        }
    }
    assert!(none > 0 && some > 0 && all > 0, "{none} {some} {all}");
}

fn settings() -> Vec<Params> {
    let base = Params {
        max_complexity: Some(8),
        min_coverage: Some(2),
        terms: crate::params::Terms::Rules,
        threads: Some(1),
        ..Params::default()
    };
    let with = |path, search| Params { path: Some(path), search, ..base.clone() };
    vec![
        with(PathKind::Best, Search::Greedy),
        with(PathKind::Nested, Search::Beam),
        Params { node_limit: Some(20), ..with(PathKind::Nested, Search::Exact) },
        Params { max_complexity: Some(8), threads: Some(1), ..Preset::Cob.params() },
        Params { max_complexity: Some(8), threads: Some(1), ..Preset::Sxb.params() },
    ]
}

/// Out-of-fold risks at `complexities` by separate fits and evaluations, deal after deal and fold after fold.
fn naive(
    table: &Table,
    roles: &Roles,
    params: &Params,
    (count, deals): (usize, usize),
    complexities: &[usize],
) -> Vec<f64> {
    let problem = Problem::new(table.clone(), roles).unwrap();
    let (mut sums, mut total) = (vec![0.0; complexities.len()], 0.0);
    for (deal, fold) in (0..deals).flat_map(|deal| (0..count).map(move |fold| (deal, fold))) {
        let folds = Folds::of_deal(&problem, count, params.seed, deal).unwrap();
        let train = problem.take(&folds.rows(fold, false));
        let model = crate::fit(&train, params, &Silent).unwrap().model;
        let held = table.take(&folds.rows(fold, true));
        let weight = match (&roles.weight, &held.column("w").unwrap().values) {
            (Some(_), Values::Numeric(w)) => w.iter().sum(),
            _ => held.rows() as f64,
        };
        let path = model.evaluate(&held).unwrap();
        let up_to = |limit: usize| {
            let within = path.iter().filter(|e: &&Evaluation| e.complexity <= limit);
            within.max_by_key(|e| e.complexity).unwrap().risk
        };
        total += weight;
        sums.iter_mut().zip(complexities).for_each(|(sum, &c)| *sum += weight * up_to(c));
    }
    sums.iter().map(|s| s / total).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_curve_is_that_of_separate_fits(
        task in tasks(), rows in 30usize..60, seed in any::<u64>(), weighted in any::<bool>(), setting in 0usize..5
    ) {
        let (table, roles) = (table(task, rows, seed), roles(task, weighted));
        // Columns are cut once, with sight of all rows: separate fits have the same cuts if these are given.
        let cuts = [("x".to_owned(), (1..12).map(|i| f64::from(i) / 12.0).collect())].into();
        let reg_lambda = Some(crate::params::RegLambda::Value(0.7));
        let params = Params { reg_lambda, cuts, ..settings()[setting].clone() };
        let problem = Problem::new(table.clone(), &roles).unwrap();
        let with_folds = Params { cv: Some(Cv::Folds(3)), ..params.clone() };
        let Ok(Fitted { model, .. }) = crate::fit(&problem, &with_folds, &Silent) else {
            return Err(TestCaseError::reject("a class of fewer rows than folds"));
        };
        let cv = model.cv.as_ref().unwrap();
        let complexities: Vec<usize> = cv.path.iter().map(|s| s.complexity).collect();
        // Polish was not asked for: folds do without it.
        let folds = Params { polish: Some(Polish::Off), ..params.clone() };
        for (step, expected) in cv.path.iter().zip(naive(&table, &roles, &folds, (3, cv.repeats), &complexities)) {
            prop_assert!((step.cv_risk - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{step:?} {expected}");
        }
        // The model is the fit to all rows.
        let plain = crate::fit(&problem, &params, &Silent).unwrap().model;
        prop_assert_eq!(&plain.lists[0].sizes, &model.lists[0].sizes);
        prop_assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
    }

    #[test]
    fn threads_do_not_matter(task in tasks(), rows in 40usize..60, seed in any::<u64>(), setting in 0usize..5) {
        let problem = Problem::new(table(task, rows, seed), &roles(task, true)).unwrap();
        let json = |threads| {
            let select = Some(Select::OneSe);
            let cv = Some(Cv::Folds(3));
            let params = Params { cv, select, seed, threads: Some(threads), ..settings()[setting].clone() };
            crate::fit(&problem, &params, &Silent).map(|fitted| fitted.model.to_json()).map_err(|e| e.to_string())
        };
        let one = json(1);
        prop_assert_eq!(&one, &json(2));
        prop_assert_eq!(&one, &json(7));
    }

    /// The least complex of those near enough; never more complex than the best, never one without a name.
    #[test]
    fn one_standard_error_is_never_larger(task in tasks(), rows in 40usize..60, seed in any::<u64>()) {
        let problem = Problem::new(table(task, rows, seed), &roles(task, false)).unwrap();
        let chosen = |select| {
            let params = Params { cv: Some(Cv::Folds(4)), select: Some(select), ..settings()[0].clone() };
            crate::fit(&problem, &params, &Silent).map(|fitted| fitted.model.complexity(fitted.model.chosen()))
        };
        let (Ok(best), Ok(simple)) = (chosen(Select::Best), chosen(Select::OneSe)) else { return Ok(()) };
        prop_assert!(simple <= best);
    }
}

#[test]
fn a_given_lambda_is_the_only_one() {
    let problem = Problem::new(table(Task::Poisson, 60, 1), &roles(Task::Poisson, true)).unwrap();
    let cv = |reg_lambda: Option<f64>| {
        let params = Params {
            cv: Some(Cv::Folds(3)),
            reg_lambda: reg_lambda.map(crate::params::RegLambda::Value),
            ..Params::default()
        };
        crate::fit(&problem, &params, &Silent).unwrap().model.cv.unwrap()
    };
    let given = cv(Some(2.5));
    assert_eq!((given.reg_lambda, given.grid.len()), (2.5, 1));
    // In the units of the default, which for counts is the mean target: doubled or halved some times.
    let searched = cv(None);
    let unit = Response::new(&problem, 1).mean_target();
    let power = (searched.reg_lambda / unit).log2();
    assert!((power - power.round()).abs() < 1e-9, "{power}");
    assert!(searched.grid.len() == 1 && searched.grid[0].reg_lambda == searched.reg_lambda);
}

#[test]
fn tables_that_are_too_small_say_so() {
    let message = |task, rows, count, groups: Option<&str>| {
        let roles = Roles { groups: groups.map(str::to_owned), ..roles(task, false) };
        let problem = Problem::new(table(task, rows, 5), &roles).unwrap();
        crate::fit(&problem, &Params { cv: Some(Cv::Folds(count)), ..Params::default() }, &Silent)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(message(Task::Regression, 4, 5, None), "4 rows are too few for 5 folds: use fewer folds");
    assert_eq!(message(Task::Regression, 9, 5, Some("g")), "3 groups are too few for 5 folds: use fewer folds");
    assert!(message(Task::Classification, 20, 15, None).contains("every class needs a row in each of the 15 folds"));
}

#[test]
fn two_rows_are_enough_for_two_folds() {
    for rows in [2, 3, 5] {
        let problem = Problem::new(table(Task::Regression, rows, 5), &roles(Task::Regression, false)).unwrap();
        let params = Params { cv: Some(Cv::Folds(2)), select: Some(Select::OneSe), ..Params::default() };
        let model = crate::fit(&problem, &params, &Silent).unwrap().model;
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
    }
}

#[test]
fn targets_at_the_end_of_the_numbers_stay_finite() {
    let y = (0..40).map(|i| if i % 2 == 0 { 1e300 } else { -1e300 });
    let x = Column::new("x", Values::numbers((0..40).map(f64::from)));
    let table = Table::new(vec![x, Column::new("y", Values::numbers(y))]).unwrap();
    let problem = Problem::new(table, &Roles { target: "y".into(), ..Roles::default() }).unwrap();
    let model = crate::fit(&problem, &Params { cv: Some(Cv::Folds(4)), ..Params::default() }, &Silent).unwrap().model;
    assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
}

#[test]
fn folds_are_even_and_have_the_same_classes() {
    let labels = (0..103).map(|r| Some(["a", "b", "c"][if r < 60 { 0 } else { 1 + usize::from(r >= 90) }]));
    let table = Table::new(vec![Column::new("y", Values::text(labels))]).unwrap();
    let problem = Problem::new(table, &Roles { target: "y".into(), ..Roles::default() }).unwrap();
    let folds = Folds::new(&problem, 5, 3).unwrap();
    let mut all = Vec::new();
    for fold in 0..5 {
        let rows = folds.rows(fold, true);
        assert!((20..=21).contains(&rows.len()));
        let count = |low, high| rows.iter().filter(|r| (low..high).contains(*r)).count();
        assert_eq!((count(0, 60), count(60, 90)), (12, 6));
        assert_eq!(rows.len() + folds.rows(fold, false).len(), 103);
        all.extend(rows);
    }
    all.sort_unstable();
    assert!(all.into_iter().eq(0..103));
    assert_eq!(folds, Folds::new(&problem, 5, 3).unwrap());
    assert_ne!(folds, Folds::new(&problem, 5, 4).unwrap());
}

#[test]
fn groups_stay_together_and_errors_count_them() {
    let roles = Roles { groups: Some("g".into()), ..roles(Task::Regression, false) };
    let problem = Problem::new(table(Task::Regression, 90, 8), &roles).unwrap();
    assert!(problem.features.iter().all(|c| c.name != "g"));
    let folds = Folds::new(&problem, 4, 0).unwrap();
    for fold in 0..4 {
        let rows = folds.rows(fold, true);
        assert!((21..=24).contains(&rows.len()), "{rows:?}");
        assert!(rows.chunks(3).all(|group| group.iter().all(|r| r / 3 == group[0] / 3)));
    }
    // The same target within a group: three rows say no more than one, and the error must not be that of 90 rows.
    let x = Column::new("x", Values::numbers((0..90).map(|r| (r / 3 * 7 % 30) as f64)));
    let y = Column::new("y", Values::numbers((0..90).map(|r| (r / 3 * 11 % 30) as f64)));
    let g = Column::new("g", Values::numbers((0..90).map(|r| (r / 3) as f64)));
    let table = Table::new(vec![x, y, g]).unwrap();
    let error = |groups: Option<String>, table: &Table| {
        let roles = Roles { target: "y".into(), groups, ignore: vec!["g".into()], ..Roles::default() };
        let problem = Problem::new(table.clone(), &roles).unwrap();
        let params = Params { cv: Some(Cv::Folds(5)), max_rules: Some(0), ..Params::default() };
        crate::fit(&problem, &params, &Silent).unwrap().model.cv.unwrap().path[0].cv_se
    };
    let once: Vec<u32> = (0..30).map(|g| 3 * g).collect();
    let (grouped, alone) = (error(Some("g".into()), &table), error(None, &table.take(&once)));
    assert!((grouped / alone - 1.0).abs() < 0.1, "{grouped} {alone}");
    assert!(error(None, &table) < 0.7 * grouped);
}

#[test]
fn the_standard_error_is_that_of_a_mean() {
    // Without rules the losses are squares around the mean of the other fold: computed here by hand.
    let y = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let table = Table::new(vec![Column::new("y", Values::numbers(y))]).unwrap();
    let roles = Roles { target: "y".into(), task: Some(Task::Regression), ..Roles::default() };
    let problem = Problem::new(table, &roles).unwrap();
    let model = crate::fit(&problem, &Params { cv: Some(Cv::Folds(2)), ..Params::default() }, &Silent).unwrap().model;
    let cv = model.cv.unwrap();
    let mut losses = Vec::new();
    for (deal, fold) in (0..cv.repeats).flat_map(|deal| [(deal, 0), (deal, 1)]) {
        let folds = Folds::of_deal(&problem, 2, 0, deal).unwrap();
        let mean = folds.rows(fold, false).iter().map(|&r| y[r as usize]).sum::<f64>() / 3.0;
        losses.extend(folds.rows(fold, true).iter().map(|&r| (y[r as usize] - mean).powi(2)));
    }
    // However often they are dealt out, these are six rows.
    let count = losses.len() as f64;
    let risk = losses.iter().sum::<f64>() / count;
    let variance = losses.iter().map(|l| (l - risk).powi(2)).sum::<f64>() / count * 6.0 / 5.0;
    let step = cv.path[0];
    assert!((step.cv_risk - risk).abs() < 1e-9 * risk);
    assert!((step.cv_se - (variance / 6.0).sqrt()).abs() < 1e-9 * risk);
    assert_eq!(step.cv_difference_se, 0.0);
}

/// Columns `x` and `u` without a pattern, and a target made of them.
fn made(rows: usize, target: impl Fn(f64, f64) -> f64) -> Problem {
    let mut random = crate::base::random::SplitMix64::new(9);
    let [x, u]: [Vec<f64>; 2] = [0, 1].map(|_| (0..rows).map(|_| random.uniform()).collect());
    let y: Vec<f64> = x.iter().zip(&u).map(|(x, u)| target(*x, *u) + 0.1 * random.normal()).collect();
    let columns = [("x", x), ("u", u), ("y", y)].map(|(name, values)| Column::new(name, Values::numbers(values)));
    let roles = Roles { target: "y".into(), task: Some(Task::Regression), ..Roles::default() };
    Problem::new(Table::new(columns.into()).unwrap(), &roles).unwrap()
}

#[test]
fn folds_choose_between_rules_and_trends() {
    let found = |problem: &Problem, cv| {
        let params = Params { cv, max_complexity: Some(12), threads: Some(1), ..Params::default() };
        crate::fit(problem, &params, &Silent).unwrap().model
    };
    let (steps, slope) =
        (made(300, |x, u| f64::from(u8::from(x > 0.5)) + f64::from(u8::from(u > 0.3))), made(300, |x, u| 2.0 * x - u));
    let auto = Some(Cv::Folds(5));
    let (rules, hinges) = (found(&steps, auto), found(&slope, auto));
    assert!(!rules.has_trends() && hinges.has_trends());
    for (model, own, other) in [(&rules, "rules", "hinge"), (&hinges, "hinge", "rules")] {
        let cv = model.cv.as_ref().unwrap();
        assert_eq!((cv.terms.as_str(), cv.others.len(), cv.others[0].terms.as_str()), (own, 1, other));
        let size = cv.path.iter().find(|size| size.complexity == model.complexity(model.chosen())).unwrap();
        assert!(size.cv_risk < cv.others[0].cv_risk);
        assert_eq!(&Model::from_json(&model.to_json()).unwrap(), model);
    }
    assert!(!found(&slope, None).has_trends(), "without folds there is no choice");
}

#[test]
fn rows_that_are_held_out_once_choose_the_size() {
    let noise = made(4000, |_, _| 0.0);
    let steps = made(4000, |x, u| f64::from(u8::from(x > 0.5)) * f64::from(u8::from(u > 0.3)));
    let params = Params { max_complexity: Some(12), threads: Some(1), ..Params::default() };
    let checked = params.check(crate::Loss::Squared, 4000).unwrap();
    let chosen = |problem: &Problem| {
        let watch = Watch::endless(&Silent);
        let model = quick(problem, &Binned::new(problem, &checked), &checked, Select::Simple, &watch).unwrap().model;
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
        assert_eq!(model.cv.as_ref().unwrap().folds, 1);
        model.complexity(model.chosen())
    };
    assert_eq!((chosen(&noise), chosen(&steps)), (0, 3));
    // A few rows are dealt out to folds.
    let few = made(200, |x, _| f64::from(u8::from(x > 0.5)));
    let watch = Watch::endless(&Silent);
    let model = quick(&few, &Binned::new(&few, &checked), &checked, Select::Simple, &watch).unwrap().model;
    assert_eq!((model.cv.as_ref().unwrap().folds, model.complexity(model.chosen())), (USUAL_FOLDS, 2));
}

/// λ by folds is the best of those around the default by separate fits on the same folds, and does not depend on how
/// the table is held or on threads.
mod lambda_by_folds {
    use super::*;
    use crate::codes::coded::Coded;
    use crate::params::RegLambda;

    fn lambda_of(problem: &Problem, params: &Params) -> f64 {
        let checked = params.check(problem.task().loss(), problem.counted_rows()).unwrap();
        let binned = Binned::new(problem, &checked);
        let chosen = lambda::chosen(problem, &binned, &checked, &Watch::endless(&Silent)).unwrap();
        let mean = || Response::new(problem, 1).mean_target();
        chosen.for_target(mean).reg_lambda
    }

    fn by_folds() -> Params {
        Params { reg_lambda: Some(RegLambda::Cv), max_complexity: Some(12), threads: Some(1), ..Params::default() }
    }

    /// Targets that a rule tells exactly, and others that no rule tells anything of.
    fn clean_and_noisy() -> [Problem; 2] {
        let mut random = crate::base::random::SplitMix64::new(3);
        let x: Vec<f64> = (0..200).map(|_| random.uniform()).collect();
        let noise: Vec<f64> = (0..200).map(|_| random.normal()).collect();
        let of = |y: &dyn Fn(usize) -> f64| {
            let column =
                |name: &str, value: &dyn Fn(usize) -> f64| Column::new(name, Values::numbers((0..200).map(value)));
            let columns = vec![column("x", &|r| x[r]), column("y", y)];
            let roles = Roles { target: "y".into(), task: Some(Task::Regression), ..Roles::default() };
            Problem::new(Table::new(columns).unwrap(), &roles).unwrap()
        };
        [of(&|r| (8.0 * x[r]).floor()), of(&|r| noise[r])]
    }

    #[test]
    fn clean_tables_have_less_of_it_than_noisy_ones() {
        let [clean, noisy] = clean_and_noisy().map(|problem| lambda_of(&problem, &by_folds()));
        assert!(clean < 8.0 && noisy > 8.0, "{clean} {noisy}");
    }

    #[test]
    fn the_fit_is_that_with_the_lambda_given() {
        for task in [Task::Regression, Task::Classification, Task::Poisson] {
            let problem = Problem::new(table(task, 150, 5), &roles(task, true)).unwrap();
            // What the fit was asked for is not the same.
            let model =
                |params: &Params| Model { provenance: None, ..crate::fit(&problem, params, &Silent).unwrap().model };
            let chosen = RegLambda::Value(lambda_of(&problem, &by_folds()));
            let given = Params { reg_lambda: Some(chosen), ..by_folds() };
            let found = model(&by_folds());
            assert_eq!(found.to_json(), model(&given).to_json());
            assert_eq!(found.to_json(), model(&Params { threads: Some(3), ..by_folds() }).to_json());
            // Folds that choose a size take the λ that was chosen before.
            let sized = model(&Params { cv: Some(Cv::Folds(3)), ..by_folds() });
            assert_eq!(RegLambda::Value(sized.cv.unwrap().reg_lambda), chosen);
        }
    }

    #[test]
    fn codes_alone_have_the_same_folds() {
        let problem = Problem::new(table(Task::Poisson, 150, 8), &roles(Task::Poisson, true)).unwrap();
        let all: Vec<u32> = (0..150).collect();
        let checked = by_folds().check(problem.task().loss(), problem.counted_rows()).unwrap();
        let columns = Binned::new(&problem, &checked).columns().to_vec();
        let coded = Coded {
            problem: problem.take_coded(&all),
            columns,
            numbers: Vec::new(),
            params: by_folds(),
            #[cfg(feature = "files")]
            path: std::path::PathBuf::new(),
            seconds: 0.0,
        };
        let whole = crate::fit(&problem, &by_folds(), &Silent).unwrap().model;
        assert_eq!(coded.fit(&Silent).unwrap().model.to_json(), whole.to_json());
    }

    #[test]
    fn codes_alone_have_the_same_choice() {
        for (task, cv, terms) in [
            (Task::Poisson, Cv::Auto, crate::params::Terms::Auto),
            (Task::Regression, Cv::Folds(3), crate::params::Terms::Auto),
            (Task::Classification, Cv::Auto, crate::params::Terms::Rules),
        ] {
            let params =
                Params { cv: Some(cv), terms, max_complexity: Some(10), threads: Some(1), ..Params::default() };
            let problem = Problem::new(table(task, 150, 8), &roles(task, true)).unwrap();
            let all: Vec<u32> = (0..150).collect();
            let checked = params.check(problem.task().loss(), problem.counted_rows()).unwrap();
            let checked = checked.for_table(&params, &problem.outline(), problem.counted_rows());
            let binned = Binned::new(&problem, &checked);
            let any = checked.other_terms.first().map_or(checked.clone(), |&terms| with_terms(&checked, terms));
            let coded = Coded {
                problem: problem.take_coded(&all),
                columns: binned.columns().to_vec(),
                numbers: binned.numbers(&any).into_iter().map(|numbers| numbers.to_vec().into()).collect(),
                params: params.clone(),
                #[cfg(feature = "files")]
                path: std::path::PathBuf::new(),
                seconds: 0.0,
            };
            let whole = crate::fit(&problem, &params, &Silent).unwrap().model;
            assert!(whole.cv.is_some());
            assert_eq!(coded.fit(&Silent).unwrap().model.to_json(), whole.to_json());
        }
    }

    #[test]
    fn what_it_cannot_be_had_with_is_refused() {
        let refused = |params: Params| {
            let message = params.check(crate::Loss::Squared, 100).unwrap_err().to_string();
            assert!(message.starts_with("reg_lambda cv ") && !message.contains('\n'), "{message}");
        };
        refused(Params { search: Search::Exact, ..by_folds() });
        refused(Params { reg_lambda: Some(RegLambda::Cv), ..Preset::Sirus.params() });
        let few = Problem::new(table(Task::Regression, 4, 1), &roles(Task::Regression, false)).unwrap();
        let message = crate::fit(&few, &by_folds(), &Silent).unwrap_err().to_string();
        assert!(message.contains("4 rows are too few for 5 folds"), "{message}");
    }
}
