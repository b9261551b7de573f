//! Trends, from the flag to every output.

use super::bad_input::refused;
use super::{Sandbox, people};
use std::fmt::Write;

/// 600 trips: the price grows with the distance, and beyond 20 km with twice the slope.
fn trips() -> String {
    let mut text = String::from("km,weather,price\n");
    for i in 0..600 {
        let (km, snow) = (i * 7 % 40, i % 5 == 0);
        let price = 5.0 + f64::from(km) + f64::from((km - 20).max(0)) + if snow { 10.0 } else { 0.0 };
        let shown = if i % 50 == 7 { String::new() } else { km.to_string() };
        let _ = writeln!(text, "{shown},{},{}", if snow { "snow" } else { "dry" }, price + f64::from(i % 3) / 10.0);
    }
    text
}

const FIT: [&str; 8] = ["fit", "t.csv", "--target", "price", "--max-complexity", "8", "--cv", "none"];

fn numbers(text: &str) -> Vec<f64> {
    text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_trend_is_told_in_the_units_of_its_column() {
    let sandbox = Sandbox::with(&[("t.csv", &trips()), ("new.csv", "km,weather\n10,dry\n30,dry\n,dry\n99,snow\n")]);
    let printed = sandbox.ok(&[&FIT[..], &["--terms", "hinge", "-o", "m.json"]].concat()).stdout;
    assert!(printed.contains("per 10 of km") || printed.contains("for each 10 that km"), "{printed}");
    let document = sandbox.json(&[&FIT[..], &["--terms", "hinge"]].concat());
    let first = &document["path"][1];
    assert_eq!((first["complexity"].as_u64(), first["trend"]["column"].as_str()), (Some(2), Some("km")), "{first}");
    let model: serde_json::Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
    assert_eq!(model["version"], 3);
    // A file of version 1 cannot say it.
    let mut old = model.clone();
    old.as_object_mut().unwrap().remove("provenance");
    old["version"] = 1.into();
    sandbox.write("old.json", old.to_string());
    refused(&sandbox, &["show", "old.json"], &["version 1", "a trend needs version 2"]);
    let shown = sandbox.ok(&["show", "m.json"]).stdout;
    assert!(
        (shown.contains("per 10 of km") || shown.contains("for each 10 that km")) && !shown.contains("if per"),
        "{shown}"
    );
    assert!(sandbox.json(&["show", "m.json"])["rules"][0]["trend"]["per"].is_number());
    let predicted = numbers(&sandbox.ok(&["predict", "m.json", "new.csv"]).stdout);
    assert!((predicted[0] - 15.0).abs() < 1.0 && (predicted[1] - 45.0).abs() < 1.0, "{predicted:?}");
    let why = sandbox.ok(&["explain", "m.json", "new.csv", "--row", "2"]).stdout;
    assert!(why.contains("per 10 of km") || why.contains("for each 10 that km"), "{why}");
    let explained = sandbox.json(&["explain", "m.json", "new.csv", "--row", "2"]);
    let row = &explained["rows"][0];
    let adds = row["rules"].as_array().unwrap().iter().filter(|r| r["fires"] == true);
    let sum: f64 = adds.map(|r| r.get("adds").unwrap_or(&r["weight"]).as_f64().unwrap()).sum();
    let (score, start) = (row["score"].as_f64().unwrap(), row["intercept"].as_f64().unwrap());
    assert!((start + sum - score).abs() < 1e-9, "{row}");
    let measured = sandbox.json(&["evaluate", "m.json", "t.csv"]);
    let last =
        |document: &serde_json::Value, name: &str| document["path"].as_array().unwrap().last().unwrap()[name].as_f64();
    let (risk, train) = (last(&measured, "risk").unwrap(), last(&document, "train_risk").unwrap());
    assert!((risk - train).abs() < 1e-9, "{risk} {train}");
    // Without the flag, and without folds, there are none.
    sandbox.ok(&[&FIT[..], &["-o", "plain.json"]].concat());
    sandbox.ok(&[&FIT[..], &["--terms", "rules", "-o", "rules.json"]].concat());
    let fitted = |name: &str| {
        let mut model: serde_json::Value = serde_json::from_str(&sandbox.read(name)).unwrap();
        model.as_object_mut().unwrap().remove("provenance");
        model
    };
    assert_eq!(fitted("plain.json"), fitted("rules.json"));
    assert!(!sandbox.read("plain.json").contains("\"trend\""));
}

/// Reads the rows of a table, and compares what modules and queries say of them with the predictions.
const CHECK: &str = r#"
import csv, importlib.util, sqlite3, subprocess, sys
spec = importlib.util.spec_from_file_location("m", "m.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
rows = [{k: v or None for k, v in row.items()} for row in csv.DictReader(open("new.csv"))]
wanted = [float(line.rsplit(",", 1)[-1]) for line in open("p.csv").read().split()[1:]]
for row, want in zip(rows, wanted, strict=True):
    assert module.predict(row) == want, (row, module.predict(row), want)
    reasons = module.reasons(row)
    assert abs(module._SCORES[0][1] + sum(c for _, c in reasons) - want) < 1e-9, reasons
    assert sorted(reasons, key=lambda r: -abs(r[1])) == reasons, reasons
base = sqlite3.connect(":memory:")
base.execute("CREATE TABLE data (km REAL, weather TEXT)")
base.executemany("INSERT INTO data VALUES (?, ?)", [(r["km"], r["weather"]) for r in rows])
cursor = base.execute(open("m.sql").read())
place = [d[0] for d in cursor.description].index("prediction")
for found, want in zip(cursor.fetchall(), wanted, strict=True):
    assert abs(found[place] - want) <= 1e-12 * abs(want), (found, want)
if len(sys.argv) > 1:
    fields = {"km": lambda r: r["km"] or "NAN", "weather": lambda r: '"%s"' % r["weather"]}
    members = open("m.c").read().split("typedef struct {")[1].split("}")[0].splitlines()
    order = [line.split("/* ")[1].split(" ")[0] for line in members if "/*" in line]
    print_row = "{orthorules_row r = {%s}; printf(\"%%.17g\\n\", orthorules_predict(&r));}"
    body = "".join(print_row % ", ".join(fields[f](r) for f in order) for r in rows)
    open("main.c", "w").write('#include <stdio.h>\n#include "m.c"\nint main(void) {%s return 0;}' % body)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2"]
    subprocess.run([sys.argv[1], *flags, "main.c", "-lm", "-o", "main"], check=True)
    found = [float(x) for x in subprocess.run(["./main"], capture_output=True, text=True, check=True).stdout.split()]
    assert found == wanted, (found, wanted)
"#;

#[test]
fn exports_give_the_same_numbers() {
    let sandbox = Sandbox::with(&[("t.csv", &trips()), ("check.py", CHECK)]);
    sandbox.ok(&[&FIT[..], &["--terms", "hinge", "-q", "-o", "m.json"]].concat());
    let mut table = String::from("km,weather\n");
    for km in ["", "-5", "0", "1.25", "19.99", "20", "20.5", "31", "38.7", "500"] {
        let _ = writeln!(table, "{km},dry\n{km},snow");
    }
    sandbox.write("new.csv", &table);
    sandbox.write("p.csv", &sandbox.ok(&["predict", "m.json", "new.csv", "-q"]).stdout);
    let files = [
        ("python", "m.py"),
        ("javascript", "m.mjs"),
        ("c", "m.c"),
        ("sql", "m.sql"),
        ("excel", "m.xlsx"),
        ("pmml", "m.pmml"),
        ("onnx", "m.onnx"),
    ];
    for (target, file) in files {
        sandbox.ok(&["export", "m.json", "--to", target, "-o", file]);
    }
    let has =
        |program: &str| std::process::Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !has("python3") {
        println!("SKIPPED: exports were not run, since python3 is not installed");
        return;
    }
    let mut command = std::process::Command::new("python3");
    command.current_dir(sandbox.path("")).arg("check.py");
    if has("cc") {
        command.arg("cc");
    }
    let run = command.output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    if has("node") {
        let script = "import { predict } from './m.mjs'; import fs from 'fs'; \
            const lines = fs.readFileSync('new.csv', 'utf8').trim().split('\\n').slice(1); \
            for (const line of lines) { const [km, weather] = line.split(','); \
            console.log(predict({ km: km === '' ? null : Number(km), weather })); }";
        sandbox.write("run.mjs", script);
        let run = std::process::Command::new("node").current_dir(sandbox.path("")).arg("run.mjs").output().unwrap();
        let found: Vec<f64> = String::from_utf8_lossy(&run.stdout).lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(found, numbers(&sandbox.read("p.csv")), "{}", String::from_utf8_lossy(&run.stderr));
    }
}

/// The page has the trend, and a change of the prediction is one along its line.
#[test]
fn reports_and_recourse_know_trends() {
    let sandbox = Sandbox::with(&[("t.csv", &trips())]);
    sandbox.ok(&[&FIT[..], &["--terms", "linear", "-q", "-o", "m.json"]].concat());
    sandbox.ok(&["report", "m.json", "t.csv", "-o", "r.html", "-q"]);
    assert!(sandbox.read("r.html").contains("\"trend\":{\"column\":\"km\""));
    sandbox.write("one.csv", "km,weather\n20,dry\n");
    let minutes = numbers(&sandbox.ok(&["predict", "m.json", "one.csv", "-q"]).stdout)[0];
    let goal = format!("{}", minutes + 0.5);
    let told = sandbox.ok(&["explain", "m.json", "one.csv", "--row", "1", "--above", &goal, "-q"]).stdout;
    assert!(told.contains("<= km"), "{told}");
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let sandbox = Sandbox::with(&[("t.csv", &trips()), ("people.csv", &people())]);
    let text = "colour,y\nred,1\nblue,2\nred,3\nblue,1\nred,2\nblue,2\n";
    sandbox.write("text.csv", text);
    let fit = |more: &[&'static str]| -> Vec<&'static str> { [&FIT[..], more].concat() };
    let none = ["fit", "text.csv", "--target", "y", "--terms", "linear"];
    refused(&sandbox, &none, &["columns of numbers", "leave out"]);
    refused(&sandbox, &fit(&["--terms", "hinge", "--search", "exact"]), &["terms hinge", "search exact"]);
    refused(&sandbox, &fit(&["--terms", "linear", "--preset", "cob"]), &["terms linear", "objective onb"]);
    refused(&sandbox, &fit(&["--terms", "linear", "--preset", "sirus"]), &["terms linear", "sirus"]);
    refused(&sandbox, &fit(&["--terms", "linear", "--multiclass", "shared"]), &["terms linear", "multiclass shared"]);
    refused(&sandbox, &fit(&["--terms", "curves"]), &["curves"]);
    sandbox.ok(&fit(&["--terms", "linear", "-q", "-o", "m.json"]));
    let hostile = sandbox.read("m.json");
    for (from, to) in
        [("\"per\": 10.0", "\"per\": 0.0"), ("\"column\": \"km\"", "\"column\": \"weather\""), ("\"per\"", "\"step\"")]
    {
        assert!(hostile.contains(from), "{from}: {hostile}");
        sandbox.write("h.json", hostile.replace(from, to));
        refused(&sandbox, &["show", "h.json"], &["h.json"]);
    }
}

#[test]
fn a_streamed_file_may_have_trends() {
    let sandbox = Sandbox::with(&[("t.csv", &trips())]);
    let model = |name: &str, more: &[&str]| {
        let printed = sandbox.ok(&[&FIT[..], &["--terms", "hinge", "-o", name], more].concat()).stdout;
        assert!(printed.contains("per 10 of km") || printed.contains("for each 10 that km"), "{printed}");
        std::fs::read_to_string(sandbox.path(name)).unwrap()
    };
    assert_eq!(model("a.json", &[]), model("b.json", &["--memory-limit", "0"]));
}
