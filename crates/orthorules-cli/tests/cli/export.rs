//! `orthorules export`: every target as text or file, and what it refuses.

use crate::bad_input::refused;
use crate::{MODEL, Sandbox, claims, flowers};

/// Flags of each text target, and what it writes of [`MODEL`].
const TEXTS: [(&[&str], &str); 7] = [
    (&["--to", "python"], include_str!("exports/model.py")),
    (&["--to", "javascript"], include_str!("exports/model.mjs")),
    (&["--to", "c"], include_str!("exports/model.c")),
    (&["--to", "sql"], include_str!("exports/sqlite.sql")),
    (
        &["--to", "sql", "--dialect", "duckdb", "--as", "view", "--table", "main.trips"],
        include_str!("exports/duckdb.sql"),
    ),
    (&["--to", "sql", "--dialect", "postgresql"], include_str!("exports/postgresql.sql")),
    (&["--to", "pmml"], include_str!("exports/model.pmml")),
];

#[test]
fn text_goes_to_standard_output_or_to_a_file() {
    let sandbox = Sandbox::with(&[("m.json", MODEL)]);
    for (flags, expected) in TEXTS {
        let run = sandbox.ok(&[&["export", "m.json"], flags].concat());
        assert_eq!(run.stdout, expected, "{flags:?}");
        assert_eq!(run.stderr, "");
        let run = sandbox.ok(&[&["export", "m.json", "-o", "out"], flags].concat());
        assert_eq!((run.stdout.as_str(), sandbox.read("out").as_str()), ("", expected), "{flags:?}");
    }
}

#[test]
fn the_fingerprint_is_that_of_the_saved_file() {
    let sandbox = Sandbox::with(&[("t.csv", &crate::houses())]);
    sandbox.ok(&["fit", "t.csv", "--target", "price", "-o", "m.json", "-q"]);
    let run = sandbox.ok(&["export", "m.json", "--to", "python"]);
    let sum = std::process::Command::new("sha256sum").arg(sandbox.path("m.json")).output();
    let Ok(sum) = sum else {
        println!("SKIPPED: the fingerprint was not compared, since sha256sum is not installed");
        return;
    };
    let sum = String::from_utf8(sum.stdout).unwrap();
    let sum = sum.split(' ').next().unwrap();
    assert!(sum.len() == 64 && run.stdout.contains(sum), "{sum}: {}", run.stdout);
}

#[test]
fn workbooks_and_graphs_need_a_file() {
    let sandbox = Sandbox::with(&[("m.json", MODEL)]);
    for (target, start) in [("excel", &b"PK\x03\x04"[..]), ("onnx", &b"\x32"[..])] {
        refused(&sandbox, &["export", "m.json", "--to", target], &[target, "-o FILE"]);
        sandbox.ok(&["export", "m.json", "--to", target, "-o", "out"]);
        let first = std::fs::read(sandbox.path("out")).unwrap();
        assert!(first.starts_with(start), "{target}");
        sandbox.ok(&["export", "m.json", "--to", target, "-o", "out"]);
        assert_eq!(std::fs::read(sandbox.path("out")).unwrap(), first, "{target}: the same model gives the same bytes");
        std::fs::remove_file(sandbox.path("out")).unwrap();
    }
}

#[test]
fn sizes_are_named_by_rules_or_complexity() {
    let sandbox = Sandbox::with(&[("t.csv", &claims())]);
    sandbox.ok(&[
        "fit",
        "t.csv",
        "--target",
        "claims",
        "--task",
        "poisson",
        "--exposure",
        "years",
        "-o",
        "m.json",
        "-q",
    ]);
    let size = |flags: &[&str]| {
        let run = sandbox.ok(&[&["export", "m.json", "--to", "python"], flags].concat());
        run.stdout.lines().find(|line| line.starts_with("# Size: ")).unwrap().to_owned()
    };
    assert_eq!(size(&["--rules", "0"]), "# Size: 0 rules, complexity 0.");
    assert_eq!(size(&["--complexity", "0"]), size(&["--rules", "0"]));
    let document = sandbox.json(&["show", "m.json"]);
    let chosen = &document["chosen"];
    let (rules, complexity) = (chosen["rules"].to_string(), chosen["complexity"].to_string());
    assert_eq!(size(&["--complexity", &complexity]), size(&[]));
    // The most complex size with this many rules, as elsewhere.
    let most = &sandbox.json(&["show", "m.json", "--rules", &rules])["shown"]["complexity"];
    assert_eq!(size(&["--rules", &rules]), format!("# Size: {rules} rules, complexity {most}."));
    refused(&sandbox, &["export", "m.json", "--to", "c", "--rules", "99"], &["--rules", "99"]);
    refused(&sandbox, &["export", "m.json", "--to", "c", "--rules", "1", "--complexity", "3"], &["--complexity"]);
    sandbox.write("one.json", MODEL);
    refused(&sandbox, &["export", "one.json", "--to", "c", "--complexity", "2"], &["--complexity", "at least 3", "2"]);
}

#[test]
fn several_classes_have_a_score_each() {
    let sandbox = Sandbox::with(&[("t.csv", &flowers())]);
    sandbox.ok(&["fit", "t.csv", "--target", "kind", "-o", "m.json", "-q"]);
    let text = sandbox.ok(&["export", "m.json", "--to", "sql", "--dialect", "spark"]).stdout;
    for class in ["ann", "bea", "cat"] {
        assert!(text.contains(&format!(" AS `score_{class}`")) && text.contains(&format!(" AS `prediction_{class}`")));
    }
    let text = sandbox.ok(&["export", "m.json", "--to", "c"]).stdout;
    assert!(text.contains("void orthorules_predict(const orthorules_row *row, double *probabilities)"), "{text}");
}

#[test]
fn bad_input_is_one_line() {
    let sandbox = Sandbox::with(&[("m.json", MODEL), ("t.csv", "a,b\n1,2\n")]);
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["m.json"], &["--to"]),
        (&["m.json", "--to", "cobol"], &["cobol", "python, javascript, c, sql, excel, pmml, onnx"]),
        (&["m.json", "--to", "sql", "--dialect", "oracle"], &["oracle", "sqlite, duckdb, postgresql, spark"]),
        (&["m.json", "--to", "sql", "--as", "table"], &["select, view"]),
        (&["m.json", "--to", "sql", "--table", ""], &["sqlite", "\"\""]),
        (&["m.json", "--to", "python", "--dialect", "duckdb"], &["dialect", "sql", "python"]),
        (&["m.json", "--to", "python", "--table", "t"], &["table", "sql"]),
        (&["m.json", "--to", "c", "--cases", "5"], &["cases", "excel"]),
        (&["m.json", "--to", "excel", "--cases", "0", "-o", "x.xlsx"], &["--cases", "1000000"]),
        (&["no.json", "--to", "c"], &["no.json"]),
        (&["t.csv", "--to", "c"], &["t.csv", "not a model file"]),
        (&["m.json", "--to", "c", "-o", "folder"], &["folder", "directory"]),
        (&["m.json", "--to", "c", "-o", "nowhere/model.c"], &["nowhere"]),
        (&["m.json", "--to", "c", "-o", "m.json"], &["m.json", "input"]),
    ];
    for (args, parts) in cases {
        refused(&sandbox, &[&["export"], *args].concat(), parts);
    }
    assert_eq!(sandbox.read("m.json"), MODEL);
}

/// [`MODEL`] with other names for a column or a level.
fn renamed(from: &str, to: &str) -> String {
    MODEL.replace(from, &serde_json::to_string(to).unwrap())
}

#[test]
fn names_that_a_target_cannot_hold_are_refused() {
    let long = "x".repeat(64);
    let cases: [(&str, &str, &[&str], &[&str]); 9] = [
        ("\"age\"", &long, &["sql", "--dialect", "postgresql"], &["postgresql cannot hold", "63 bytes"]),
        ("\"age\"", "", &["sql", "--dialect", "duckdb"], &["duckdb cannot hold", "a character"]),
        ("\"age\"", "SEX", &["sql"], &["sqlite cannot hold", "case"]),
        ("\"age\"", "${age}", &["sql", "--dialect", "spark"], &["spark cannot hold", "variable"]),
        ("\"age\"", "a\u{0}", &["sql"], &["sqlite cannot hold", "character 0"]),
        ("\"female\"", "a\u{0}b", &["c"], &["c cannot hold", "character 0"]),
        ("\"female\"", "a\u{1}b", &["pmml"], &["pmml cannot hold", "XML"]),
        ("\"age\"", "contributions", &["onnx", "-o", "x.onnx"], &["onnx cannot hold", "output"]),
        ("\"female\"", &"y".repeat(40_000), &["excel", "-o", "x.xlsx"], &["excel cannot hold"]),
    ];
    for (from, to, flags, parts) in cases {
        let sandbox = Sandbox::with(&[("m.json", &renamed(from, to))]);
        refused(&sandbox, &[&["export", "m.json", "--to"], flags].concat(), parts);
    }
    // What one cannot hold another can.
    let sandbox = Sandbox::with(&[("m.json", &renamed("\"age\"", &long))]);
    sandbox.ok(&["export", "m.json", "--to", "sql", "--dialect", "duckdb"]);
}

/// No name ends the literal, the identifier or the comment that it stands in: every line of code is one that the
/// exporter wrote.
#[test]
fn names_stay_in_their_places() {
    let hostile = "x\"'`*/ -- \n\r\u{2028}\u{202e}]]> <!-- </script> ${a} \\ ??/ evil();";
    for from in ["\"age\"", "\"female\"", "\"survived\"", "\"yes\""] {
        let sandbox = Sandbox::with(&[("m.json", &renamed(from, hostile))]);
        for target in ["python", "javascript", "c", "pmml", "sql"] {
            let text = sandbox.ok(&["export", "m.json", "--to", target]).stdout;
            // In SQL a line may end inside of a text or name in quotes.
            if target != "sql" {
                let plain = sandbox_lines(target);
                assert_eq!(text.lines().count(), plain, "{target} {from}: {text}");
            }
            assert!(!text.contains(['\r', '\u{2028}', '\u{202e}']) || target == "sql" || target == "pmml", "{target}");
            if target == "javascript" {
                assert!(!text.contains("</script"), "{text}");
            }
        }
    }
}

/// How many lines [`MODEL`] has in a target.
fn sandbox_lines(target: &str) -> usize {
    let sandbox = Sandbox::with(&[("m.json", MODEL)]);
    sandbox.ok(&["export", "m.json", "--to", target]).stdout.lines().count()
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    if !std::path::Path::new("/dev/full").exists() {
        println!("SKIPPED: a full disk was not tried, since there is no /dev/full");
        return;
    }
    let sandbox = Sandbox::with(&[("m.json", MODEL)]);
    let run = sandbox.run(&["export", "m.json", "--to", "python", "-o", "/dev/full"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    assert!(run.stderr.contains("/dev/full") && run.stderr.lines().count() == 1, "{run:?}");
    assert_eq!(sandbox.files(), ["m.json"]);
}
