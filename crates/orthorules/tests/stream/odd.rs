//! Odd tables with odd roles and parameters: read twice or held in memory, with the same outcome or the same words of
//! refusal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, NullArray, RecordBatch, StringArray, UInt64Array,
};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use orthorules::params::{MaxBins, Monotone};
use orthorules::{Column, Params, Problem, Roles, Table, Task, Values};
use orthorules_table::arrow::{arrow_array, arrow_cast, arrow_ipc, arrow_schema, parquet};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use crate::{model, same, small};

/// The cells of a column; `None` is missing.
#[derive(Debug, Clone)]
enum Cells {
    Numbers(Vec<Option<f64>>),
    Whole(Vec<Option<i64>>),
    Natural(Vec<Option<u64>>),
    Truth(Vec<Option<bool>>),
    /// With whether Arrow holds it as a dictionary.
    Text(Vec<Option<&'static str>>, bool),
    Days(Vec<Option<i32>>),
    Nothing(usize),
}

#[derive(Debug, Clone)]
struct Case {
    columns: Vec<(&'static str, Cells)>,
    roles: Roles,
    params: Params,
    /// Rows of a batch.
    batch: usize,
    format: usize,
}

const NAMES: [&str; 6] = ["y", "w", "a", "b", "quoted, \"é\"", "__index_level_0__"];
const NUMBERS: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    2.0,
    0.5,
    -3.25,
    17.0,
    1e-3,
    5e-324,
    -5e-324,
    1e-310,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e300,
    9_007_199_254_740_993.0,
    1e100,
    2e100,
    -1.0,
];
const TEXTS: [&str; 32] = [
    "a",
    "b",
    "",
    " ",
    "\"q\"",
    "x, y; z\t",
    "two\nlines",
    "é",
    "日本",
    "NA",
    "nan",
    "NAN",
    "-inf",
    "1",
    "1.0",
    "01",
    "0",
    "true",
    "False",
    "?",
    "null",
    "2024-01-01",
    "2024-01-02",
    "9007199254740993",
    "-0",
    "1e999",
    "n/a",
    "-",
    "#DIV/0!",
    "1,234",
    "$5,000.50",
    "2,5",
];

fn some<T: Clone + std::fmt::Debug + 'static>(
    rows: usize,
    palette: impl Strategy<Value = Vec<T>>,
    full: bool,
) -> impl Strategy<Value = Vec<Option<T>>> {
    palette.prop_flat_map(move |values| {
        let value = prop_oneof![8 => select(values).prop_map(Some), u32::from(!full) => Just(None)];
        prop::collection::vec(value, rows)
    })
}

fn few<T: Clone + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(select(values), 1..6)
}

/// A column of any kind.
fn any_cells(rows: usize) -> impl Strategy<Value = Cells> {
    const WHOLE: [i64; 8] = [0, 1, 2, -1, i64::MAX, i64::MIN, 1 << 53, (1 << 53) + 1];
    const NATURAL: [u64; 5] = [0, 1, u64::MAX, 1 << 60, (1 << 60) + 1];
    prop_oneof![
        4 => some(rows, few(&NUMBERS), false).prop_map(Cells::Numbers),
        2 => some(rows, few(&WHOLE), false).prop_map(Cells::Whole),
        1 => some(rows, few(&NATURAL), false).prop_map(Cells::Natural),
        2 => some(rows, few(&[false, true]), false).prop_map(Cells::Truth),
        4 => (some(rows, few(&TEXTS), false), any::<bool>()).prop_map(|(cells, packed)| Cells::Text(cells, packed)),
        1 => some(rows, few(&[0, 1, 20_000]), false).prop_map(Cells::Days),
        1 => Just(Cells::Nothing(rows)),
    ]
}

/// A column that serves as a target.
fn target(rows: usize) -> impl Strategy<Value = Cells> {
    prop_oneof![
        3 => some(rows, Just(vec![0.0, 1.0, 2.5, 3.0, 1e10]), true).prop_map(Cells::Numbers),
        2 => some(rows, Just(vec![0, 1]), true).prop_map(Cells::Whole),
        2 => some(rows, Just(vec!["a", "b", "1"]), true).prop_map(|cells| Cells::Text(cells, false)),
        1 => some(rows, Just(vec![false, true]), true).prop_map(Cells::Truth),
    ]
}

fn weights(rows: usize) -> impl Strategy<Value = Cells> {
    let values = prop_oneof![
        3 => Just(vec![0.0, 1.0, 2.0, 0.5]),
        1 => Just(vec![0.0, -0.0, 5e-324, 1e100]),
        1 => Just(vec![1.0, 3.0]),
    ];
    some(rows, values, true).prop_map(Cells::Numbers)
}

fn columns() -> impl Strategy<Value = Vec<(&'static str, Cells)>> {
    (0usize..40).prop_flat_map(|rows| {
        let y = prop_oneof![5 => target(rows).boxed(), 1 => any_cells(rows).boxed()];
        let w = prop_oneof![5 => weights(rows).boxed(), 1 => any_cells(rows).boxed()];
        (y, w, prop::collection::vec(any_cells(rows), NAMES.len() - 2))
            .prop_map(|(y, w, others)| NAMES.into_iter().zip([y, w].into_iter().chain(others)).collect())
    })
}

/// A column, one time in some an unknown one.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![20 => select(&NAMES[..]), 1 => Just("zz"), 1 => Just("")].prop_map(str::to_owned)
}

fn roles() -> impl Strategy<Value = Roles> {
    let target = prop_oneof![12 => Just("y".to_owned()), 1 => name()];
    let weight = prop_oneof![6 => Just(None), 6 => Just(Some("w".to_owned())), 1 => name().prop_map(Some)];
    let rarely = || prop_oneof![12 => Just(None), 1 => name().prop_map(Some)];
    let task = prop_oneof![
        9 => Just(None),
        1 => Just(Some(Task::Poisson)),
        1 => Just(Some(Task::Gamma)),
        1 => Just(Some(Task::Classification)),
        1 => Just(Some(Task::Regression)),
    ];
    let positive = prop_oneof![12 => Just(None), 1 => select(&["1", "a", "0", "true", "zz"][..]).prop_map(Some)];
    let list = || prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(name(), 1..3)];
    (target, weight, rarely(), rarely(), rarely(), task, positive, list(), list()).prop_map(
        |(target, weight, exposure, offset, groups, task, positive, ignore, categorical)| {
            let positive = positive.map(str::to_owned);
            // Exposures go with counts: elsewhere they are a mistake like others, but not every time.
            let task = if exposure.is_some() { task.or(Some(Task::Poisson)) } else { task };
            Roles { target, task, positive, weight, exposure, offset, groups, ignore, categorical, ..Roles::default() }
        },
    )
}

fn params() -> impl Strategy<Value = Params> {
    const CUTS: [f64; 8] = [1.0, 0.0, -0.0, 2.0, 0.5, -3.0, 1e300, 5e-324];
    let cut = prop_oneof![40 => select(&CUTS[..]), 1 => Just(f64::INFINITY), 1 => Just(f64::NAN)];
    let cuts = prop::collection::btree_map(name(), prop::collection::vec(cut, 0..4), 0..2);
    let directions = select(&[Monotone::Rising, Monotone::Falling][..]);
    let monotone = prop_oneof![4 => Just(BTreeMap::new()), 1 => prop::collection::btree_map(name(), directions, 1..3)];
    let bins = select(&[2, 3, 9, 32][..]).prop_map(MaxBins::AtMost);
    let max_bins = prop_oneof![
        20 => bins,
        10 => Just(MaxBins::Exact),
        1 => select(&[0, 1, 65_536, u32::MAX][..]).prop_map(MaxBins::AtMost),
    ];
    let given = prop_oneof![3 => Just(BTreeMap::new()), 1 => cuts];
    (given, monotone, max_bins).prop_map(|(cuts, monotone, max_bins)| Params { cuts, monotone, max_bins, ..small() })
}

fn cases() -> impl Strategy<Value = Case> {
    (columns(), roles(), params(), 1usize..40, 0usize..4).prop_map(|(columns, roles, params, batch, format)| Case {
        columns,
        roles,
        params,
        batch,
        format,
    })
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(cells) => cells.len(),
            Self::Whole(cells) => cells.len(),
            Self::Natural(cells) => cells.len(),
            Self::Truth(cells) => cells.len(),
            Self::Text(cells, _) => cells.len(),
            Self::Days(cells) => cells.len(),
            Self::Nothing(rows) => *rows,
        }
    }

    /// The cell as CSV has it.
    fn text(&self, row: usize) -> String {
        let shown = match self {
            Self::Numbers(cells) if row.is_multiple_of(3) => cells[row].map(|x| format!("{x:e}")),
            Self::Numbers(cells) => cells[row].map(|x| x.to_string()),
            Self::Whole(cells) => cells[row].map(|x| x.to_string()),
            Self::Natural(cells) => cells[row].map(|x| x.to_string()),
            Self::Truth(cells) => cells[row].map(|x| x.to_string()),
            Self::Text(cells, _) => cells[row].map(str::to_owned),
            Self::Days(cells) => cells[row].map(|day| format!("2024-01-{:02}", day % 28 + 1)),
            Self::Nothing(_) => None,
        };
        quoted(&shown.unwrap_or_else(|| if row.is_multiple_of(2) { "NA".into() } else { String::new() }))
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Numbers(cells) => Arc::new(cells.iter().copied().collect::<Float64Array>()),
            Self::Whole(cells) => Arc::new(cells.iter().copied().collect::<Int64Array>()),
            Self::Natural(cells) => Arc::new(cells.iter().copied().collect::<UInt64Array>()),
            Self::Truth(cells) => Arc::new(cells.iter().copied().collect::<BooleanArray>()),
            Self::Text(cells, packed) => {
                let plain: ArrayRef = Arc::new(cells.iter().copied().collect::<StringArray>());
                let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                if *packed { cast(&plain, &dictionary).unwrap() } else { plain }
            }
            Self::Days(cells) => Arc::new(cells.iter().copied().collect::<Date32Array>()),
            Self::Nothing(rows) => Arc::new(NullArray::new(*rows)),
        }
    }

    /// Whole numbers as numbers, where nothing is lost.
    fn small_numbers(self) -> Self {
        match self {
            Self::Whole(cells) if cells.iter().flatten().all(|x| (-9..9).contains(x)) => {
                Self::Numbers(cells.into_iter().map(|x| x.map(|x| x as f64)).collect())
            }
            other => other,
        }
    }

    /// The column in memory, where it is what a file of typed columns would give.
    fn values(&self) -> Option<Values> {
        match self {
            Self::Numbers(cells) => Some(Values::numbers(cells.iter().map(|x| x.unwrap_or(f64::NAN)))),
            Self::Truth(cells) => Some(Values::booleans(cells.iter().copied())),
            Self::Text(cells, _) => {
                let plain = |cell: &&str| cell.starts_with(['a', 'b', 'é', '日', '1']);
                let good = cells.iter().flatten().all(plain) && cells.iter().any(Option::is_some);
                // Levels that are numbers are in their order.
                let numbers = cells.iter().flatten().all(|cell| cell.parse::<f64>().is_ok());
                (good && !numbers).then(|| Values::text(cells.iter().copied()))
            }
            _ => None,
        }
    }
}

/// A field of CSV, in quotes where it needs them.
fn quoted(cell: &str) -> String {
    let plain = !cell.contains([',', ';', '\t', '"', '\n']);
    if plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

impl Case {
    fn rows(&self) -> usize {
        self.columns[0].1.len()
    }

    fn csv(&self) -> Vec<u8> {
        let names: Vec<String> = self.columns.iter().map(|(name, _)| quoted(name)).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..self.rows() {
            let cells: Vec<String> = self.columns.iter().map(|(_, cells)| cells.text(row)).collect();
            writeln!(text, "{}", cells.join(",")).unwrap();
        }
        text.into_bytes()
    }

    fn batches(&self) -> (Arc<Schema>, Vec<RecordBatch>) {
        let arrays: Vec<ArrayRef> = self.columns.iter().map(|(_, cells)| cells.array()).collect();
        let field =
            |((name, _), array): (&(&str, Cells), &ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let fields: Vec<Field> = self.columns.iter().zip(&arrays).map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        let whole = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
        let part = |start: usize| whole.slice(start, self.batch.min(self.rows() - start));
        (schema, (0..self.rows()).step_by(self.batch).map(part).collect())
    }

    /// The file's name and bytes.
    fn file(&self) -> (&'static str, Vec<u8>) {
        let (schema, batches) = self.batches();
        match self.format {
            0 | 1 => ("t.csv", self.csv()),
            2 => {
                let mut bytes = Vec::new();
                let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, schema, None).unwrap();
                for batch in &batches {
                    writer.write(batch).unwrap();
                    writer.flush().unwrap();
                }
                writer.close().unwrap();
                ("t.parquet", bytes)
            }
            _ => {
                let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
                batches.iter().for_each(|b| writer.write(b).unwrap());
                ("t.arrow", writer.into_inner().unwrap())
            }
        }
    }
}

/// How many of `cases` are fitted; the rest must be refused.
fn fitted(cases: u32, check: impl Fn(Case) -> Result<bool, TestCaseError>) -> usize {
    let fitted = AtomicUsize::new(0);
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) });
    let outcome = runner.run(&self::cases(), |case| {
        fitted.fetch_add(usize::from(check(case)?), Ordering::Relaxed);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    fitted.into_inner()
}

#[test]
fn odd_files_are_read_as_tables_in_memory_are() {
    let fitted = fitted(400, |case| {
        let (name, bytes) = case.file();
        Ok(same(name, &bytes, &case.roles, &case.params).is_ok())
    });
    // Both outcomes are seen often enough to mean something.
    assert!((80..380).contains(&fitted), "{fitted} of 400 were fitted");
}

/// A table that was never in a file is judged as one that was.
#[test]
fn odd_tables_are_judged_as_their_files_are() {
    let fitted = fitted(400, |case| {
        let usable = |(name, cells): (&'static str, Cells)| {
            let cells = match cells.small_numbers() {
                // The meaning of plain text is open in a file, but not in a table.
                Cells::Text(cells, _) => Cells::Text(cells, true),
                other => other,
            };
            cells.values().is_some().then_some((name, cells))
        };
        let columns: Vec<_> =
            case.columns.into_iter().filter_map(usable).filter(|(n, _)| !n.starts_with('_')).collect();
        let mut case = Case { columns, format: 2 + case.format % 2, ..case };
        let known = |name: &String| name == "zz" || case.columns.iter().any(|(n, _)| n == name);
        case.roles.ignore.retain(known);
        case.roles.categorical.retain(known);
        if case.columns.is_empty() || case.rows() == 0 {
            return Ok(false);
        }
        let column = |(name, cells): &(&'static str, Cells)| Some(Column::new(*name, cells.values()?));
        let table = Table::new(case.columns.iter().filter_map(column).collect()).unwrap();
        let direct = case.params.check(orthorules::Loss::Squared, 1).map(|_| ());
        let direct = direct.and_then(|()| Problem::new(table, &case.roles)).map_err(|e| e.to_string());
        let direct = direct.and_then(|problem| model(&problem, &case.params));
        let (name, bytes) = case.file();
        let streamed = same(name, &bytes, &case.roles, &case.params).map(|(model, _)| model);
        prop_assert_eq!(&direct, &streamed);
        Ok(direct.is_ok())
    });
    assert!((60..380).contains(&fitted), "{fitted} of 400 were fitted");
}
