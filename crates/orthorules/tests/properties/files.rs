//! Whatever a fit returns can be written, and reads back the same.

use crate::data::{Data, Law, random};
use orthorules::params::{Cv, Intercept, MaxBins, Objective, Params, PathKind, Preset, Search, Update};
use orthorules::predict::Activations;
use orthorules::{Model, Problem, Roles, Silent, Task, fit};
use proptest::prelude::*;

/// The ends of the line of numbers, their neighbours, those around 0, and whole numbers that floats cannot count.
const EXTREMES: [f64; 14] = [
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    1e300,
    -1e308,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    0.0,
    -0.0,
    9_007_199_254_740_993e0,
    u64::MAX as f64,
    i64::MIN as f64,
];

fn signal(x: f64, u: f64, c: Option<&str>) -> f64 {
    let over = |v: f64| f64::from(u8::from(v > 0.5));
    over(x) - 0.6 * over(-u) + f64::from(u8::from(c == Some("a")))
}

/// Tables full of extremes, with row weights of any size.
fn data() -> impl Strategy<Value = Data> {
    let number = prop_oneof![
        5 => (-8i32..8).prop_map(|v| f64::from(v) / 4.0),
        4 => prop::sample::select(&EXTREMES[..]),
        1 => any::<f64>(),
        1 => Just(f64::NAN),
    ];
    let table = random(12..60, number, &["a", "b", "inf", "-0", ""], Law { signal, class: 0.9, count: 0.5 });
    let scale = prop::sample::select(vec![1.0, -0.0, 1e300, 1e150, 1e-300, 5e-324, -1.0]);
    let weight = prop::sample::select(vec![0.0, 1.0, 3.0, 1e-300, 1e100, 0.125]);
    (table, scale, prop::collection::vec(weight, 60), any::<bool>()).prop_map(|(mut data, scale, weight, weighted)| {
        if data.task == Task::Regression {
            data.y.iter_mut().for_each(|y| *y *= scale);
        }
        if weighted {
            let mut weight = weight[..data.rows()].to_vec();
            // Some row must count, and of both classes.
            weight[..2].fill(1.0);
            data.weight = Some(weight);
        }
        data
    })
}

fn settings() -> impl Strategy<Value = Params> {
    let preset = prop_oneof![3 => Just(None), 2 => prop::sample::select(Preset::NAMES).prop_map(Some)];
    let objective =
        prop::sample::select(vec![Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb]);
    let update = prop::sample::select(vec![Update::Corrective, Update::Stagewise, Update::Newton]);
    let intercept = prop::sample::select(vec![Intercept::Corrected, Intercept::Fixed, Intercept::None]);
    let search = prop::sample::select(vec![Search::Greedy, Search::Greedy, Search::Beam, Search::Exact]);
    let lambda = prop::sample::select(vec![None, Some(0.0), Some(5e-324), Some(1e-300), Some(0.5), Some(1e300)]);
    let bins = prop::sample::select(vec![MaxBins::Exact, MaxBins::AtMost(2), MaxBins::AtMost(32)]);
    let path = prop::sample::select(vec![None, Some(PathKind::Nested)]);
    let resampled = prop::sample::select(vec![
        (None, None),
        (Some(Cv::Auto), None),
        (Some(Cv::Folds(3)), None),
        (None, Some(20)),
        (Some(Cv::Folds(2)), Some(20)),
    ]);
    (preset, objective, update, intercept, search, lambda, (bins, path, resampled)).prop_map(
        |(preset, objective, update, intercept, search, reg_lambda, (max_bins, path, (cv, bootstrap)))| {
            let size =
                Params { max_complexity: Some(12), max_bins, cv, bootstrap, threads: Some(1), ..Params::default() };
            match preset {
                Some(name) => {
                    let preset = name.parse::<Preset>().unwrap().params();
                    Params {
                        max_complexity: Some(12),
                        reg_lambda: reg_lambda.map(orthorules::params::RegLambda::Value),
                        cv,
                        bootstrap,
                        num_trees: 20,
                        threads: Some(1),
                        ..preset
                    }
                }
                None => Params {
                    objective,
                    update,
                    intercept,
                    search,
                    reg_lambda: reg_lambda.map(orthorules::params::RegLambda::Value),
                    path,
                    node_limit: (search == Search::Exact).then_some(500),
                    ..size
                },
            }
        },
    )
}

/// Of a fit that is refused, one line that says why; of others, a model that is the same after a round trip through its
/// file.
fn check(data: &Data, params: &Params) -> Result<(), TestCaseError> {
    let problem = match Problem::new(data.table(), &data.roles()) {
        Ok(problem) => problem,
        Err(e) => return Err(TestCaseError::fail(format!("no problem: {e}"))),
    };
    let model = match fit(&problem, params, &Silent) {
        Ok(fitted) => fitted.model,
        Err(e) => {
            // What the parameters exclude, or folds that lack a class; never a model that cannot be kept.
            let message = e.to_string();
            prop_assert!(!message.contains('\n') && !message.starts_with("model:"), "{}", message);
            return Ok(());
        }
    };
    let loaded =
        Model::from_json(&model.to_json()).map_err(|e| TestCaseError::fail(format!("{e}\n{}", model.to_json())))?;
    prop_assert_eq!(&loaded, &model);
    let (table, bits) = (data.table(), |m: &Model| -> Vec<u64> {
        let seen = Activations::new(m, &data.table()).unwrap();
        let sizes: Vec<_> = m.sizes().into_iter().map(Into::into).chain([m.chosen()]).collect();
        let scores = sizes.into_iter().flat_map(|size| m.scores(size));
        scores.flat_map(|score| seen.scores(&score)).map(f64::to_bits).collect()
    });
    prop_assert_eq!(bits(&model), bits(&loaded));
    prop_assert!(bits(&model).into_iter().all(|x| f64::from_bits(x).is_finite()));
    for measured in model.evaluate(&table).unwrap() {
        prop_assert!(measured.risk.is_finite(), "{:?}", measured);
    }
    // A rule covers the rows that it says, whichever side of it the infinities are on. Rows of weight 0 are not learned
    // from.
    let counts = |r: &usize| data.weight.as_ref().is_none_or(|w| w[*r] > 0.0);
    let seen = Activations::new(&model, &table).unwrap();
    for (l, list) in model.lists.iter().enumerate() {
        for (k, rule) in list.rules.iter().enumerate() {
            let fired = (0..data.rows()).filter(counts).filter(|&r| seen.fires(l, k, r)).count() as u64;
            prop_assert_eq!(fired, rule.covered, "{}", rule);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_fit_reads_back_the_same(data in data(), params in settings()) {
        check(&data, &params)?;
    }
}

/// More than two classes, whose labels are the odd numbers themselves.
#[test]
fn odd_labels_read_back_the_same() {
    let y = |r: usize| [-0.0, 0.0, 5e-324, f64::MAX, 1e22, -1.0][r % 6];
    let data = Data::computed(Task::Classification, 60, |r| (EXTREMES[r % 14], (r % 6) as f64, y(r)));
    for preset in [Params::default(), Preset::Sirus.params()] {
        let problem = Problem::new(
            data.table(),
            &Roles { target: "y".into(), task: Some(Task::Classification), ..Roles::default() },
        );
        let params = Params { max_complexity: Some(6), num_trees: 20, ..preset };
        let model = fit(&problem.unwrap(), &params, &Silent).unwrap().model;
        assert_eq!(model.classes.len(), 5, "{:?}", model.classes);
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
    }
}
