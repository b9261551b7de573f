//! A score that is computed from the printed lines alone is the score of the program.

use super::Sandbox;
use std::fmt::Write;

/// The next number below `n` of a fixed sequence.
fn draw(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % n
}

/// A model of one rule and trends of every shape, some written as older files have them.
fn model(state: &mut u64) -> String {
    let (mut rules, mut weights) = (String::new(), Vec::new());
    for shape in 0..6 {
        let from = draw(state, 40) as f64 / 10.0 - 2.0;
        let to = from + 0.5 + draw(state, 30) as f64 / 10.0;
        let per = [0.1, 0.5, 1.0][draw(state, 3) as usize];
        let (zero, per) = match shape {
            0 => (from, per),
            1 => (to, per),
            2 => (to, -per),
            _ => (f64::midpoint(from, to), per),
        };
        if shape < 4 {
            let _ = write!(
                rules,
                r#"{{"conditions":[],
                    "trend":{{"column":"x","from":{from},"to":{to},"zero":{zero},"per":{per}}},"covered":9}},"#
            );
        } else {
            let op = [">=", "<="][shape % 2];
            let _ = write!(rules, r#"{{"conditions":[{{"column":"z","op":"{op}","value":{from}}}],"covered":5}},"#);
        }
        weights.push((draw(state, 4000) as f64 - 2000.0) / 1000.0 + 0.0001);
    }
    format!(
        r#"{{"format":"orthorules-model","version":2,"task":"regression","loss":"squared","target":"y","rows":10,
        "columns":[{{"name":"x","kind":"numeric"}},{{"name":"z","kind":"numeric"}}],
        "rules":[{}],"path":[{{"rules":6,"intercept":0.25,"weights":{weights:?},"train_risk":0.5}}],"chosen":6}}"#,
        rules.trim_end_matches(',')
    )
}

fn number(text: &str) -> f64 {
    text.trim_end_matches([',', ')']).parse().unwrap_or_else(|_| panic!("{text}"))
}

/// How many steps a line counts for these numbers, as its words say.
fn steps(words: &[&str], x: f64, z: f64) -> f64 {
    match words {
        ["always", ..] => 1.0,
        ["if", "z", ">=", t, ..] => f64::from(z >= number(t)),
        ["if", "z", "<=", t, ..] => f64::from(z <= number(t)),
        ["for", "each", per, "that", "x", "is", "above", t, "up", "to", end, ..] => {
            (x.min(number(end)) - number(t)).max(0.0) / number(per)
        }
        ["for", "each", per, "that", "x", "is", "below", t, "down", "to", end, ..] => {
            (number(t) - x.max(number(end))).max(0.0) / number(per)
        }
        ["per", per, "of", "x,", "from", low, "to", high, "(0", "at", zero, ..] => {
            (x.max(number(low)).min(number(high)) - number(zero)) / number(per)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_printed_lines_give_the_score() {
    let mut state = 7;
    for _ in 0..8 {
        let mut table = String::from("x,z\n");
        let rows: Vec<(f64, f64)> = (0..12)
            .map(|_| (draw(&mut state, 100) as f64 / 10.0 - 4.0, draw(&mut state, 100) as f64 / 10.0 - 4.0))
            .collect();
        rows.iter().for_each(|(x, z)| writeln!(table, "{x},{z}").unwrap());
        let sandbox = Sandbox::with(&[("m.json", &model(&mut state)), ("t.csv", &table)]);
        let shown = sandbox.ok(&["show", "m.json"]).stdout;
        let lines: Vec<Vec<&str>> = shown
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<&str>>())
            .filter(|words| words.first().is_some_and(|word| word.starts_with(['+', '-'])))
            .collect();
        assert_eq!(lines.len(), 7, "{shown}");
        let predicted = sandbox.ok(&["predict", "m.json", "t.csv", "-q"]).stdout;
        for (line, (x, z)) in predicted.lines().skip(1).zip(&rows) {
            let (mut score, mut doubt) = (0.0, 1e-9);
            for words in &lines {
                let decimals = words[0].split_once('.').map_or(0, |(_, tail)| tail.len() as i32);
                let steps = steps(&words[1..], *x, *z);
                score += number(words[0]) * steps;
                doubt += 0.5 * 10f64.powi(-decimals) * steps.abs();
            }
            let expected = number(line.rsplit(',').next().unwrap());
            assert!((score - expected).abs() <= doubt, "x {x}, z {z}: {score} for {expected}\n{shown}");
        }
    }
}

/// 600 people; most are not of one of many states, and a trend and a flag matter.
fn states() -> String {
    let mut state = 11;
    let mut text = String::from("state,flag,x,y\n");
    for i in 0..600 {
        let name = if i % 50 == 0 { "AK" } else { ["CA", "NY", "TX"][i % 3] };
        let (flag, x) = (draw(&mut state, 5) / 4, draw(&mut state, 1000) as f64 / 500.0);
        let y =
            3.0 * x - 4.0 * flag as f64 - if name == "AK" { 9.0 } else { 0.0 } + draw(&mut state, 10) as f64 / 100.0;
        let _ = writeln!(text, "{name},{flag},{x},{y:.3}");
    }
    text
}

#[test]
fn rules_for_nearly_all_rows_name_the_exception() {
    let model = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
        "rows":100,"columns":[{"name":"state","kind":"categorical","levels":["AK","CA","NY"],"missing":0}],
        "rules":[{"conditions":[{"column":"state","op":"!=","value":"AK"}],"covered":98},
                 {"conditions":[{"column":"state","op":"!=","value":"NY"}],"covered":20}],
        "path":[{"rules":2,"intercept":0.25,"weights":[1.2,-1],"train_risk":0.5}],"chosen":2}"#;
    let sandbox = Sandbox::with(&[("m.json", model), ("t.csv", "state\nCA\n")]);
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    assert!(shown.contains("  unless state = AK ") && shown.contains("  if state != NY "), "{shown}");
    assert_eq!(sandbox.json(&["show", "m.json"])["rules"][0]["rule"], "state != AK");
    assert!(sandbox.ok(&["explain", "m.json", "t.csv"]).stdout.contains("since state != AK"));
    // Without a value neither holds.
    sandbox.write("m.json", model.replace("\"missing\":0", "\"missing\":3"));
    assert!(sandbox.ok(&["show", "m.json"]).stdout.contains("  if state != AK "));
}

#[test]
fn trends_are_not_called_rules() {
    let sandbox = Sandbox::with(&[("t.csv", &states())]);
    let fit = ["fit", "t.csv", "--target", "y", "--terms", "linear", "--cv", "none", "--max-complexity", "6", "-v"];
    let run = sandbox.ok(&[&fit[..], &["-o", "m.json"]].concat());
    assert!(run.stdout.contains("2 rules and 1 trend, complexity 6"), "{}", run.stdout);
    assert!(run.stdout.contains("  terms  complexity  "), "{}", run.stdout);
    assert!(run.stderr.contains("term 1: per ") && run.stderr.contains("rule 2: "), "{}", run.stderr);
    let shown = sandbox.ok(&["show", "m.json", "--complexity", "2"]).stdout;
    assert!(shown.contains("\n1 trend, complexity 2\n"), "{shown}");
    sandbox.write("new.csv", "state,flag,x\nCA,0,\n");
    let why = sandbox.ok(&["explain", "m.json", "new.csv"]).stdout;
    assert!(
        why.contains("2 rules and 1 trend do not apply") || why.contains("1 rule and 1 trend do not apply"),
        "{why}"
    );
    assert!(sandbox.ok(&["evaluate", "m.json", "t.csv"]).stdout.contains("  terms  complexity  "));
}

#[test]
fn a_change_of_a_flag_is_to_one_of_its_values() {
    let sandbox = Sandbox::with(&[("t.csv", &states()), ("new.csv", "state,flag,x\nCA,1,1\nCA,0,1\n")]);
    sandbox.ok(&["fit", "t.csv", "--target", "y", "--max-complexity", "12", "-o", "m.json"]);
    for (row, goal, limit, change) in
        [("1", "--above", "2.5", "flag from 1 to flag = 0"), ("2", "--below", "0", "flag from 0 to flag = 1")]
    {
        let why = sandbox.ok(&["explain", "m.json", "new.csv", "--row", row, goal, limit, "--lock", "state,x"]).stdout;
        assert!(why.contains(change), "{why}");
    }
}

#[test]
fn squared_losses_are_told_in_the_units_of_the_target() {
    let sandbox = Sandbox::with(&[("t.csv", &states())]);
    let fit = ["fit", "t.csv", "--target", "y", "--cv", "3", "--max-complexity", "4"];
    let run = sandbox.ok(&[&fit[..], &["-o", "m.json"]].concat()).stdout;
    let document = sandbox.json(&fit);
    let line = |text: &str| -> Vec<f64> {
        let line = text.lines().find(|line| line.ends_with("  chosen")).unwrap();
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let chosen = document["path"]
        .as_array()
        .unwrap()
        .iter()
        .rfind(|size| size["complexity"] == document["chosen"]["complexity"]);
    let of = |name: &str| chosen.unwrap()[name].as_f64().unwrap();
    let constant = document["path"][0]["train_risk"].as_f64().unwrap();
    let told = line(&run);
    let wanted = [
        of("train_risk").sqrt(),
        1.0 - of("train_risk") / constant,
        of("cv_risk").sqrt(),
        of("cv_se") / (2.0 * of("cv_risk").sqrt()),
    ];
    assert!(run.contains("  train RMSE  train R²  cv RMSE") && run.contains("the RMSE by "), "{run}");
    for (told, wanted) in told[2..].iter().zip(wanted) {
        assert!((told / wanted - 1.0).abs() < 0.006, "{told} for {wanted}: {run}");
    }
    // What was measured says the same, and no offset has an R².
    let measured = line(&sandbox.ok(&["evaluate", "m.json", "t.csv"]).stdout);
    assert!((measured[2] - told[2]).abs() < 1e-9 && (measured[4] - told[3]).abs() < 1e-9, "{measured:?}");
    let beside = sandbox.ok(&[&fit[..], &["--offset", "x"]].concat()).stdout;
    assert!(beside.contains("  train RMSE  relative  cv RMSE") && !beside.contains("R²"), "{beside}");
}

/// Numbers that people read have few digits: those of a table that are not round.
#[test]
fn no_number_has_many_digits() {
    let mut state = 5;
    let mut text = String::from("age,z,kind,amount,rate,hit\n");
    for i in 0..300 {
        let age = draw(&mut state, 80_000_000) as f64 / 1_000_003.0;
        let amount = 8_867_190.123 * (1.0 + age) + draw(&mut state, 1_000_000) as f64;
        let (rate, hit) =
            (draw(&mut state, 1000) as f64 / 3e7, if age + f64::from(i % 7) > 42.0 { "yes" } else { "no" });
        let _ = writeln!(text, "{age},{rate},k{},{amount},{rate},{hit}", i % 4);
    }
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    for target in ["amount", "rate", "hit"] {
        let fit = ["fit", "t.csv", "--target", target, "--cv", "3", "--max-complexity", "14", "-o", "m.json"];
        let others = ["amount", "rate", "hit"].into_iter().filter(|name| *name != target).collect::<Vec<_>>().join(",");
        let fitted = sandbox.ok(&[&fit[..], &["--ignore", &others]].concat()).stdout;
        let measured = sandbox.ok(&["evaluate", "m.json", "t.csv"]).stdout;
        let explained = sandbox.ok(&["explain", "m.json", "t.csv", "--row", "9"]).stdout;
        for (text, word) in
            [&fitted, &measured, &explained].iter().flat_map(|t| t.split_whitespace().map(move |w| (t, w)))
        {
            let number = word.trim_matches(|c: char| !c.is_ascii_digit() && c != '.').split('e').next().unwrap();
            let digits: String = number.chars().filter(char::is_ascii_digit).collect();
            let digits = digits.trim_start_matches('0');
            let kept = if number.contains('.') { digits } else { digits.trim_end_matches('0') };
            // Of the numbers of the table the digits before the point are kept.
            let whole = number.split('.').next().unwrap().len();
            assert!(kept.len() <= 4.max(whole.min(8)), "{word} in {text}");
        }
    }
}
