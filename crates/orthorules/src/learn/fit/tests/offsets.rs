//! Offsets against what they stand for: other targets, or other exposures.

use crate::base::random::SplitMix64;
use crate::data::problem::{Problem, Roles, Target, Task};
use crate::data::table::{Column, Table, Values};
use crate::learn::fit::fit;
use crate::model::Model;
use crate::model::observer::Silent;
use crate::params::{Cv, Params, Preset, RegLambda, Select};

/// A few columns, targets and offsets that matter.
struct Sheet {
    columns: [Vec<f64>; 2],
    y: Vec<f64>,
    offset: Vec<f64>,
    exposure: Vec<f64>,
    weight: Vec<f64>,
}

impl Sheet {
    fn new(rows: usize, task: Task) -> Self {
        let mut random = SplitMix64::new(17);
        let mut draw = || random.uniform();
        let mut sheet = Self { columns: [vec![], vec![]], y: vec![], offset: vec![], exposure: vec![], weight: vec![] };
        for _ in 0..rows {
            let (x, u, offset, exposure) = (draw(), draw(), 2.0 * draw() - 1.0, 0.5 + draw());
            let score = offset + f64::from(u8::from(x > 0.6)) - 0.7 * f64::from(u8::from(u < 0.3));
            let noise = 0.5 + draw();
            sheet.y.push(match task {
                Task::Regression => 3.0 * score + noise,
                Task::Poisson => (exposure * score.exp() * noise).round(),
                _ => exposure * score.exp() * noise,
            });
            sheet.columns[0].push(x);
            sheet.columns[1].push(u);
            sheet.offset.push(offset);
            sheet.exposure.push(exposure);
            sheet.weight.push((1.0 + 3.0 * draw()).floor());
        }
        sheet
    }

    /// The table with these other targets and exposures.
    fn table(&self, y: &[f64], exposure: &[f64]) -> Table {
        let column = |name: &str, values: &[f64]| Column::new(name, Values::numbers(values.iter().copied()));
        let [x, u] = &self.columns;
        let columns = [("x", &x[..]), ("u", u), ("y", y), ("o", &self.offset), ("e", exposure), ("w", &self.weight)];
        Table::new(columns.map(|(name, values)| column(name, values)).to_vec()).unwrap()
    }

    fn own(&self) -> Table {
        self.table(&self.y, &self.exposure)
    }
}

/// All roles but the offset; rules use `x` and `u`.
fn plain(task: Task) -> Roles {
    Roles {
        target: "y".into(),
        task: Some(task),
        weight: Some("w".into()),
        exposure: task.takes_exposure().then(|| "e".into()),
        ignore: vec!["o".into(), "e".into()],
        ..Roles::default()
    }
}

fn with_offset(task: Task) -> Roles {
    Roles { offset: Some("o".into()), ..plain(task) }
}

fn learned(table: Table, roles: &Roles, params: &Params) -> Model {
    fit(&Problem::new(table, roles).unwrap(), params, &Silent).unwrap().model
}

/// Asserts that models have the same rules and sizes, and weights that differ by rounding alone.
fn assert_alike(a: &Model, b: &Model) {
    let (a, b) = (&a.lists[0], &b.lists[0]);
    let conditions = |e: &crate::model::RuleList| e.rules.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(conditions(a), conditions(b));
    assert_eq!((a.sizes.len(), a.chosen), (b.sizes.len(), b.chosen));
    for (a, b) in a.sizes.iter().zip(&b.sizes) {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
        close(a.train_risk, b.train_risk);
        let (a, b) = (&a.scores[0], &b.scores[0]);
        close(a.intercept, b.intercept);
        assert_eq!(a.weights.len(), b.weights.len());
        a.weights.iter().zip(&b.weights).for_each(|(&a, &b)| close(a, b));
    }
}

#[test]
fn the_best_constant_beside_an_offset_has_a_closed_form() {
    for task in [Task::Regression, Task::Poisson, Task::Gamma] {
        let sheet = Sheet::new(40, task);
        let params = Params { max_rules: Some(0), cv: None, ..Params::default() };
        let model = learned(sheet.own(), &with_offset(task), &params);
        let mean = |of: &dyn Fn(usize) -> f64| {
            let total: f64 = sheet.weight.iter().sum();
            (0..40).map(|r| sheet.weight[r] * of(r)).sum::<f64>() / total
        };
        let factor = |r: usize| sheet.exposure[r] * sheet.offset[r].exp();
        let expected = match task {
            Task::Regression => mean(&|r| sheet.y[r] - sheet.offset[r]),
            Task::Poisson => (mean(&|r| sheet.y[r]) / mean(&factor)).ln(),
            _ => mean(&|r| sheet.y[r] / factor(r)).ln(),
        };
        let intercept = model.lists[0].sizes[0].scores[0].intercept;
        assert!((intercept - expected).abs() < 1e-12, "{task}: {intercept} {expected}");
    }
}

/// To the last bit: the engine sees the same numbers.
#[test]
fn squared_loss_with_an_offset_fits_the_difference() {
    let sheet = Sheet::new(300, Task::Regression);
    let params = Params { cv: None, ..Params::default() };
    let difference: Vec<f64> = sheet.y.iter().zip(&sheet.offset).map(|(y, o)| y - o).collect();
    let model = learned(sheet.own(), &with_offset(Task::Regression), &params);
    let other = learned(sheet.table(&difference, &sheet.exposure), &plain(Task::Regression), &params);
    assert!(!model.lists[0].rules.is_empty());
    assert_eq!(model.lists, other.lists);
    let (with, without) = (model.predict(&sheet.own()).unwrap(), other.predict(&sheet.own()).unwrap());
    for row in 0..300 {
        assert_eq!(with.values()[row], without.values()[row] + sheet.offset[row]);
    }
}

/// Not to the last bit: exp and log round.
#[test]
fn where_rules_multiply_an_offset_is_the_log_of_an_exposure() {
    for task in [Task::Poisson, Task::Gamma] {
        let mut sheet = Sheet::new(400, task);
        sheet.offset = sheet.exposure.iter().map(|e| e.ln()).collect();
        for cv in [None, Some(Cv::Folds(4))] {
            let params = Params { cv, ..Params::default() };
            let without_exposure = Roles { exposure: None, ..with_offset(task) };
            let (offset, exposed) =
                (learned(sheet.own(), &without_exposure, &params), learned(sheet.own(), &plain(task), &params));
            assert!(!offset.lists[0].rules.is_empty());
            assert_alike(&offset, &exposed);
            let (a, b) = (offset.predict(&sheet.own()).unwrap(), exposed.predict(&sheet.own()).unwrap());
            a.values().iter().zip(b.values()).for_each(|(a, b)| assert!((a - b).abs() < 1e-9 * b, "{a} {b}"));
        }
    }
}

#[test]
fn gamma_with_an_offset_fits_what_is_left_of_amounts() {
    let sheet = Sheet::new(300, Task::Gamma);
    let params = Params { cv: None, ..Params::default() };
    let left: Vec<f64> = sheet.y.iter().zip(&sheet.offset).map(|(y, o)| y / o.exp()).collect();
    let model = learned(sheet.own(), &with_offset(Task::Gamma), &params);
    assert_alike(&model, &learned(sheet.table(&left, &sheet.exposure), &plain(Task::Gamma), &params));
}

/// Folds, a penalty by folds and draws judge rows with their own offsets.
#[test]
fn resampling_takes_offsets_along() {
    let sheet = Sheet::new(240, Task::Regression);
    let difference: Vec<f64> = sheet.y.iter().zip(&sheet.offset).map(|(y, o)| y - o).collect();
    let params = Params {
        cv: Some(Cv::Folds(4)),
        select: Some(Select::Best),
        reg_lambda: Some(RegLambda::Cv),
        bootstrap: Some(20),
        ..Params::default()
    };
    let model = learned(sheet.own(), &with_offset(Task::Regression), &params);
    let other = learned(sheet.table(&difference, &sheet.exposure), &plain(Task::Regression), &params);
    assert_alike(&model, &other);
    let risks = |model: &Model| model.cv.as_ref().unwrap().path.iter().map(|size| size.cv_risk).collect::<Vec<_>>();
    assert_eq!(risks(&model).len(), risks(&other).len());
    for (a, b) in risks(&model).into_iter().zip(risks(&other)) {
        assert!((a - b).abs() < 1e-9 * b, "{a} {b}");
    }
    assert_eq!(model.bootstrap, other.bootstrap);
}

/// The risk is that of the fit; what targets vary by is that of the targets themselves.
#[test]
fn measures_are_those_of_the_targets() {
    for task in [Task::Regression, Task::Poisson, Task::Gamma] {
        let sheet = Sheet::new(200, task);
        let problem = Problem::new(sheet.own(), &with_offset(task)).unwrap();
        let params = Params { cv: None, ..Params::default() };
        let model = fit(&problem, &params, &Silent).unwrap().model;
        let evaluated = model.evaluate(&sheet.own()).unwrap();
        for (size, evaluation) in model.lists[0].sizes.iter().zip(&evaluated) {
            assert!((size.train_risk - evaluation.risk).abs() < 1e-9 * (1.0 + evaluation.risk), "{task}");
        }
        assert_eq!(model.evaluate_problem(&problem).unwrap(), evaluated);
        let Target::Numbers(y) = &problem.target else { panic!() };
        let predicted = model.predict(&sheet.own()).unwrap();
        let weight: f64 = sheet.weight.iter().sum();
        let mean = (0..200).map(|r| sheet.weight[r] * y[r]).sum::<f64>() / weight;
        let square =
            |to: &dyn Fn(usize) -> f64| (0..200).map(|r| sheet.weight[r] * (y[r] - to(r)).powi(2)).sum::<f64>();
        let r2 = 1.0 - square(&|r| predicted.values()[r]) / square(&|_| mean);
        let chosen = evaluated.iter().find(|e| e.complexity == model.lists[0].chosen().complexity).unwrap();
        assert!((chosen.metrics[2].1 - r2).abs() < 1e-12 && r2 > 0.3, "{task} {r2}");
    }
}

#[test]
fn what_takes_no_offset_says_so() {
    let sheet = Sheet::new(60, Task::Regression);
    let problem = Problem::new(sheet.own(), &with_offset(Task::Regression)).unwrap();
    let sirus = fit(&problem, &Preset::Sirus.params(), &Silent).unwrap_err().to_string();
    assert_eq!(sirus, "sirus takes no offset: choose another preset, or leave out the offset");
    let classes: Vec<f64> = sheet.y.iter().map(|&y| f64::from(u8::from(y > 1.0))).collect();
    let roles = Roles { offset: Some("o".into()), weight: None, ..plain(Task::Classification) };
    let refused = Problem::new(sheet.table(&classes, &sheet.exposure), &roles).unwrap_err().to_string();
    assert_eq!(refused, "offset needs task regression, poisson or gamma, but the task is classification");
    let model = learned(sheet.own(), &with_offset(Task::Regression), &Params::default());
    let without = Table::new(sheet.own().into_columns().into_iter().filter(|c| c.name != "o").collect()).unwrap();
    let missing = model.predict(&without).unwrap_err().to_string();
    assert!(missing.starts_with("offset \"o\": no such column; the table has"), "{missing}");
}
