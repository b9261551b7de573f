//! Rows on other machines: what they are asked, what a partition answers, and a fit that asks.

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
