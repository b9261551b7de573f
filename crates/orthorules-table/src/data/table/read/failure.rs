//! What goes wrong in a file of Arrow data.

/// What is said of a file that contradicts itself.
pub(super) const DAMAGED: &str = "it is damaged";

/// What the readers fail with.
pub(super) type ReadFailure = Box<dyn std::error::Error + Send + Sync>;

/// What is wrong is told without the file's format in front.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct PlainMessage(pub(super) String);
