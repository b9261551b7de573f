//! What a fit notices of its columns, and that its hints can be pasted.

use crate::Sandbox;
use serde_json::{Value, json};
use std::fmt::Write;

/// 400 rows with words for missing values in numbers, text and dates; `at` tells which of them are the first and the
/// last.
fn gaps(at: std::ops::Range<u32>, separator: char) -> String {
    let mut text = String::from("n,kind,when,full,skipped,y\n");
    for i in at {
        let n = match i % 10 {
            3 => "NA".into(),
            4 => " NaN ".into(),
            5 => String::new(),
            _ => (i % 37).to_string(),
        };
        let kind = ["None", "basic", "plus", "\"NA\""][(i % 4) as usize];
        let when = if i % 8 == 0 { "?".into() } else { format!("2024-{:02}-03", 1 + i % 12) };
        let _ = writeln!(text, "{n},{kind},{when},{},null,{}", i % 7, i % 37 / 9);
    }
    text.replace(',', &separator.to_string())
}

/// The note of each column in the table that a fit prints, and its words for missing values.
fn notes(table: &Value) -> Vec<(String, String, Value)> {
    let lines = table.as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lines.map(|line| (text(&line["name"]), text(&line["note"]), line["missing_words"].clone())).collect()
}

#[test]
fn words_for_missing_values_are_counted_however_a_table_is_read() {
    let whole = gaps(0..400, ',');
    let sandbox = Sandbox::with(&[("t.csv", &whole), ("t.tsv", &gaps(0..400, '\t'))]);
    std::fs::create_dir(sandbox.path("parts")).unwrap();
    sandbox.write("parts/a.csv", gaps(0..150, ','));
    sandbox.write("parts/b.csv", gaps(150..400, ','));
    let fit = |table: &str, flags: &[&str]| {
        sandbox.json(&[&["fit", table, "--target", "y", "--ignore", "skipped", "--max-rules", "2"], flags].concat())
    };
    let first = notes(&fit("t.csv", &["--cv", "2"])["table"]);
    let of = |name: &str| first.iter().find(|line| line.0 == name).unwrap();
    let said = |name: &str, note: &str, words: &Value| {
        assert_eq!((of(name).1.as_str(), &of(name).2), (note, words), "{name}");
    };
    said("n", "\"NA\" in 40 and \"NaN\" in 40 cells count as missing", &json!({"NA": 40, "NaN": 40}));
    said("kind", "\"NA\" in 100 and \"None\" in 100 cells count as missing", &json!({"NA": 100, "None": 100}));
    said("when.month", "month of when; \"?\" in 50 cells counts as missing", &json!({"?": 50}));
    said("full", "", &Value::Null);
    assert!(first.iter().all(|line| line.0 != "skipped"));
    for (table, flags) in [
        ("t.csv", &["--cv", "none"][..]),
        ("t.csv", &["--memory-limit", "1kB"]),
        ("t.csv", &["--threads", "1"]),
        ("t.csv", &["--threads", "7", "--cv", "2"]),
        ("t.tsv", &[]),
        ("parts", &["--cv", "2"]),
        ("parts", &["--memory-limit", "1GB"]),
        ("t.csv", &["--task", "classification"]),
        ("t.csv", &["--task", "classification", "--multiclass", "one-vs-rest", "--memory-limit", "1GB"]),
    ] {
        assert_eq!(notes(&fit(table, flags)["table"]), first, "{table} {flags:?}");
    }
    let mut wide = sandbox.command(&["fit", "t.csv", "--target", "y", "--ignore", "skipped", "--max-rules", "2"]);
    let output = wide.env("COLUMNS", "200").output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(stdout.contains("\"NA\" in 100 and \"None\" in 100 cells count as missing"), "{stdout}");
    assert!(!stderr.contains("as missing"), "{stderr}");
    // What is a value like any other, or was named as missing, is no news.
    let kept = notes(&fit("t.csv", &["--keep-values", "None,NaN", "--na-values", "NA"])["table"]);
    assert!(kept.iter().all(|line| line.1.is_empty() || line.0.starts_with("when")), "{kept:?}");
}

#[test]
fn words_of_the_target_are_told_where_rows_are_left_out() {
    let text = (0..300).fold(String::from("x,y\n"), |text, i| {
        format!("{text}{},{}\n", i % 23, if i % 3 == 0 { "None" } else { ["a", "b"][usize::from(i % 23 > 11)] })
    });
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    for more in [&["--cv", "2"][..], &["--memory-limit", "1GB", "--cv", "none"]] {
        let fit = [&["fit", "t.csv", "--target", "y", "--drop-missing-target"], more].concat();
        let run = sandbox.ok(&fit);
        let told = "target \"y\": \"None\" in 100 cells counts as missing, and the rows are left out: \
                    --keep-values None keeps them";
        assert!(run.stderr.contains(told), "{}", run.stderr);
        let line = run.stdout.lines().find(|line| line.trim_start().starts_with("y ")).unwrap().to_owned();
        assert!(line.contains("target") && line.contains("\"None\" in 100 cells counts as missing"), "{line}");
        let last = sandbox.json(&fit)["table"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((last["name"].as_str(), last["target"].as_bool()), (Some("y"), Some(true)), "{last}");
        assert_eq!(sandbox.json(&[&fit[..], &["--keep-values", "None"]].concat())["rows"], 300);
    }
}

#[test]
fn a_first_column_without_a_name_is_left_out_wherever_it_stands() {
    let rows = |header: &str, separator: &str, from: u32, to: u32| {
        (from..to).fold(header.replace(',', separator) + "\n", |text, i| {
            format!("{text}{}\n", [i, i * 7 % 31, i * 7 % 31 / 10].map(|x| x.to_string()).join(separator))
        })
    };
    let sandbox = Sandbox::with(&[
        ("plain.csv", &rows(",x,y", ",", 0, 60)),
        ("quoted.csv", &rows("\"\",x,y", ",", 0, 60)),
        ("blank.csv", &rows("\" \",\"x\",\"y\"", ",", 0, 60)),
        ("plain.tsv", &rows(",x,y", "\t", 0, 60)),
        ("semicolon.csv", &rows(",x,y", ";", 0, 60)),
    ]);
    std::fs::create_dir(sandbox.path("parts")).unwrap();
    sandbox.write("parts/a.csv", rows(",x,y", ",", 0, 25));
    sandbox.write("parts/b.csv", rows("\"\",x,y", ",", 25, 60));
    let mut models = Vec::new();
    for table in ["plain.csv", "quoted.csv", "blank.csv", "plain.tsv", "semicolon.csv", "parts"] {
        for more in [&["--cv", "2"][..], &["--cv", "none"], &["--cv", "none", "--memory-limit", "1GB"]] {
            let run = sandbox.ok(&[&["fit", table, "--target", "y", "-o", "m.json"], more].concat());
            assert_eq!(run.stderr.matches("it has no name").count(), 1, "{table} {more:?}: {}", run.stderr);
            if more.len() > 2 {
                models.push(sandbox.read("m.json"));
            }
            sandbox.ok(&["predict", "m.json", table]);
        }
    }
    assert!(models.iter().all(|model| *model == models[0] && !model.contains("first column")));
}

/// 600 visits of patients, with what names the row or the patient, and what does not.
fn visits() -> String {
    let mut text = String::from("visit_id,number,patient_id,subject,zip,minute,amount,site,always,none,age,y\n");
    let mut state = 1u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for i in 0..600u64 {
        // A number with gaps, and one so wide that only its name tells.
        let (number, visit) = (2801 + 3 * i + draw(2), 1_000_000 * i + draw(1_000_000));
        let (patient, subject) = (1 + draw(150), (i / 4 * 37) % 151 + 1000 * (i / 4 % 7));
        let (zip, minute, amount) = (10_000 + 613 * draw(120), draw(1440), draw(500) * draw(500));
        let (site, age) = (["north", "south"][draw(2) as usize], 20 + draw(60));
        let y = age / 10 + u64::from(amount > 50_000) * 3;
        let _ = writeln!(text, "{visit},{number},{patient},{subject},{zip},{minute},{amount},{site},7,,{age},{y}");
    }
    text
}

#[test]
fn columns_that_name_rows_or_groups_or_nothing_are_noted() {
    let sandbox = Sandbox::with(&[("t.csv", &visits())]);
    let mut told = Vec::new();
    for way in
        [&["--cv", "none"][..], &["--cv", "2"], &["--memory-limit", "1GB", "--cv", "none"], &["--max-bins", "exact"]]
    {
        let fit = [&["fit", "t.csv", "--target", "y", "--task", "regression", "--max-rules", "2"], way].concat();
        let run = sandbox.ok(&fit);
        let names = |part: &str| -> Vec<String> {
            let lines = run.stderr.lines().filter(|line| line.contains(part));
            lines.map(|line| line.split('"').nth(1).unwrap().to_owned()).collect()
        };
        assert_eq!(names("seems to number the rows"), ["visit_id", "number"], "{way:?}: {}", run.stderr);
        assert_eq!(names("if it names groups of rows"), ["patient_id", "subject"], "{way:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("columns \"always\", \"none\" have the same value in all rows: no rule can use it"),
            "{}",
            run.stderr
        );
        for note in ["numbers the rows?", "names groups of rows? 150 values", "the same in all rows"] {
            assert!(run.stdout.contains(note), "{note}: {}", run.stdout);
        }
        told.push(run.stderr);
    }
    assert!(told.iter().all(|notes| *notes == told[0]), "{told:?}");
    let run = sandbox.ok(&[
        "fit",
        "t.csv",
        "--target",
        "y",
        "--task",
        "regression",
        "--cv-groups",
        "patient_id",
        "--ignore",
        "visit_id,number,subject,always,none",
    ]);
    assert_eq!(run.stderr, "");
}

/// What follows ` with ` in the notes of a fit: flags that are said to help.
fn hints(stderr: &str) -> Vec<String> {
    let parts = stderr.lines().flat_map(|line| line.split(" with --").skip(1));
    let end = |part: &str| part.find(" if they name").or(part.find(" if it says")).or(part.find(", or leave it out"));
    parts.map(|part| format!("--{}", &part[..end(part).unwrap_or(part.len())])).collect()
}

#[cfg(unix)]
#[test]
fn hints_can_be_pasted_whatever_a_column_is_called() {
    let names =
        ["plain", "two words", "a, b", "say \"x\"", "\"quoted\"", "it's", "-o", "--cv", "$HOME", "a=b", "größe", "(x)"];
    let rows = (0..240).fold(String::from("key,many,patient_id,x,y\n"), |text, i| {
        format!("{text}k{i},m{},{},{},{}\n", i % 80, i % 97, i % 9, i % 9)
    });
    let program = env!("CARGO_BIN_EXE_orthorules");
    for name in names {
        let header = |column: &str| {
            let header = ["key", "many", "patient_id", "x", "y"].map(|known| {
                if known == column { format!("\"{}\"", name.replace('"', "\"\"")) } else { known.to_owned() }
            });
            rows.replacen("key,many,patient_id,x,y", &header.join(","), 1)
        };
        // A name with an id at its end, as groups have.
        let named =
            header("patient_id").replacen(&name.replace('"', "\"\""), &format!("{} id", name.replace('"', "\"\"")), 1);
        for (table, column, expected) in
            [(header("key"), "key", 1), (header("many"), "many", 1), (named, "patient_id", 2)]
        {
            let sandbox = Sandbox::with(&[("t.csv", &table)]);
            let fit = "fit t.csv --target y --task regression --max-rules 1";
            let run = sandbox.ok(&fit.split(' ').collect::<Vec<_>>());
            let spelled = format!("{:?}", if column == "patient_id" { format!("{name} id") } else { name.to_owned() });
            let about: String =
                run.stderr.lines().filter(|line| line.contains(&spelled)).collect::<Vec<_>>().join("\n");
            let found = hints(&about);
            assert_eq!(found.len(), expected, "{name}: {}", run.stderr);
            for hint in found {
                let line = format!("'{program}' {fit} {hint}");
                let output =
                    std::process::Command::new("sh").current_dir(sandbox.path("")).args(["-c", &line]).output();
                let output = output.unwrap();
                let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{line}: {stderr}");
                // A column that is kept as categories is told about in other words.
                let gone =
                    !stderr.contains(&format!("column {spelled} left out")) && !stderr.contains("no such column");
                assert!(gone && (hint.starts_with("--categorical") || !stderr.contains(&spelled)), "{line}: {stderr}");
            }
        }
    }
}

#[test]
fn names_with_commas_can_be_given_to_every_list() {
    let rows =
        (0..120).fold(String::from("\"a,b\",c,y\n"), |text, i| format!("{text}{},{},{}\n", i % 11, i % 7, i % 11));
    let sandbox = Sandbox::with(&[("t.csv", &rows)]);
    let fit = ["fit", "t.csv", "--target", "y", "--task", "regression", "--max-rules", "1", "--cv", "none"];
    let columns = |flags: &[&str]| sandbox.json(&[&fit[..], flags].concat())["columns"].as_u64();
    assert_eq!(columns(&["--ignore", "\"a,b\""]), Some(1));
    assert_eq!(columns(&["--ignore", "c, \"a,b\" "]), Some(0));
    sandbox.ok(&[&fit[..], &["--categorical", "\"a,b\",c"]].concat());
    sandbox.ok(&[&fit[..], &["--monotone", "\"a,b\"=+1,c=-1", "-o", "m.json"]].concat());
    sandbox.ok(&[&fit[..], &["--cuts", "a,b=3,5"]].concat());
    sandbox.ok(&["explain", "m.json", "t.csv", "--row", "1", "--above", "9", "--lock", "\"a,b\""]);
    let run = sandbox.run(&[&fit[..], &["--ignore", "\"a,b"]].concat());
    assert!(run.code == 2 && run.stderr.contains("a quote is opened and not closed"), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
}

#[test]
fn fewer_folds_are_advised_only_where_they_help() {
    let text = (0..90).fold(String::from("g,one,x,y\n"), |text, i| {
        format!("{text}{},1,{},{}\n", i % 9, i % 7, if i % 9 == 4 { "rare" } else { ["a", "b"][i % 2] })
    });
    let sandbox = Sandbox::with(&[("t.csv", &text)]);
    let refused = |flags: &[&str]| {
        let run = sandbox.run(&[&["fit", "t.csv", "--target", "y"], flags].concat());
        assert!(run.code == 2 && run.stderr.lines().count() == 1, "{}", run.stderr);
        run.stderr
    };
    // All rows of a class, or all rows, in one group: no number of folds helps.
    for (flags, why) in [
        (&["--cv", "3", "--cv-groups", "g"][..], "all rows of class \"rare\" are in one group"),
        (&["--cv", "2", "--cv-groups", "one"], "all rows are in one group"),
    ] {
        let told = refused(flags);
        assert!(told.contains(why) && !told.contains("fewer folds"), "{told}");
    }
    assert!(
        refused(&["--cv", "12", "--cv-groups", "g"]).contains("9 groups are too few for 12 folds: use fewer folds")
    );
    let told = refused(&["--cv", "40"]);
    assert!(told.contains("there are fewer of \"rare\": use fewer folds"), "{told}");
    sandbox.ok(&["fit", "t.csv", "--target", "y", "--cv", "5"]);
}

#[test]
fn decimal_commas_are_told_by_every_command() {
    let lines: Vec<String> = (0..40).map(|i| format!("{},5;{}\n", i % 9, i % 9)).collect();
    let comma = format!("size;price\n{}", lines.concat());
    let sandbox = Sandbox::with(&[("comma.csv", &comma), ("point.csv", &comma.replace(',', ".").replace(';', ","))]);
    sandbox.ok(&["fit", "point.csv", "--target", "price", "--task", "regression", "-o", "m.json"]);
    for command in ["predict", "evaluate", "explain"] {
        let run = sandbox.run(&[command, "m.json", "comma.csv"]);
        assert!(run.code == 2 && run.stderr.trim_end().ends_with(": use --decimal ,"), "{command}: {}", run.stderr);
        sandbox.ok(&[command, "m.json", "comma.csv", "--decimal", ","]);
    }
    let run = sandbox.run(&["report", "m.json", "comma.csv", "-o", "r.html"]);
    assert!(run.code == 2 && run.stderr.contains(": use --decimal ,"), "{}", run.stderr);
}
