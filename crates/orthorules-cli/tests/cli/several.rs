//! Tables in several files, for every command that takes a table.

use super::*;

/// The people in files by the year and the month of their voyage, and all of them in one file.
fn voyages() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = people();
    let lines: Vec<&str> = text.lines().collect();
    let mut one = format!("{},year,month\n", lines[0]);
    for (file, rows) in lines[1..].chunks(30).enumerate() {
        let (year, month) = (["1911", "1912"][file / 2], ["03", "04"][file % 2]);
        let folder = format!("data/year={year}/month={month}");
        std::fs::create_dir_all(sandbox.path(&folder)).unwrap();
        sandbox.write(&format!("{folder}/part-0.csv"), format!("{}\n{}\n", lines[0], rows.join("\n")));
        rows.iter().for_each(|row| writeln!(one, "{row},{year},{month}").unwrap());
    }
    sandbox.write("one.csv", one);
    sandbox
}

#[test]
fn every_command_takes_several_files() {
    let sandbox = voyages();
    sandbox.write("data/_SUCCESS", "");
    sandbox.ok(&["fit", "one.csv", "--target", "survived", "-o", "one.json"]);
    for table in ["data", "data/*", "data/**/*.csv", "./data/year=*/month=0[34]/part-?.csv"] {
        sandbox.ok(&["fit", table, "--target", "survived", "-o", "several.json"]);
        assert_eq!(sandbox.read("several.json"), sandbox.read("one.json"), "{table}");
        for command in [&["predict"][..], &["evaluate"], &["explain", "--row", "70"], &["predict", "--json"]] {
            let run = |table: &str| sandbox.ok(&[&[command[0], "one.json", table], &command[1..]].concat());
            assert_eq!(run(table).stdout, run("one.csv").stdout, "{command:?} {table}");
        }
        sandbox.ok(&["report", "one.json", table, "--test", table, "-o", "r.html"]);
        assert!(sandbox.read("r.html").contains("120"));
    }
    // Without folds the files are read twice and never held in memory.
    for more in [&["--cv", "none"][..], &["--memory-limit", "1"]] {
        let fit = |table: &str, model: &str| {
            sandbox.ok(&[&["fit", table, "--target", "survived", "-o", model][..], more].concat());
            sandbox.read(model)
        };
        assert_eq!(fit("data", "a.json"), fit("one.csv", "b.json"));
    }
}

#[test]
fn what_does_not_go_together_is_refused_in_one_line() {
    let sandbox = voyages();
    std::fs::create_dir_all(sandbox.path("empty/below")).unwrap();
    sandbox.write("other.csv", "sex,age,survived\nmale,3,yes\n");
    sandbox.write("t.tsv", "sex\tage\n");
    std::fs::create_dir_all(sandbox.path("delta/_delta_log")).unwrap();
    let cases: [(&[&str], &[&str]); 7] = [
        (&["no*.csv"], &["no*.csv: no file matches"]),
        (&["no/*.csv"], &["no/*.csv: no file matches: there is no folder no"]),
        (&["empty"], &["empty: has no files that end like a table"]),
        (&["o*.csv"], &["other.csv: has no column \"fare\", which one.csv has"]),
        (&["*.[ct]sv"], &["t.tsv: is TSV text, but one.csv is CSV text"]),
        (&["delta"], &["delta: is a Delta Lake table"]),
        (&["data", "-o", "data/year=1911/month=03/part-0.csv"], &["is the input data/year=1911/month=03/part-0.csv"]),
    ];
    for (args, expected) in cases {
        let run = sandbox.run(&[&["fit", "--target", "survived"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(expected.iter().all(|text| run.stderr.contains(text)), "{args:?}: {}", run.stderr);
    }
    // A column that only some files have may be ignored.
    sandbox.ok(&["fit", "o*.csv", "--target", "survived", "--ignore", "fare,year,month", "--cv", "none"]);
}

#[test]
fn other_files_in_a_folder_are_noted() {
    let sandbox = voyages();
    sandbox.write("data/README.md", "voyages");
    let note = "orthorules: note: data holds a file that does not end like a table and was not read: \"README.md\"\n";
    for more in [&["--cv", "2"][..], &["--cv", "none"]] {
        let run = sandbox.ok(&[&["fit", "data", "--target", "survived", "-o", "m.json"][..], more].concat());
        assert!(run.stderr.contains(note), "{}", run.stderr);
    }
    assert!(sandbox.ok(&["predict", "m.json", "data"]).stderr.contains(note));
    assert_eq!(sandbox.ok(&["predict", "m.json", "data/**/*.csv"]).stderr, "");
}

/// Shells expand what is not in quotes: the remedy is told.
#[test]
fn a_pattern_without_quotes_is_understood() {
    let sandbox = Sandbox::with(&[("a.csv", "x,y\n1,2\n"), ("b.csv", "x,y\n1,2\n")]);
    let run = sandbox.run(&["fit", "a.csv", "b.csv", "--target", "y"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("quotes"), "{}", run.stderr);
}
