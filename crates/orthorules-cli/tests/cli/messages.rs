//! Messages that say what was probably meant, and tables from the standard input.

use crate::bad_input::refused;
use crate::{MODEL, Sandbox, claims, flowers, people};

#[test]
fn unknown_columns_are_told_what_was_meant() {
    let sandbox = Sandbox::with(&[("p.csv", &people()), ("m.json", MODEL), ("q.csv", "Sex,ages\nmale,3\n")]);
    let cases: [(&[&str], &str); 10] = [
        (&["--target", "Survived"], "`survived`"),
        (&["--target", "surived"], "`survived`"),
        (&["--target", "survived", "--weight", "far"], "`fare`"),
        (&["--target", "survived", "--cv=3", "--cv-groups", "FARE"], "`fare`"),
        (&["--target", "survived", "--ignore", "aeg"], "`age`"),
        (&["--target", "survived", "--ignore", "sex, fares"], "`fare`"),
        (&["--target", "survived", "--categorical", "ages"], "`age`"),
        (&["--target", "survived", "--monotone", "Age=+1"], "`age`"),
        (&["--target", "survived", "--cuts", "frae=10,20"], "`fare`"),
        (&["--target", "survived", "--task=poisson", "--exposure", "fare "], "`fare`"),
    ];
    for (flags, meant) in cases {
        let told = format!("no such column; did you mean {meant}? The table has ");
        refused(&sandbox, &[&["fit", "p.csv"], flags].concat(), &["p.csv", &told]);
    }
    refused(&sandbox, &["predict", "m.json", "q.csv"], &["did you mean `"]);
    let far = sandbox.run(&["fit", "p.csv", "--target", "churn"]).stderr;
    assert!(far.contains("no such column; the table has") && !far.contains("did you mean"), "{far}");
}

#[test]
fn blanks_after_commas_do_not_count() {
    let sandbox = Sandbox::with(&[("p.csv", &people())]);
    let model = |flags: &[&str]| {
        sandbox.ok(&[&["fit", "p.csv", "--target", "survived", "-o", "m.json"], flags].concat());
        sandbox.read("m.json")
    };
    assert_eq!(model(&["--ignore", "sex, fare"]), model(&["--ignore=sex,fare"]));
    assert_eq!(model(&["--categorical", "age , fare"]), model(&["--categorical=age,fare"]));
    assert_eq!(model(&["--monotone", "age=-1, fare=+1"]), model(&["--monotone=age=-1,fare=+1"]));
}

#[test]
fn files_that_are_no_tables_are_named() {
    let office = [b"PK\x03\x04".as_slice(), &[0; 26], b"[Content_Types].xml", &[0; 500]].concat();
    let archive = [b"PK\x03\x04".as_slice(), &[0; 26], b"data.csv", &[0; 500]].concat();
    let cases: [(&str, &[u8], &str); 6] = [
        ("data.xlsx", &office, "data.xlsx is an Excel workbook: save it as CSV or Parquet"),
        ("data.csv", &office, "data.csv is an Excel workbook: save it as CSV or Parquet"),
        ("data.zip", &archive, "data.zip is a zip archive: unpack it"),
        ("data.json", b"[{\"x\": 1, \"y\": 2}]", "data.json is JSON: convert it to CSV or Parquet"),
        ("data.jsonl", b"{\"x\": 1, \"y\": 2}\n", "data.jsonl is JSON: convert it to CSV or Parquet"),
        ("data.pdf", b"%PDF-1.7\n", "data.pdf is a PDF document: a table must be CSV"),
    ];
    let sandbox = Sandbox::with(&[("m.json", MODEL)]);
    for (name, bytes, told) in cases {
        sandbox.write(name, bytes);
        refused(&sandbox, &["fit", name, "--target", "y"], &[told]);
        for command in ["predict", "evaluate", "explain"] {
            refused(&sandbox, &[command, "m.json", name], &[told]);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_dash_is_the_standard_input() {
    let tables = [("p.csv", people(), "survived"), ("f.csv", flowers(), "kind"), ("c.csv", claims(), "claims")];
    let sandbox = Sandbox::new();
    let piped = |args: &[&str], text: &str| {
        let output = sandbox.command(args).write_stdin(text).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for (name, text, target) in tables {
        sandbox.write(name, &text);
        sandbox.ok(&["fit", name, "--target", target, "--cv", "none", "-o", "file.json"]);
        for flags in [&["--cv", "none"][..], &["--cv", "3"], &["--cv", "none", "--memory-limit", "1MB"]] {
            // One ensemble for each class is measured on the rows, which a pipe gives only once.
            if name == "f.csv" && flags.contains(&"--memory-limit") {
                continue;
            }
            let run = piped(&[&["fit", "-", "--target", target, "-o", "pipe.json"], flags].concat(), &text);
            assert_eq!((run.0, run.2.as_str()), (Some(0), ""), "{name} {flags:?}");
            if flags[1] == "none" {
                assert_eq!(sandbox.read("pipe.json"), sandbox.read("file.json"));
            }
        }
        for command in ["predict", "evaluate", "explain"] {
            let run = piped(&[command, "file.json", "-"], &text);
            assert_eq!(run, (Some(0), sandbox.ok(&[command, "file.json", name]).stdout, String::new()), "{command}");
        }
    }
    let (code, _, told) = piped(&["fit", "-", "--target", "z"], "x,y\n1,2\n2,3\n");
    assert_eq!(code, Some(2));
    assert!(told.starts_with("orthorules: standard input: target \"z\": no such column"), "{told}");
    let (code, _, told) = piped(&["fit", "-", "--target", "z"], "");
    assert_eq!((code, told.as_str()), (Some(2), "orthorules: standard input: is empty\n"));
    // A file in place of a pipe is read as such, and told as such.
    let json = std::fs::File::open({
        sandbox.write("t.json", "[{}]");
        sandbox.path("t.json")
    })
    .unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_orthorules"));
    let output = command.args(["fit", "-", "--target", "y"]).stdin(json).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(cfg!(not(target_os = "linux")) || told.contains("standard input is JSON"), "{told}");
}
