//! A clock for limits of time and for what is reported of them.
//!
//! The standard library has none on WebAssembly, where it panics. There no time passes: limits are never reached, and
//! everything takes 0 seconds.

#[cfg(target_arch = "wasm32")]
use std::time::Duration;
#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;

/// A moment that is always the same one.
#[cfg(target_arch = "wasm32")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(Duration);

#[cfg(target_arch = "wasm32")]
impl Instant {
    /// That moment.
    pub fn now() -> Self {
        Self(Duration::ZERO)
    }

    /// The time since then: none.
    pub fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// The time from an earlier moment to this one.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

#[cfg(target_arch = "wasm32")]
impl std::ops::Add<Duration> for Instant {
    type Output = Self;
    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}
