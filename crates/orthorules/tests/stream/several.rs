//! A table in several files gives the model of the same rows in one, to the last byte.

use super::*;
use orthorules::Gather;

/// The rows of a table of one file as `parts` files, the first of which have this many rows.
fn split(rows: &[Row], lengths: &[usize], ending: &str) -> Vec<Vec<u8>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for &length in lengths {
        let end = (start + length).min(rows.len());
        ranges.push(start..end);
        start = end;
    }
    ranges.push(start..rows.len());
    if ending == "csv" {
        let text = String::from_utf8(csv(rows)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let file = |range: std::ops::Range<usize>| {
            let rows = [&lines[..1], &lines[1..][range]].concat();
            (rows.join("\n") + "\n").into_bytes()
        };
        return ranges.into_iter().map(file).collect();
    }
    let whole = batches(rows);
    let file = |range: std::ops::Range<usize>| {
        let mut slices = Vec::new();
        let mut before = 0;
        for batch in &whole {
            let (from, to) = (range.start.max(before), range.end.min(before + batch.num_rows()));
            if from < to {
                slices.push(batch.slice(from - before, to - from));
            }
            before += batch.num_rows();
        }
        if slices.is_empty() {
            slices.push(whole[0].slice(0, 0));
        }
        if ending == "parquet" { parquet_of(&slices) } else { ipc_of(&slices) }
    };
    ranges.into_iter().map(file).collect()
}

/// The model of one file, and that of several.
fn check(rows: &[Row], lengths: &[usize], roles: &Roles, params: &Params) -> Result<(), String> {
    for (name, bytes) in files(rows) {
        let one = tempfile::tempdir().unwrap();
        std::fs::write(one.path().join(name), bytes).unwrap();
        let expected = in_memory(&one.path().join(name), roles, params);
        let ending = name.split_once('.').unwrap().1;
        let several = tempfile::tempdir().unwrap();
        for (i, bytes) in split(rows, lengths, ending).into_iter().enumerate() {
            std::fs::write(several.path().join(format!("part-{i:02}.{ending}")), bytes).unwrap();
        }
        if ending == "csv" {
            std::fs::write(several.path().join("part-005.csv"), "").unwrap();
        }
        let told = |outcome: Result<(String, Vec<String>), String>| {
            outcome.map_err(|e| e.split_once(": ").unwrap().1.to_owned())
        };
        let expected = told(expected);
        assert_eq!(told(in_memory(several.path(), roles, params)), expected, "{name} {lengths:?}");
        for (threads, limit) in [(1, None), (2, Some(0))] {
            let params = Params { threads: Some(threads), ..params.clone() };
            assert_eq!(told(streamed(several.path(), roles, &params, limit)), expected, "{name} {lengths:?}");
        }
        if ending != "csv" {
            for gather in [Gather::Never, Gather::WhereSmall] {
                let file = |i| several.path().join(format!("part-{i:02}.{ending}"));
                let files = (0..=lengths.len()).map(file).collect();
                let found = super::partitions::partitioned(files, roles, params, gather);
                assert_eq!(found.is_ok(), expected.is_ok(), "{name} {lengths:?}: {found:?} {expected:?}");
                assert_eq!(found.ok(), expected.as_ref().ok().map(|(model, _)| model.clone()), "{name} {lengths:?}");
            }
        }
        expected.map(|_| ())?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn models_are_those_of_one_file(
        count in 2usize..300,
        seed in any::<u64>(),
        lengths in proptest::collection::vec(prop_oneof![Just(0usize), Just(1), 2usize..100], 0..6),
        weighted in any::<bool>(),
        categorical in 0usize..5,
    ) {
        let categorical = ["x", "few", "flag", "id", "gone"].get(categorical).map(|name| (*name).to_owned());
        let weight = weighted.then(|| "w".to_owned());
        let roles = Roles { weight, categorical: categorical.into_iter().collect(), ..roles() };
        let outcome = check(&rows(count, seed), &lengths, &roles, &small());
        prop_assert!(outcome.is_ok() || weighted, "{:?}", outcome);
    }
}

#[test]
fn many_rows_in_files_of_very_different_length() {
    check(&rows(200_000, 7), &[0, 1, 150_000, 0, 1000], &roles(), &small()).unwrap();
}

#[test]
fn classes_and_counts_may_be_in_several_files() {
    let mut rows = rows(400, 9);
    rows.retain(|r| r.name.is_some() && r.y > 0.0);
    check(&rows, &[1, 100], &Roles { target: "name".into(), ..roles() }, &small()).unwrap();
    let counts = Roles { target: "w".into(), task: Some(Task::Poisson), exposure: Some("y".into()), ..roles() };
    check(&rows, &[1, 100], &counts, &small()).unwrap();
}

/// Folders are columns: the same model as from one file that has them at its end.
#[test]
fn folders_are_columns_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = String::from("x,y,year,place\n");
    for (year, place, named) in [(2023, "a b", "a%20b"), (2023, "7", "7"), (2024, "", "__HIVE_DEFAULT_PARTITION__")] {
        let mut text = String::from("x,y\n");
        for i in 0..40 {
            let y = i % 7 + if year == 2024 { 5 } else { 0 } + if place == "7" { 9 } else { 0 };
            writeln!(text, "{},{y}", i % 5).unwrap();
            writeln!(one, "{},{y},{year},{place}", i % 5).unwrap();
        }
        let path = folder.path().join(format!("t/year={year}/place={named}"));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("part-0.csv"), text).unwrap();
    }
    // In the order of the paths: place=7 before place=a.
    let lines: Vec<&str> = one.lines().collect();
    let sorted = [&lines[..1], &lines[41..81], &lines[1..41], &lines[81..]].concat().join("\n");
    let path = folder.path().join("one.csv");
    std::fs::write(&path, sorted).unwrap();
    let expected = in_memory(&path, &roles(), &small()).unwrap();
    assert!(expected.0.contains("\"year\"") && expected.0.contains("\"place\""));
    for path in ["t", "t/*", "t/year=*/*/*.csv"].map(|name| folder.path().join(name)) {
        assert_eq!(in_memory(&path, &roles(), &small()).as_ref(), Ok(&expected));
        assert_eq!(streamed(&path, &roles(), &small(), None).as_ref(), Ok(&expected));
    }
}

/// What is read twice must be the same twice, whichever of the files it is.
#[test]
fn text_in_a_late_file_is_told_from_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let mut one = String::from("a,y\n");
    for (file, cell) in ["3", "4", "x", "5"].iter().enumerate() {
        let rows: Vec<String> = (0..30).map(|i| format!("{cell},{}\n", (i + file) % 4)).collect();
        let rows = rows.concat();
        one += &rows;
        std::fs::write(folder.path().join(format!("{file}.csv")), format!("a,y\n{rows}")).unwrap();
    }
    let path = folder.path().join("one");
    std::fs::write(&path, one).unwrap();
    let expected = in_memory(&path, &roles(), &small()).unwrap();
    assert_eq!(in_memory(&folder.path().join("?.csv"), &roles(), &small()).as_ref(), Ok(&expected));
    assert_eq!(streamed(&folder.path().join("?.csv"), &roles(), &small(), None).as_ref(), Ok(&expected));
}
