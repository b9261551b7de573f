//! Budgets of columns: they hold at every size of every kind of fit, and each rule of a certified path is the best that
//! the budget leaves.

use crate::base::random::SplitMix64;
use crate::data::problem::{Problem, Roles, Task};
use crate::data::table::{Column, Table, Values};
use crate::fit;
use crate::model::observer::Silent;
use crate::model::{Model, RuleList};
use crate::params::{Cv, Multiclass, Params, PathKind, Polish, RegLambda, Search, Sets, Terms, Thresholds};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const TASKS: [&str; 5] = ["regression", "classification", "poisson", "gamma", "classes"];

/// Numbers with gaps, a flag, levels and a date; all of them matter to the target.
fn problem(random: &mut SplitMix64, task: &str) -> Problem {
    let rows = 40 + random.below(60);
    let number =
        |random: &mut SplitMix64, most: usize| (0..rows).map(|_| random.below(most) as f64).collect::<Vec<_>>();
    let (a, flag) = (number(random, 25), number(random, 2));
    let b: Vec<f64> = number(random, 40).into_iter().map(|x| if x > 36.0 { f64::NAN } else { x / 4.0 }).collect();
    let level: Vec<usize> = (0..rows).map(|_| random.below(9)).collect();
    let (year, month): (Vec<usize>, Vec<usize>) = (0..rows).map(|_| (random.below(4), 1 + random.below(12))).unzip();
    let step = |holds: bool, size: f64| if holds { size } else { 0.0 };
    let y = (0..rows).map(|r| {
        let signal = step(a[r] > 12.0, 2.0) + step(b[r] > 4.0 && level[r] < 4, 3.0) + step(flag[r] > 0.0, 1.5);
        let noisy = signal + step(month[r] > 6, 1.0) + step(year[r] > 1, 1.0) + 0.5 * random.normal();
        match task {
            "regression" => noisy,
            "poisson" => noisy.max(0.0).round(),
            "gamma" => noisy.exp().min(1e3),
            "classes" => (noisy.clamp(0.0, 8.9) / 3.0).floor(),
            _ => f64::from(u8::from(noisy > 4.0)),
        }
    });
    let y = Values::numbers(y.collect::<Vec<f64>>());
    let part = |name: &str, values: &[usize]| {
        let date = serde_json::from_value(json!({"column": "day", "part": name, "form": "day-first"})).unwrap();
        let values = Values::numbers(values.iter().map(|&x| x as f64));
        Column { date: Some(date), ..Column::new(format!("day.{name}"), values) }
    };
    let table = Table::new(vec![
        Column::new("a", Values::numbers(a)),
        Column::new("b", Values::numbers(b)),
        Column::new("flag", Values::numbers(flag)),
        Column::new("state", Values::text(level.iter().map(|&l| Some(&"ABCDEFGHI"[l..=l])))),
        part("year", &year),
        part("month", &month),
        Column::new("y", y),
    ]);
    let task: Task = if task == "classes" { Task::Classification } else { task.parse().unwrap() };
    Problem::new(table.unwrap(), &Roles { target: "y".into(), task: Some(task), ..Roles::default() }).unwrap()
}

/// Parameters of any kind of fit, without a budget.
fn params(random: &mut SplitMix64, task: &str) -> Params {
    let search = [Search::Greedy, Search::Beam, Search::Exact][random.below(3)];
    let exact = search == Search::Exact;
    let has_trends = !exact && random.below(3) == 0;
    let terms = if has_trends { [Terms::Linear, Terms::Hinge][random.below(2)] } else { Terms::Rules };
    let path = (!exact).then(|| [PathKind::Best, PathKind::Nested][random.below(2)]);
    let polish = path == Some(PathKind::Best) && !has_trends && random.below(2) == 0;
    let one_vs_rest = task == "classes" && (has_trends || random.below(2) == 0);
    Params {
        search,
        terms,
        path,
        sets: (!exact && random.below(3) == 0).then_some(Sets::On),
        polish: polish.then_some(Polish::Full),
        multiclass: (task == "classes").then_some(if one_vs_rest { Multiclass::OneVsRest } else { Multiclass::Shared }),
        thresholds: if !exact && random.below(4) == 0 { Thresholds::Refine } else { Thresholds::Round },
        max_complexity: Some(4 + random.below(14)),
        max_conditions: Some(1 + random.below(3)),
        node_limit: Some(60),
        threads: Some(1 + random.below(2)),
        reg_lambda: Some(RegLambda::Value(0.5)),
        cv: (random.below(6) == 0).then_some(Cv::Folds(3)),
        bootstrap: (random.below(20) == 0).then_some(20),
        ..Params::default()
    }
}

/// A budget of columns, of cost, or of both.
fn with_budget(random: &mut SplitMix64, params: Params) -> Params {
    let kind = random.below(3);
    let mut costs = BTreeMap::new();
    for name in ["a", "b", "flag", "state", "day"] {
        if random.below(4) > 0 {
            costs.insert(name.to_owned(), random.below(12) as f64 / 10.0);
        }
    }
    let by_cost = kind > 0 && !costs.is_empty();
    Params {
        max_columns: (kind != 1 || !by_cost).then(|| 1 + random.below(4)),
        max_cost: by_cost.then(|| random.below(20) as f64 / 10.0),
        column_cost: if by_cost { costs } else { BTreeMap::new() },
        ..params
    }
}

/// What the rules of all sizes pay for.
fn paid(model: &Model) -> BTreeSet<&str> {
    let name = |name| if ["day.year", "day.month"].contains(&name) { "day" } else { name };
    model.all_rules().flat_map(crate::Rule::columns).map(name).collect()
}

/// An error in words unless a model is within the budget.
fn check(model: &Model, params: &Params) -> Result<(), String> {
    let paid = paid(model);
    let cost: f64 = paid.iter().map(|name| params.column_cost.get(*name).unwrap_or(&0.0)).sum();
    let is_within = params.max_columns.is_none_or(|most| paid.len() <= most)
        && params.max_cost.is_none_or(|most| cost <= most + 1e-6);
    if is_within { Ok(()) } else { Err(format!("{paid:?} of cost {cost}: {params:?}")) }
}

#[test]
fn budgets_hold_at_every_size_of_every_fit() {
    let mut random = SplitMix64::new(36);
    let (mut rules, mut several, mut bound) = (0, 0, 0);
    for case in 0..200 {
        let task = TASKS[random.below(TASKS.len())];
        let (problem, plain) = (problem(&mut random, task), params(&mut random, task));
        let budgeted = with_budget(&mut random, plain.clone());
        let model = fit(&problem, &budgeted, &Silent).unwrap().model;
        check(&model, &budgeted).unwrap_or_else(|error| panic!("case {case}, {task}: {error}"));
        assert_eq!(Model::from_json(&model.to_json()).unwrap(), model);
        let spent = model.spending(model.chosen()).unwrap();
        assert!(spent.is_allowed() && spent.columns.len() <= paid(&model).len());
        rules += model.all_rules().count();
        several += usize::from(model.lists.len() > 1);
        if case % 4 == 0 {
            let free = fit(&problem, &plain, &Silent).unwrap().model;
            if check(&free, &budgeted).is_err() {
                bound += 1;
            }
        }
    }
    assert!(rules > 400 && several > 8 && bound > 20, "{rules} {several} {bound}");
}

/// A budget that allows every column changes nothing else.
#[test]
fn a_budget_that_allows_all_changes_no_rule() {
    let mut random = SplitMix64::new(8);
    for task in TASKS {
        let (problem, plain) = (problem(&mut random, task), params(&mut random, task));
        let free = fit(&problem, &plain, &Silent).unwrap().model;
        let generous = Params { max_columns: Some(5), ..plain };
        let model = fit(&problem, &generous, &Silent).unwrap().model;
        // With a list for each class, all columns that one list for all would use are there.
        if model.lists.len() == 1 {
            let free = Model { provenance: None, ..free };
            assert_eq!(Model { budget: None, provenance: None, ..model }, free, "{task}");
        }
    }
}

/// Required rules are paid for first; what they need and may not have is named.
#[test]
fn required_rules_are_within_the_budget() {
    let mut random = SplitMix64::new(9);
    let problem = problem(&mut random, "regression");
    let base = |most: usize, require: &[&str]| Params {
        max_columns: Some(most),
        require: require.iter().map(ToString::to_string).collect(),
        max_complexity: Some(12),
        threads: Some(1),
        ..Params::default()
    };
    let required = base(2, &["flag = 1 & day.year >= 2", "day.month >= 7"]);
    let model = fit(&problem, &required, &Silent).unwrap().model;
    assert_eq!(paid(&model), ["day", "flag"].into());
    let refused = |params: &Params| fit(&problem, params, &Silent).unwrap_err().to_string();
    assert_eq!(
        refused(&base(1, &["flag = 1", "a >= 3"])),
        "the required rules need 2 columns (a, flag) where max_columns is 1: \"flag = 1\", \"a >= 3\"; \
         allow more, or require less"
    );
    let costs = [("a".to_owned(), 3.0)].into();
    let dear = Params { column_cost: costs, max_cost: Some(2.0), ..base(3, &["a >= 3"]) };
    assert!(refused(&dear).starts_with("the required rule needs columns of cost 3 (a 3) where max_cost is 2"));
}

#[test]
fn budgets_that_make_no_sense_are_refused() {
    let problem = problem(&mut SplitMix64::new(10), "regression");
    let costs = |costs: &[(&str, f64)]| costs.iter().map(|(name, cost)| ((*name).to_owned(), *cost)).collect();
    let with = |list: &[(&str, f64)], most: Option<f64>| Params {
        column_cost: costs(list),
        max_cost: most,
        threads: Some(1),
        ..Params::default()
    };
    for (params, told) in [
        (Params { max_columns: Some(0), ..Params::default() }, "max_columns must be at least 1, got 0"),
        (with(&[("a", 1.0)], None), "column_cost needs max_cost"),
        (with(&[], Some(1.0)), "max_cost needs column_cost"),
        (with(&[("a", -1.0)], Some(1.0)), "column_cost must be numbers of at least 0, got -1 for \"a\""),
        (with(&[("a", f64::NAN)], Some(1.0)), "column_cost must be numbers of at least 0, got NaN for \"a\""),
        (with(&[("a", f64::INFINITY)], Some(1.0)), "column_cost must be numbers of at least 0, got inf"),
        (with(&[("a", 1.0)], Some(-1.0)), "max_cost must be a number from 0 to 1e100, got -1"),
        (with(&[("a", 1.0)], Some(f64::NAN)), "max_cost must be a number from 0 to 1e100, got NaN"),
        (with(&[("aa", 1.0)], Some(1.0)), "column_cost \"aa\": no such column"),
        (with(&[("day.year", 1.0)], Some(1.0)), "\"day.year\" is a part of the date \"day\""),
    ] {
        let message = fit(&problem, &params, &Silent).unwrap_err().to_string();
        assert!(message.contains(told), "{message}");
    }
    let sirus = Params { max_columns: Some(2), ..crate::params::Preset::Sirus.params() };
    assert!(fit(&problem, &sirus, &Silent).unwrap_err().to_string().starts_with("sirus takes no"));
}

/// The least of Σ (y − f)² + ½ λ Σ β² over intercept and weights of rules, which are given by the rows they cover.
fn ridge(rules: &[Vec<bool>], y: &[f64], lambda: f64) -> f64 {
    let size = rules.len() + 1;
    let x = |row: usize, k: usize| if k == 0 || rules[k - 1][row] { 1.0 } else { 0.0 };
    let rows = || 0..y.len();
    let penalty = |i: usize, j: usize| if i == j && i > 0 { 0.5 * lambda } else { 0.0 };
    let mut system: Vec<Vec<f64>> = (0..size)
        .map(|i| {
            let of = |j: usize| rows().map(|r| x(r, i) * x(r, j)).sum::<f64>() + penalty(i, j);
            (0..size).map(of).chain([rows().map(|r| x(r, i) * y[r]).sum()]).collect()
        })
        .collect();
    for i in 0..size {
        for j in (0..size).filter(|&j| j != i) {
            let factor = system[j][i] / system[i][i];
            let (own, other) = (system[i].clone(), &mut system[j]);
            other.iter_mut().zip(own).for_each(|(other, own)| *other -= factor * own);
        }
    }
    let beta: Vec<f64> = (0..size).map(|i| system[i][size] / system[i][i]).collect();
    let score = |r: usize| (0..size).map(|k| beta[k] * x(r, k)).sum::<f64>();
    rows().map(|r| (y[r] - score(r)).powi(2)).sum::<f64>() + 0.5 * lambda * beta[1..].iter().map(|b| b * b).sum::<f64>()
}

/// A condition x <= t (or x >= t) on a column.
type Side = (usize, usize, bool);

/// A small table of numbers from 0 to 3, with a budget.
struct SmallTable {
    x: Vec<Vec<usize>>,
    y: Vec<f64>,
    costs: Vec<usize>,
    most: usize,
    most_cost: usize,
}

const SMALL_NAMES: [&str; 4] = ["a", "b", "c", "d"];
const SMALL_LAMBDA: f64 = 0.7;

impl SmallTable {
    fn new(random: &mut SplitMix64) -> Self {
        let rows = 14 + random.below(8);
        let x: Vec<Vec<usize>> = (0..4).map(|_| (0..rows).map(|_| random.below(4)).collect()).collect();
        let y = (0..rows).map(|r| (x[0][r] * x[1][r]) as f64 - 2.0 * x[2][r] as f64 + random.normal()).collect();
        let costs = (0..4).map(|_| random.below(4)).collect();
        Self { x, y, costs, most: 1 + random.below(3), most_cost: random.below(7) }
    }

    /// An exact path of at most four rules of at most two conditions.
    fn path(&self) -> RuleList {
        let number = |values: &[usize]| Values::numbers(values.iter().map(|&x| x as f64));
        let named = SMALL_NAMES.iter().zip(&self.x).map(|(name, x)| Column::new(*name, number(x)));
        let target = Column::new("y", Values::numbers(self.y.clone()));
        let roles = Roles { target: "y".into(), task: Some(Task::Regression), ..Roles::default() };
        let problem = Problem::new(Table::new(named.chain([target]).collect()).unwrap(), &roles).unwrap();
        let costs = SMALL_NAMES.iter().zip(&self.costs).map(|(name, cost)| ((*name).to_owned(), *cost as f64));
        let params = Params {
            search: Search::Exact,
            length_penalty: 0.0,
            min_coverage: Some(1),
            max_conditions: Some(2),
            max_rules: Some(4),
            reg_lambda: Some(RegLambda::Value(SMALL_LAMBDA)),
            max_columns: Some(self.most),
            column_cost: costs.collect(),
            max_cost: Some(self.most_cost as f64),
            threads: Some(1),
            ..Params::default()
        };
        fit(&problem, &params, &Silent).unwrap().model.lists.swap_remove(0)
    }

    fn is_within(&self, used: &BTreeSet<usize>) -> bool {
        used.len() <= self.most && used.iter().map(|&c| self.costs[c]).sum::<usize>() <= self.most_cost
    }

    fn covered(&self, sides: &[Side]) -> Vec<bool> {
        let holds = |&(c, t, below): &Side, r: usize| if below { self.x[c][r] <= t } else { self.x[c][r] >= t };
        (0..self.y.len()).map(|r| sides.iter().all(|side| holds(side, r))).collect()
    }

    fn risk(&self, rules: &[Vec<bool>]) -> f64 {
        ridge(rules, &self.y, SMALL_LAMBDA)
    }

    /// The least risk with one of all conjunctions of two conditions more, whose columns are within the budget beside
    /// `owned`; or without one. Which rows a rule before it covers, or all others, is no news.
    fn least_risk(&self, rules: &[Vec<bool>], owned: &BTreeSet<usize>) -> f64 {
        let sides: Vec<Side> = (0..4).flat_map(|c| (0..4).flat_map(move |t| [(c, t, true), (c, t, false)])).collect();
        let pairs = sides.iter().flat_map(|&p| sides.iter().map(move |&q| [p, q]));
        let risk = |pair: [Side; 2]| {
            let covered = self.covered(&pair);
            let same = |rule: &Vec<bool>, side: bool| rule.iter().zip(&covered).all(|(a, b)| (a == b) == side);
            let is_known = rules.iter().any(|rule| same(rule, true) || same(rule, false));
            let is_allowed = self.is_within(&(owned | &[pair[0].0, pair[1].0].into()));
            (is_allowed && !is_known).then(|| self.risk(&[rules, std::slice::from_ref(&covered)].concat()))
        };
        pairs.filter_map(risk).fold(self.risk(rules), f64::min)
    }
}

/// The column and the sides of a condition as text.
fn sides(condition: &str) -> Vec<Side> {
    let [name, op, t] = condition.split(' ').collect::<Vec<_>>()[..] else { panic!("{condition}") };
    let column = SMALL_NAMES.iter().position(|own| *own == name).unwrap();
    let t: f64 = t.parse().unwrap();
    let (below, above) = ((column, t.floor() as usize, true), (column, t.ceil() as usize, false));
    match op {
        "<=" => vec![below],
        ">=" => vec![above],
        "=" => vec![below, above],
        _ => panic!("{condition}"),
    }
}

/// On small tables of numbers every rule of an exact path is the best of all conjunctions of two conditions whose
/// columns are within the budget beside those of the rules before it: no other lowers the regularised risk of the whole
/// refitted ensemble more.
#[test]
fn each_rule_is_the_best_that_the_budget_leaves() {
    let mut random = SplitMix64::new(11);
    let mut added = 0;
    for case in 0..60 {
        let table = SmallTable::new(&mut random);
        let list = table.path();
        let (mut rules, mut owned): (Vec<Vec<bool>>, BTreeSet<usize>) = (Vec::new(), BTreeSet::new());
        for rule in &list.rules {
            let lowest = table.least_risk(&rules, &owned);
            let all: Vec<Side> = rule.conditions.iter().flat_map(|condition| sides(&condition.to_string())).collect();
            owned.extend(all.iter().map(|side| side.0));
            rules.push(table.covered(&all));
            let found = table.risk(&rules);
            assert!(found <= lowest + 1e-8 * (1.0 + lowest), "case {case}: {rule} gives {found}, not {lowest}");
            added += 1;
        }
        assert!(table.is_within(&owned), "case {case}");
        // A path ends early only where nothing that it can pay for helps.
        if list.rules.len() < 4 {
            let (now, least) = (table.risk(&rules), table.least_risk(&rules, &owned));
            assert!(least >= now - 1e-6 * (1.0 + now), "case {case}: {:?}", list.rules);
        }
    }
    assert!(added > 100, "{added}");
}
