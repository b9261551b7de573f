//! Bad input: exit code 2, one line on standard error that names the place, nothing printed, nothing written.

use crate::{MODEL, Sandbox, claims, people};

/// Runs, expects the refusal, and that the line holds every one of `parts`.
pub(crate) fn refused(sandbox: &Sandbox, args: &[&str], parts: &[&str]) {
    let before = sandbox.files();
    let run = sandbox.run(args);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{args:?}: {}", run.stderr);
    assert!(run.stderr.starts_with("orthorules: "), "{args:?}: {}", run.stderr);
    for part in parts {
        assert!(run.stderr.contains(part), "{args:?}: no {part:?} in {}", run.stderr);
    }
    assert_eq!(sandbox.files(), before, "{args:?} wrote something");
}

/// A table of which no fit can be made: what it is, the file's bytes, further flags, and what the message must name.
type BadTable<'a> = (&'a str, &'a [u8], &'a [&'a str], &'a [&'a str]);

/// What is wrong with a table names the table; what is wrong with flags need not.
fn fits_are_refused(cases: &[BadTable], of_flags: &[&str]) {
    for (name, bytes, flags, parts) in cases {
        let sandbox = Sandbox::new();
        sandbox.write("t.csv", bytes);
        let args = [&["fit", "t.csv", "--target", "y", "-o", "m.json"], *flags].concat();
        eprintln!("{name}");
        refused(&sandbox, &args, parts);
        let line = sandbox.run(&args).stderr;
        assert!(line.contains("t.csv") || of_flags.contains(name), "{name}: {line}");
    }
}

#[test]
fn tables_that_cannot_be_learned_from() {
    let cases: &[BadTable] = &[
        ("empty file", b"", &[], &["empty"]),
        ("blank file", b"\n\n", &[], &[]),
        ("header only", b"x,y\n", &[], &["rows"]),
        ("ragged row", b"x,y\n1,2\n3\n", &[], &["2"]),
        ("long row", b"x,y\n1,2\n1,2,3\n", &[], &["2"]),
        ("duplicate header", b"x,x,y\n1,2,3\n4,5,6\n", &[], &["\"x\"", "rename"]),
        ("nameless column", b"x,,y\n1,2,3\n4,5,6\n", &[], &["column 2"]),
        ("missing target column", b"x,z\n1,2\n3,4\n", &[], &["\"y\"", "\"z\""]),
        ("target missing", b"x,y\n1,2\n3,\n5,6\n", &[], &["\"y\"", "row 2", "missing"]),
        ("class missing", b"x,y\n1,a\n3,b\n5,\n", &[], &["\"y\"", "row 3", "missing"]),
        ("target infinite", b"x,y\n1,2\n3,inf\n5,6.5\n", &[], &["\"y\"", "row 2", "finite"]),
        ("target textual", b"x,y\n1,2\n3,four\n5,6\n", &["--task", "regression"], &["\"y\"", "row 2", "four"]),
        ("textual for poisson", b"x,y\n1,2\n3,four\n", &["--task", "poisson"], &["\"y\"", "row 2", "four"]),
        ("gamma of 0", b"x,y\n1,2\n3,0\n5,6\n", &["--task", "gamma"], &["\"y\"", "row 2", "above 0", "got 0"]),
        ("gamma negative", b"x,y\n1,2\n3,4\n5,-6\n", &["--task", "gamma"], &["\"y\"", "row 3", "above 0", "-6"]),
        ("gamma missing", b"x,y\n1,2\n3,\n5,6\n", &["--task", "gamma"], &["\"y\"", "row 2", "missing", "drop"]),
        ("gamma infinite", b"x,y\n1,inf\n3,4\n5,6\n", &["--task", "gamma"], &["\"y\"", "row 1", "finite", "inf"]),
        ("gamma textual", b"x,y\n1,2\n3,four\n", &["--task", "gamma"], &["\"y\"", "row 2", "four"]),
        ("target negative", b"x,y\n1,2\n3,-4\n5,6\n", &["--task", "poisson"], &["\"y\"", "row 2", "-4"]),
        ("one class", b"x,y\n1,a\n2,a\n", &[], &["\"y\"", "two classes"]),
        ("one numeric class", b"x,y\n1,3\n2,3\n", &["--task", "classification"], &["\"y\"", "two classes"]),
        ("non-UTF-8", b"x,y\n1,2\n\xff\xfe,3\n", &[], &["UTF-8"]),
    ];
    fits_are_refused(cases, &[]);
}

#[test]
fn weights_and_exposures_that_rows_cannot_have() {
    let cases: &[BadTable] = &[
        ("weight negative", b"x,w,y\n1,1,2\n2,-1,3\n", &["--weight", "w"], &["weight", "\"w\"", "row 2"]),
        ("weight missing", b"x,w,y\n1,1,2\n2,,3\n", &["--weight", "w"], &["weight", "\"w\"", "row 2"]),
        ("weight infinite", b"x,w,y\n1,1,2\n2,inf,3\n", &["--weight", "w"], &["weight", "\"w\"", "row 2"]),
        ("weight textual", b"x,w,y\n1,1,2\n2,heavy,3\n", &["--weight", "w"], &["weight", "\"w\"", "row 2", "heavy"]),
        ("weights all zero", b"x,w,y\n1,0,2\n2,0,3\n", &["--weight", "w"], &["weight", "\"w\"", "0"]),
        (
            "weight categorical",
            b"x,w,y\n1,1,2\n2,1,3\n",
            &["--weight=w", "--categorical=w"],
            &["\"w\"", "both weight and categorical"],
        ),
        (
            "exposure categorical",
            b"x,e,y\n1,1,2\n2,1,3\n",
            &["--task=poisson", "--exposure=e", "--categorical=e"],
            &["\"e\"", "both exposure and categorical"],
        ),
        (
            "exposure zero",
            b"x,e,y\n1,1,2\n2,0,3\n",
            &["--task=poisson", "--exposure=e"],
            &["exposure", "\"e\"", "row 2"],
        ),
        (
            "exposure negative",
            b"x,e,y\n1,-1,2\n2,1,3\n",
            &["--task=poisson", "--exposure=e"],
            &["exposure", "\"e\"", "row 1"],
        ),
        (
            "exposure missing",
            b"x,e,y\n1,1,2\n2,,3\n",
            &["--task=poisson", "--exposure=e"],
            &["exposure", "\"e\"", "row 2"],
        ),
        (
            "exposure textual",
            b"x,e,y\n1,1,2\n2,long,3\n",
            &["--task=poisson", "--exposure=e"],
            &["exposure", "\"e\"", "long"],
        ),
        ("exposure without poisson", b"x,e,y\n1,1,2.5\n2,1,3\n4,5,6\n", &["--exposure=e"], &["exposure", "poisson"]),
    ];
    fits_are_refused(cases, &["exposure without poisson", "weight categorical", "exposure categorical"]);
}

#[test]
fn columns_and_labels_that_flags_name_in_vain() {
    let cases: &[BadTable] = &[
        ("unknown weight", b"x,y\n1,2.5\n2,3\n", &["--weight", "w"], &["weight", "\"w\"", "\"x\""]),
        ("unknown exposure", b"x,y\n1,2\n2,3\n", &["--task=poisson", "--exposure=e"], &["exposure", "\"e\""]),
        ("unknown ignored", b"x,y\n1,2.5\n2,3\n", &["--ignore", "q"], &["ignore", "\"q\""]),
        ("unknown categorical", b"x,y\n1,2.5\n2,3\n", &["--categorical", "q"], &["categorical", "\"q\""]),
        ("target ignored", b"x,y\n1,2.5\n2,3\n", &["--ignore", "y"], &["\"y\"", "ignored"]),
        ("target as weight", b"x,y\n1,2.5\n2,3\n", &["--weight", "y"], &["\"y\"", "weight"]),
        ("unknown positive", b"x,y\n1,a\n2,b\n", &["--positive", "c"], &["\"c\"", "\"a\"", "\"b\""]),
        ("unknown monotone", b"x,y\n1,2.5\n2,3\n", &["--monotone=q=+1"], &["monotone \"q\"", "\"x\""]),
        ("text monotone", b"x,y\na,2.5\nb,3\na,1\n", &["--monotone=x=+1"], &["monotone", "\"x\"", "numeric"]),
        ("positive of a number", b"x,y\n1,2.5\n2,3\n4,1\n", &["--positive", "c"], &["positive", "classification"]),
    ];
    fits_are_refused(cases, &["target ignored", "target as weight", "positive of a number"]);
}

#[test]
fn files_that_cannot_be_read() {
    let sandbox = Sandbox::with(&[("model.json", MODEL), ("people.csv", &people())]);
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.write("broken.csv.gz", b"\x1f\x8b\x08\x00broken");
    sandbox.write("broken.csv.zst", b"\x28\xb5\x2f\xfdbroken");
    sandbox.write("broken.parquet", b"PAR1 is not enough PAR1");
    sandbox.write("broken.arrow", b"ARROW1\0\0 neither is this");
    for name in ["absent.csv", "folder", "broken.csv.gz", "broken.csv.zst", "broken.parquet", "broken.arrow"] {
        refused(&sandbox, &["fit", name, "--target", "y", "-o", "m.json"], &[name]);
        refused(&sandbox, &["predict", "model.json", name, "-o", "p.csv"], &[name]);
    }
    for output in ["folder", "nowhere/m.json"] {
        refused(&sandbox, &["fit", "people.csv", "--target", "survived", "-o", output], &[output]);
        refused(&sandbox, &["predict", "model.json", "people.csv", "-o", output], &[output]);
        refused(&sandbox, &["demo", "-o", output], &[output]);
    }
}

#[test]
fn parameters_out_of_range() {
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    let cases: &[&[&str]] = &[
        &["--reg-lambda", "-1"],
        &["--reg-lambda", "nan"],
        &["--reg-lambda", "inf"],
        &["--length-penalty", "NaN"],
        &["--length-penalty", "-0.5"],
        &["--epsilon", "nan"],
        &["--epsilon", "-0.001"],
        &["--max-conditions", "0"],
        &["--min-coverage", "0"],
        &["--max-bins", "1"],
        &["--max-bins", "65536"],
        &["--max-bins", "some"],
        &["--max-bins", "-3"],
        &["--threads", "0"],
        &["--threads", "-2"],
        &["--time-limit", "nan", "--search", "exact"],
        &["--time-limit", "0", "--search", "exact"],
        &["--node-limit", "0", "--search", "exact"],
        &["--seed", "-1"],
        &["--seed", "1.5"],
        &["--max-rules", "1e3"],
        &["--max-complexity", "-4"],
        &["--beam-width", "0", "--search", "beam"],
        &["--beam-width", "99999999999999999999999", "--search", "beam"],
    ];
    for flags in cases {
        let args = [&["fit", "t.csv", "--target", "survived", "-o", "m.json"], *flags].concat();
        let shown = if flags[1].eq_ignore_ascii_case("nan") { "NaN" } else { flags[1] };
        refused(&sandbox, &args, &[flags[0], shown]);
    }
    // Two settings that exclude each other.
    refused(&sandbox, &["fit", "t.csv", "--target", "survived", "--beam-width", "4"], &["beam"]);
    refused(&sandbox, &["fit", "t.csv", "--target", "survived", "--quiet", "-v"], &["--quiet"]);
}

#[test]
fn models_that_cannot_be_used() {
    let nested = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let inside = MODEL.replace("\"levels\":[\"female\",\"male\"]", &format!("\"levels\":{nested}"));
    let cases = [
        ("empty", String::new(), ""),
        ("truncated", MODEL[..MODEL.len() / 2].to_owned(), ""),
        ("wrong version", MODEL.replace("\"version\":1", "\"version\":99"), "99"),
        ("version that never was", MODEL.replace("\"version\":1", "\"version\":0"), "never was"),
        ("no version", MODEL.replace("\"version\":1,", ""), "version"),
        ("another format", MODEL.replace("orthorules-model", "another"), "format"),
        ("nested", nested, ""),
        ("nested inside", inside, ""),
        ("not JSON", "sex,age\nmale,3\n".into(), ""),
        ("unknown column", MODEL.replace("\"column\":\"age\"", "\"column\":\"size\""), "\"size\""),
        ("too few weights", MODEL.replace("[0.74]", "[]"), "1 rules"),
        ("infinite weight", MODEL.replace("[0.74]", "[1e999]"), ""),
        ("weights that overflow", MODEL.replace("[0.74]", "[1.7e308]").replace("-0.41", "1.7e308"), "overflows"),
        ("class twice", MODEL.replace("[\"no\",\"yes\"]", "[\"no\",\"no\"]"), "twice"),
        ("other loss", MODEL.replace("\"logistic\"", "\"poisson\""), "poisson"),
    ];
    for (name, text, part) in cases {
        eprintln!("{name}");
        let sandbox = Sandbox::with(&[("m.json", &text), ("t.csv", &people())]);
        refused(&sandbox, &["show", "m.json"], &["m.json", part]);
        refused(&sandbox, &["predict", "m.json", "t.csv", "-o", "p.csv"], &["m.json", part]);
        refused(&sandbox, &["evaluate", "m.json", "t.csv"], &["m.json", part]);
        refused(&sandbox, &["explain", "m.json", "t.csv"], &["m.json", part]);
    }
    let sandbox = Sandbox::with(&[("t.csv", &people())]);
    sandbox.write("m.json", b"\xff\xfe{");
    refused(&sandbox, &["show", "m.json"], &["m.json", "UTF-8"]);
    refused(&sandbox, &["show", "absent.json"], &["absent.json"]);
    refused(&sandbox, &["show", "."], &["directory"]);
}

#[test]
fn tables_that_do_not_fit_the_model() {
    let sandbox = Sandbox::with(&[
        ("m.json", MODEL),
        ("noage.csv", "sex,survived\nmale,no\n"),
        ("text.csv", "sex,age,survived\nmale,,no\nfemale,old,yes\n"),
        ("notarget.csv", "sex,age\nmale,3\n"),
        ("newclass.csv", "sex,age,survived\nmale,3,no\nmale,4,perhaps\n"),
        ("noclass.csv", "sex,age,survived\nmale,3,no\nmale,4,\n"),
        ("good.csv", "sex,age,survived\nmale,3,no\n"),
        ("header.csv", "sex,age,survived\n"),
    ]);
    for command in ["predict", "evaluate", "explain"] {
        refused(&sandbox, &[command, "m.json", "noage.csv"], &["noage.csv", "\"age\"", "\"sex\""]);
        refused(&sandbox, &[command, "m.json", "text.csv"], &["text.csv", "\"age\"", "row 2", "old"]);
        refused(&sandbox, &[command, "m.json", "header.csv"], &["header.csv", "rows"]);
    }
    refused(&sandbox, &["predict", "m.json", "noage.csv", "-o", "p.csv"], &["noage.csv", "\"age\""]);
    refused(&sandbox, &["evaluate", "m.json", "notarget.csv"], &["notarget.csv", "\"survived\""]);
    refused(&sandbox, &["evaluate", "m.json", "newclass.csv"], &["newclass.csv", "row 2", "perhaps"]);
    refused(&sandbox, &["evaluate", "m.json", "noclass.csv"], &["noclass.csv", "row 2", "missing"]);
    for row in ["0", "2", "-1"] {
        refused(&sandbox, &["explain", "m.json", "good.csv", "--row", row], &["--row", row]);
    }
    for rules in ["0", "2", "x"] {
        for args in [&["show", "m.json"][..], &["predict", "m.json", "good.csv"], &["explain", "m.json", "good.csv"]] {
            refused(&sandbox, &[args, &["--rules", rules]].concat(), &["--rules", rules]);
        }
    }
}

#[test]
fn exposures_and_weights_of_later_tables_are_checked() {
    let sandbox = Sandbox::with(&[("t.csv", &claims())]);
    sandbox.ok(&["fit", "t.csv", "--target", "claims", "--task", "poisson", "--exposure", "years", "-o", "m.json"]);
    sandbox.write("text.csv", "power,region,years,claims\n1,north,long,0\n");
    sandbox.write("negative.csv", "power,region,years,claims\n1,north,1,0\n1,north,-2,0\n");
    for table in ["text.csv", "negative.csv"] {
        for command in ["predict", "evaluate"] {
            refused(&sandbox, &[command, "m.json", table], &[table, "\"years\""]);
        }
    }
    sandbox.ok(&["fit", "t.csv", "--target", "claims", "--task", "poisson", "--weight", "years", "-o", "m.json"]);
    for table in ["text.csv", "negative.csv"] {
        refused(&sandbox, &["evaluate", "m.json", table], &[table, "weight", "\"years\""]);
        sandbox.ok(&["predict", "m.json", table]);
    }
}
