//! Models: files, sizes and what they say about rows.

use crate::errors::{exception, guarded};
use crate::parts::Part;
use crate::table::{Table, array};
use numpy::{IntoPyArray, PyArray1};
use orthorules::model::report::JointSize;
use orthorules::model::{Size, SizeName, Uncertainty, Unfamiliar, write_whole};
use orthorules::recourse::{Given, Goal, Wish};
use orthorules::{Column, Kind, Link};
use orthorules_export::Options;
use orthorules_report::{Report, Summarizer, page};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::path::PathBuf;
use std::sync::Arc;

/// A column's change: its name, value now, the change in words, a value that does it, steps.
type Change<'py> = (String, Bound<'py, PyAny>, String, Bound<'py, PyAny>, usize);
/// Changes that together do it, and the prediction after them.
type Answer<'py> = (Vec<Change<'py>>, Vec<f64>);

/// A fitted model; it does not change.
#[pyclass(frozen, module = "orthorules._native")]
pub(crate) struct Model {
    pub(crate) model: Arc<orthorules::Model>,
    /// Every size that the model can be used at: for each list the place of its size.
    sizes: Vec<Vec<usize>>,
}

/// A table seen through a model: which rules each row satisfies.
#[pyclass(frozen, module = "orthorules._native")]
pub(crate) struct Activations {
    model: Arc<orthorules::Model>,
    sizes: Vec<Vec<usize>>,
    fired: orthorules::predict::Activations,
    rows: usize,
    /// What there is to say of rows that are unlike those in training.
    #[pyo3(get)]
    unfamiliar: Option<String>,
}

/// For each list the place of one of its sizes.
fn places(sizes: &[Vec<usize>], size: usize) -> PyResult<&Vec<usize>> {
    sizes.get(size).ok_or_else(|| PyIndexError::new_err(format!("there is no size {size}")))
}

/// The steps of one size.
fn steps<'m>(model: &'m orthorules::Model, sizes: &[Vec<usize>], size: usize) -> PyResult<Vec<&'m Size>> {
    let places = places(sizes, size)?;
    Ok(model.lists.iter().zip(places).map(|(list, &place)| &list.sizes[place]).collect())
}

impl Model {
    pub(crate) fn new(model: orthorules::Model) -> Self {
        let sizes = if let [list] = model.lists.as_slice() {
            (0..list.sizes.len()).map(|place| vec![place]).collect()
        } else {
            let at = |rules| model.steps(rules).map(|(list, size)| list.place_of(size)).collect();
            model.sizes().into_iter().map(at).collect()
        };
        Self { model: Arc::new(model), sizes }
    }

    /// The steps of the size with this many rules, or of at most this complexity, or of the chosen one.
    fn steps(&self, rules: Option<usize>, complexity: Option<usize>) -> PyResult<Vec<&Size>> {
        let model = &self.model;
        if let Some(limit) = complexity {
            let size = SizeName::Complexity(limit);
            if model.complexity(size) > limit {
                return Err(PyValueError::new_err(format!("there is no size of complexity {limit} or less")));
            }
            return Ok(model.steps(size).map(|(_, step)| step).collect());
        }
        let Some(rules) = rules else { return Ok(model.steps(model.chosen()).map(|(_, step)| step).collect()) };
        if model.sizes().contains(&rules) {
            return Ok(model.steps(rules).map(|(_, step)| step).collect());
        }
        let known: Vec<String> = model.sizes().iter().map(usize::to_string).collect();
        let known = known.join(", ");
        Err(PyValueError::new_err(format!("there is no size with {rules} rules; there are {known}")))
    }

    fn columns_of(&self, kind: Kind) -> Vec<&str> {
        self.model.columns.iter().filter(|c| c.kind == kind).map(|c| c.name.as_str()).collect()
    }
}

#[pymethods]
impl Model {
    /// The model of a JSON document.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        guarded(|| orthorules::Model::from_json(text)).map(Self::new)
    }

    /// The model in a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        guarded(|| orthorules::Model::load(&path)).map(Self::new)
    }

    /// The model as one JSON document.
    fn to_json(&self) -> String {
        self.model.to_json()
    }

    /// Writes the model to a file: whole or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(&path).map_err(exception)
    }

    /// The model at a size, the chosen one unless another is named, as code, SQL, a workbook, PMML or ONNX.
    #[pyo3(signature = (to, *, dialect=None, table=None, form=None, cases=None, rules=None, complexity=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a keyword")]
    fn export<'py>(
        &self,
        py: Python<'py>,
        to: &str,
        dialect: Option<&str>,
        table: Option<&str>,
        form: Option<&str>,
        cases: Option<usize>,
        rules: Option<usize>,
        complexity: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = Options::named(to, dialect, table, form, cases).map_err(exception)?;
        let steps = self.steps(rules, complexity)?;
        let bytes = guarded(|| orthorules_export::export(&self.model, &steps, &options))?;
        Ok(if options.target.is_binary() {
            PyBytes::new(py, &bytes).into_any()
        } else {
            PyString::new(py, &String::from_utf8_lossy(&bytes)).into_any()
        })
    }

    /// SHA-256 of the model's file.
    #[getter]
    fn fingerprint(&self) -> String {
        self.model.fingerprint()
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_json")?.unbind(), (self.to_json(),)))
    }

    /// For every size and list, its place in the list.
    #[getter]
    fn sizes(&self) -> Vec<Vec<usize>> {
        self.sizes.clone()
    }

    /// The size used unless another is asked for.
    #[getter]
    fn chosen(&self) -> usize {
        let steps = self.model.steps(self.model.chosen());
        let chosen: Vec<usize> = steps.map(|(list, size)| list.place_of(size)).collect();
        self.sizes.iter().position(|s| *s == chosen).unwrap_or(self.sizes.len() - 1)
    }

    /// This model with another size chosen.
    fn at(&self, size: usize) -> PyResult<Self> {
        let mut model = (*self.model).clone();
        let places = places(&self.sizes, size)?;
        for (list, &place) in model.lists.iter_mut().zip(places) {
            list.choose(place);
        }
        // What a bootstrap found is about the size that was chosen.
        model.bootstrap = None;
        Ok(Self::new(model))
    }

    /// The columns that rules use.
    #[getter]
    fn used_columns(&self) -> Vec<String> {
        self.model.used_columns().into_iter().map(str::to_owned).collect()
    }

    /// The columns that were false and true in training.
    #[getter]
    fn booleans(&self) -> Vec<&str> {
        self.columns_of(Kind::Boolean)
    }

    /// The columns that were categories in training, in order or not.
    #[getter]
    fn categories(&self) -> Vec<&str> {
        [self.columns_of(Kind::Categorical), self.columns_of(Kind::Ordered)].concat()
    }

    /// The columns that are parts of dates, each with the column of these dates.
    #[getter]
    fn dates(&self) -> Vec<(&str, &str)> {
        let dated = self.model.columns.iter().filter_map(|c| Some((c.name.as_str(), c.date.as_ref()?)));
        dated.map(|(name, date)| (name, date.column.as_str())).collect()
    }

    /// The labels as the engine spells them, negative before positive.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes.clone()
    }

    /// The name of the exposure column, if there was one.
    #[getter]
    fn exposure(&self) -> Option<&str> {
        self.model.exposure.as_deref()
    }

    /// The name of the offset column, if there was one.
    #[getter]
    fn offset(&self) -> Option<&str> {
        self.model.offset.as_deref()
    }

    /// What is predicted.
    #[getter]
    fn task(&self) -> String {
        self.model.task.to_string()
    }

    /// What the score is of the mean: `canonical`; `identity` where it is a probability itself; `softmax` where classes
    /// share their rules.
    #[getter]
    fn link(&self) -> &'static str {
        match self.model.link {
            Link::Identity => "identity",
            Link::Softmax => "softmax",
            Link::Canonical => "canonical",
        }
    }

    /// Whether one list of rules has a weight for each of several classes.
    #[getter]
    fn shared(&self) -> bool {
        self.model.is_shared()
    }

    /// The loss by which it was fitted.
    #[getter]
    fn loss(&self) -> String {
        self.model.loss.to_string()
    }

    /// The name of the target.
    #[getter]
    fn target(&self) -> &str {
        &self.model.target
    }

    /// What the target held: `numeric`, `boolean` or `categorical`.
    #[getter]
    fn target_kind(&self) -> &'static str {
        match self.model.target_kind {
            Some(Kind::Numeric) => "numeric",
            Some(Kind::Boolean) => "boolean",
            _ => "categorical",
        }
    }

    /// How many rows it learned from, if it is known.
    #[getter]
    fn rows(&self) -> Option<u64> {
        self.model.rows
    }

    /// The names of all features.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.model.columns.iter().map(|c| c.name.as_str()).collect()
    }

    /// What a weight means, in a sentence.
    #[getter]
    fn meaning(&self) -> String {
        self.model.meaning()
    }

    /// What the weights of the rules that hold add up to.
    #[getter]
    fn sum_of_weights(&self) -> String {
        self.model.sum_of_weights()
    }

    /// The scores, each at one size.
    fn parts(&self, size: usize) -> PyResult<Vec<Part>> {
        Ok(Part::all(&self.model, places(&self.sizes, size)?))
    }

    /// For every size, its number of rules (for each class, with more than two) and its complexity over all lists.
    #[getter]
    fn extents(&self) -> Vec<(usize, usize)> {
        let extent = |places: &Vec<usize>| {
            let sizes = self.model.lists.iter().zip(places).map(|(list, &place)| &list.sizes[place]);
            let size = JointSize::new(sizes.collect());
            (size.rules, size.complexity)
        };
        self.sizes.iter().map(extent).collect()
    }

    /// What cross-validation found of the sizes: rules, complexity, risk and its standard error.
    #[getter]
    fn cv(&self) -> Vec<(usize, usize, f64, f64)> {
        let path = self.model.cv.iter().flat_map(|cv| &cv.path);
        path.map(|s| (s.rules, s.complexity, s.cv_risk, s.cv_se)).collect()
    }

    /// What cross-validation found of classes at the chosen size: area under the ROC curve, accuracy and log loss.
    #[getter]
    fn cv_measures(&self) -> Option<(Option<f64>, f64, f64)> {
        let measures = self.model.cv.as_ref()?.measures?;
        Some((measures.auc, measures.accuracy, measures.log_loss))
    }

    /// What a bootstrap found, for each score and rule of the chosen size: the ends of the interval, and how often.
    #[getter]
    fn uncertainty(&self) -> Vec<Vec<(f64, f64, f64)>> {
        let scores = self.model.bootstrap.iter().flat_map(|bootstrap| &bootstrap.scores);
        let rules = |s: &Uncertainty| s.rules.iter().map(|r| (r.interval.0, r.interval.1, r.frequency)).collect();
        scores.map(rules).collect()
    }

    /// For every size its number of rules, its complexity and its mean loss on the rows of `table`. The table holds the
    /// target and, where they are named, weights, exposures and offsets.
    #[pyo3(signature = (table, weight = None, exposure = None, offset = None))]
    fn risks(
        &self,
        py: Python<'_>,
        table: &Table,
        weight: Option<String>,
        exposure: Option<String>,
        offset: Option<String>,
    ) -> PyResult<Vec<(usize, usize, f64)>> {
        let columns = table.columns.clone();
        let mut model = (*self.model).clone();
        (model.weight, model.exposure, model.offset) = (weight, exposure, offset);
        let evaluated = py.detach(|| guarded(|| model.evaluate(&orthorules::Table::new(columns)?)))?;
        Ok(evaluated.into_iter().map(|e| (e.rules, e.complexity, e.risk)).collect())
    }

    /// Writes the page about this model, which shows the size first that is named, to a file: whole or not at all.
    #[pyo3(signature = (path, size, table = None))]
    fn report(&self, py: Python<'_>, path: PathBuf, size: usize, table: Option<&Table>) -> PyResult<()> {
        let start = Some(places(&self.sizes, size)?.clone());
        let columns = table.map(|table| table.columns.clone());
        py.detach(|| {
            guarded(|| {
                let mut report = Report { start, ..Report::new(&self.model) };
                if let Some(columns) = columns {
                    let mut rows = Summarizer::new(&self.model);
                    rows.add(&orthorules::Table::new(columns)?)?;
                    report.table = Some(rows.finish());
                }
                write_whole(&path, page(&[report]).as_bytes())
            })
        })
    }

    /// The least changes of the only row of `table` after which `size` predicts what is wished for: whether it does
    /// already, whether all smaller changes were looked at, and for each answer its changes and the prediction after
    /// them. A change is (column, value now, change in words, a value that does it, steps).
    #[pyo3(signature = (table, size, *, change_to = None, below = None, above = None, lock = Vec::new(), most = 5))]
    #[allow(clippy::too_many_arguments)]
    fn recourse<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        size: usize,
        change_to: Option<usize>,
        below: Option<f64>,
        above: Option<f64>,
        lock: Vec<String>,
        most: usize,
    ) -> PyResult<(bool, bool, Vec<Answer<'py>>)> {
        let goal = match (change_to, below, above) {
            (Some(class), None, None) => Goal::Class(class),
            (None, Some(limit), None) => Goal::Below(limit),
            (None, None, Some(limit)) => Goal::Above(limit),
            _ => return Err(PyValueError::new_err("name one of change_to, below and above")),
        };
        let steps = steps(&self.model, &self.sizes, size)?;
        let wish = Wish { goal, locked: lock, most };
        let columns = table.columns.clone();
        let found =
            py.detach(|| guarded(|| self.model.recourse(&orthorules::Table::new(columns)?, 0, &steps, &wish)))?;
        let value = |given: &Given| -> PyResult<Bound<'py, PyAny>> {
            Ok(match given {
                Given::Number(x) => x.into_pyobject(py)?.into_any(),
                Given::Level(level) | Given::Special(level) => level.into_pyobject(py)?.into_any(),
                _ => py.None().into_bound(py),
            })
        };
        let answers = found.answers.iter().map(|answer| {
            let change = |change: &orthorules::recourse::Change| {
                let text = change.to.text(&change.column);
                Ok((change.column.clone(), value(&change.from)?, text, value(&change.example)?, change.steps))
            };
            let changes = answer.changes.iter().map(change).collect::<PyResult<Vec<_>>>()?;
            Ok((changes, answer.prediction.clone()))
        });
        Ok((found.met, found.complete, answers.collect::<PyResult<_>>()?))
    }

    /// Which rules hold for the rows of `table`.
    fn apply(&self, py: Python<'_>, table: &Table) -> PyResult<Activations> {
        let columns: Vec<Column> = table.columns.clone();
        let rows = table.rows;
        let model = Arc::clone(&self.model);
        let (fired, unfamiliar) = py.detach(|| {
            guarded(|| {
                // A table without columns has no rows of its own, but a constant model still predicts for each.
                let columns = if columns.is_empty() { vec![placeholder(rows)] } else { columns };
                let table = orthorules::Table::new(columns)?;
                let mut unfamiliar = Unfamiliar::new(&model, model.chosen());
                unfamiliar.add(&table);
                let told = unfamiliar.warning().map(|warning| warning.to_string());
                Ok((orthorules::predict::Activations::new(&model, &table)?, told))
            })
        })?;
        Ok(Activations { model, sizes: self.sizes.clone(), fired, rows, unfamiliar })
    }
}

/// A column that no rule uses.
fn placeholder(rows: usize) -> Column {
    Column::new("", orthorules::Values::Numeric(vec![0.0; rows].into()))
}

#[pymethods]
impl Activations {
    /// Predicted means at one size; probabilities, one row after the other, for a classifier.
    fn predict<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let steps = steps(&self.model, &self.sizes, size)?;
        let predictions = py.detach(|| guarded(|| Ok(self.fired.predictions_of(&self.model, &steps))))?;
        Ok(array(py, predictions.into_values()))
    }

    /// The likeliest class of each row at one size.
    fn labels<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let steps = steps(&self.model, &self.sizes, size)?;
        let predictions = py.detach(|| guarded(|| Ok(self.fired.predictions_of(&self.model, &steps))))?;
        Ok(array(py, predictions.labels().unwrap_or_default().to_vec()))
    }

    /// The scores of every row at one size, score by score.
    fn scores<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let steps = steps(&self.model, &self.sizes, size)?;
        Ok(self.model.scores_of(&steps).iter().map(|score| array(py, self.fired.scores(score))).collect())
    }

    /// The offset of every row, where the model has any.
    fn offsets<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let offsets: Vec<f64> = (0..self.rows).map_while(|row| self.fired.offset(row)).collect();
        self.model.offset.as_ref().map(|_| array(py, offsets))
    }

    /// For which rows a rule of a score's list holds.
    fn fires<'py>(&self, py: Python<'py>, score: usize, rule: usize) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let list = self.list_of(score, rule)?;
        let fires: Vec<bool> = (0..self.rows).map(|row| self.fired.fires(list, rule, row)).collect();
        Ok(fires.into_pyarray(py))
    }

    /// What every row has of a rule: 1 where it holds, else 0; the value of a trend.
    fn amounts<'py>(&self, py: Python<'py>, score: usize, rule: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let list = self.list_of(score, rule)?;
        let amounts = (0..self.rows).map(|row| self.fired.amount(list, rule, row));
        Ok(array(py, amounts.collect()))
    }
}

impl Activations {
    /// The place of the list that makes a score, if it has such a rule.
    fn list_of(&self, score: usize, rule: usize) -> PyResult<usize> {
        let list = self.model.lists_of_scores().get(score).copied();
        let known = list.filter(|&list| rule < self.model.lists[list].rules.len());
        known.ok_or_else(|| PyIndexError::new_err("there is no such rule"))
    }
}
