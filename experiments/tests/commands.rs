//! The commands `quality` and `selection` on a small data set of their own.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A directory as the benchmark's: one regression of 60 rows with two splits.
fn benchmark(name: &str) -> Folder {
    let folder = std::env::temp_dir().join(format!("orthorules-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("splits")).unwrap();
    let manifest = r#"[{"name":"steps","file":"steps.csv","task":"regression","target":"y","positive_class":null,
        "paper_codes":{},"max_col_attr":10,"test_size":0.2,"seeds":[1,2],"reference_regs":[1.0]}]"#;
    std::fs::write(folder.join("manifest.json"), manifest).unwrap();
    let (mut table, mut splits) = (String::from("x,u,y\n"), String::from("split0,split1\n"));
    for i in 0..60 {
        let (x, u) = (i % 20, (i * 7) % 60);
        let y = if x > 9 { 5.0 } else { 1.0 } + if u > 30 { 2.0 } else { 0.0 } + f64::from(i % 3) / 10.0;
        let _ = writeln!(table, "{x},{u},{y}");
        let _ = writeln!(splits, "{},{}", u8::from(i % 5 == 0), u8::from(i % 5 == 1));
    }
    std::fs::write(folder.join("steps.csv"), table).unwrap();
    std::fs::write(folder.join("splits/steps.csv"), splits).unwrap();
    Folder(folder)
}

fn run(command: &str, folder: &Path, flags: &[&str]) -> (bool, String, String) {
    let binary = env!("CARGO_BIN_EXE_orthorules-experiments");
    let output = Command::new(binary).arg(command).arg(folder).args(["--splits", "2"]).args(flags).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn quality_compares_with_peers_and_writes_tables_and_curves() {
    let folder = benchmark("quality");
    let peers = folder.0.join("peers.csv");
    // A peer that halves the risk at complexity 11, on one of the splits.
    let text = "data_set,split,system,complexity,train_risk,test_risk\nsteps,0,half,0,8,4\nsteps,0,half,11,4,2\n";
    std::fs::write(&peers, text).unwrap();
    let out = folder.0.join("out");
    let (peers, out) = (peers.to_str().unwrap().to_owned(), out.to_str().unwrap().to_owned());
    let (ok, table, error) = run("quality", &folder.0, &["--variant", "ours", "--peers", &peers, "--out", &out]);
    assert!(ok, "{error}");
    assert!(table.contains("ours against half") && table.contains("1 better, 0 within 1 %, 0 worse"), "{table}");
    let read = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).unwrap();
    // Ten levels at 1, forty at a half.
    assert!(read("quality.csv").contains("steps,half,0.6,0.6,\n"), "{}", read("quality.csv"));
    let curves = read("curves.csv");
    assert_eq!(curves.lines().count(), 101);
    assert!(curves.contains("half,10,1,1\nhalf,11,0.5,0.5\n"), "{curves}");
    assert!(read("curves.svg").contains(">half</text>"));
}

/// Two builds of the program are compared on fresh splits by way of a file. With itself, a build ties.
#[test]
fn fresh_splits_are_compared_by_way_of_a_file() {
    let folder = benchmark("fresh");
    let sizes = folder.0.join("sizes.csv").to_str().unwrap().to_owned();
    let fresh = |more: &[&str]| {
        let flags = [&["--fresh", "--small", "--variant", "ours:max_rules=3"], more].concat();
        run("quality", &folder.0, &flags)
    };
    let (ok, own, error) = fresh(&["--sizes", &sizes]);
    assert!(ok, "{error}");
    let text = std::fs::read_to_string(&sizes).unwrap();
    assert!(text.contains("steps,1,ours,0,1,1\n"), "{text}");
    std::fs::write(&sizes, text.replace(",ours,", ",before,")).unwrap();
    let (ok, table, error) = fresh(&["--peers", &sizes]);
    assert!(ok, "{error}");
    assert!(table.contains("ours against before: test risk × 1.000 on 1 data sets"), "{table}");
    assert!(table.contains("mean log ratio +0.0000"), "{table}");
    assert!(table.contains("0 better and 0 worse by 0.5 %, of 1"), "{table}");
    // Others than the directory's, and others for another seed.
    let test = |table: &str| {
        table.lines().find(|l| l.starts_with("steps")).unwrap().split_whitespace().nth(2).unwrap().to_owned()
    };
    let of_directory = run("quality", &folder.0, &["--variant", "ours:max_rules=3"]).1;
    let other_seed = fresh(&["--seed", "5"]).1;
    assert!(test(&own) != test(&of_directory) && test(&own) != test(&other_seed), "{own} {of_directory} {other_seed}");
    let (ok, _, error) = run("quality", &folder.0, &["--large"]);
    assert!(!ok && error.contains("no data set"), "{error}");
}

#[test]
fn a_bad_file_of_peers_is_named_with_its_line() {
    let folder = benchmark("peers");
    let peers = folder.0.join("peers.csv");
    std::fs::write(&peers, "data_set,split,system,complexity,train_risk,test_risk\nsteps,0,half,none,8,4\n").unwrap();
    let (ok, _, error) = run("quality", &folder.0, &["--peers", peers.to_str().unwrap()]);
    assert!(!ok && error.contains("peers.csv, line 2"), "{error}");
}

#[test]
fn selection_compares_the_rules_of_choice() {
    let folder = benchmark("selection");
    let (ok, table, error) = run("selection", &folder.0, &["--folds", "3", "--max-complexity", "10"]);
    assert!(ok, "{error}");
    assert!(table.contains("best over best: complexity × 1.000, test risk × 1.0000"), "{table}");
    let ratio = table.split("1se over best: complexity × ").nth(1).and_then(|t| t.split(',').next()).unwrap();
    assert!(ratio.parse::<f64>().unwrap() <= 1.0, "{table}");
}

/// A reader of the first line alone, such as `head`, ends the program without a complaint.
#[test]
fn a_closed_pipe_is_no_error() {
    let folder = benchmark("pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_orthorules-experiments"))
        .arg("quality")
        .arg(&folder.0)
        .args(["--splits", "2"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !said.contains("panicked"), "{:?} {said}", output.status);
}
