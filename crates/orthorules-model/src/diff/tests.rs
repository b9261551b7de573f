use super::*;
use crate::data::table::{Column, Values};
use crate::model::Predictions;
use proptest::prelude::*;

const ABOUT: &str = r#""format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
    "classes":[],"columns":[{"name":"age","kind":"numeric"},{"name":"sex","kind":"categorical","levels":["f","m"]}]"#;

/// A rule of up to two thresholds of `age` and a level of `sex`, with its weight.
type Draw = (Option<i8>, Option<i8>, Option<bool>, i8);

fn rule((least, most, sex, _): Draw) -> String {
    let bound = |op: &str, t: Option<i8>| t.map(|t| format!(r#"{{"column":"age","op":"{op}","value":{t}}}"#));
    let level = sex.map(|m| format!(r#"{{"column":"sex","op":"=","value":"{}"}}"#, if m { "m" } else { "f" }));
    let parts: Vec<String> = [bound(">=", least), bound("<=", most), level].into_iter().flatten().collect();
    format!(r#"{{"conditions":[{}]}}"#, parts.join(","))
}

fn model(intercept: i8, rules: &[Draw]) -> Model {
    let texts: Vec<String> = rules.iter().copied().map(rule).collect();
    let weights: Vec<String> = rules.iter().map(|rule| rule.3.to_string()).collect();
    let count = rules.len();
    let json = format!(
        r#"{{{ABOUT},"rules":[{}],"path":[{{"rules":{count},"intercept":{intercept},"weights":[{}],"train_risk":1}}],
            "chosen":{count}}}"#,
        texts.join(","),
        weights.join(",")
    );
    Model::from_json(&json).unwrap()
}

fn diff(before: &Model, after: &Model) -> ModelDiff {
    ModelDiff::new((before, before.chosen()), (after, after.chosen())).unwrap()
}

#[test]
fn rules_come_go_move_and_change_their_weights() {
    let before = model(1, &[(Some(5), None, None, 2), (None, Some(9), Some(true), 3), (None, None, Some(false), 4)]);
    let after = model(1, &[(None, Some(8), Some(true), 3), (Some(5), None, None, -2), (None, Some(70), None, 1)]);
    let found = diff(&before, &after);
    let [score] = &found.scores[..] else { panic!("{found:?}") };
    let told: Vec<_> = score.rules.iter().map(|r| (r.change, r.rule.as_str(), r.was.as_deref())).collect();
    assert_eq!(
        told,
        [
            (ChangeKind::Moved, "age <= 8 & sex = m", Some("age <= 9 & sex = m")),
            (ChangeKind::Weight, "age >= 5", None),
            (ChangeKind::Came, "age <= 70", None),
            (ChangeKind::Went, "sex = f", None),
        ]
    );
    assert_eq!((score.rules[1].weight_before, score.rules[1].weight_after), (Some(2.0), Some(-2.0)));
    assert_eq!((score.unchanged, found.settings.len()), (0, 0));
}

#[test]
fn the_nearest_pair_is_the_one_that_moved() {
    let before = model(0, &[(Some(10), None, None, 1), (Some(60), None, None, 1)]);
    let after = model(0, &[(Some(61), None, None, 1)]);
    let found = diff(&before, &after);
    assert_eq!(found.scores[0].rules[0].was.as_deref(), Some("age >= 60"));
    assert_eq!(
        (found.scores[0].rules[1].change, found.scores[0].rules[1].rule.as_str()),
        (ChangeKind::Went, "age >= 10")
    );
}

#[test]
fn models_of_other_targets_are_not_comparable() {
    let (before, mut after) = (model(0, &[]), model(0, &[]));
    after.target = "z".into();
    let error = ModelDiff::new((&before, before.chosen()), (&after, after.chosen())).unwrap_err();
    assert!(matches!(error, Error::NotComparable(_)) && error.to_string().contains("\"y\" and the second \"z\""));
}

#[test]
fn properties_that_differ_are_told() {
    let (before, mut after) = (model(0, &[]), model(0, &[]));
    after.rows = Some(10);
    after.columns.pop();
    let told: Vec<_> = diff(&before, &after).settings.into_iter().map(|s| (s.name, s.before, s.after)).collect();
    let owned = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let (rows, columns) = (owned("unknown", "10"), owned("sex", "none of its own"));
    assert_eq!(told, [("training rows", rows.0, rows.1), ("columns", columns.0, columns.1)]);
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let threshold = || prop::option::of(-3i8..3);
    prop::collection::vec((threshold(), threshold(), prop::option::of(any::<bool>()), -4i8..5), 0..5)
}

/// The rules of a model without those that another rule repeats, which a file may not have.
fn distinct(mut rules: Vec<Draw>) -> Vec<Draw> {
    let mut known = std::collections::HashSet::new();
    rules.retain(|&(a, b, c, _)| known.insert((a, b, c)));
    rules
}

proptest! {
    /// What rows change is what the predictions of the two models say, and a model does not differ from itself.
    #[test]
    fn changes_of_rows_are_those_of_predictions(
        (a, b) in (draws(), draws()),
        (i, j) in (-2i8..3, -2i8..3),
        rows in prop::collection::vec((-4i8..4, 0u8..3), 1..40),
    ) {
        let (before, after) = (model(i, &distinct(a)), model(j, &distinct(b)));
        let sex = |&(_, s): &(i8, u8)| ["f", "m"].get(s as usize).copied();
        let table = Table::new(vec![
            Column::new("age", Values::numbers(rows.iter().map(|row| f64::from(row.0)))),
            Column::new("sex", Values::text(rows.iter().map(sex))),
        ])?;
        let on_rows = |a: &Model, b: &Model| ModelDiff::on_rows((a, a.chosen()), (b, b.chosen()), (&table, &table), 3);
        prop_assert!(on_rows(&before, &before)?.is_empty());
        let diff = on_rows(&before, &after)?;
        let found = diff.rows.as_ref().unwrap();
        let numbers = |model: &Model| match model.predict(&table) {
            Ok(Predictions::Numbers(numbers)) => numbers,
            other => panic!("{other:?}"),
        };
        let changes: Vec<f64> = numbers(&before).iter().zip(numbers(&after)).map(|(a, b)| (a - b).abs()).collect();
        prop_assert_eq!(found.rows_changed, changes.iter().filter(|&&c| c > 0.0).count());
        prop_assert_eq!(found.scores_changed, Some(found.rows_changed));
        prop_assert_eq!(found.largest_change, changes.iter().copied().fold(0.0, f64::max));
        let mean = changes.iter().sum::<f64>() / changes.len() as f64;
        prop_assert!((found.mean_size - mean).abs() < 1e-12);
        prop_assert_eq!(found.examples.len(), found.rows_changed.min(3));
        for row in &found.examples {
            let (a, b) = (&row.rules_before, &row.rules_after);
            let sum = |rules: &Vec<(String, f64)>| rules.iter().map(|rule| rule.1).sum::<f64>();
            prop_assert_eq!((row.before, row.after), (f64::from(i) + sum(a), f64::from(j) + sum(b)));
        }
    }

    /// Each rule of either model is told once, or stayed as it was.
    #[test]
    fn every_rule_is_told_once((a, b) in (draws(), draws())) {
        let (a, b) = (distinct(a), distinct(b));
        let (before, after) = (model(0, &a), model(0, &b));
        let found = diff(&before, &after);
        let changes = found.scores.first().map_or(&[][..], |score| &score.rules);
        let unchanged = a.iter().filter(|rule| b.contains(rule)).count();
        let old = changes.iter().filter(|change| change.weight_before.is_some()).count();
        let new = changes.iter().filter(|change| change.weight_after.is_some()).count();
        prop_assert_eq!((old + unchanged, new + unchanged), (a.len(), b.len()));
    }
}
