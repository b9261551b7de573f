//! What must not change the result, and what must never happen along a path.

use crate::data::{Data, Law, random};
use orthorules::params::{Intercept, MaxBins, Objective, Params, Preset, Search, Update};
use orthorules::predict::Activations;
use orthorules::{Column, Model, Observer, Table, Task, Values};
use proptest::prelude::*;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

fn data(rows: Range<usize>) -> impl Strategy<Value = Data> {
    let number = prop_oneof![8 => -30.0..30.0f64, 1 => Just(f64::NAN)];
    random(rows, number, &["a", "b", "c", "d"], Law { signal, class: 1.0, count: 0.0 })
}

fn signal(x: f64, u: f64, c: Option<&str>) -> f64 {
    f64::from(u8::from(x > 3.0)) + f64::from(u8::from(u < 0.0 && c == Some("a")))
}

/// The rows of `table` that each rule of `model` selects.
fn row_sets(model: &Model, table: &Table) -> Vec<Vec<bool>> {
    let fired = Activations::new(model, table).unwrap();
    let rules = model.lists[0].rules.len();
    (0..rules).map(|k| (0..table.rows()).map(|r| fired.fires(0, k, r)).collect()).collect()
}

fn few(max_bins: MaxBins) -> Params {
    Params { max_rules: Some(4), max_bins, threads: Some(1), ..Params::default() }
}

/// Whether all scores of the path agree up to rounding.
fn same_path(a: &Model, b: &Model) -> bool {
    let risks = |m: &Model| m.lists[0].sizes.iter().map(|s| s.train_risk).collect::<Vec<_>>();
    let (a, b) = (risks(a), risks(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(x, y)| (x - y).abs() <= 1e-9 * (1.0 + x.abs()))
}

fn settings() -> impl Strategy<Value = Params> {
    let objective =
        (0usize..5).prop_map(|i| [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][i]);
    let update = (0usize..2).prop_map(|i| [Update::Corrective, Update::Stagewise][i]);
    let intercept = (0usize..3).prop_map(|i| [Intercept::Corrected, Intercept::Fixed, Intercept::None][i]);
    let search = prop_oneof![Just((Search::Greedy, None)), Just((Search::Beam, Some(3)))];
    let lambda = prop_oneof![Just(None), Just(Some(0.0)), Just(Some(2.0))];
    (objective, update, intercept, search, lambda, 0usize..3).prop_map(
        |(objective, update, intercept, (search, beam_width), reg_lambda, gamma)| Params {
            objective,
            update,
            intercept,
            search,
            beam_width,
            reg_lambda: reg_lambda.map(orthorules::params::RegLambda::Value),
            length_penalty: [0.0, 0.5, 1.0][gamma],
            max_rules: Some(5),
            min_coverage: Some(1),
            ..Params::default()
        },
    )
}

/// Classes that one rule separates: what it leaves of the gradient lies in its span, and the projected gradient is
/// rounding noise. No rule may be made of that, or weights, orders and machines would decide which.
#[test]
fn rounding_noise_is_worth_no_rule() {
    let number = |r: usize, k: usize| ((r * 37 + k * 11) % 41) as f64 / 7.0;
    let y = |r| f64::from(u8::from(number(r, 0) > 3.0));
    let mut data = Data::computed(Task::Classification, 40, |r| (number(r, 0), number(r * r, 3), y(r)));
    for objective in [Preset::Cob.params(), Params { objective: Objective::Ogb, ..Params::default() }] {
        for reg_lambda in [None, Some(0.01), Some(3.0)] {
            let params = Params {
                reg_lambda: reg_lambda.map(orthorules::params::RegLambda::Value),
                max_rules: Some(50),
                ..objective.clone()
            };
            data.weight = None;
            let model = data.fit(&params);
            let values: Vec<f64> = model.lists[0].rules.iter().map(|r| r.value).collect();
            assert!(values.iter().all(|&v| v > 1e-9), "{values:?}");
            let thrice: Vec<usize> = (0..40).flat_map(|r| std::iter::repeat_n(r, 1 + r % 3)).collect();
            let repeated = data.take(&thrice).fit(&params);
            data.weight = Some((0..40).map(|r| (1 + r % 3) as f64).collect());
            let weighted = data.fit(&params);
            assert_eq!(row_sets(&weighted, &data.table()), row_sets(&repeated, &data.table()));
        }
    }
}

/// Where only rounding noise is left, exact search says so after a few batches of queries and does not look at them
/// all.
#[test]
fn exact_search_does_not_dig_in_rounding_noise() {
    struct Asked(AtomicUsize);
    impl Observer for Asked {
        fn stop(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            false
        }
    }
    let number = |r: usize, k: usize| ((r * 37 + k * 11) % 101) as f64 / 7.0;
    let y = |r| f64::from(u8::from(number(r, 0) > 7.0));
    let data = Data::computed(Task::Classification, 100, |r| (number(r, 0), number(r * r, 3), y(r)));
    for length_penalty in [0.0, 0.5] {
        let params = Params {
            search: Search::Exact,
            length_penalty,
            max_bins: MaxBins::Exact,
            threads: Some(1),
            ..Preset::Cob.params()
        };
        let asked = Asked(AtomicUsize::new(0));
        let model = data.fit_watched(data.table(), &params, &asked);
        assert!(model.lists[0].rules.len() <= 2);
        // Once or twice for each query that exact search expands, and a few times for the beam. All of them would be
        // 100 times as many.
        assert!(asked.0.load(Ordering::Relaxed) < 5000, "{asked:?}", asked = asked.0);
    }
}

/// Defaults that depend on the number of rows, and means over thresholds a few rows apart, count a row of weight 4 four
/// times.
#[test]
fn defaults_count_weights_as_rows() {
    let number = |r: usize, k: usize| ((r * 37 + k * 11) % 29) as f64 / 7.0;
    let y = |r| number(r, 5).sin() + 3.0 * f64::from(u8::from(r == 7)) + number(r * r, 3);
    let mut data = Data::computed(Task::Regression, 29, |r| (number(r, 0), number(r * r, 3), y(r)));
    let params = Params { threads: Some(1), ..Params::default() };
    let four: Vec<usize> = (0..29).flat_map(|r| [r; 4]).collect();
    let repeated = data.take(&four).fit(&params);
    data.weight = Some(vec![4.0; 29]);
    let weighted = data.fit(&params);
    assert_eq!(row_sets(&weighted, &data.table()), row_sets(&repeated, &data.table()));
}

/// A query and its complement that cover half of the rows each are one rule, and rounding does not decide which of them
/// is shown.
#[test]
fn of_two_halves_the_one_that_raises_is_the_rule() {
    let x = [0.0, -19.3, -9.6, 0.0, 0.0, -27.2, 13.4, -22.5, -29.1, 0.0, 25.1, -29.2];
    let u = [-2.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let y = [1.0, 0.0, 0.0, 0.0, 0.967_034_993_224_503_5, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    for sign in [1.0, -1.0] {
        let data = Data::computed(Task::Regression, x.len(), |r| (sign * f64::exp(x[r] / 10.0), u[r], y[r]));
        let data = Data { c: vec![Some("a"); x.len()], ..data };
        let model = data.fit(&few(MaxBins::Exact));
        let halves =
            row_sets(&model, &data.table()).into_iter().filter(|rows| rows.iter().filter(|&&r| r).count() == 6);
        let halves: Vec<Vec<bool>> = halves.collect();
        assert_eq!(halves, [x.map(|x| x >= 0.0).to_vec()], "sign {sign}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_row_of_weight_two_is_the_row_twice(mut data in data(10..60), doubled in prop::collection::vec(1usize..4, 60)) {
        let times = &doubled[..data.rows()];
        let repeated: Vec<usize> = (0..data.rows()).flat_map(|r| std::iter::repeat_n(r, times[r])).collect();
        let twice = data.take(&repeated);
        data.weight = Some(times.iter().map(|&t| t as f64).collect());
        for params in [few(MaxBins::AtMost(8)), few(MaxBins::Exact)] {
            let params = Params { min_coverage: Some(3), ..params };
            let (weighted, repeated) = (data.fit(&params), twice.fit(&params));
            prop_assert_eq!(row_sets(&weighted, &data.table()), row_sets(&repeated, &data.table()));
            prop_assert!(same_path(&weighted, &repeated));
        }
    }

    #[test]
    fn order_of_rows_and_columns_does_not_matter(data in data(10..60), seed in any::<u64>()) {
        let params = few(MaxBins::AtMost(16));
        let model = data.fit(&params);
        let mut order: Vec<usize> = (0..data.rows()).collect();
        order.sort_by_key(|&r| (r as u64).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20);
        let shuffled = data.take(&order).fit(&params);
        prop_assert_eq!(row_sets(&model, &data.table()), row_sets(&shuffled, &data.table()));
        let mut columns = data.columns();
        columns.rotate_left((seed % 4) as usize);
        let rotated = data.fit_table(Table::new(columns).unwrap(), &params);
        prop_assert_eq!(row_sets(&model, &data.table()), row_sets(&rotated, &data.table()));
    }

    #[test]
    fn monotone_transforms_do_not_matter(data in data(10..50), falling in any::<bool>()) {
        // Of two thresholds that are worth the same `<=` is preferred, so a column can be turned round only where
        // targets differ so much that there are no ties.
        let falling = falling && data.task == Task::Regression;
        let params = few(MaxBins::Exact);
        let sign = if falling { -1.0 } else { 1.0 };
        let bent = Data { x: data.x.iter().map(|x| sign * (x / 10.0).exp()).collect(), ..data.clone() };
        let (straight, curved) = (data.fit(&params), bent.fit(&params));
        prop_assert_eq!(row_sets(&straight, &data.table()), row_sets(&curved, &bent.table()));
    }

    #[test]
    fn columns_of_one_value_do_not_matter(data in data(10..60), params in settings(), place in 0usize..5) {
        let mut columns = data.columns();
        let same = Column::new("same", Values::numbers(vec![1.5; data.rows()]));
        columns.insert(place.min(columns.len()), same);
        let with = data.fit_table(Table::new(columns).unwrap(), &params);
        prop_assert_eq!(with.lists, data.fit(&params).lists);
    }

    #[test]
    fn threads_do_not_matter(data in data(10..80), params in settings()) {
        let json = |threads| data.fit(&Params { threads: Some(threads), ..params.clone() }).to_json();
        let one = json(1);
        prop_assert_eq!(&one, &json(2));
        prop_assert_eq!(&one, &json(8));
    }

    #[test]
    fn saved_models_predict_the_same_bits(data in data(10..60), params in settings()) {
        let model = data.fit(&params);
        let loaded = Model::from_json(&model.to_json()).unwrap();
        let bits = |m: &Model| {
            let values = m.predict(&data.table()).unwrap().into_values();
            values.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        prop_assert_eq!(bits(&model), bits(&loaded));
        prop_assert_eq!(&model, &loaded);
    }

    /// Along every path: the regularised risk falls, rules differ, are minimal and cover what they say.
    #[test]
    fn paths_are_sound(data in data(10..60), params in settings()) {
        let model = data.fit(&params);
        let table = data.table();
        let list = &model.lists[0];
        let mean = data.y.iter().sum::<f64>().max(0.5) / data.rows() as f64;
        let lambda = match (params.reg_lambda, data.task) {
            (Some(orthorules::params::RegLambda::Value(lambda)), _) => lambda,
            (_, Task::Regression) => 8.0,
            (_, Task::Classification) => 1.0,
            (_, Task::Gamma) => 4.0,
            _ => mean,
        };
        let risk = |s: &orthorules::model::Size| {
            s.train_risk * data.rows() as f64 + 0.5 * lambda * s.scores[0].weights.iter().map(|w| w * w).sum::<f64>()
        };
        for pair in list.sizes.windows(2) {
            prop_assert!(risk(&pair[1]) <= risk(&pair[0]) * (1.0 + 1e-9) + 1e-9);
            prop_assert!(pair[0].complexity < pair[1].complexity);
        }
        let sets = row_sets(&model, &table);
        for step in &list.sizes {
            let distinct: HashSet<&Vec<bool>> = step.members().map(|k| &sets[k]).collect();
            prop_assert_eq!(distinct.len(), step.rules, "a rule repeats another");
        }
        for (k, set) in sets.iter().enumerate() {
            prop_assert_eq!(set.iter().filter(|&&s| s).count() as u64, list.rules[k].covered);
        }
        for rule in &list.rules {
            for dropped in 0..rule.conditions.len() {
                let mut selected = vec![true; table.rows()];
                for (i, condition) in rule.conditions.iter().enumerate() {
                    if i != dropped {
                        condition.narrow(&table.column(&condition.column).unwrap().values, &mut selected);
                    }
                }
                let count = selected.iter().filter(|&&s| s).count() as u64;
                prop_assert!(count > rule.covered, "{} does not need condition {}", rule, dropped + 1);
            }
        }
        // What is reported is what evaluation finds.
        for (step, evaluation) in list.sizes.iter().zip(model.evaluate(&table).unwrap()) {
            prop_assert!((step.train_risk - evaluation.risk).abs() <= 1e-9 * (1.0 + evaluation.risk.abs()));
        }
    }
}

#[test]
fn presets_run_on_every_task() {
    for task in Task::ALL {
        let most = if task == Task::Classification { 1 } else { 2 };
        let least = usize::from(task == Task::Gamma);
        let y = |r: usize| least + (r * 7 % 11 % 3).min(most);
        let data = Data::computed(task, 60, |r| (r as f64, (r * 37 % 60) as f64, y(r) as f64));
        for name in Preset::NAMES {
            let params = Params { max_complexity: Some(20), ..name.parse::<Preset>().unwrap().params() };
            if *name == "sirus" && task.is_multiplied() {
                assert!(params.check(task.loss(), 60).is_err(), "counts are not for sirus");
                continue;
            }
            let model = data.fit(&params);
            assert!(!model.lists[0].rules.is_empty(), "{name} {task}");
            assert!(model.complexity(model.chosen()) <= 20);
        }
    }
}
