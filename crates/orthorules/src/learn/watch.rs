//! How long a fit may take, and who asks it to stop.

use crate::base::clock::Instant;
use crate::model::Size;
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::params::Checked;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// When a part of the work must end.
#[derive(Debug, Clone)]
enum TimeEnd {
    At(Instant),
    /// After it was asked this often: a clock for tests.
    #[cfg(test)]
    AfterAsks(std::sync::Arc<std::sync::atomic::AtomicI64>),
}

impl TimeEnd {
    fn is_over(&self) -> bool {
        match self {
            Self::At(end) => Instant::now() >= *end,
            #[cfg(test)]
            Self::AfterAsks(left) => left.fetch_sub(1, Ordering::Relaxed) <= 0,
        }
    }

    /// The end of a first part of the time that is left.
    fn of_part(&self, part: f64) -> Self {
        match self {
            Self::At(end) => {
                let now = Instant::now();
                Self::At(now + end.saturating_duration_since(now).mul_f64(part))
            }
            #[cfg(test)]
            Self::AfterAsks(left) => Self::AfterAsks(left.clone()),
        }
    }
}

/// An observer that also asks to stop when the time is over. All parts of a fit share one deadline.
pub(crate) struct Watch<'o> {
    observer: &'o dyn Observer,
    /// Of everything.
    end: Option<TimeEnd>,
    /// Of exact search. Rules after it come from the beam.
    exact: Option<TimeEnd>,
    quiet: bool,
    late: AtomicBool,
}

impl<'o> Watch<'o> {
    /// Of a fit that began at `start`. The beam after exact search, which gives a path its other sizes, has half as
    /// long again as the limit.
    pub(crate) fn new(observer: &'o dyn Observer, start: Instant, params: &Checked) -> Self {
        let after = |factor: f64| {
            let seconds = params.time_limit?;
            Some(TimeEnd::At(start + Duration::from_secs_f64(factor * seconds)))
        };
        let end = after(if params.exact { 1.5 } else { 1.0 });
        Self { observer, end, exact: after(1.0), quiet: false, late: AtomicBool::new(false) }
    }

    /// Without a limit.
    #[cfg(test)]
    pub(crate) fn endless(observer: &'o dyn Observer) -> Self {
        Self { observer, end: None, exact: None, quiet: false, late: AtomicBool::new(false) }
    }

    /// Whose time is over after this many questions.
    #[cfg(test)]
    pub(crate) fn after_asks(observer: &'o dyn Observer, asks: i64) -> Self {
        Self { end: Some(TimeEnd::AfterAsks(std::sync::Arc::new(asks.into()))), ..Self::endless(observer) }
    }

    /// For a first part of the time that is left.
    pub(crate) fn first(&self, part: f64) -> Watch<'o> {
        let of_part = |end: &Option<TimeEnd>| end.as_ref().map(|end| end.of_part(part));
        let (end, exact) = (of_part(&self.end), of_part(&self.exact));
        Watch { observer: self.observer, end, exact, quiet: self.quiet, late: AtomicBool::new(false) }
    }

    /// A watch for one of many fits, which tells the observer nothing.
    pub(crate) fn quietly(&self) -> Watch<'o> {
        let (end, exact) = (self.end.clone(), self.exact.clone());
        Watch { observer: self.observer, end, exact, quiet: true, late: AtomicBool::new(false) }
    }

    /// Whether it asked to stop because of the time.
    pub(crate) fn was_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    /// Whether the observer asks to stop, whatever the time.
    pub(crate) fn is_stopped(&self) -> bool {
        self.observer.stop()
    }

    /// Whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.end.is_some()
    }

    /// The time that is left.
    pub(crate) fn left(&self) -> Duration {
        match &self.end {
            Some(TimeEnd::At(end)) => end.saturating_duration_since(Instant::now()),
            _ => Duration::MAX,
        }
    }

    /// When exact search must end.
    pub(crate) fn exact_end(&self) -> Option<Instant> {
        match &self.exact {
            Some(TimeEnd::At(end)) => Some(*end),
            _ => None,
        }
    }
}

impl Observer for Watch<'_> {
    fn step(&self, class: Option<&str>, rule: &Rule, step: &Size) {
        if !self.quiet {
            self.observer.step(class, rule, step);
        }
    }

    fn searched(&self, class: Option<&str>, certificate: &Certificate) {
        if !self.quiet {
            self.observer.searched(class, certificate);
        }
    }

    fn resampled(&self, done: usize, total: usize) {
        if !self.quiet {
            self.observer.resampled(done, total);
        }
    }

    fn out_of_time(&self, class: Option<&str>) {
        if !self.quiet {
            self.observer.out_of_time(class);
        }
    }

    fn stop(&self) -> bool {
        let late = self.was_late() || self.end.as_ref().is_some_and(TimeEnd::is_over);
        if late {
            self.late.store(true, Ordering::Relaxed);
        }
        late || self.observer.stop()
    }
}
