//! Rows on other machines: what they are asked, what a partition answers, and a fit that asks.
//!
//! The fit runs on one machine ([`fit`]) and sends messages to partitions ([`messages`], [`partition`]). Before the
//! search partitions say what they have ([`survey`], [`digest`], [`role_plan`]) and make codes ([`features`]). The
//! search asks the engine's questions ([`client`]), and partitions answer by the engine's kernels ([`answer`]). Small
//! tables are brought to the machine of the fit instead ([`gather`]). `docs/design/remote.md` tells it from the
//! beginning.

pub(crate) mod answer;
pub(crate) mod client;
#[cfg(feature = "files")]
pub(crate) mod digest;
#[cfg(feature = "files")]
pub(crate) mod features;
#[cfg(feature = "files")]
pub(crate) mod fit;
#[cfg(feature = "files")]
pub(crate) mod gather;
#[cfg(feature = "files")]
pub(crate) mod messages;
#[cfg(feature = "files")]
pub(crate) mod partition;
#[cfg(feature = "files")]
pub(crate) mod role_plan;
#[cfg(feature = "files")]
pub(crate) mod survey;
#[cfg(test)]
mod tests;
