//! The sizes of a model, as its slider goes through them.

use orthorules_model::Model;
use orthorules_model::report::JointSize;

/// The place of the chosen size among all.
pub(crate) fn chosen(model: &Model, sizes: &[JointSize]) -> usize {
    let chosen = JointSize::new(model.steps(model.chosen()).map(|(_, step)| step).collect());
    let places = chosen.places(model);
    sizes.iter().position(|size| size.places(model) == places).unwrap_or(sizes.len().saturating_sub(1))
}
