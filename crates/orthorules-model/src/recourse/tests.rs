//! Recourse against all changes there are, counted out with real values through real predictions.

use super::*;
use crate::Task;
use crate::data::loss::Link;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::Column;
use crate::model::condition::{Condition, Op, Operand};
use crate::model::rule::Rule;
use crate::model::trend::Trend;
use crate::model::{RuleList, ScoreWeights, Status};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const LEVELS: [&str; 3] = ["a", "b", "c"];
const NAMES: [&str; 4] = ["x", "u", "c", "flag"];

/// The special codes of column u.
const SPECIAL: [(f64, &str); 2] = [(-1.0, "gone"), (0.5, "asked again")];

/// The special codes of a column.
fn special(column: usize) -> Vec<SpecialCode> {
    SPECIAL.into_iter().filter(|_| column == 1).map(|(value, name)| SpecialCode::new(value, name)).collect()
}

fn condition() -> impl Strategy<Value = Condition> {
    (0usize..4, 0usize..8, -2i8..3, 0usize..4).prop_map(|(column, op, threshold, level)| {
        let (op, value) = match (column < 2, op) {
            (false, 6 | 7) => {
                let names: &[&str] = if column == 2 { &LEVELS } else { &["false", "true"] };
                let named = names.iter().skip(level % names.len()).take(2).map(|&name| name.to_owned()).collect();
                (if op == 6 { Op::In } else { Op::NotIn }, Some(Operand::Levels(named)))
            }
            (true, 6) if column == 1 => (Op::Is, Some(Operand::Text(SPECIAL[level % 2].1.into()))),
            (true, 7) if column == 1 => (Op::IsNot, Some(Operand::Text(SPECIAL[level % 2].1.into()))),
            (_, 4) => (Op::Missing, None),
            (_, 5) => (Op::Present, None),
            (true, op) => {
                (if op % 2 == 0 { Op::Le } else { Op::Ge }, Some(Operand::Number(f64::from(threshold) / 2.0)))
            }
            (false, op) => {
                let name = if column == 2 { LEVELS[level % 3] } else { ["false", "true"][level % 2] };
                // The levels of the first of these are in order.
                let comparisons =
                    if column == 2 { [Op::Eq, Op::Ne, Op::Le, Op::Ge] } else { [Op::Eq, Op::Ne, Op::Eq, Op::Ne] };
                (comparisons[op % 4], Some(Operand::Text(name.into())))
            }
        };
        Condition::new(NAMES[column], op, value).known(false, &special(column))
    })
}

/// A line or a hinge of one of the first two columns.
fn trend() -> impl Strategy<Value = Trend> {
    (0usize..2, -2i8..2, 1i8..4, 0u8..3, 1u8..4).prop_map(|(column, from, length, kind, per)| {
        let (from, to) = (f64::from(from) / 2.0, f64::from((from + length).min(2)) / 2.0);
        let zero = [from, to, f64::midpoint(from, to)][usize::from(kind)];
        Trend { column: NAMES[column].into(), from, to, zero, per: f64::from(per) / 4.0 }
    })
}

/// Terms of a score; some of them trends, where there may be any.
fn list(class: Option<String>, trends: bool) -> impl Strategy<Value = RuleList> {
    let rule =
        |conditions, trend| Rule { trend, conditions, covered: 0, value: 0.0, bound: None, proven: false, nodes: 0 };
    let rules = prop::collection::vec(condition(), 1..4).prop_map(move |conditions| rule(conditions, None));
    let slopes = trend().prop_map(move |trend| rule(Vec::new(), Some(trend)));
    let rule = prop_oneof![2 => rules, u32::from(trends) => slopes];
    let rules = prop::collection::vec((rule, -4i8..5), 0..6);
    (rules, -3i8..4).prop_map(move |(rules, intercept)| {
        let weights: Vec<f64> = rules.iter().map(|(_, w)| f64::from(*w) / 3.0).collect();
        let rules: Vec<Rule> = rules.into_iter().map(|(rule, _)| rule).collect();
        let size = Size {
            rules: rules.len(),
            members: None,
            complexity: 0,
            scores: vec![ScoreWeights { intercept: f64::from(intercept) / 3.0, weights }],
            train_risk: 0.0,
            status: Status::Converged,
        };
        RuleList { class: class.clone(), chosen: rules.len(), chosen_complexity: None, rules, sizes: vec![size] }
    })
}

fn model() -> impl Strategy<Value = Model> {
    let single = || any::<bool>().prop_flat_map(|trends| list(None, trends)).prop_map(|e| vec![e]);
    let several = |trends: bool| {
        let of_class = |class: &str| list(Some(class.into()), trends);
        (of_class("p"), of_class("q"), of_class("r")).prop_map(|(p, q, r)| vec![p, q, r])
    };
    let shapes = prop_oneof![
        1 => single().prop_map(|e| (Task::Regression, Link::Canonical, vec![], e)),
        1 => single().prop_map(|e| (Task::Poisson, Link::Canonical, vec![], e)),
        1 => single().prop_map(|e| (Task::Gamma, Link::Canonical, vec![], e)),
        1 => (single(), any::<bool>()).prop_map(|(e, i)| (Task::Classification, link(i), vec!["n", "y"], e)),
        1 => (several(false), any::<bool>()).prop_map(|(e, i)| (Task::Classification, link(i), vec!["p", "q", "r"], e)),
        3 => several(true).prop_map(|e| (Task::Classification, Link::Canonical, vec!["p", "q", "r"], e)),
        1 => list(None, false).prop_map(sharing)
            .prop_map(|e| (Task::Classification, Link::Softmax, vec!["p", "q", "r"], vec![e])),
    ];
    shapes.prop_map(|(task, link, classes, lists)| {
        let column = |name: &str, kind, levels: &[&str]| {
            ColumnSpec::new(name, kind, levels.iter().map(|l| (*l).to_owned()).collect())
        };
        let columns = vec![
            column("x", Kind::Numeric, &[]),
            column("u", Kind::Numeric, &[]).with_special(special(1)),
            column("c", Kind::Ordered, &LEVELS),
            column("flag", Kind::Boolean, &["false", "true"]),
        ];
        Model {
            task,
            loss: task.loss(),
            link,
            target: "y".into(),
            target_kind: None,
            rows: None,
            classes: classes.into_iter().map(String::from).collect(),
            weight: None,
            exposure: task.takes_exposure().then(|| "e".into()),
            offset: task.takes_offset().then(|| "o".into()),
            reading: crate::model::reading::Reading::default(),
            columns,
            lists,
            cv: None,
            bootstrap: None,
            ledger: Vec::new(),
            budget: None,
            provenance: None,
        }
    })
}

/// A list that three classes share, each with its own weights.
fn sharing(mut list: RuleList) -> RuleList {
    let of_class = |factor: f64| {
        let ScoreWeights { intercept, weights } = &list.sizes[0].scores[0];
        ScoreWeights { intercept: intercept * factor, weights: weights.iter().map(|w| w * factor).collect() }
    };
    list.sizes[0].scores = [1.0, -0.7, 0.4].map(of_class).to_vec();
    list
}

fn link(identity: bool) -> Link {
    if identity { Link::Identity } else { Link::Canonical }
}

impl To {
    /// Whether a value is one of these.
    fn has(&self, value: &Given) -> bool {
        match (self, value) {
            (Self::Interval { low, high }, Given::Number(x)) => {
                let above = low.is_none_or(|end| *x > end.at || end.included && *x == end.at);
                above && high.is_none_or(|end| *x < end.at || end.included && *x == end.at)
            }
            (Self::Levels(levels), Given::Level(level)) => levels.contains(level),
            _ => false,
        }
    }
}

/// What the columns of a row hold.
type Row = [Given; 4];

fn row() -> impl Strategy<Value = Row> {
    let number = || prop_oneof![(-6i8..7).prop_map(|x| Given::Number(f64::from(x) / 4.0)), Just(Given::Missing)];
    // A number that is a special code is that code.
    let code_of = |given: &Given| SPECIAL.into_iter().find(|(code, _)| Given::Number(*code) == *given);
    let named = move |given: Given| code_of(&given).map_or(given, |(_, name)| Given::Special(name.into()));
    let level = prop::sample::select(vec!["a", "b", "c", "new"]);
    let level = prop_oneof![level.prop_map(|l| Given::Level(l.into())), Just(Given::Missing)];
    let flag = prop::sample::select(vec!["false", "true"]).prop_map(|l| Given::Level(l.into()));
    (number(), number().prop_map(named), level, flag).prop_map(|(x, u, c, flag)| [x, u, c, flag])
}

fn table(row: &Row) -> Table {
    let number = |given: &Given| match given {
        Given::Number(x) => Values::numbers([*x]),
        Given::Special(name) => Values::numbers(SPECIAL.into_iter().filter(|code| code.1 == name).map(|code| code.0)),
        _ => Values::numbers([f64::NAN]),
    };
    let text = |given: &Given| match given {
        Given::Level(l) => Values::text([Some(l.as_str())]),
        _ => Values::text([None::<&str>]),
    };
    Table::new(vec![
        Column::new("x", number(&row[0])),
        Column::new("u", number(&row[1])),
        Column::new("c", text(&row[2])),
        Column::new("flag", text(&row[3])),
        Column::new("e", Values::numbers([2.5])),
        Column::new("o", Values::numbers([0.7])),
    ])
    .unwrap()
}

fn is_met(model: &Model, row: &Row, goal: Goal) -> bool {
    let predicted = model.predict(&table(row)).unwrap();
    let value = predicted.values().last().copied().unwrap();
    match goal {
        Goal::Class(class) => predicted.labels().unwrap()[0] as usize == class,
        Goal::Below(limit) => value < limit,
        Goal::Above(limit) => value > limit,
    }
}

/// Where thresholds and ends of trends cut a column: the number, and whether it belongs below.
fn cuts(model: &Model, column: usize) -> Vec<(f64, bool)> {
    let rules = || model.all_rules();
    let conditions = rules().flat_map(|r| &r.conditions).filter(|c| c.column == NAMES[column]);
    let thresholds = conditions.filter_map(|c| match (c.op, &c.value) {
        (Op::Le, Some(Operand::Number(t))) => Some((*t, true)),
        (Op::Ge, Some(Operand::Number(t))) => Some((*t, false)),
        _ => None,
    });
    let trends = rules().filter_map(|r| r.trend.as_ref()).filter(|t| t.column == NAMES[column]);
    let mut cuts: Vec<(f64, bool)> = thresholds.chain(trends.flat_map(|t| [(t.from, false), (t.to, true)])).collect();
    cuts.sort_by(|a, b| a.partial_cmp(b).unwrap());
    cuts.dedup();
    cuts
}

/// Whether all thresholds of a column are whole numbers, and the row's value is none other.
fn is_whole(model: &Model, row: &Row, column: usize) -> bool {
    let value = row[column].number();
    let cuts = cuts(model, column);
    !cuts.is_empty() && cuts.iter().map(|cut| cut.0).chain(value).all(|x| x.fract() == 0.0)
}

/// Values on, beside and between all thresholds and ends that models have here, and every level. Between two of them a
/// score is a straight line, so that more values would not reach further. They are whole numbers where a column has no
/// others.
fn values(model: &Model, row: &Row, column: usize) -> Vec<Given> {
    let is_plain = |value: &Given| value.number().is_none_or(|x| SpecialCode::place(&special(column), x).is_none());
    all_values(model, row, column).into_iter().filter(is_plain).collect()
}

fn all_values(model: &Model, row: &Row, column: usize) -> Vec<Given> {
    match column {
        0 | 1 if is_whole(model, row, column) => (-3..4).map(|x| Given::Number(f64::from(x))).collect(),
        0 | 1 => {
            let quarters = (-8..9).map(|quarter| f64::from(quarter) / 4.0);
            let beside = cuts(model, column).into_iter().flat_map(|(t, _)| [t.next_down(), t.next_up()]);
            quarters.chain(beside).map(Given::Number).collect()
        }
        2 => LEVELS.iter().chain(&["never"]).map(|l| Given::Level((*l).into())).collect(),
        _ => ["false", "true"].map(|l| Given::Level(l.into())).to_vec(),
    }
}

/// How many cuts of the model lie between two values of a column.
fn steps(model: &Model, column: usize, from: &Given, to: &Given) -> usize {
    let (Given::Number(a), Given::Number(b)) = (from, to) else { return 1 };
    let between = |&(t, below): &(f64, bool)| if below { (*a <= t) != (*b <= t) } else { (*a >= t) != (*b >= t) };
    // Where there are trends, a change inside of an interval is one, too.
    let mut trends = model.all_rules().filter_map(|r| r.trend.as_ref());
    let own = usize::from(trends.any(|t| t.column == NAMES[column]));
    cuts(model, column).into_iter().filter(between).count() + own
}

/// Every inclusion-minimal set of columns by which the goal can be met, with the fewest steps.
fn brute_force(model: &Model, row: &Row, goal: Goal, locked: [bool; 4]) -> BTreeMap<BTreeSet<usize>, usize> {
    // Levels that the model neither lists nor names cannot be changed to.
    let named = |l: &str| {
        let conditions = model.all_rules().flat_map(|r| &r.conditions);
        conditions.into_iter().any(|c| c.column == "c" && matches!(&c.value, Some(Operand::Text(t)) if t == l))
    };
    let choices: Vec<Vec<Given>> = (0..4)
        .map(|c| {
            let others = values(model, row, c).into_iter().filter(|v| *v != row[c] && !locked[c]);
            let others = others.filter(|v| !matches!(v, Given::Level(l) if l == "never" && !named("never")));
            [row[c].clone()].into_iter().chain(others).collect()
        })
        .collect();
    let mut met: BTreeMap<BTreeSet<usize>, usize> = BTreeMap::new();
    for x in &choices[0] {
        for u in &choices[1] {
            for c in &choices[2] {
                for flag in &choices[3] {
                    let changed = [x.clone(), u.clone(), c.clone(), flag.clone()];
                    if is_met(model, &changed, goal) {
                        let set: BTreeSet<usize> = (0..4).filter(|&i| changed[i] != row[i]).collect();
                        let cost = set.iter().map(|&i| steps(model, i, &row[i], &changed[i])).sum();
                        let least = met.entry(set).or_insert(cost);
                        *least = cost.min(*least);
                    }
                }
            }
        }
    }
    let sets: Vec<BTreeSet<usize>> = met.keys().cloned().collect();
    met.retain(|set, _| !sets.iter().any(|other| other != set && other.is_subset(set)));
    met
}

fn goal(model: &Model, pick: usize, limit: f64) -> Goal {
    match (model.classes.len(), pick % 3) {
        (0, 0 | 2) => Goal::Below(limit),
        (0, _) | (2, 2) => Goal::Above(limit),
        (classes, _) => Goal::Class(pick % classes),
    }
}

/// A number nearer to the row's own that would do as well as that of the only change of an answer.
fn nearer_number(model: &Model, row: &Row, answer: &Answer, goal: Goal) -> Option<Given> {
    let [change] = &answer.changes[..] else { return None };
    let (from, to) = (change.from.number()?, change.example.number().unwrap());
    let column = NAMES.iter().position(|name| *name == change.column).unwrap();
    let does_too = |x: &Given| {
        let mut changed = row.clone();
        changed[column] = x.clone();
        // Where nothing slopes, all numbers of the interval are the same.
        let same = model.predict(&table(&changed)).unwrap().values() == &answer.prediction[..];
        !same && is_met(model, &changed, goal)
    };
    (0..200).map(|k| f64::from(k) / 200.0).find_map(|part| {
        let x = Given::Number(from + part * (to - from));
        // Numbers are rounded to a thousandth of their way, which here is 2 at most.
        let is_nearer = (1.0 - part) * (to - from).abs() > 0.002;
        let nearer = is_nearer && steps(model, column, &row[column], &x) == change.steps;
        (nearer && !is_whole(model, row, column) && does_too(&x)).then_some(x)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_least_changes_are_those_of_all_changes(
        model in model(), row in row(), pick in 0usize..6, limit in -1.0..1.5f64, locks in 0u8..16
    ) {
        let locked = [0, 1, 2, 3].map(|c| locks >> c & 1 == 1 && pick % 2 == 0);
        let goal = goal(&model, pick, limit);
        let names = (0..4).filter(|&c| locked[c]).map(|c| NAMES[c].to_owned()).collect();
        let steps_of: Vec<&Size> = model.lists.iter().map(|list| &list.sizes[0]).collect();
        let wish = Wish { goal, locked: names, most: 100 };
        let found = model.recourse(&table(&row), 0, &steps_of, &wish).unwrap();
        prop_assert!(found.complete);
        prop_assert_eq!(found.met, is_met(&model, &row, goal));
        let expected = if found.met { BTreeMap::new() } else { brute_force(&model, &row, goal, locked) };
        let place = |name: &str| NAMES.iter().position(|n| *n == name).unwrap();
        let sets: BTreeMap<BTreeSet<usize>, usize> =
            found.answers.iter().map(|a| (a.changes.iter().map(|c| place(&c.column)).collect(), a.steps)).collect();
        let has_trends = model.all_rules().any(|rule| rule.trend.is_some());
        if model.classes.len() > 2 && has_trends {
            // The numbers at which a class is ahead may lie between those that were tried: what does is below them, but
            // found.
            for (set, cost) in &expected {
                let covers =
                    |(own, steps): (&BTreeSet<usize>, &usize)| own.is_subset(set) && (own != set || steps <= cost);
                prop_assert!(sets.iter().any(covers), "{:?} {} {:?}", set, cost, sets);
            }
            let smaller = |set: &BTreeSet<usize>| sets.keys().any(|other| other != set && other.is_subset(set));
            prop_assert!(sets.keys().all(|set| !smaller(set)));
        } else {
            prop_assert_eq!(&sets, &expected);
        }
        let order: Vec<(usize, usize)> = found.answers.iter().map(|a| (a.changes.len(), a.steps)).collect();
        prop_assert!(order.is_sorted());
        // What is told of the changed row is what is predicted for it.
        for answer in &found.answers {
            let mut changed = row.clone();
            answer.changes.iter().for_each(|c| changed[place(&c.column)] = c.example.clone());
            prop_assert!(is_met(&model, &changed, goal));
            let predicted = model.predict(&table(&changed)).unwrap();
            prop_assert_eq!(predicted.values(), &answer.prediction[..]);
            // All other values that are told would do as well, and a single number could not have stayed nearer.
            for change in &answer.changes {
                for value in values(&model, &row, place(&change.column)).iter().filter(|value| change.to.has(value)) {
                    let mut other = changed.clone();
                    other[place(&change.column)] = value.clone();
                    prop_assert!(is_met(&model, &other, goal), "{} at {:?}", change.to.text(&change.column), value);
                }
            }
            let nearer = nearer_number(&model, &row, answer, goal);
            prop_assert!(nearer.is_none(), "{nearer:?} does, too");
        }
        // Fewer answers are the first of all.
        let few = model.recourse(&table(&row), 0, &steps_of, &Wish { most: 2, ..wish }).unwrap();
        prop_assert_eq!(&few.answers[..], &found.answers[..found.answers.len().min(2)]);
    }
}

fn small(conditions: &str) -> Model {
    let text = format!(
        r#"{{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
        "columns":[{{"name":"x","kind":"numeric"}},{{"name":"c","kind":"categorical","levels":["a","b","c"]}}],
        "rules":[{{"conditions":[{conditions}]}}],
        "path":[{{"rules":1,"intercept":1,"weights":[2],"train_risk":0}}],"chosen":1}}"#
    );
    Model::from_json(&text).unwrap()
}

fn texts(model: &Model, x: f64, goal: Goal) -> Vec<String> {
    let columns = vec![Column::new("x", Values::numbers([x])), Column::new("c", Values::text([Some("a")]))];
    let steps: Vec<&Size> = model.lists.iter().map(|list| &list.sizes[0]).collect();
    let wish = Wish { goal, locked: Vec::new(), most: 5 };
    let found = model.recourse(&Table::new(columns).unwrap(), 0, &steps, &wish).unwrap();
    let text = |a: &Answer| a.changes.iter().map(|c| c.to.text(&c.column)).collect::<Vec<_>>().join(" & ");
    found.answers.iter().map(text).collect()
}

#[test]
fn changes_read_well() {
    let at_least = small(r#"{"column":"x","op":">=","value":3}"#);
    assert_eq!(texts(&at_least, 1.0, Goal::Above(2.0)), ["x >= 3"]);
    assert_eq!(texts(&at_least, 7.0, Goal::Below(2.0)), ["x < 3"]);
    assert_eq!(texts(&at_least, 7.0, Goal::Below(9.0)), [""; 0]);
    let other = small(r#"{"column":"x","op":"<=","value":3},{"column":"c","op":"!=","value":"a"}"#);
    assert_eq!(texts(&other, 4.0, Goal::Above(2.0)), ["x <= 3 & c = b or c"]);
    let gap = small(r#"{"column":"x","op":">=","value":3},{"column":"x","op":"<=","value":7}"#);
    assert_eq!(texts(&gap, 9.0, Goal::Above(2.0)), ["3 <= x <= 7"]);
    let point = small(r#"{"column":"x","op":"<=","value":3},{"column":"x","op":">=","value":3}"#);
    assert_eq!(texts(&point, 4.0, Goal::Above(2.0)), ["x = 3"]);
}

#[test]
fn wishes_that_make_no_sense_are_refused() {
    let model = small(r#"{"column":"x","op":">=","value":3}"#);
    let columns = vec![Column::new("x", Values::numbers([1.0]))];
    let table = Table::new(columns).unwrap();
    let steps: Vec<&Size> = model.lists.iter().map(|list| &list.sizes[0]).collect();
    let refused = |goal, locked: &[&str]| {
        let locked = locked.iter().map(|l| (*l).to_owned()).collect();
        model.recourse(&table, 0, &steps, &Wish { goal, locked, most: 1 }).unwrap_err().to_string()
    };
    assert!(refused(Goal::Class(0), &[]).contains("no class"));
    assert!(refused(Goal::Above(f64::NAN), &[]).contains("not a number"));
    assert!(refused(Goal::Above(1.0), &["z"]).contains("\"z\": no such column"));
}

/// Many columns that no small set of changes can do without: the search ends, and says so.
#[test]
fn a_search_that_is_too_long_ends() {
    let names: Vec<String> = (0..60).map(|i| format!("x{i}")).collect();
    let column = |n: &String| format!(r#"{{"name":"{n}","kind":"numeric"}}"#);
    let rule = |n: &String| format!(r#"{{"conditions":[{{"column":"{n}","op":">=","value":1}}]}}"#);
    let list = |each: &dyn Fn(&String) -> String| names.iter().map(each).collect::<Vec<_>>().join(",");
    let text = format!(
        r#"{{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
        "columns":[{}],"rules":[{}],
        "path":[{{"rules":60,"intercept":0,"weights":[{}],"train_risk":0}}],"chosen":60}}"#,
        list(&column),
        list(&rule),
        (0..60).map(|_| "1").collect::<Vec<_>>().join(",")
    );
    let model = Model::from_json(&text).unwrap();
    let columns = names.iter().map(|n| Column::new(n.as_str(), Values::numbers([0.0]))).collect();
    let table = Table::new(columns).unwrap();
    let steps: Vec<&Size> = model.lists.iter().map(|list| &list.sizes[0]).collect();
    let wish = |limit| Wish { goal: Goal::Above(limit), locked: Vec::new(), most: 1_000_000 };
    let found = model.recourse(&table, 0, &steps, &wish(9.5)).unwrap();
    assert!(!found.complete);
    let pairs = model.recourse(&table, 0, &steps, &wish(1.5)).unwrap();
    assert!(pairs.complete && pairs.answers.len() == 60 * 59 / 2);
}

/// A trend moves as far as it must, rounded on to a readable number, and no further.
#[test]
fn a_trend_moves_to_where_the_goal_is_reached() {
    let text = r#"{"format":"orthorules-model","version":2,"task":"regression","loss":"squared","target":"y",
        "columns":[{"name":"x","kind":"numeric"}],
        "rules":[{"conditions":[],"trend":{"column":"x","from":-0.5,"to":0.5,"zero":0.5,"per":0.25}}],
        "path":[{"rules":1,"intercept":0,"weights":[0.3333333333333333],"train_risk":0}],"chosen":1}"#;
    let model = Model::from_json(text).unwrap();
    let score = |u: f64| (u - 0.5) / 0.25 / 3.0;
    assert_eq!(texts(&model, 0.25, Goal::Below(score(0.06051))), ["-0.5 <= x <= 0.0605"]);
    assert_eq!(texts(&model, 7.0, Goal::Below(score(0.4))), ["-0.5 <= x <= 0.399"]);
    assert_eq!(texts(&model, -7.0, Goal::Above(score(0.25))), ["0.251 <= x <= 0.5"]);
    assert_eq!(texts(&model, 0.25, Goal::Above(0.1)), [""; 0]);
}

/// A class between two others has an interval inside of an interval, and a whole number of it where values are such.
#[test]
fn a_class_may_be_ahead_in_the_middle() {
    let model = |per: f64| {
        let trend = |from: f64, to: f64, zero: f64| {
            format!(r#"{{"conditions":[],"trend":{{"column":"x","from":{from},"to":{to},"zero":{zero},"per":{per}}}}}"#)
        };
        let class = |label: &str, intercept: f64, weight: f64| {
            format!(
                r#"{{"class":"{label}","rules":[{}],
                "path":[{{"rules":1,"intercept":{intercept},"weights":[{weight}],"train_risk":0}}],"chosen":1}}"#,
                trend(0.0, 10.0, 0.0)
            )
        };
        // Ahead: a below 3, b from 3 to 6, c above 6.
        let lists = [class("a", 3.0, -1.0), class("b", 0.0, 0.0), class("c", -6.0, 1.0)].join(",");
        let text = format!(
            r#"{{"format":"orthorules-model","version":2,"task":"classification","loss":"logistic","target":"y",
            "classes":["a","b","c"],"columns":[{{"name":"x","kind":"numeric"}}],"one_vs_rest":[{lists}]}}"#
        );
        Model::from_json(&text).unwrap()
    };
    let exact = model(1.0);
    assert_eq!(texts(&exact, 0.25, Goal::Class(1)), ["3.001 <= x <= 6"]);
    assert_eq!(texts(&exact, 9.5, Goal::Class(1)), ["3.001 <= x <= 6"]);
    assert_eq!(texts(&exact, 1.0, Goal::Class(1)), ["4 <= x <= 6"]);
    assert_eq!(texts(&exact, 1.0, Goal::Class(2)), ["7 <= x <= 10"]);
    assert_eq!(texts(&exact, 20.5, Goal::Class(0)), ["0 <= x <= 3"]);
}
