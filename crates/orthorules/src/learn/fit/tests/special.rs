//! Fits with special codes: the same as where the codes are missing and a column of categories names them.

use crate::base::random::SplitMix64;
use crate::data::problem::{Problem, Roles};
use crate::data::special::SpecialCode;
use crate::data::table::{Column, Table, Values};
use crate::learn::fit::fit;
use crate::model::observer::Silent;
use crate::model::predict::Activations;
use crate::model::{Model, Size};
use crate::params::{MaxBins, Monotone, Params, PathKind, Search, Terms};
use std::collections::BTreeMap;

const CODES: [(f64, &str); 2] = [(-9.0, "refused"), (40.0, "unknown")];

/// One value of the column with codes.
#[derive(Clone, Copy)]
enum CodedValue {
    Number(f64),
    Code(usize),
    Missing,
}

/// The rows of a table.
struct RowsWithCodes {
    x: Vec<CodedValue>,
    u: Vec<f64>,
    level: Vec<usize>,
    y: Vec<f64>,
}

fn rows(random: &mut SplitMix64, task: &str, has_missing: bool) -> RowsWithCodes {
    let count = 60 + random.below(80);
    let value = |random: &mut SplitMix64| match random.below(10) {
        0 | 1 => CodedValue::Code(0),
        2 => CodedValue::Code(1),
        3 if has_missing => CodedValue::Missing,
        // Some lie on either side of the code 40.
        _ => CodedValue::Number((random.uniform() * 400.0).round() / 4.0 + 0.1),
    };
    let x: Vec<CodedValue> = (0..count).map(|_| value(random)).collect();
    let u: Vec<f64> = (0..count).map(|_| random.below(30) as f64).collect();
    let level: Vec<usize> = (0..count).map(|_| random.below(4)).collect();
    let y = (0..count).map(|r| {
        let of_x = match x[r] {
            CodedValue::Number(x) => 0.03 * x,
            CodedValue::Code(0) => 2.5,
            CodedValue::Code(_) => -1.0,
            CodedValue::Missing => 0.5,
        };
        let noisy = of_x + f64::from(u8::from(u[r] > 12.0 && level[r] == 1)) * 2.0 + 0.7 * random.normal();
        match task {
            "regression" => noisy,
            "poisson" => noisy.max(0.0).round(),
            "gamma" => noisy.exp().clamp(0.01, 100.0),
            "classes" => (noisy.clamp(0.0, 5.9) / 2.0).floor(),
            _ => f64::from(u8::from(noisy > 1.5)),
        }
    });
    let y = y.collect();
    RowsWithCodes { x, u, level, y }
}

impl RowsWithCodes {
    fn table(&self, first: Vec<Column>) -> Table {
        let others = [
            Column::new("u", Values::numbers(self.u.clone())),
            Column::new("w", Values::text(self.level.iter().map(|&l| Some(["a", "b", "c", "d"][l])))),
            Column::new("y", Values::numbers(self.y.clone())),
        ];
        Table::new(first.into_iter().chain(others).collect()).unwrap()
    }

    /// The table with codes among the numbers.
    fn coded(&self) -> Table {
        let number = |value: &CodedValue| match *value {
            CodedValue::Number(x) => x,
            CodedValue::Code(code) => CODES[code].0,
            CodedValue::Missing => f64::NAN,
        };
        self.table(vec![Column::new("x", Values::numbers(self.x.iter().map(number)))])
    }

    /// The table with numbers alone, and what is not one in a column of categories.
    fn by_hand(&self) -> Table {
        let number = |value: &CodedValue| if let CodedValue::Number(x) = *value { x } else { f64::NAN };
        let level = |value: &CodedValue| match *value {
            CodedValue::Number(_) => Some("number"),
            CodedValue::Code(code) => Some(CODES[code].1),
            CodedValue::Missing => None,
        };
        self.table(vec![
            Column::new("x", Values::numbers(self.x.iter().map(number))),
            Column::new("x state", Values::text(self.x.iter().map(level))),
        ])
    }
}

fn problem(table: Table, task: &str, special: bool) -> Problem {
    let codes = CODES.map(|(value, name)| SpecialCode::new(value, name)).to_vec();
    let special: BTreeMap<String, Vec<SpecialCode>> =
        [("x".to_owned(), codes)].into_iter().filter(|_| special).collect();
    let task = if task == "classes" { "classification" } else { task };
    let roles = Roles { target: "y".into(), task: Some(task.parse().unwrap()), special, ..Roles::default() };
    Problem::new(table, &roles).unwrap()
}

/// Parameters of any kind of search, and what a table that was made by hand must leave out so that the same rules may
/// be found: special codes say neither "is a number" nor "is a code or missing".
fn params(random: &mut SplitMix64, task: &str) -> [Params; 2] {
    let search = [Search::Greedy, Search::Beam, Search::Exact][random.below(3)];
    let has_trends = search != Search::Exact && task != "classes" && random.below(3) == 0;
    // The best path keeps a few ensembles of each size. Which of equal ones these are is up to the names of columns.
    let path = (search != Search::Exact).then_some(PathKind::Nested);
    let monotone = random.below(4) == 0 && task != "classes";
    let monotone = monotone.then(|| ("x".to_owned(), Monotone::Rising)).into_iter().collect();
    let coded = Params {
        search,
        terms: if has_trends { Terms::Hinge } else { Terms::Rules },
        path,
        max_bins: [MaxBins::AtMost(8), MaxBins::AtMost(32), MaxBins::Exact][random.below(3)],
        max_complexity: Some(6 + random.below(12)),
        max_conditions: Some(1 + random.below(3)),
        node_limit: Some(10_000),
        smoothing: [None, Some(0.0)][random.below(2)],
        monotone,
        cv: None,
        ..Params::default()
    };
    let left_out = ["x is missing", "x is present", "\"x state\" = number", "\"x state\" != number"];
    let by_hand = Params { forbid: left_out.map(str::to_owned).to_vec(), ..coded.clone() };
    [coded, by_hand]
}

/// What tells a rule of either model: the bits of what it is for each row, the rows that it covers, and its complexity.
type Term = (Vec<u64>, u64, usize);

/// The terms of a size, in an order that names of columns do not change.
fn terms(model: &Model, (list, size): (usize, &Size), activations: &Activations) -> Vec<Term> {
    let rows = model.rows.unwrap_or_default() as usize;
    let term = |k: usize| {
        let rule = &model.lists[list].rules[k];
        let amounts = (0..rows).map(|row| activations.amount(list, k, row).to_bits()).collect();
        (amounts, rule.covered, rule.complexity())
    };
    let mut terms: Vec<Term> = size.members().map(term).collect();
    terms.sort_unstable();
    terms
}

/// Both models have the same sizes: terms of the same rows, and the same risks.
fn assert_alike(models: [&Model; 2], tables: &[Table; 2], told: &str) {
    let activations = [0, 1].map(|which| Activations::new(models[which], &tables[which]).unwrap());
    assert_eq!(models[0].lists.len(), models[1].lists.len(), "{told}");
    for (place, (own, other)) in models[0].lists.iter().zip(&models[1].lists).enumerate() {
        assert_eq!(own.sizes.len(), other.sizes.len(), "{told}");
        for (a, b) in own.sizes.iter().zip(&other.sizes) {
            assert!((a.train_risk - b.train_risk).abs() <= 1e-9 * a.train_risk.abs().max(1e-9), "{told}");
            let [a, b] = [(0, a), (1, b)].map(|(which, size)| terms(models[which], (place, size), &activations[which]));
            assert_eq!(a, b, "{told}");
        }
    }
}

#[test]
fn codes_are_like_a_column_of_categories_made_by_hand() {
    let mut random = SplitMix64::new(36);
    let mut named = 0;
    for round in 0..120 {
        let task = ["regression", "classification", "poisson", "gamma", "classes"][round % 5];
        let has_missing = random.below(2) == 0;
        let rows = rows(&mut random, task, has_missing);
        let [coded, by_hand] = params(&mut random, task);
        let tables = [rows.coded(), rows.by_hand()];
        let learned = |table: &Table, params: &Params, special: bool| {
            fit(&problem(table.clone(), task, special), params, &Silent).unwrap().model
        };
        let models = [learned(&tables[0], &coded, true), learned(&tables[1], &by_hand, false)];
        let told = format!("round {round}, {task}: {coded:?}");
        assert_alike([&models[0], &models[1]], &tables, &told);
        named += models[0].all_rules().filter(|rule| rule.to_string().contains(" is ")).count();
        let again = Model::from_json(&models[0].to_json()).unwrap();
        assert_eq!(again.to_json(), models[0].to_json());
        assert_eq!(again.predict(&tables[0]).unwrap(), models[0].predict(&tables[0]).unwrap());
    }
    assert!(named > 60, "special codes were named {named} times");
}

/// What a code is called, and where it lies, does not matter.
#[test]
fn codes_are_no_numbers() {
    let mut random = SplitMix64::new(3);
    let rows = rows(&mut random, "regression", true);
    let params = Params { terms: Terms::Hinge, ..params(&mut random, "regression")[0].clone() };
    let params = Params { search: Search::Greedy, path: None, ..params };
    let moved = |by: f64| {
        let place = |x: f64| if x == CODES[0].0 { by } else { x };
        let table = rows.coded();
        let Values::Numeric(numbers) = &table.column("x").unwrap().values else { panic!("numbers") };
        let numbers = Values::numbers(numbers.iter().map(|&x| place(x)));
        let columns = table.columns().iter().cloned();
        let columns = columns.map(|c| if c.name == "x" { Column::new("x", numbers.clone()) } else { c });
        let codes = vec![SpecialCode::new(by, "refused"), SpecialCode::new(CODES[1].0, "unknown")];
        let special = [("x".to_owned(), codes)].into();
        let roles =
            Roles { target: "y".into(), task: Some("regression".parse().unwrap()), special, ..Roles::default() };
        let problem = Problem::new(Table::new(columns.collect()).unwrap(), &roles).unwrap();
        // The command that makes the model names the numbers.
        let model = Model { provenance: None, ..fit(&problem, &params, &Silent).unwrap().model };
        let number = format!("\"value\": {by:?}");
        model.to_json().replace(&number, "\"value\": CODE")
    };
    let first = moved(-9.0);
    assert!(first.contains("CODE"), "{first}");
    for by in [-9999.0, 50.05, 1e9, 0.5] {
        assert_eq!(moved(by), first, "{by}");
    }
}
