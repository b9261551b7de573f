//! What a fit returns.

use crate::data::warning::Warning;
use crate::learn::seconds::Seconds;
use crate::model::Model;

/// What a fit returns. Later versions may tell more of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Where the time went.
    pub seconds: Seconds,
    /// What the user should know of it.
    pub warnings: Vec<Warning>,
}

impl Fitted {
    /// The same, with a further warning.
    pub(crate) fn with(mut self, warning: Warning) -> Self {
        self.warnings.push(warning);
        self
    }
}
