//! Outputs that cannot be written, or that another program writes, too.

use super::{BINARY, assert_one_line, ended, people_and_model, shell, start};
use crate::bad_input::refused;
use crate::{Sandbox, people};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

/// Commands that write a file, by its name.
fn writers(output: &str) -> [Vec<&str>; 3] {
    [
        vec!["fit", "t.csv", "--target", "survived", "-o", output],
        vec!["predict", "m.json", "t.csv", "-o", output],
        vec!["demo", "--quiet", "-o", output],
    ]
}

/// Runs `script` with the binary where namespaces are to be had; else says so.
fn in_namespace(sandbox: &Sandbox, flags: &str, script: &str) -> Option<crate::Run> {
    if !Command::new("unshare").args([flags, "true"]).output().is_ok_and(|o| o.status.success()) {
        eprintln!("SKIPPED: no namespaces here (unshare {flags})");
        return None;
    }
    let mut command = Command::new("unshare");
    command.current_dir(sandbox.0.path()).args([flags, "sh", "-c", script, BINARY]);
    Some(ended(&command.output().unwrap()))
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let sandbox = people_and_model(20_000);
    let before = sandbox.files();
    for args in writers("/dev/full") {
        let run = sandbox.run(&args);
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert_one_line(&run, &format!("{args:?}"));
        assert!(run.stderr.contains("/dev/full: cannot be written: "), "{run:?}");
    }
    // A limit to the size of files fails in the same place as a full disk; predictions fail on their way.
    for args in writers("new") {
        let run = shell(&sandbox, r#"ulimit -f 1; exec "$0" "$@""#, &args);
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert_one_line(&run, &format!("{args:?}"));
        assert!(run.stderr.contains("new: cannot be written: "), "{run:?}");
        assert_eq!(sandbox.files(), before);
    }
    let small = r#"mkdir d && mount -t tmpfs -o size=64k none d || exit 77
        "$0" predict m.json t.csv -o d/p.csv; code=$?; ls -A d; exit $code"#;
    if let Some(run) = in_namespace(&sandbox, "-Urm", small).filter(|run| run.code != 77) {
        assert_eq!(run.code, 1, "{run:?}");
        assert_one_line(&run, "a small disk");
    }
}

#[test]
fn a_full_disk_behind_standard_output_is_told() {
    let sandbox = people_and_model(20_000);
    let commands: [&[&str]; 5] = [
        &["predict", "m.json", "t.csv"],
        &["show", "m.json"],
        &["evaluate", "m.json", "t.csv", "--json"],
        &["explain", "m.json", "t.csv"],
        &["--help"],
    ];
    for args in commands {
        let run = shell(&sandbox, r#"exec "$0" "$@" > /dev/full"#, args);
        assert_eq!(run.code, 1, "{args:?}: {run:?}");
        assert_one_line(&run, &format!("{args:?}"));
    }
}

#[test]
fn a_full_temporary_directory_is_told() {
    let sandbox = people_and_model(20_000);
    let run = shell(
        &sandbox,
        r#"ulimit -f 1; exec "$0" "$@""#,
        &["fit", "t.csv", "--target", "survived", "--memory-limit", "0"],
    );
    assert_eq!(run.code, 1, "{run:?}");
    assert_one_line(&run, "codes");
    assert!(run.stderr.contains("TMPDIR"), "{run:?}");
}

#[test]
fn what_is_an_input_is_no_output() {
    let sandbox = Sandbox::with(&[("t.csv", &people()), ("m.json", crate::MODEL)]);
    symlink("t.csv", sandbox.path("link.csv")).unwrap();
    fs::hard_link(sandbox.path("t.csv"), sandbox.path("same.csv")).unwrap();
    fs::create_dir(sandbox.path("d")).unwrap();
    for output in ["t.csv", "link.csv", "same.csv", "./t.csv", "d/../t.csv"] {
        refused(&sandbox, &["fit", "t.csv", "--target", "survived", "-o", output], &[output, "is the input t.csv"]);
        refused(&sandbox, &["predict", "m.json", "t.csv", "-o", output], &[output, "is the input t.csv"]);
        refused(&sandbox, &["predict", "m.json", "link.csv", "-o", output], &[output, "is the input link.csv"]);
    }
    refused(&sandbox, &["predict", "m.json", "t.csv", "-o", "m.json"], &["is the input m.json"]);
    assert_eq!((sandbox.read("t.csv"), sandbox.read("m.json").as_str()), (people(), crate::MODEL));
    // What is neither kept nor whole may be both.
    sandbox.ok(&["predict", "m.json", "t.csv", "-o", "/dev/null"]);
}

#[test]
fn a_file_that_is_replaced_keeps_mode_and_links() {
    let sandbox = people_and_model(50);
    for (number, args) in writers("link").iter().enumerate() {
        let (file, link) = (sandbox.path(&format!("private{number}")), sandbox.path("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let _ = fs::remove_file(&link);
        symlink(&file, &link).unwrap();
        sandbox.ok(args);
        assert!(link.is_symlink() && fs::read_to_string(&file).unwrap().len() > 3);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    symlink("absent", sandbox.path("nowhere")).unwrap();
    for args in writers("nowhere") {
        refused(&sandbox, &args, &["nowhere: is a link that leads to no file"]);
    }
}

#[test]
fn a_planted_file_or_link_is_not_written_to() {
    let sandbox = people_and_model(20_000);
    sandbox.write("victim", "mine");
    // The shell becomes the program, so that its number is known before: it was part of a name once.
    for plant in ["ln -s victim", "ln", "mkdir", "cp"] {
        let source = if plant == "ln" || plant == "cp" { "victim" } else { "" };
        let script = format!(r#"{plant} {source} .p.csv.$$.part && exec "$0" "$@""#);
        let run = shell(&sandbox, &script, &["predict", "m.json", "t.csv", "-o", "p.csv"]);
        assert_eq!((run.code, sandbox.read("victim").as_str()), (0, "mine"), "{plant}: {run:?}");
        assert_eq!(sandbox.read("p.csv").lines().count(), 20_001, "{plant}");
    }
}

#[test]
fn many_writers_of_one_file_leave_one_of_theirs() {
    let sandbox = people_and_model(20_000);
    sandbox.write("other.json", crate::MODEL.replace("0.74", "0.25"));
    let models = ["m.json", "other.json"];
    let expected = models.map(|model| sandbox.ok(&["predict", model, "t.csv"]).stdout);
    assert_ne!(expected[0], expected[1]);
    let children: Vec<_> =
        (0..8).map(|i| start(&sandbox, &["predict", models[i % 2], "t.csv", "-o", "p.csv"])).collect();
    for child in children {
        let run = ended(&child.wait_with_output().unwrap());
        assert_eq!(run.code, 0, "{run:?}");
        assert!(expected.contains(&sandbox.read("p.csv")));
    }
    assert_eq!(sandbox.files(), ["m.json", "other.json", "p.csv", "t.csv"]);
    // The same in two containers, whose processes have the same number.
    let script = r#"one() { unshare -Urpf "$0" predict "$1" t.csv -o p.csv; }
        one m.json & first=$!; one other.json || exit 1; wait $first"#;
    if let Some(run) = in_namespace(&sandbox, "-Urpf", script) {
        assert_eq!(run.code, 0, "{run:?}");
        assert!(expected.contains(&sandbox.read("p.csv")));
        assert_eq!(sandbox.files(), ["m.json", "other.json", "p.csv", "t.csv"]);
    }
}
