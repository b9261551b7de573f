//! How long a fit may take, and who asks it to stop.

use crate::model::Size;
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When the parts of a fit must end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimits {
    /// Exact search. Rules after it come from the beam.
    pub(crate) exact: Instant,
    /// Everything.
    pub(crate) all: Instant,
}

impl TimeLimits {
    /// The limits of a fit that began at `start` and may take so many seconds. The beam after exact search, which
    /// gives a path its other sizes, has half as long again.
    pub(crate) fn new(start: Instant, seconds: f64, exact: bool) -> Self {
        let after = |seconds| start + Duration::from_secs_f64(seconds);
        Self { exact: after(seconds), all: after(if exact { 1.5 * seconds } else { seconds }) }
    }
}

/// An observer that also asks to stop when the time is over.
pub(crate) struct Watch<'o> {
    observer: &'o dyn Observer,
    end: Option<Instant>,
    late: AtomicBool,
}

impl<'o> Watch<'o> {
    pub(crate) fn new(observer: &'o dyn Observer, end: Option<Instant>) -> Self {
        Self { observer, end, late: AtomicBool::new(false) }
    }

    /// Whether it asked to stop because of the time.
    pub(crate) fn was_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }
}

impl Observer for Watch<'_> {
    fn step(&self, class: Option<&str>, rule: &Rule, step: &Size) {
        self.observer.step(class, rule, step);
    }

    fn searched(&self, class: Option<&str>, certificate: &Certificate) {
        self.observer.searched(class, certificate);
    }

    fn resampled(&self, done: usize, total: usize) {
        self.observer.resampled(done, total);
    }

    fn out_of_time(&self, class: Option<&str>) {
        self.observer.out_of_time(class);
    }

    fn stop(&self) -> bool {
        let late = self.end.is_some_and(|end| Instant::now() >= end);
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        late || self.observer.stop()
    }
}
