//! What Cargo builds for a crate: all that it depends on, by whatever way.

use crate::crates;
use std::collections::BTreeSet;
use std::process::Command;

/// The names of all crates that are built for `name` with these arguments, without those of tests and of build scripts.
fn built(name: &str, arguments: &[&str]) -> BTreeSet<String> {
    let tree = ["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let manifest = crates().join(name).join("Cargo.toml");
    let mut command = Command::new(env!("CARGO"));
    let run = command.args(tree).arg("--manifest-path").arg(manifest).args(["-p", name]).args(arguments);
    let output = run.output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree of {name}: {complaints}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(ToOwned::to_owned).collect()
}

/// Those among them that read files.
fn readers(built: &BTreeSet<String>) -> Vec<&str> {
    let is_reader = |name: &str| name.starts_with("arrow") || ["parquet", "csv", "zstd", "flate2"].contains(&name);
    built.iter().map(String::as_str).filter(|name| is_reader(name)).collect()
}

#[test]
fn exports_and_reports_build_no_engine_and_no_readers() {
    for name in ["orthorules-model", "orthorules-export", "orthorules-report"] {
        let built = built(name, &[]);
        assert!(built.contains("orthorules-model") && built.contains("serde_json"), "{name}: {built:?}");
        assert!(!built.contains("orthorules"), "{name} builds the engine");
        // Workbooks are packed, which takes a part of what readers take.
        let readers: Vec<&str> = readers(&built).into_iter().filter(|&reader| reader != "flate2").collect();
        assert!(readers.is_empty(), "{name} builds {readers:?}");
    }
}

#[test]
fn the_engine_alone_builds_no_readers() {
    for features in [vec!["--no-default-features"], vec!["--no-default-features", "--features", "cluster"]] {
        let built = built("orthorules", &features);
        assert!(built.contains("rayon"), "{built:?}");
        assert_eq!(readers(&built), Vec::<&str>::new(), "{features:?}");
    }
    let all = built("orthorules", &[]);
    assert!(readers(&all).contains(&"parquet"), "by default there are readers: {all:?}");
}
