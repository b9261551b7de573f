//! The measured quality does not slip: the `quality` experiment on the benchmark data, where these are at hand.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory that `ORTHORULES_DATA` names, else the one beside the project, if there is one.
fn data() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ORTHORULES_DATA") {
        return Some(PathBuf::from(named));
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/datasets");
    beside.join("manifest.json").is_file().then_some(beside)
}

/// Test values by variant, one for each data set.
fn test_values(csv: &str) -> BTreeMap<String, Vec<f64>> {
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        values.entry(fields[1].to_owned()).or_default().push(fields[3].parse().unwrap());
    }
    values
}

fn geometric(values: &[f64]) -> f64 {
    (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// The goals of the project, on all data sets and all splits: at most .316 with the defaults, and within .02 of .435
/// with the paper's setting. Takes seconds even without full optimisation.
#[test]
fn default_and_paper_settings_are_as_good_as_measured() {
    let Some(directory) = data() else {
        // Straight to standard error: the macros' output is hidden when a test passes.
        let _ = writeln!(
            std::io::stderr(),
            "\n*** SKIPPED: quality test. Set ORTHORULES_DATA to the directory of the benchmark data to run it. ***\n"
        );
        return;
    };
    let csv = std::env::temp_dir().join(format!("orthorules-quality-{}.csv", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_orthorules-experiments"))
        .arg("quality")
        .arg(&directory)
        .arg("--csv")
        .arg(&csv)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let values = test_values(&std::fs::read_to_string(&csv).unwrap());
    std::fs::remove_file(&csv).unwrap();
    let (default, cob) = (&values["default"], &values["cob"]);
    assert_eq!((default.len(), cob.len()), (34, 34), "the goals are about all 34 data sets");
    let (default, cob) = (geometric(default), geometric(cob));
    assert!(default <= 0.316, "default: {default:.4}");
    assert!((cob - 0.435).abs() <= 0.02, "cob: {cob:.4}");
}
