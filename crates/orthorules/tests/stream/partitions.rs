//! A table whose files are partitions that only answer messages: the model of one file, to the last byte.

use super::*;
use orthorules::params::{Multiclass, Objective};
use orthorules::{Error, Gather, Partition, fit_partitions, merge};
use orthorules_table::arrow::{arrow_schema, parquet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Partitions that are lost again and again. Replies are merged in pairs, so that their order matters and nothing else.
struct Partitions {
    files: Vec<PathBuf>,
    held: Mutex<Vec<Option<Partition>>>,
    trips: Mutex<usize>,
    stamp: String,
}

impl Partitions {
    fn new(files: Vec<PathBuf>) -> Self {
        let held = Mutex::new(files.iter().map(|_| None).collect());
        Self { files, held, trips: Mutex::new(0), stamp: "as it was".into() }
    }

    fn trip(&self, message: &[u8]) -> orthorules::Result<Vec<u8>> {
        let mut trips = self.trips.lock().unwrap();
        *trips += 1;
        let mut held = self.held.lock().unwrap();
        let mut replies = Vec::new();
        for (number, (file, held)) in self.files.iter().zip(held.iter_mut()).enumerate() {
            if (number + *trips).is_multiple_of(4) {
                *held = None;
            }
            let partition = held.get_or_insert_with(|| Partition::new(file, number, &self.stamp, Some(1)));
            replies.push(partition.answer(message)?);
        }
        while replies.len() > 1 {
            let pairs = replies.chunks(2).map(|pair| match pair {
                [a, b] => merge(a, b),
                _ => Ok(pair[0].clone()),
            });
            replies = pairs.collect::<orthorules::Result<_>>()?;
        }
        Ok(replies.remove(0))
    }
}

pub(super) fn partitioned(
    files: Vec<PathBuf>,
    roles: &Roles,
    params: &Params,
    gather: Gather,
) -> Result<String, String> {
    let partitions = Partitions::new(files);
    let fitted = fit_partitions(roles, params, gather, &Silent, &|message| partitions.trip(message));
    fitted.map(|found| found.fitted.model.to_json()).map_err(|error| error.to_string())
}

/// Parameters with which rows may stay in their partitions.
pub(super) fn staying() -> Params {
    Params {
        polish: Some(orthorules::params::Polish::Off),
        reg_lambda: Some(orthorules::params::RegLambda::Value(2.0)),
        ..Params::default()
    }
}

#[test]
fn what_needs_all_rows_is_refused_in_a_line() {
    let exact = Params { search: orthorules::params::Search::Exact, ..Params::default() };
    let folds = Params { cv: Some(Cv::Folds(3)), ..Params::default() };
    let draws = Params { bootstrap: Some(20), ..Params::default() };
    for params in [exact, folds, draws, orthorules::params::Preset::Sirus.params()] {
        let message = partitioned(Vec::new(), &roles(), &params, Gather::WhereSmall).unwrap_err();
        assert!(message.contains("several machines") && !message.contains('\n'), "{message}");
    }
    let groups = Roles { groups: Some("x".into()), ..roles() };
    let refused = |roles| partitioned(Vec::new(), roles, &Params::default(), Gather::WhereSmall).unwrap_err();
    assert!(refused(&groups).contains("groups"));
}

/// Rows that must stay are not asked for, and what would need them is told in a line with its remedy.
#[test]
fn rows_stay_where_they_are_if_they_must() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    std::fs::write(&file, parquet_of(&batches(&rows(300, 3)))).unwrap();
    let few = Params { max_rules: Some(4), cv: None, ..Params::default() };
    let polished = Params { polish: Some(orthorules::params::Polish::Full), ..staying() };
    let folds = Params { reg_lambda: Some(orthorules::params::RegLambda::Cv), ..staying() };
    for (params, what) in [(&few, "a penalty by folds"), (&polished, "polish"), (&folds, "a penalty by folds")] {
        let told = partitioned(vec![file.clone()], &roles(), params, Gather::Never).unwrap_err();
        let remedy = "set cv=None, polish=\"off\" and a number for reg_lambda";
        let expected = format!("but {what} needs all of them in one place: {remedy}");
        assert!(
            told.starts_with("gather \"never\" leaves rows where they are, ") && told.ends_with(&expected),
            "{told}"
        );
    }
    let table = read(&file, &roles().read_options()).unwrap();
    for (params, gather, gathered) in [
        (&few, Gather::WhereSmall, true),
        (&Params { max_rules: Some(4), ..staying() }, Gather::WhereSmall, true),
        (&Params { max_rules: Some(4), ..staying() }, Gather::Never, false),
    ] {
        let expected = fit(&Problem::new(table.clone(), &roles()).unwrap(), params, &Silent).unwrap().model;
        let partitions = Partitions::new(vec![file.clone()]);
        let trip = |message: &[u8]| partitions.trip(message);
        let found = fit_partitions(&roles(), params, gather, &Silent, &trip).unwrap().fitted;
        assert_eq!(found.model.to_json(), expected.to_json(), "{gather:?}");
        let trips = *partitions.trips.lock().unwrap();
        assert_eq!(trips <= 5, gathered, "{gather:?}: {trips}");
    }
    let unknown = "always".parse::<Gather>().unwrap_err().to_string();
    assert_eq!(unknown, "gather must be auto or never, got always");
    assert_eq!(["auto", "never"].map(|text| text.parse().ok()), [Some(Gather::WhereSmall), Some(Gather::Never)]);
}

#[test]
fn bytes_that_are_no_message_are_refused() {
    let mut partition = Partition::new(Path::new("nowhere"), 0, "", Some(1));
    for bytes in [&b""[..], b"OR", b"OR\x01", b"OR\x01\x07", b"OR\x02\x00", b"OR\x01\x01\x09", b"garbage"] {
        let message = partition.answer(bytes).unwrap_err().to_string();
        assert!(message.contains("another version") && !message.contains('\n'), "{message}");
        assert!(merge(bytes, bytes).is_err());
    }
}

#[test]
fn a_source_that_is_not_what_it_was_ends_the_fit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    std::fs::write(&file, parquet_of(&batches(&rows(300, 3)))).unwrap();
    let partitions = Mutex::new(Partitions::new(vec![file]));
    let trip = |message: &[u8]| {
        let mut partitions = partitions.lock().unwrap();
        if *partitions.trips.lock().unwrap() == 2 {
            partitions.stamp = "another".into();
            partitions.held.lock().unwrap()[0] = None;
        }
        partitions.trip(message)
    };
    let error = fit_partitions(&roles(), &small(), Gather::Never, &Silent, &trip).unwrap_err().to_string();
    assert_eq!(error, "partition 0 changed while it was read");
}

#[test]
fn a_cluster_that_fails_in_the_middle_ends_the_fit_with_its_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    std::fs::write(&file, parquet_of(&batches(&rows(300, 3)))).unwrap();
    let mut refusals = 0;
    for last in 1..12 {
        let (partitions, refused) = (Partitions::new(vec![file.clone()]), Mutex::new(false));
        let trip = |message: &[u8]| {
            if *partitions.trips.lock().unwrap() >= last {
                *refused.lock().unwrap() = true;
                return Err(Error::Table("all workers are gone".into()));
            }
            partitions.trip(message)
        };
        let outcome = fit_partitions(&roles(), &small(), Gather::Never, &Silent, &trip).map(|_| ());
        let refused = *refused.lock().unwrap();
        assert_eq!(outcome.err().map(|e| e.to_string()), refused.then(|| "all workers are gone".to_owned()), "{last}");
        refusals += usize::from(refused);
    }
    assert!(refusals > 5);
}

/// A table with a target of numbers and one of names, weights, exposures and offsets.
struct Odd {
    y: Vec<Option<f64>>,
    label: Vec<Option<String>>,
    w: Vec<f64>,
    e: Vec<f64>,
    o: Vec<f64>,
}

/// What is tried, what it does to the table, and the roles of its columns.
type OddCase = (&'static str, fn(&mut Odd), Roles);

impl Odd {
    fn new(rows: usize) -> Self {
        Self {
            y: (0..rows).map(|r| Some((r % 7) as f64 + 0.5)).collect(),
            label: (0..rows).map(|r| Some(["a", "b", "c"][r % 5 % 3].to_owned())).collect(),
            w: (0..rows).map(|r| (r % 4) as f64).collect(),
            e: (0..rows).map(|r| 0.5 + (r % 3) as f64).collect(),
            o: (0..rows).map(|r| (r * r % 13) as f64 / 7.0 - 0.9).collect(),
        }
    }

    /// Some rows, with offsets if there is one who needs them.
    fn batch(&self, rows: std::ops::Range<usize>, with_offsets: bool) -> RecordBatch {
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("x", Arc::new(Float64Array::from_iter_values(rows.clone().map(|r| (r * r % 11) as f64)))),
            ("y", Arc::new(self.y[rows.clone()].iter().copied().collect::<Float64Array>())),
            ("label", Arc::new(self.label[rows.clone()].iter().cloned().collect::<StringArray>())),
            ("w", Arc::new(Float64Array::from_iter_values(self.w[rows.clone()].iter().copied()))),
            ("e", Arc::new(Float64Array::from_iter_values(self.e[rows.clone()].iter().copied()))),
        ];
        if with_offsets {
            columns.push(("o", Arc::new(Float64Array::from_iter_values(self.o[rows].iter().copied()))));
        }
        let fields: Vec<_> = columns.iter().map(|(n, a)| Field::new(*n, a.data_type().clone(), true)).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|c| c.1).collect()).unwrap()
    }

    /// What the table in one piece says, and the same in partitions: the model and remarks, or what is wrong.
    fn both_ways(&self, roles: &Roles, params: &Params, gather: Gather) -> [Result<(String, Vec<String>), String>; 2] {
        let (folder, rows) = (tempfile::tempdir().unwrap(), self.y.len());
        let (whole, with_offsets) = (folder.path().join("whole.parquet"), roles.offset.is_some());
        std::fs::write(&whole, parquet_of(&[self.batch(0..rows, with_offsets)])).unwrap();
        let ends = [0, 0, 1, rows / 3, rows / 3, rows - 2, rows];
        let file = |(number, pair): (usize, &[usize])| {
            let path = folder.path().join(format!("part-{number}.parquet"));
            std::fs::write(&path, parquet_of(&[self.batch(pair[0]..pair[1], with_offsets)])).unwrap();
            path
        };
        let files = ends.windows(2).enumerate().map(file).collect();
        let params = Params { max_rules: Some(3), cv: None, ..params.clone() };
        let told = |fitted: orthorules::Fitted| {
            (fitted.model.to_json(), fitted.warnings.iter().map(ToString::to_string).collect())
        };
        let table = read(&whole, &roles.read_options()).unwrap();
        let problem = Problem::new(table, roles);
        let expected = problem.and_then(|problem| {
            let mut fitted = fit(&problem, &params, &Silent)?;
            fitted.warnings.splice(..0, problem.warnings());
            Ok(told(fitted))
        });
        let partitions = Partitions::new(files);
        let found = fit_partitions(roles, &params, gather, &Silent, &|message| partitions.trip(message));
        let found = found.map(|found| told(found.fitted));
        [expected, found].map(|outcome| outcome.map_err(|error| error.to_string()))
    }
}

/// Tables that are odd in one way each, and what their columns stand for.
fn odd_cases() -> [OddCase; 28] {
    let labels =
        |task| Roles { target: "label".into(), task, ignore: vec!["y".into(), "w".into(), "e".into()], ..roles() };
    let plain = |task| Roles { task, ignore: vec!["label".into(), "w".into(), "e".into()], ..roles() };
    let weighted = Roles { weight: Some("w".into()), ignore: vec!["label".into(), "e".into()], ..roles() };
    let exposed =
        |task| Roles { exposure: Some("e".into()), task, ignore: vec!["label".into(), "w".into()], ..roles() };
    let dropping = |roles: Roles| Roles { drop_missing_target: true, ..roles };
    let positive = |label: &str| Roles { positive: Some(label.into()), ..labels(None) };
    [
        ("as it is", |_| (), plain(None)),
        ("classes", |_| (), labels(None)),
        ("weights with zeros", |_| (), weighted.clone()),
        ("exposures", |_| (), exposed(Some(Task::Poisson))),
        ("amounts", |_| (), exposed(Some(Task::Gamma))),
        ("a target is missing", |t| t.y[37] = None, plain(None)),
        ("it is dropped", |t| t.y[37] = None, dropping(plain(None))),
        ("all are missing", |t| t.y.fill(None), plain(None)),
        ("all are dropped", |t| t.y.fill(None), dropping(plain(None))),
        ("a target is infinite", |t| t.y[41] = Some(f64::INFINITY), plain(None)),
        ("a count is negative", |t| t.y[58] = Some(-1.0), plain(Some(Task::Poisson))),
        ("an amount is 0", |t| t.y[1] = Some(0.0), plain(Some(Task::Gamma))),
        ("a bad target has weight 0", |t| t.y[8] = None, weighted.clone()),
        ("a bad target after rows of weight 0", |t| t.y[39] = None, weighted.clone()),
        ("a weight is negative", |t| t.w[33] = -1.0, weighted.clone()),
        ("all weights are 0", |t| t.w.fill(0.0), weighted.clone()),
        ("weights are shares", |t| t.w.iter_mut().for_each(|w| *w = *w / 1024.0 + 0.001), weighted.clone()),
        ("an exposure is 0", |t| t.e[44] = 0.0, exposed(Some(Task::Poisson))),
        ("it is dropped, too", |t| t.e[44] = 0.0, dropping(exposed(Some(Task::Poisson)))),
        ("exposures of no rate", |_| (), exposed(None)),
        ("a label is missing", |t| t.label[30] = None, labels(None)),
        ("a label is dropped", |t| t.label[30] = None, dropping(labels(None))),
        ("labels are names", |t| (0..60).for_each(|r| t.label[r] = Some(format!("n{r}"))), labels(None)),
        ("one class", |t| t.label.fill(Some("a".into())), labels(None)),
        ("a class has one row", |t| t.label[50] = Some("z".into()), labels(None)),
        (
            "no such label",
            |t| t.label.iter_mut().for_each(|l| *l = l.take().filter(|l| l != "c").or(Some("a".into()))),
            positive("q"),
        ),
        (
            "a label to be positive",
            |t| t.label.iter_mut().for_each(|l| *l = l.take().filter(|l| l != "c").or(Some("a".into()))),
            positive("a"),
        ),
        ("text is no number", |_| (), labels(Some(Task::Regression))),
    ]
}

/// What is wrong is told in the words of one table, with the row that it has there; and so is what a user should know.
#[test]
fn partitions_say_what_one_table_says() {
    let (mut good, mut bad) = (0, 0);
    for (what, change, roles) in odd_cases() {
        let mut table = Odd::new(60);
        change(&mut table);
        // All rows in one place, or where they are.
        let ways =
            [(Params::default(), Gather::WhereSmall), (staying(), Gather::WhereSmall), (staying(), Gather::Never)];
        for (params, gather) in ways {
            let [expected, found] = table.both_ways(&roles, &params, gather);
            assert_eq!(found, expected, "{what}");
            *(if found.is_ok() { &mut good } else { &mut bad }) += 1;
        }
    }
    assert_eq!((good, bad), (36, 48));
}

/// Offsets are folded in where rows are read, and what is wrong with one is told with the row of the whole.
#[test]
fn partitions_fold_offsets_in() {
    let ignored = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let plain =
        |task| Roles { offset: Some("o".into()), task: Some(task), ignore: ignored(&["label", "w", "e"]), ..roles() };
    let weighted = |task| Roles { weight: Some("w".into()), ignore: ignored(&["label", "e"]), ..plain(task) };
    let full = |task| Roles { exposure: Some("e".into()), ignore: ignored(&["label"]), ..weighted(task) };
    let guessed = |roles: Roles| Roles { task: None, ..roles };
    let dropping = |roles: Roles| Roles { drop_missing_target: true, ..roles };
    let [squared, poisson, gamma] = [Task::Regression, Task::Poisson, Task::Gamma];
    let good: [OddCase; 11] = [
        ("numbers", |_| (), plain(squared)),
        ("numbers, guessed", |_| (), guessed(plain(squared))),
        ("numbers with weights", |_| (), weighted(squared)),
        ("counts", |_| (), plain(poisson)),
        ("counts with weights and exposures", |_| (), full(poisson)),
        ("amounts", |_| (), plain(gamma)),
        ("amounts with weights and exposures", |_| (), full(gamma)),
        ("large offsets", |t| t.o.iter_mut().for_each(|o| *o *= 1e9), plain(squared)),
        ("it has weight 0", |t| t.o[44] = f64::NAN, weighted(squared)),
        ("its target is dropped", |t| (t.o[45], t.y[45]) = (f64::NAN, None), dropping(plain(squared))),
        ("that has weight 0", |t| (t.w[39], t.e[39], t.o[39]) = (0.0, 1e50, 200.0), full(poisson)),
    ];
    let bad: [OddCase; 11] = [
        ("an offset is missing", |t| t.o[44] = f64::NAN, plain(squared)),
        ("an offset is infinite", |t| t.o[45] = f64::NEG_INFINITY, weighted(gamma)),
        ("the first of two is told", |t| (t.o[3], t.o[45]) = (f64::INFINITY, f64::NAN), plain(poisson)),
        ("the other's target is dropped", |t| (t.o[47], t.y[45]) = (f64::NAN, None), dropping(plain(gamma))),
        ("a factor is too large", |t| (t.o[39], t.o[50]) = (900.0, 901.0), plain(poisson)),
        ("a factor is too small", |t| (t.o[39], t.o[50]) = (-900.0, 901.0), plain(gamma)),
        ("an exposure times it is", |t| (t.e[39], t.o[39], t.o[50]) = (1e50, 200.0, 900.0), full(poisson)),
        ("a difference is", |t| (t.y[41], t.o[41]) = (Some(1e308), -1e308), plain(squared)),
        ("of the first", |t| (0..3).for_each(|r| (t.y[r], t.o[r]) = (Some(1e308), -1e308)), weighted(squared)),
        ("a bad target is told first", |t| (t.y[1], t.o[1], t.y[9]) = (Some(1e308), -1e308, None), plain(squared)),
        ("classes take none", |_| (), Roles { target: "label".into(), ..guessed(plain(squared)) }),
    ];
    let all = good.into_iter().map(|case| (case, true)).chain(bad.into_iter().map(|case| (case, false)));
    for ((what, change, roles), is_good) in all {
        let roles = if roles.target == "label" { Roles { ignore: ignored(&["y", "w", "e"]), ..roles } } else { roles };
        for rows in [60, 500] {
            let mut table = Odd::new(rows);
            change(&mut table);
            let ways =
                [(Params::default(), Gather::WhereSmall), (staying(), Gather::WhereSmall), (staying(), Gather::Never)];
            for (params, gather) in ways {
                let [expected, found] = table.both_ways(&roles, &params, gather);
                assert_eq!(found, expected, "{what}, {rows} rows, {gather:?}");
                assert_eq!(found.is_ok(), is_good, "{what}: {found:?}");
                assert!(rows < 500 || found.is_err() || found.unwrap().0.contains("\"covered\""), "{what}: no rules");
            }
        }
    }
}

/// Terms that grow with a column need its numbers, which come along with the codes of a small table.
#[test]
fn trends_of_small_tables_are_those_of_one_table() {
    let ignored = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let plain = |task| Roles { task: Some(task), ignore: ignored(&["label", "w", "e"]), ..roles() };
    let full = |task| Roles {
        weight: Some("w".into()),
        exposure: Some("e".into()),
        offset: Some("o".into()),
        ignore: ignored(&["label"]),
        ..plain(task)
    };
    let classes = Roles { target: "label".into(), ignore: ignored(&["y", "w", "e"]), ..roles() };
    let mut table = Odd::new(500);
    (0..500).for_each(|r| table.y[r] = Some(0.4 * (r * r % 11) as f64 + (r % 7) as f64 / 5.0 + 0.1));
    let mut trends = 0;
    for terms in [orthorules::params::Terms::Linear, orthorules::params::Terms::Hinge] {
        let params = Params { terms, ..Params::default() };
        for roles in [plain(Task::Regression), full(Task::Poisson), full(Task::Gamma), classes.clone()] {
            let [expected, found] = table.both_ways(&roles, &params, Gather::WhereSmall);
            assert_eq!(found, expected, "{terms} {roles:?}");
            trends += usize::from(found.unwrap().0.contains("\"trend\""));
            let [_, refused] = table.both_ways(&roles, &params, Gather::Never);
            let why =
                "trends need all rows in one place, but gather \"never\" leaves them where they are: leave out terms";
            assert_eq!(refused.unwrap_err(), why);
        }
    }
    assert!(trends >= 6, "{trends}");
}

/// Two numbers are classes, and three are not, wherever they are.
#[test]
fn tasks_are_guessed_from_all_partitions() {
    for values in [&[0.0, 1.0][..], &[3.0], &[0.0, 0.5], &[0.0, 1.0, 2.0], &[-0.0, 0.0, 1.0]] {
        for zeros in [0, 30, 58] {
            let mut table = Odd::new(60);
            (0..60).for_each(|r| table.y[r] = Some(if r < zeros { values[0] } else { values[r % values.len()] }));
            let roles = Roles { ignore: vec!["label".into(), "w".into(), "e".into()], ..roles() };
            let [expected, found] = table.both_ways(&roles, &staying(), Gather::Never);
            assert_eq!(found, expected, "{values:?} {zeros}");
        }
    }
}

/// The number of kilobytes that a line of what Linux says of this process names.
fn kilobytes(what: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(what))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Writes a table of random numbers for a fit of this KIND (see below) as Parquet: 8 columns, target, weight, exposure.
fn write_random_rows(path: &Path, rows: usize, kind: &str) {
    let mut random = SplitMix64::new(5);
    let mut names: Vec<String> = (0..8).map(|c| format!("x{c}")).collect();
    names.extend(["y", "w", "e"].map(String::from));
    let fields: Vec<Field> = names.iter().map(|name| Field::new(name, arrow_schema::DataType::Float64, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let file = std::fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, Arc::clone(&schema), None).unwrap();
    let target = |y: f64| match kind {
        "exposures" | "first" | "first whole" => y.exp().floor(),
        "classes" => (y + 1.0).clamp(0.0, 2.0).floor(),
        _ => y,
    };
    let whole = kind == "classes" || kind.ends_with("whole");
    for start in (0..rows).step_by(100_000) {
        let count = 100_000.min(rows - start);
        let mut x: Vec<Vec<f64>> = (0..8).map(|_| (0..count).map(|_| random.normal()).collect()).collect();
        let y = |r: usize| x[0][r] + f64::from(u8::from(x[1][r] > 0.0 && x[2][r] > 0.5)) * 3.0 - x[3][r].abs();
        x.push((0..count).map(y).map(target).collect());
        x.push((0..count).map(|r| if whole { (r % 3 + 1) as f64 } else { 0.5 + (r % 7) as f64 / 3.0 }).collect());
        x.push((0..count).map(|r| 0.2 + (r % 5) as f64 / 4.0).collect());
        let arrays = x.into_iter().map(|x| Arc::new(Float64Array::from(x)) as ArrayRef).collect();
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap()).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

/// What a partition of ROWS rows and the fit that asks it take together, beside the codes. Run alone, with `--ignored
/// --nocapture`. KIND may be `weights`, `whole` for weights that count rows, `exposures` for both exposures and
/// weights, `first` for these with a first-order objective, `first whole` for weights that count rows with it, or
/// `classes` for a list of rules for each of three classes, with weights that count rows.
#[test]
#[ignore = "takes a minute and 500 MB"]
fn memory_of_a_partition() {
    let rows: usize = std::env::var("ROWS").map_or(4_000_000, |rows| rows.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let kind = std::env::var("KIND").unwrap_or_default();
    let columns = 8;
    let in_turn = kind == "classes";
    let column = |name: &str, of: &[&str]| of.contains(&kind.as_str()).then(|| name.to_owned());
    let (weight, exposure) = (
        column("w", &["weights", "whole", "exposures", "first", "first whole", "classes"]),
        column("e", &["exposures", "first", "first whole"]),
    );
    let ignore = [("w", &weight), ("e", &exposure)];
    let roles = Roles {
        task: exposure.is_some().then_some(Task::Poisson).or(in_turn.then_some(Task::Classification)),
        ignore: ignore.into_iter().filter(|(_, role)| role.is_none()).map(|(name, _)| name.into()).collect(),
        weight,
        exposure,
        ..roles()
    };
    write_random_rows(&path, rows, &kind);
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = kilobytes("VmRSS:").unwrap();
    let partition = Mutex::new(Partition::new(&path, 0, "", Some(1)));
    let (trips, largest) = (Mutex::new(0), Mutex::new((0, 0)));
    let trip = |message: &[u8]| {
        let reply = partition.lock().unwrap().answer(message)?;
        *trips.lock().unwrap() += 1;
        let mut largest = largest.lock().unwrap();
        *largest = (largest.0.max(message.len()), largest.1.max(reply.len()));
        Ok(reply)
    };
    let objective = if kind.starts_with("first") { Objective::Ogb } else { Objective::Onb };
    let params = Params {
        objective,
        max_rules: Some(8),
        path: Some(PathKind::Nested),
        multiclass: in_turn.then_some(Multiclass::OneVsRest),
        threads: Some(1),
        ..Params::default()
    };
    let fitted = fit_partitions(&roles, &params, Gather::Never, &Silent, &trip).unwrap().fitted;
    let peak = kilobytes("VmHWM:").unwrap() - before;
    let nodes: u64 = fitted.model.lists[0].rules.iter().map(|rule| rule.nodes - 1).sum();
    let beside = (peak << 10) as f64 / rows as f64 - columns as f64;
    let (message, reply) = *largest.lock().unwrap();
    println!("{rows} rows, {columns} columns, {kind}: {peak} kB, {beside:.1} bytes a row beside the codes");
    println!("{} trips, {nodes} nodes; messages up to {message} bytes, replies {reply}", trips.lock().unwrap());
    assert!((peak << 10) as f64 <= rows as f64 * (columns as f64 + 30.0) + (256 << 20) as f64);
}
