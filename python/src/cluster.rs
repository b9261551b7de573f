//! A fit whose rows lie elsewhere: it runs on a thread of its own and asks; Python carries its messages.

use crate::errors::{defect, exception, guarded};
use crate::fit::{Seconds, Watcher, parameters, special_codes};
use crate::model::Model;
use crate::words::in_python;
use orthorules::{Error, FromPartitions, Gather, Roles, Task};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked at.
const LOOK: Duration = Duration::from_millis(20);

type Outcome = orthorules::Result<orthorules::FromPartitions>;
/// A rule that was added: class, rules, complexity, risk, and its text.
pub(crate) type Step = (Option<String>, usize, usize, f64, String);
/// The model, seconds by stage, what a user should know, and the nodes that were searched where the rows are.
type Learned = (Model, Seconds, Vec<String>, usize);

enum Event {
    /// To be brought to all partitions.
    Message(Vec<u8>),
    /// The end; nothing after a defect.
    Done(Option<Box<Outcome>>),
}

/// A fit that asks. `ask` gives the next message, or nothing at the end; `answer` takes the merged reply of all
/// partitions.
#[pyclass(module = "orthorules._native")]
pub(crate) struct Fit {
    events: Mutex<Receiver<Event>>,
    /// Nothing once the fit was stopped: the thread that waits for a reply is told.
    replies: Mutex<Option<Sender<Vec<u8>>>>,
    news: Mutex<Receiver<Step>>,
    stop: Arc<AtomicBool>,
    outcome: Mutex<Option<Outcome>>,
}

#[pymethods]
impl Fit {
    /// The parameters are those of `fit`.
    #[new]
    #[pyo3(signature = (
        *, target, task = None, weight = None, exposure = None, offset = None, positive = None,
        categorical = Vec::new(), by_type = Vec::new(), ordered = BTreeMap::new(), ignore = Vec::new(), gather = "auto",
        preset = None, cuts = None, special = None, monotone = None, **options
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        target: String,
        task: Option<&str>,
        weight: Option<String>,
        exposure: Option<String>,
        offset: Option<String>,
        positive: Option<String>,
        categorical: Vec<String>,
        by_type: Vec<String>,
        ordered: BTreeMap<String, Vec<String>>,
        ignore: Vec<String>,
        gather: &str,
        preset: Option<&str>,
        cuts: Option<BTreeMap<String, Vec<f64>>>,
        special: Option<BTreeMap<String, Vec<(f64, String)>>>,
        monotone: Option<BTreeMap<String, i8>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let task: Option<Task> = task.map(str::parse).transpose().map_err(exception)?;
        let gather: Gather = gather.parse().map_err(exception)?;
        let params = parameters(preset, cuts, monotone, options)?;
        params.check(task.unwrap_or(Task::Regression).loss(), 1).map_err(exception)?;
        let roles = Roles {
            target,
            task,
            positive,
            weight,
            exposure,
            offset,
            ignore,
            categorical,
            by_type,
            ordered,
            special: special_codes(special),
            ..Roles::default()
        };
        let ((events, incoming), (replies, answers)) = (mpsc::channel(), mpsc::channel::<Vec<u8>>());
        let ((steps, news), stop) = (mpsc::channel(), Arc::new(AtomicBool::new(false)));
        let watcher = Watcher::telling(steps, Arc::clone(&stop));
        // The search asks from several threads, one question after the other.
        let line = Mutex::new((events.clone(), answers));
        let trip = move |message: &[u8]| {
            let (events, answers) = &*line.lock().unwrap_or_else(PoisonError::into_inner);
            let sent = events.send(Event::Message(message.to_vec()));
            sent.map_err(|_| Error::Interrupted)?;
            answers.recv().map_err(|_| Error::Interrupted)
        };
        std::thread::Builder::new().name("orthorules fit".into()).spawn(move || {
            let learn = || orthorules::fit_partitions(&roles, &params, gather, &watcher, &trip);
            let outcome = catch_unwind(AssertUnwindSafe(learn)).ok().map(Box::new);
            let _ = events.send(Event::Done(outcome));
        })?;
        Ok(Self {
            events: Mutex::new(incoming),
            replies: Mutex::new(Some(replies)),
            news: Mutex::new(news),
            stop,
            outcome: Mutex::default(),
        })
    }

    /// The next message for all partitions; nothing when the fit has ended.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        loop {
            let next = py.detach(|| locked(&self.events).recv_timeout(LOOK));
            match next {
                Ok(Event::Message(message)) => return Ok(Some(PyBytes::new(py, &message))),
                Ok(Event::Done(Some(outcome))) => {
                    *locked(&self.outcome) = Some(*outcome);
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Ok(Event::Done(None)) | Err(RecvTimeoutError::Disconnected) => return Err(defect()),
            }
        }
    }

    /// The merged reply of all partitions to the last message.
    fn answer(&self, reply: Vec<u8>) -> PyResult<()> {
        let sent = locked(&self.replies).as_ref().is_some_and(|replies| replies.send(reply).is_ok());
        if sent { Ok(()) } else { Err(PyRuntimeError::new_err("the fit has ended")) }
    }

    /// Ends the fit, also one that waits for an answer.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        locked(&self.replies).take();
    }

    /// The rules that were added since the last call: class, rules, complexity, risk, and the text of the rule.
    fn news(&self) -> Vec<Step> {
        locked(&self.news).try_iter().collect()
    }

    /// The model, seconds by stage, what a user should know, and the nodes that were searched; once, after the end.
    fn result(&self) -> PyResult<Learned> {
        let Some(outcome) = locked(&self.outcome).take() else {
            return Err(PyRuntimeError::new_err("the fit has not ended"));
        };
        let FromPartitions { fitted, notes, searched } = outcome.map_err(exception)?;
        let s = fitted.seconds;
        let seconds = vec![("bin", s.bin), ("search", s.search), ("refit", s.refit), ("total", s.total)];
        let warnings = notes.into_iter().chain(fitted.warnings.iter().map(in_python)).collect();
        Ok((Model::new(fitted.model), seconds, warnings, searched))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rows of one file, which answer what a fit asks. What it keeps between questions only saves time.
#[pyclass(module = "orthorules._native")]
pub(crate) struct Partition {
    inner: Mutex<orthorules::Partition>,
}

#[pymethods]
impl Partition {
    #[new]
    #[pyo3(signature = (path, number, stamp, threads = None))]
    fn new(path: PathBuf, number: usize, stamp: &str, threads: Option<usize>) -> Self {
        Self { inner: Mutex::new(orthorules::Partition::new(&path, number, stamp, threads)) }
    }

    /// The reply to a message of a fit.
    fn answer<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let reply = py.detach(|| guarded(|| locked(&self.inner).answer(message)))?;
        Ok(PyBytes::new(py, &reply))
    }

    /// Whether codes were made, so that the file is not needed any more.
    #[getter]
    fn coded(&self) -> bool {
        locked(&self.inner).is_coded()
    }
}

/// The reply of the partitions of both, of which those of `next` come after the others.
#[pyfunction]
pub(crate) fn merge<'py>(py: Python<'py>, first: &[u8], next: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let both = py.detach(|| guarded(|| orthorules::merge(first, next)))?;
    Ok(PyBytes::new(py, &both))
}

/// The files of a table, each of which is a partition, in the order of their rows.
#[pyfunction]
pub(crate) fn partition_files(path: PathBuf) -> PyResult<Vec<PathBuf>> {
    guarded(|| orthorules::table::partition_files(&path))
}
