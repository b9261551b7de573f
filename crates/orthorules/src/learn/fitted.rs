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
    /// λ, where folds chose it for all complexities ([`RegLambda::Cv`](crate::params::RegLambda::Cv)).
    pub reg_lambda: Option<f64>,
    /// What the user should know of it.
    pub warnings: Vec<Warning>,
}

impl Fitted {
    /// This fit with a further warning.
    pub(crate) fn with(mut self, warning: Warning) -> Self {
        self.warnings.push(warning);
        self
    }
}
