//! The same bytes on any number of threads, on tables that are large enough to be shared out among them.

use orthorules::generate::SplitMix64;
use orthorules::params::{Cv, Params, PathKind, Polish, Preset, Search, Terms};
use orthorules::{Column, Model, Problem, Roles, Silent, Table, Task, Values, fit};

/// More than the rows that one thread looks at by itself anywhere.
const ROWS: usize = 70_000;

/// Twelve columns of numbers (one with gaps), two of levels; a number, classes and counts that depend on some of them;
/// weights and exposures.
fn table(rows: usize) -> Table {
    let mut random = SplitMix64::new(1);
    let mut columns: Vec<Vec<f64>> = (0..12).map(|_| (0..rows).map(|_| random.uniform()).collect()).collect();
    columns[3].iter_mut().step_by(9).for_each(|x| *x = f64::NAN);
    let levels = ["red", "green", "blue", "black", "white"];
    let pick: Vec<Vec<usize>> = (0..2).map(|_| (0..rows).map(|_| random.below(levels.len())).collect()).collect();
    let signal: Vec<f64> = (0..rows)
        .map(|r| {
            let both = f64::from(u8::from(columns[0][r] > 0.6 && columns[1][r] < 0.5));
            2.0 * both + columns[2][r] + f64::from(u8::from(pick[0][r] == 2))
        })
        .collect();
    let y: Vec<f64> = signal.iter().map(|s| s + random.normal()).collect();
    let class: Vec<Option<&str>> = y.iter().map(|&y| Some(if y > 1.5 { "yes" } else { "no" })).collect();
    let count: Vec<f64> = signal.iter().map(|s| (s * random.uniform() * 2.0).floor()).collect();
    let (weight, years): (Vec<f64>, Vec<f64>) =
        (0..rows).map(|_| (random.uniform() + 0.5, random.uniform() + 0.1)).unzip();
    let mut all: Vec<Column> =
        columns.into_iter().enumerate().map(|(c, x)| Column::new(format!("x{c}"), Values::numbers(x))).collect();
    for (c, pick) in pick.iter().enumerate() {
        let text: Vec<Option<&str>> = pick.iter().map(|&k| Some(levels[k])).collect();
        all.push(Column::new(format!("colour{c}"), Values::text(text)));
    }
    for (name, values) in [("y", y), ("count", count), ("weight", weight), ("years", years)] {
        all.push(Column::new(name, Values::numbers(values)));
    }
    all.push(Column::new("class", Values::text(class)));
    Table::new(all).unwrap()
}

/// Learns `target` on several numbers of threads, compares the models and returns one of them.
fn same_on_all(rows: usize, target: &str, roles: &Roles, params: &Params) -> Model {
    let others = ["y", "count", "class"].into_iter().filter(|name| *name != target);
    let unused = |name: &&str| roles.weight.as_deref() != Some(name) && roles.exposure.as_deref() != Some(name);
    let ignore = others.chain(["weight", "years"].into_iter().filter(unused)).map(str::to_owned).collect();
    let problem = Problem::new(table(rows), &Roles { target: target.into(), ignore, ..roles.clone() }).unwrap();
    let model = |threads| fit(&problem, &Params { threads: Some(threads), ..params.clone() }, &Silent).unwrap().model;
    let one = model(1);
    assert!(one.lists[0].sizes.len() > 1, "nothing was learned");
    for threads in [2, 3, 8] {
        assert!(model(threads).to_json() == one.to_json(), "{target} on {threads} threads: {params:?}");
    }
    one
}

fn nested(rules: usize) -> Params {
    Params { path: Some(PathKind::Nested), max_rules: Some(rules), ..Params::default() }
}

#[test]
fn squared_loss() {
    same_on_all(ROWS, "y", &Roles::default(), &nested(4));
    let best = Params { max_complexity: Some(6), ..Params::default() };
    same_on_all(ROWS, "y", &Roles::default(), &best);
    same_on_all(ROWS, "y", &Roles::default(), &Params { polish: Some(Polish::Full), ..best });
}

#[test]
fn weighted_logistic_loss() {
    let roles = Roles { weight: Some("weight".into()), ..Roles::default() };
    same_on_all(ROWS, "class", &roles, &nested(4));
}

#[test]
fn weighted_poisson_loss_with_exposure() {
    let (weight, exposure) = (Some("weight".into()), Some("years".into()));
    let roles = Roles { weight, exposure, task: Some(Task::Poisson), ..Roles::default() };
    same_on_all(ROWS, "count", &roles, &nested(4));
}

#[test]
fn beam_search() {
    same_on_all(ROWS, "y", &Roles::default(), &Params { search: Search::Beam, beam_width: Some(5), ..nested(2) });
}

#[test]
fn exact_search() {
    let limited = Params { search: Search::Exact, node_limit: Some(300), ..nested(1) };
    same_on_all(ROWS, "y", &Roles::default(), &limited);
    // Counted bits, and a memory that ends the search.
    let closed =
        Params { max_bins: "4".parse().unwrap(), max_rules: Some(1), node_limit: Some(3000), ..Preset::Cob.params() };
    same_on_all(3000, "class", &Roles::default(), &Params { search: Search::Exact, ..closed });
    let small = Params { search: Search::Exact, memory_limit: Some(0), node_limit: None, ..nested(1) };
    same_on_all(3000, "y", &Roles::default(), &small);
}

/// So many rows that terms are chosen by a sample of them; what the model says is of all rows.
#[test]
fn trends_chosen_by_a_sample() {
    let rows = 140_000;
    let params = Params { terms: Terms::Linear, ..nested(3) };
    let exposed = Roles { exposure: Some("years".into()), task: Some(Task::Poisson), ..Roles::default() };
    for (target, roles) in [("y", Roles::default()), ("class", Roles::default()), ("count", exposed)] {
        let model = same_on_all(rows, target, &roles, &params);
        let rules = &model.lists[0].rules;
        assert!(rules.iter().any(|rule| rule.trend.is_some()), "{target}: {rules:?}");
        let evaluated = model.evaluate(&table(rows)).unwrap();
        let risks = model.lists[0].sizes.iter().map(|size| size.train_risk);
        for (size, train) in evaluated.iter().zip(risks) {
            assert!((size.risk - train).abs() <= 1e-9 * train.abs(), "{target}: {} is not {train}", size.risk);
        }
    }
}

#[test]
fn cross_validation_and_bootstrap() {
    let params = Params {
        cv: Some(Cv::Folds(3)),
        reg_lambda: Some(orthorules::params::RegLambda::Value(1.0)),
        bootstrap: Some(20),
        ..nested(2)
    };
    same_on_all(ROWS, "y", &Roles::default(), &params);
}

#[test]
fn sirus() {
    let params = Params { num_trees: 40, max_rules: Some(5), ..Preset::Sirus.params() };
    same_on_all(ROWS, "class", &Roles::default(), &params);
}
