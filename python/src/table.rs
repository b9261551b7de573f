//! Data in: arrays and coded columns to the engine's table.

use crate::borrowed;
use crate::errors::{exception, guarded};
use crate::words::in_python;
use numpy::ndarray::{ArrayView2, s};
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use orthorules::table::{FrameCells, MISSING, Numbers, gather};
use orthorules::{Column, Kind, Values, Warning};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;

/// Rows that are copied at a time, so that the cache lines of a row serve all its columns.
const BLOCK: usize = 512;
/// Columns that one thread copies: those of one cache line.
const GROUP: usize = 8;
/// Fewer numbers than this are copied by one thread.
const MANY: usize = 1 << 18;

/// Named columns, until a fit takes them.
#[pyclass(module = "orthorules._native")]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: usize,
    warnings: Vec<Warning>,
    /// Whether the labels are whole numbers, spelled out because float64 does not hold them.
    pub(crate) spelled_numbers: bool,
}

impl Table {
    /// So many rows without a column.
    fn empty(rows: usize) -> Self {
        Self { columns: Vec::new(), rows, warnings: Vec::new(), spelled_numbers: false }
    }
}

/// A column as Python hands it over: `(name, "numbers", array)`, `(name, "booleans", codes)`,
/// `(name, "codes", codes, names)` for categories, `(name, "ordered", codes, names)` for those in order,
/// `(name, "text", codes, names)` for text of unknown meaning,
/// `(name, "numerals", codes, names)` for text where numbers are needed, or `(name, "dates")`. A code below 0 is
/// missing.
fn cells(column: &Bound<'_, PyAny>) -> PyResult<(String, FrameCells)> {
    let part = |i: usize| column.get_item(i);
    let name: String = part(0)?.extract()?;
    let codes = |i: usize| -> PyResult<Vec<i64>> {
        let codes: PyReadonlyArray1<'_, i64> = part(i)?.extract()?;
        Ok(codes.as_array().to_vec())
    };
    let kind: String = part(1)?.extract()?;
    let cells = match kind.as_str() {
        "numbers" => FrameCells::Numbers(numbers(&part(2)?.extract()?)),
        "booleans" => FrameCells::Booleans(codes(2)?.into_iter().map(|c| (c >= 0).then_some(c > 0)).collect()),
        "codes" | "ordered" | "text" | "numerals" => {
            let narrow = |c: i64| u32::try_from(c).unwrap_or(MISSING);
            let codes = codes(2)?.into_iter().map(narrow).collect();
            let names = part(3)?.extract()?;
            match kind.as_str() {
                "codes" => FrameCells::Codes { codes, names },
                "ordered" => FrameCells::Ordered { codes, names },
                kind => FrameCells::Text { codes, names, numeric: kind == "numerals" },
            }
        }
        "dates" => FrameCells::Dates,
        other => return Err(PyTypeError::new_err(format!("no column is of kind {other:?}"))),
    };
    Ok((name, cells))
}

/// The array's numbers: where they are if they lie in one piece, else copied.
pub(crate) fn numbers(array: &PyReadonlyArray1<'_, f64>) -> Numbers {
    borrowed::whole(array).unwrap_or_else(|| array.as_array().iter().copied().collect())
}

#[pymethods]
impl Table {
    /// A table of columns as described in the stub; those in `categorical` are categories whatever they hold, those in
    /// `keep` stay however many levels they have.
    #[staticmethod]
    fn of_columns(columns: &Bound<'_, PyList>, categorical: Vec<String>, keep: Vec<String>) -> PyResult<Self> {
        let columns: Vec<(String, FrameCells)> = columns.iter().map(|c| cells(&c)).collect::<PyResult<_>>()?;
        if columns.is_empty() {
            return Ok(Self::empty(0));
        }
        let table = column_table(columns, &categorical, &keep)?;
        Ok(table.into())
    }

    /// A table of the columns `which` of a matrix of float64 or float32, called `names`. Columns that lie in one piece
    /// are not copied. Others are copied by this many `threads`, or with none read where they are, which is enough for
    /// learning.
    #[staticmethod]
    #[pyo3(signature = (array, which, names, categorical, threads))]
    fn of_array(
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        which: Vec<usize>,
        names: Vec<String>,
        categorical: Vec<String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        if names.len() != which.len() {
            return Err(PyValueError::new_err("every column needs a name"));
        }
        let (rows, numbers) = if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f64>>() {
            let numbers = match borrowed::columns(&array, &which) {
                Some(numbers) => numbers,
                None => read(py, &array, &which, threads)?,
            };
            (array.shape()[0], numbers)
        } else {
            let array: PyReadonlyArray2<'_, f32> = array.extract()?;
            (array.shape()[0], read(py, &array, &which, threads)?)
        };
        if which.is_empty() {
            return Ok(Self::empty(rows));
        }
        let columns = names.into_iter().zip(numbers).map(|(name, n)| (name, FrameCells::Numbers(n))).collect();
        Ok(column_table(columns, &categorical, &[])?.into())
    }

    /// What there is to say of columns: what was left out, and how text was understood.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.iter().map(in_python).collect()
    }

    /// The columns that hold numbers, and those that hold categories.
    #[getter]
    fn kinds(&self) -> (Vec<&str>, Vec<&str>) {
        let of = |numeric: bool| {
            let kept = self.columns.iter().filter(move |c| (c.values.kind() == Kind::Numeric) == numeric);
            kept.map(|c| c.name.as_str()).collect()
        };
        (of(true), of(false))
    }

    /// The first of the columns called `names` that holds no numbers, with the first row that has a value and its text.
    fn not_numeric(&self, names: Vec<String>) -> Option<(&str, usize, String)> {
        let mut columns = self.columns.iter().filter(|c| names.contains(&c.name) && c.values.kind() != Kind::Numeric);
        let first = |c: &Column| (0..self.rows).find_map(|row| Some((row, c.values.display(row)?)));
        columns.find_map(|c| first(c).map(|(row, text)| (c.name.as_str(), row, text)))
    }

    /// Adds a column of numbers, and says so if its length or name does not fit.
    fn add(&mut self, name: String, array: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        if !self.columns.is_empty() && array.len() != self.rows {
            return Err(PyValueError::new_err(format!("{name} has {} rows, X has {}", array.len(), self.rows)));
        }
        self.rows = array.len();
        self.columns.push(Column::new(name, Values::Numeric(numbers(&array))));
        Ok(())
    }

    /// Adds a column of labels: numbers, booleans (0 and 1), or codes into names that are in order. The names are text
    /// (`categorical`) or spell whole numbers that float64 does not hold (`spelled`).
    fn add_labels(&mut self, name: String, kind: &str, codes: PyReadonlyArray1<'_, f64>, names: Vec<String>) {
        let codes = codes.as_array();
        let values = match kind {
            "boolean" => Values::booleans(codes.iter().map(|&c| Some(c > 0.0))),
            "categorical" | "spelled" => {
                self.spelled_numbers = kind == "spelled";
                let codes = codes.iter().map(|&c| c as u32).collect();
                Values::Categorical { codes, levels: names, kind: Kind::Categorical }
            }
            _ => Values::Numeric(codes.iter().copied().collect()),
        };
        self.columns.push(Column::new(name, values));
    }

    /// The columns called `names` as false and true, where they hold 0 and 1.
    fn as_booleans(&mut self, names: Vec<String>) -> PyResult<()> {
        for column in self.columns.iter_mut().filter(|c| names.contains(&c.name)) {
            let Values::Numeric(numbers) = &column.values else { continue };
            if let Some(bad) = numbers.iter().find(|x| !x.is_nan() && **x != 0.0 && **x != 1.0) {
                let shown = orthorules::decimal::plain(*bad);
                let text = format!("column {:?}: the model was trained on booleans here, got {shown}", column.name);
                return Err(PyValueError::new_err(text));
            }
            column.values = Values::booleans(numbers.iter().map(|x| (!x.is_nan()).then_some(*x == 1.0)));
        }
        Ok(())
    }
}

impl From<orthorules::Table> for Table {
    fn from(table: orthorules::Table) -> Self {
        let (rows, warnings) = (table.rows(), table.warnings().to_vec());
        Self { columns: table.into_columns(), warnings, ..Self::empty(rows) }
    }
}

fn column_table(
    columns: Vec<(String, FrameCells)>,
    categorical: &[String],
    keep: &[String],
) -> PyResult<orthorules::Table> {
    guarded(|| gather(columns, categorical, keep))
}

/// The columns `which`, copied by this many threads, or read where they are.
fn read<T: Element + Copy + Into<f64> + Send + Sync + 'static>(
    py: Python<'_>,
    array: &PyReadonlyArray2<'_, T>,
    which: &[usize],
    threads: Option<usize>,
) -> PyResult<Vec<Numbers>> {
    match threads {
        Some(threads) => copied(py, array.as_array(), which, threads),
        None => Ok(borrowed::scattered(array, which)),
    }
}

/// The columns `which`, each in a vector of its own.
fn copied<T: Element + Copy + Into<f64> + Send + Sync>(
    py: Python<'_>,
    array: ArrayView2<'_, T>,
    which: &[usize],
    threads: usize,
) -> PyResult<Vec<Numbers>> {
    let (rows, width) = array.dim();
    let group = |columns: &[usize]| {
        let mut vectors: Vec<Vec<f64>> = columns.iter().map(|_| Vec::with_capacity(rows)).collect();
        for start in (0..rows).step_by(BLOCK) {
            let block = array.slice(s![start..rows.min(start + BLOCK), ..]);
            for (vector, &c) in vectors.iter_mut().zip(columns) {
                match block.to_slice() {
                    // Iterators that know their length are copied without looking at the vector's capacity.
                    Some(cells) => vector.extend(cells.chunks_exact(width).map(|row| row[c].into())),
                    None => vector.extend(block.column(c).iter().map(|&x| x.into())),
                }
            }
        }
        vectors
    };
    let vectors: Vec<Vec<f64>> = if rows * which.len() < MANY || threads == 1 {
        group(which)
    } else {
        // A pool of its own: one that outlives the call would not survive a fork.
        let copy = || which.par_chunks(GROUP).flat_map_iter(group).collect();
        py.detach(|| pool(threads).map(|pool| pool.install(copy)))?
    };
    Ok(vectors.into_iter().map(Numbers::from).collect())
}

/// Threads for one call.
pub(crate) fn pool(threads: usize) -> PyResult<rayon::ThreadPool> {
    // The engine's own limit.
    let threads = threads.min(1024);
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|e| exception(orthorules::Error::Table(format!("cannot start {threads} threads: {e}"))))
}

/// The columns of a table by name: arrays of numbers, lists of texts.
pub(crate) fn columns<'py>(py: Python<'py>, table: &orthorules::Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for column in table.columns() {
        match (&column.values, column.values.kind()) {
            (Values::Numeric(numbers), Kind::Numeric) => {
                dict.set_item(&column.name, numbers.to_vec().into_pyarray(py))?;
            }
            (values, _) => {
                let texts: Vec<Option<String>> = (0..table.rows()).map(|r| values.display(r)).collect();
                dict.set_item(&column.name, texts)?;
            }
        }
    }
    Ok(dict)
}

/// A vector as an array.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    values.into_pyarray(py)
}
