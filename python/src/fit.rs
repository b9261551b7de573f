//! A fit on a thread of its own, which the calling thread watches: it passes news on and notices Ctrl-C.

use crate::cluster::Step;
use crate::errors::{defect, exception};
use crate::model::Model;
use crate::table::Table;
use crate::words::in_python;
use orthorules::model::Size;
use orthorules::params::{Monotone, Preset};
use orthorules::{Kind, Observer, Params, Problem, Roles, Rule, SpecialCode, Task};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How often signals are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long an interrupted fit whose model is not kept may take to notice.
const GRACE: Duration = Duration::from_millis(200);

/// Where the time went, in seconds by stage.
pub(crate) type Seconds = Vec<(&'static str, f64)>;
type Outcome = orthorules::Result<orthorules::Fitted>;
/// The model, seconds by stage, what a user should know, and whether it was interrupted.
type Learned = (Model, Seconds, Vec<String>, bool);

/// What the fit tells.
enum News {
    /// A rule was added.
    Step(Step),
    /// One of the fits of a cross-validation or a bootstrap ended.
    Resampled { done: usize, total: usize },
    /// The end; nothing after a defect.
    Done(Option<Box<Outcome>>),
}

/// Hears of rules and passes on the wish to stop.
pub(crate) struct Watcher {
    news: Ears,
    stop: Arc<AtomicBool>,
}

/// Where news of rules goes.
enum Ears {
    /// Rules are not told.
    None,
    /// To a listener that also hears of the end.
    News(Sender<News>),
    /// To a listener that hears of rules alone.
    Steps(Sender<Step>),
}

impl Watcher {
    /// Tells of every rule.
    pub(crate) fn telling(steps: Sender<Step>, stop: Arc<AtomicBool>) -> Self {
        Self { news: Ears::Steps(steps), stop }
    }
}

impl Observer for Watcher {
    fn step(&self, class: Option<&str>, rule: &Rule, step: &Size) {
        let told = || (class.map(str::to_owned), step.rules, step.complexity, step.train_risk, rule.to_string());
        match &self.news {
            Ears::None => {}
            Ears::News(news) => drop(news.send(News::Step(told()))),
            Ears::Steps(steps) => drop(steps.send(told())),
        }
    }

    fn resampled(&self, done: usize, total: usize) {
        if let Ears::News(news) = &self.news {
            let _ = news.send(News::Resampled { done, total });
        }
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The engine's parameters from a preset, and from their names and values as text; `cuts` and `monotone` go by columns.
pub(crate) fn parameters(
    preset: Option<&str>,
    cuts: Option<BTreeMap<String, Vec<f64>>>,
    monotone: Option<BTreeMap<String, i8>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Params> {
    let mut params = match preset {
        Some(name) => name.parse::<Preset>().map_err(exception)?.params(),
        None => Params::default(),
    };
    for (name, value) in options.into_iter().flatten() {
        params.set(&name.extract::<String>()?, &value.extract::<String>()?).map_err(exception)?;
    }
    params.cuts = cuts.unwrap_or_default();
    for (name, direction) in monotone.unwrap_or_default() {
        params.monotone.insert(name, Monotone::try_from(direction).map_err(exception)?);
    }
    Ok(params)
}

/// Special codes by column, from numbers and names.
pub(crate) fn special_codes(
    special: Option<BTreeMap<String, Vec<(f64, String)>>>,
) -> BTreeMap<String, Vec<SpecialCode>> {
    let codes = |codes: Vec<(f64, String)>| codes.into_iter().map(|(x, name)| SpecialCode::new(x, name)).collect();
    special.unwrap_or_default().into_iter().map(|(column, given)| (column, codes(given))).collect()
}

/// Learns from `table`, which is used up.
///
/// `options` are the engine's parameters by name, as text; `cuts`, `special` and `monotone` go by columns.
/// `callback(class, rules, complexity, risk, rule)` hears of every rule, and `callback.resampled(done, total)` of every
/// fit of a cross-validation. Ctrl-C raises, or with `keep` ends the fit with the rules found so far.
#[pyfunction]
#[pyo3(signature = (
    table, *, task, target, weight = None, exposure = None, offset = None, groups = None, positive = None,
    categorical = Vec::new(), from_model = None, preset = None, cuts = None, special = None, monotone = None,
    callback = None, keep = false, **options
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    task: &str,
    target: String,
    weight: Option<String>,
    exposure: Option<String>,
    offset: Option<String>,
    groups: Option<String>,
    positive: Option<String>,
    categorical: Vec<String>,
    from_model: Option<&Bound<'_, Model>>,
    preset: Option<&str>,
    cuts: Option<BTreeMap<String, Vec<f64>>>,
    special: Option<BTreeMap<String, Vec<(f64, String)>>>,
    monotone: Option<BTreeMap<String, i8>>,
    callback: Option<Py<PyAny>>,
    keep: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Learned> {
    let task: Task = task.parse().map_err(exception)?;
    let params = parameters(preset, cuts, monotone, options)?;
    params.check(task.loss(), 1).map_err(exception)?;
    let roles = Roles {
        target,
        task: Some(task),
        positive,
        weight,
        exposure,
        offset,
        groups,
        categorical,
        special: special_codes(special),
        ..Roles::default()
    };
    let columns = std::mem::take(&mut table.borrow_mut().columns);
    let spelled_numbers = table.borrow().spelled_numbers;
    let before = from_model.map(|model| Arc::clone(&model.borrow().model));

    let (sender, receiver) = mpsc::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let ears = if callback.is_some() { Ears::News(sender.clone()) } else { Ears::None };
    let watcher = Watcher { news: ears, stop: Arc::clone(&stop) };
    let learn = move || -> Outcome {
        let mut problem = Problem::new(orthorules::Table::new(columns)?, &roles)?;
        if spelled_numbers {
            problem.target_kind = Kind::Numeric;
        }
        let mut fitted = match &before {
            Some(model) => orthorules::fit_from(&problem, &params, model, &watcher)?,
            None => orthorules::fit(&problem, &params, &watcher)?,
        };
        // First what was known before the fit.
        fitted.warnings.splice(..0, problem.warnings());
        Ok(fitted)
    };
    std::thread::Builder::new().name("orthorules fit".into()).spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(learn)).ok().map(Box::new);
        let _ = sender.send(News::Done(outcome));
    })?;

    Listener { receiver, stop, callback, keep, interrupt: None, looked: Instant::now() }.learned(py)
}

/// What waits for a fit in another thread: it calls back, and looks for Ctrl-C.
struct Listener {
    receiver: Receiver<News>,
    /// Set for the fit to end.
    stop: Arc<AtomicBool>,
    callback: Option<Py<PyAny>>,
    /// Whether an interrupted fit ends with the rules found so far.
    keep: bool,
    /// Ctrl-C, and when it was pressed.
    interrupt: Option<(PyErr, Instant)>,
    /// When signals were looked for.
    looked: Instant,
}

impl Listener {
    /// The model, once there is one.
    fn learned(mut self, py: Python<'_>) -> PyResult<Learned> {
        loop {
            let listening = &mut self.receiver;
            let news = py.detach(move || listening.recv_timeout(LOOK));
            match news {
                Ok(News::Step(added)) => self.call(py, |callback| callback.call1(py, added))?,
                Ok(News::Resampled { done, total }) => {
                    self.call(py, |callback| callback.call_method1(py, "resampled", (done, total)))?;
                }
                Ok(News::Done(outcome)) => return self.ended(outcome.map(|outcome| *outcome)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(defect()),
            }
            self.look_for_signals(py)?;
            // A fit without `keep` need not wait for a long step to end; the thread ends by itself.
            if let Some((_, since)) = &self.interrupt
                && !self.keep
                && since.elapsed() > GRACE
            {
                return Err(self.interrupt.map_or_else(defect, |(signal, _)| signal));
            }
        }
    }

    /// Calls back, unless there is no need of it any more.
    fn call(&mut self, py: Python<'_>, call: impl FnOnce(&Py<PyAny>) -> PyResult<Py<PyAny>>) -> PyResult<()> {
        if let (Some(callback), None) = (&self.callback, &self.interrupt) {
            self.interrupt = pressed_meanwhile(py, call(callback), &self.stop)?;
        }
        Ok(())
    }

    /// A second Ctrl-C raises at once.
    fn look_for_signals(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.looked.elapsed() < LOOK {
            return Ok(());
        }
        self.looked = Instant::now();
        if let Err(signal) = py.check_signals() {
            self.stop.store(true, Ordering::Relaxed);
            if self.interrupt.is_some() {
                return Err(signal);
            }
            self.interrupt = Some((signal, Instant::now()));
        }
        Ok(())
    }

    /// What came of the fit; nothing where it panicked.
    fn ended(self, outcome: Option<Outcome>) -> PyResult<Learned> {
        match (outcome, self.interrupt) {
            (Some(Ok(_)), Some((signal, _))) if !self.keep => Err(signal),
            (Some(Err(_)), Some((signal, _))) => Err(signal),
            (Some(outcome), interrupt) => {
                let fitted = outcome.map_err(exception)?;
                let s = fitted.seconds;
                let seconds = vec![("bin", s.bin), ("search", s.search), ("refit", s.refit), ("total", s.total)];
                let warnings = fitted.warnings.iter().map(in_python).collect();
                Ok((Model::new(fitted.model), seconds, warnings, interrupt.is_some()))
            }
            (None, _) => Err(defect()),
        }
    }
}

/// What a callback raised. Ctrl-C while it ran is like Ctrl-C at any other time; all else ends the fit.
fn pressed_meanwhile(
    py: Python<'_>,
    called: PyResult<Py<PyAny>>,
    stop: &AtomicBool,
) -> PyResult<Option<(PyErr, Instant)>> {
    let Err(raised) = called else { return Ok(None) };
    stop.store(true, Ordering::Relaxed);
    if raised.is_instance_of::<PyKeyboardInterrupt>(py) { Ok(Some((raised, Instant::now()))) } else { Err(raised) }
}
