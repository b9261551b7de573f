//! Tables that change while they are read: no result is better than one that belongs to no table.

use super::{assert_one_line, caught, people_and_model};
use crate::Sandbox;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The table, the commands that read it, and how to know that nothing came of it.
fn each_command(sandbox: &Sandbox, table: &str, change: impl Fn(&Path)) {
    let whole = fs::read(sandbox.path(table)).unwrap();
    let commands: [&[&str]; 5] = [
        &["predict", "m.json", table, "-o", "new"],
        &["predict", "m.json", table, "--json"],
        &["fit", table, "--target", "survived", "-o", "new"],
        &["evaluate", "m.json", table],
        &["explain", "m.json", table],
    ];
    for args in commands {
        let before = sandbox.files();
        let run = (0..50).find_map(|_| {
            sandbox.write(table, &whole);
            caught(sandbox, table, args, |_, path| change(path))
        });
        let run = run.expect("a table that is long enough to be caught half read");
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert_one_line(&run, &format!("{args:?}"));
        assert!(run.stderr.contains(&format!("{table}: changed while it was read")), "{args:?}: {run:?}");
        assert_eq!(sandbox.files(), before, "{args:?}");
    }
}

#[test]
fn a_table_that_is_cut_at_a_row_is_refused() {
    let sandbox = people_and_model(600_000);
    // All rows but the first have one of two lengths: the cut is after a line end.
    let text = fs::read(sandbox.path("t.csv")).unwrap();
    let cut = text[..text.len() * 3 / 4].iter().rposition(|&b| b == b'\n').unwrap() + 1;
    each_command(&sandbox, "t.csv", |path| {
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(cut as u64).unwrap();
    });
}

#[test]
fn a_table_that_grows_is_refused() {
    let sandbox = people_and_model(600_000);
    each_command(&sandbox, "t.csv", |path| {
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"male,30,yes\n").unwrap();
    });
}

#[test]
fn a_table_that_is_replaced_is_refused() {
    let sandbox = people_and_model(600_000);
    each_command(&sandbox, "t.csv", |path| {
        let other = path.with_file_name("m.json.new");
        fs::copy(path, &other).unwrap();
        fs::rename(&other, path).unwrap();
    });
}
