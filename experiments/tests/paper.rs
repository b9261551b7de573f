//! The paper's evaluation runs from end to end, goes on where it stopped, and agrees with the published table.

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

/// A directory that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("orthorules-paper-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn paper(out: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthorules-experiments"));
    let output = command.arg("paper").args(args).arg("--quick").arg("--out").arg(out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Train risks of a method by data set, ours and the published ones.
fn risks(csv: &str, method: &str) -> Vec<(String, f64, Option<f64>)> {
    let rows = csv.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let wanted = rows.filter(|f| f[1] == method && !f[2].is_empty());
    wanted.map(|f| (f[0].to_owned(), f[2].parse().unwrap(), f[5].parse().ok())).collect()
}

#[test]
fn generated_sets_run_and_go_on_from_what_is_stored() {
    let scratch = Scratch::new("generated");
    let first = paper(&scratch.0, &["--generated"]);
    let folder = scratch.0.join("text-quick");
    for name in ["levels", "test_by_set", "train_by_set", "ablation", "coverage", "times", "ratios", "curves"] {
        let svg = std::fs::read_to_string(folder.join(format!("{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"), "{name}");
    }
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("tic_tac_toe") && page.contains("class=\"win\""));
    let extras = std::fs::read_to_string(folder.join("extras.csv")).unwrap();
    assert_eq!(extras.lines().count(), 3, "{extras}");
    // Branch and bound fits the training rows better than greedy search here, and all methods beat the constant.
    let csv = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    let sum = |method| risks(&csv, method).iter().map(|r| r.1).sum::<f64>();
    assert!(sum("COB_B") < sum("COB_G") && sum("defaults") < sum("COB_B"), "{csv}");
    for method in ["SIRUS", "SGS", "SGB", "SXB", "CGB", "COB_G", "COB_B", "defaults"] {
        assert!(risks(&csv, method).iter().all(|r| r.1 < 1.0), "{csv}");
    }
    // One stored curve is changed, one is spoiled: the first is used as it is, the second computed again.
    let stored = |name: &str| scratch.0.join("cache/text-quick").join(name);
    let (kept, spoiled) = (stored("friedman1-0-SGS.json"), stored("friedman1-0-SGB.json"));
    let mut fields: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&kept).unwrap()).unwrap();
    fields["normaliser"][0] = 1e9.into();
    std::fs::write(&kept, fields.to_string()).unwrap();
    std::fs::write(&spoiled, "not a curve").unwrap();
    let second = paper(&scratch.0, &["--generated"]);
    assert_ne!(first, second);
    let again = std::fs::read_to_string(folder.join("results.csv")).unwrap();
    let of = |csv: &str, method| risks(csv, method).into_iter().find(|r| r.0 == "friedman1").unwrap().1;
    assert!(of(&again, "SGS") < 1e-3 && of(&again, "SGB") == of(&csv, "SGB"));
}

#[test]
fn a_sample_agrees_with_the_published_table() {
    let Some(directory) = data() else {
        // Straight to standard error: the macros' output is hidden when a test passes.
        let _ = writeln!(
            std::io::stderr(),
            "\n*** SKIPPED: paper test. Set ORTHORULES_DATA to the directory of the benchmark data to run it. ***\n"
        );
        return;
    };
    let scratch = Scratch::new("published");
    let directory = directory.to_str().unwrap();
    let only = "happiness,diabetes,boston,red_wine,friedman3";
    paper(&scratch.0, &[directory, "--as-published", "--only", only, "--methods", "SGS,COB_G,COB_B"]);
    let csv = std::fs::read_to_string(scratch.0.join("published-quick/results.csv")).unwrap();
    for method in ["SGS", "COB_G", "COB_B"] {
        let risks = risks(&csv, method);
        assert_eq!(risks.len(), 5);
        for (name, ours, published) in risks {
            let published = published.unwrap();
            assert!((ours - published).abs() <= 0.01, "{method} {name}: {ours} but published {published}");
        }
    }
}
