//! Where models come from: the command that is kept makes the same file again, whatever the options and names are.

use crate::bad_input::refused;
use crate::{Sandbox, claims, flowers, houses, people};
use orthorules::generate::SplitMix64;
use orthorules::params::{Parameter, ParameterKind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Names that shells and lists would take for something else.
const NAMES: [&str; 6] = ["it's", "a,b", "$(x) y", "-k", "d=1", "\"q\" ; s"];

/// A table with hostile names: numbers, levels, an order, dates, words for missing values, weights and more.
fn table() -> String {
    let mut random = SplitMix64::new(3);
    let cells = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut text = NAMES.map(cells).join("\t");
    text.push_str("\tw\tyears\to\tg\twhen\tcount\ttwo\ty\n");
    for row in 0..160 {
        let (a, b) = (random.below(20), random.below(30));
        let level = ["low", "mid", "high"][random.below(3)];
        let state = ["CA", "NY", "TX", "WA", "OR", "None", "-"][random.below(7)];
        let y = f64::from(u8::from(a > 9)) * 3.0 + f64::from(u8::from(state == "CA")) * 2.0 + random.uniform();
        let target = if row % 40 == 7 { String::new() } else { format!("{y:.3}").replace('.', ",") };
        let _ = writeln!(
            text,
            "{a}\t{},5\t{state}\t{level}\t{}\t{}\t{}\t0,{}\t0,{}\t{}\t2024-0{}-11\t{}\t{}\t{target}",
            b,
            row % 4,
            random.below(9),
            1 + row % 3,
            5 + row % 4,
            row % 5,
            row % 16,
            1 + row % 9,
            (y as usize) + row % 2,
            u8::from(y > 2.0),
        );
    }
    text
}

/// A value for a flag, by what the declaration of its parameter says.
fn value(parameter: &Parameter, random: &mut SplitMix64) -> String {
    match (parameter.name, parameter.kind) {
        // Limits that nothing reaches: what a fit does within them is up to the machine.
        ("time_limit", _) => "1e6".into(),
        ("memory_limit", _) => "64MB".into(),
        ("num_trees", _) => (5 + random.below(30)).to_string(),
        ("max_complexity", _) => (3 + random.below(8)).to_string(),
        ("max_cost", _) => "4".into(),
        ("node_limit", _) => (40 + random.below(100)).to_string(),
        ("require", _) => ["\"it's\" >= 7", "\"$(x) y\" = CA"][random.below(2)].into(),
        ("forbid", _) => ["-k", "it's & a,b", "\"it's\" >= 3"][random.below(3)].into(),
        ("interactions", _) => "it's,\"a,b\";\"$(x) y\"".into(),
        (_, ParameterKind::NumbersByColumn) => "it's=3,11.5".into(),
        (_, ParameterKind::NumberByColumn) => "it's=1,\"a,b\"=2".into(),
        (_, ParameterKind::DirectionByColumn) => ["it's=+1", "\"it's=+1\"", "d=1=-1"][random.below(3)].into(),
        (_, ParameterKind::Choice(names)) => names[random.below(names.len())].into(),
        (_, ParameterKind::Whole | ParameterKind::WholeOr(_)) => {
            let range = parameter.range.unwrap();
            let most = range.most.min(range.least + 6.0);
            (range.least as usize + 1 + random.below((most - range.least) as usize)).to_string()
        }
        _ => {
            let range = parameter.range.unwrap();
            let x = [0.25, 0.75, 1.5][random.below(3)];
            (range.least + x * (range.most - range.least).min(2.0)).to_string()
        }
    }
}

/// Flags about columns and reading.
const ROLES: [&[&str]; 13] = [
    &["--special=it's=0:none at all|19:it's = \"most\"", "--special=\"d=1\"=3:three"],
    &["--weight=w"],
    &["--offset=o"],
    &["--cv-groups=g", "--cv=3"],
    &["--ignore=\"a,b\",g", "--ignore", "o"],
    &["--categorical", "it's,g"],
    &["--ordered", "-k=low<mid<high", "--ordered=\"d=1\"=0<1<2<3"],
    &["--dates=off"],
    &["--na-values=-,CA"],
    &["--keep-values=None"],
    &["--target=count", "--task=poisson", "--exposure=years"],
    &["--target=two", "--positive=0"],
    &["--target=two", "--task=regression"],
];

/// A random set of flags; a preset now and then.
fn flags(random: &mut SplitMix64, next: &Parameter) -> Vec<String> {
    let flag = |parameter: &Parameter, random: &mut SplitMix64| {
        format!("--{}={}", parameter.name.replace('_', "-"), value(parameter, random))
    };
    let all: Vec<&Parameter> = Parameter::ALL.iter().filter(|p| p.name != "learner").collect();
    let mut chosen = vec![next.name];
    let mut flags = vec![flag(next, random)];
    for _ in 0..random.below(3) {
        let other = all[random.below(all.len())];
        if !chosen.contains(&other.name) {
            chosen.push(other.name);
            flags.push(flag(other, random));
        }
    }
    // Costs and their limit go together.
    let partner = [("column_cost", "max_cost"), ("max_cost", "column_cost")].into_iter().find(|(a, _)| *a == next.name);
    if let Some((_, name)) = partner.filter(|(_, name)| !chosen.contains(name)) {
        let other = all.iter().find(|parameter| parameter.name == name).unwrap();
        chosen.push(other.name);
        flags.push(flag(other, random));
    }
    if ["num_trees", "p0"].contains(&next.name) {
        flags.push("--preset=sirus".into());
    } else if random.below(5) == 0 {
        flags.push(format!("--preset={}", ["cob", "sgb", "sxb", "cgb"][random.below(4)]));
    }
    if random.below(2) == 0 {
        let role = ROLES[random.below(ROLES.len())];
        let takes_cv = role.iter().any(|flag| flag.starts_with("--cv="));
        if !(takes_cv && chosen.contains(&"cv")) {
            flags.extend(role.iter().map(|flag| (*flag).to_owned()));
        }
    }
    if !flags.iter().any(|flag| flag.starts_with("--target")) {
        flags.push("--target=y".into());
    }
    flags.extend(["--decimal=,", "--drop-missing-target"].map(str::to_owned));
    if !chosen.contains(&"cv") && !flags.iter().any(|flag| flag.starts_with("--cv=")) && random.below(2) == 0 {
        flags.push("--cv=none".into());
    }
    flags
}

/// Runs the command that a model keeps, for this table, through a shell.
fn rerun(sandbox: &Sandbox, model: &str, table: &str, to: &str) {
    let command = sandbox.ok(&["show", model, "--provenance"]).stdout.lines().next().unwrap().to_owned();
    let start = format!("'{}' fit {table}", env!("CARGO_BIN_EXE_orthorules"));
    let command = command.strip_prefix("orthorules fit TABLE").unwrap();
    let command = command.strip_suffix(" -o MODEL").unwrap();
    let run = std::process::Command::new("bash")
        .current_dir(sandbox.path(""))
        .args(["-c", &format!("{start}{command} -o {to} --quiet")])
        .output()
        .unwrap();
    assert!(run.status.success(), "{command}: {}", String::from_utf8_lossy(&run.stderr));
}

/// Option sets over all parameters, from their one declaration, and over roles and ways of reading.
#[test]
fn the_command_makes_the_same_file_for_forty_sets_of_options() {
    let sandbox = Sandbox::with(&[("t.tsv", &table())]);
    let mut random = SplitMix64::new(17);
    let (mut told, mut made) = (BTreeSet::new(), 0);
    let parameters: Vec<&Parameter> = Parameter::ALL.iter().filter(|p| p.name != "learner").collect();
    for turn in 0..6 * parameters.len() {
        let next = parameters[turn % parameters.len()];
        if made >= 40 && told.contains(next.name) {
            continue;
        }
        let flags = flags(&mut random, next);
        let words: Vec<&str> = flags.iter().map(String::as_str).collect();
        let run = sandbox.run(&[&["fit", "t.tsv", "-o", "m.json", "--quiet"], words.as_slice()].concat());
        if run.code != 0 {
            assert_eq!(run.code, 2, "{flags:?}: {}", run.stderr);
            continue;
        }
        rerun(&sandbox, "m.json", "t.tsv", "again.json");
        assert_eq!(sandbox.read("m.json"), sandbox.read("again.json"), "{flags:?}");
        told.extend(flags.iter().filter_map(|flag| {
            let name = flag.trim_start_matches('-').split('=').next()?.replace('-', "_");
            parameters.iter().find(|p| p.name == name).map(|p| p.name)
        }));
        made += 1;
    }
    let missing: Vec<&str> = parameters.iter().map(|p| p.name).filter(|name| !told.contains(name)).collect();
    assert!(made >= 40 && missing.is_empty(), "{made} sets of options, never with {missing:?}");
}

#[test]
fn options_at_their_defaults_are_left_out() {
    let sandbox =
        Sandbox::with(&[("t.csv", &people()), ("h.csv", &houses()), ("c.csv", &claims()), ("f.csv", &flowers())]);
    for (table, target) in [("t.csv", "survived"), ("h.csv", "price"), ("f.csv", "kind")] {
        sandbox.ok(&["fit", table, "--target", target, "--threads=2", "-o", "m.json"]);
        let model: Value = serde_json::from_str(&sandbox.read("m.json")).unwrap();
        let provenance = &model["provenance"];
        assert_eq!(provenance["command"], format!("orthorules fit TABLE --target {target} -o MODEL"));
        assert_eq!((&provenance["options"], &provenance["table"]["rows"]), (&serde_json::json!({}), &model["rows"]));
        assert_eq!(model["version"], 3);
        assert_eq!(provenance["version"], env!("CARGO_PKG_VERSION"));
        let told = sandbox.json(&["show", "m.json", "--provenance"]);
        assert_eq!(told["command"], provenance["command"]);
        assert!(told["python"].as_str().unwrap().contains(".fit(X, table["), "{told}");
    }
    sandbox.ok(&[
        "fit",
        "c.csv",
        "--target=claims",
        "--task=poisson",
        "--exposure=years",
        "--terms=linear",
        "-o",
        "c.json",
    ]);
    let options = sandbox.json(&["show", "c.json", "--provenance"])["options"].clone();
    assert_eq!(options, serde_json::json!({"task": "poisson", "exposure": "years", "terms": "linear"}));
}

/// The fingerprint is that of the values: not of options, of the order of rows, or of how a file spells them.
#[test]
fn fingerprints_tell_tables_apart() {
    let sandbox = Sandbox::new();
    let lines: Vec<String> = houses().lines().map(str::to_owned).collect();
    let fingerprint = |lines: &[String], flags: &[&str]| {
        sandbox.write("t.csv", lines.join("\n") + "\n");
        sandbox.ok(&[&["fit", "t.csv", "--target=price", "-o", "m.json"], flags].concat());
        let told = sandbox.json(&["show", "m.json", "--provenance"]);
        told["table"]["fingerprint"].as_str().unwrap().to_owned()
    };
    let own = fingerprint(&lines, &[]);
    for flags in [&["--max-bins=7", "--terms=hinge"][..], &["--cv=none"], &["--cv=none", "--memory-limit=1"]] {
        assert_eq!(fingerprint(&lines, flags), own, "{flags:?}");
    }
    let mut turned = lines.clone();
    turned[1..].reverse();
    assert_eq!(fingerprint(&turned, &[]), own);
    let mut seen = BTreeSet::from([own]);
    for (from, to) in
        [("size,", "area,"), ("true", "false"), ("40,true,1250.5", "41,true,1250.5"), ("1250.5", "1250.25")]
    {
        let mut other = lines.clone();
        let line = other.iter_mut().find(|line| line.contains(from)).unwrap();
        *line = line.replacen(from, to, 1);
        assert!(seen.insert(fingerprint(&other, &[])), "{from} to {to}");
    }
    assert!(seen.insert(fingerprint(&lines[..100], &[])));
}

#[test]
fn models_without_provenance_say_so() {
    let sandbox = Sandbox::with(&[("old.json", crate::MODEL)]);
    refused(&sandbox, &["show", "old.json", "--provenance"], &["old.json", "does not say where it comes from"]);
}

/// The page has the command and the edits.
#[test]
fn reports_have_the_command_and_the_ledger() {
    let sandbox = Sandbox::with(&[("t & t.csv", &houses())]);
    sandbox.ok(&["fit", "t & t.csv", "--target=price", "--ignore=garden", "--terms=rules", "-o", "m.json"]);
    sandbox.ok(&[
        "edit",
        "m.json",
        "--data=t & t.csv",
        "--add=size >= 70",
        "--why=<b>law",
        "--author=me",
        "-o",
        "e.json",
    ]);
    sandbox.ok(&["report", "e.json", "t & t.csv", "-o", "r.html"]);
    let page = sandbox.read("r.html");
    for part in ["--ignore garden --terms rules", "add size \\u003e= 70", "\\u003cb\\u003elaw", "function ledgerNodes"]
    {
        assert!(page.contains(part), "{part}");
    }
}
