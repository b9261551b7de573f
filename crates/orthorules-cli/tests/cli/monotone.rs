//! `--monotone`: the promise holds in what is predicted, and what cannot be promised is refused.

use crate::bad_input::refused;
use crate::{Sandbox, claims, flowers, houses};
use std::fmt::Write;

/// Predictions for `power` from -2 to 12 in steps of ½, in one region.
fn along_power(sandbox: &Sandbox, rules: &str) -> Vec<f64> {
    let mut text = String::from("power,region,years\n");
    (-4..=24).for_each(|i| _ = writeln!(text, "{},north,1", f64::from(i) / 2.0));
    sandbox.write("grid.csv", text);
    let run = sandbox.ok(&["predict", "m.json", "grid.csv", "--rules", rules]);
    run.stdout.lines().skip(1).map(|l| l.split(',').next_back().unwrap().parse().unwrap()).collect()
}

#[test]
fn predictions_never_turn() {
    let sandbox = Sandbox::with(&[("t.csv", &claims())]);
    let fit =
        ["fit", "t.csv", "--target=claims", "--task=poisson", "--exposure=years", "--max-rules=6", "-o", "m.json"];
    // The count rises with power, so that asking for the opposite leaves the column without use.
    for (direction, search) in [("+1", "greedy"), ("+1", "exact"), ("-1", "beam")] {
        let flags = [format!("--monotone=power={direction}"), format!("--search={search}")];
        sandbox.ok(&[&fit[..], &[&flags[0], &flags[1]]].concat());
        let model: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
        assert_eq!(model["columns"][0]["monotone"], if direction == "+1" { 1 } else { -1 });
        for size in model["path"].as_array().unwrap() {
            let predicted = along_power(&sandbox, &size["rules"].to_string());
            let turns = |w: &[f64]| if direction == "+1" { w[1] < w[0] } else { w[1] > w[0] };
            assert!(!predicted.windows(2).any(turns), "{direction} {search} {predicted:?}");
            if direction == "+1" && size["rules"].as_u64() > Some(0) {
                assert!(predicted.last() > predicted.first());
            }
        }
    }
    // As it is when nothing is asked for.
    sandbox.ok(&fit);
    assert!(!sandbox.read("m.json").contains("monotone"));
}

#[test]
fn threads_do_not_matter() {
    let sandbox = Sandbox::with(&[("t.csv", &houses())]);
    let fit = ["fit", "t.csv", "--target=price", "--monotone=size=-1", "--cv=3", "-o", "m.json"];
    let model = |threads: &str| {
        sandbox.ok(&[&fit[..], &["--threads", threads]].concat());
        sandbox.read("m.json")
    };
    assert_eq!(model("1"), model("3"));
}

#[test]
fn what_cannot_be_promised_is_refused() {
    let sandbox = Sandbox::with(&[("t.csv", &houses()), ("f.csv", &flowers())]);
    let cases: &[(&[&str], &[&str])] = &[
        (&["--monotone=size=2"], &["--monotone", "+1 or -1", "2"]),
        (&["--monotone=size"], &["--monotone", "COL=+1"]),
        (&["--monotone=size=1,size=-1"], &["--monotone", "\"size\"", "both"]),
        (&["--monotone=size=1", "--preset=sirus"], &["sirus", "monotone"]),
        (&["--monotone=garden=1"], &["t.csv", "monotone", "\"garden\"", "numeric"]),
        (&["--monotone=price=1"], &["t.csv", "monotone \"price\"", "\"size\""]),
    ];
    for (flags, parts) in cases {
        refused(&sandbox, &[&["fit", "t.csv", "--target=price", "-o", "m.json"], *flags].concat(), parts);
    }
    let kinds = ["fit", "f.csv", "--target=kind", "--monotone=length=1", "-o", "m.json"];
    refused(&sandbox, &kinds, &["monotone", "3 classes"]);
}
