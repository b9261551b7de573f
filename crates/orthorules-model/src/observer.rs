//! Who is told of progress.

use crate::model::Size;
use crate::model::certificate::Certificate;
use crate::model::rule::Rule;

/// Is told of progress and may ask to stop. The engine itself prints nothing.
///
/// ```
/// use orthorules_model::{Observer, Rule, Size};
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// /// Stops after this many rules.
/// struct AtMost(AtomicUsize);
///
/// impl Observer for AtMost {
///     fn step(&self, _class: Option<&str>, rule: &Rule, step: &Size) {
///         println!("{} rules, the newest: {rule}", step.rules);
///         self.0.fetch_sub(1, Ordering::Relaxed);
///     }
///
///     fn stop(&self) -> bool {
///         self.0.load(Ordering::Relaxed) == 0
///     }
/// }
///
/// assert!(!AtMost(AtomicUsize::new(3)).stop());
/// ```
pub trait Observer: Sync {
    /// A rule was added: the newest rule and the size it made, for `class` against the rest when there are several.
    fn step(&self, class: Option<&str>, rule: &Rule, step: &Size) {
        let _ = (class, rule, step);
    }

    /// A search ended: what it can say about the rule that it found.
    fn searched(&self, class: Option<&str>, certificate: &Certificate) {
        let _ = (class, certificate);
    }

    /// One of the fits of a cross-validation or a bootstrap ended: `done` of `total` have.
    fn resampled(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// The time limit ended the fit (of `class` against the rest) before anything else did.
    fn out_of_time(&self, class: Option<&str>) {
        let _ = class;
    }

    /// Whether to stop now and keep what has been found.
    fn stop(&self) -> bool {
        false
    }
}

/// Watches nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}
