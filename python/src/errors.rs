//! The engine's errors as Python's usual exceptions.

use orthorules::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// `OSError` for files that cannot be read or written, `ValueError` for what is wrong with data, parameters and models.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        Error::Io { path, source } | Error::Write { path, source } => match source.raw_os_error() {
            // With number and file name, Python itself picks the subclass: FileNotFoundError and its kin.
            Some(number) => {
                let text = source.to_string();
                let reason = text.split(" (os error").next().unwrap_or(&text).to_owned();
                PyOSError::new_err((number, reason, path))
            }
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// What `work` returns. A defect of the engine is a plain exception, not a panic.
pub(crate) fn guarded<T>(work: impl FnOnce() -> orthorules::Result<T>) -> PyResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(exception),
        Err(_) => Err(defect()),
    }
}

/// The engine broke its own rules.
pub(crate) fn defect() -> PyErr {
    PyRuntimeError::new_err("internal error of orthorules; please report it with the data that caused it")
}

/// From now on one line on standard error tells of the first panic, however many threads follow it; the exception says
/// the rest. The hook is that of this module's own copy of the standard library: no other code in the process is
/// concerned.
pub(crate) fn report_first_panic() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|panic| {
        if !TOLD.swap(true, Ordering::Relaxed) {
            let text = panic.to_string();
            eprintln!("orthorules: {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }));
}
