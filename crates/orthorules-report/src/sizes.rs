//! The sizes of a model, as its slider goes through them.

use orthorules_model::{Ensemble, Model, Size, SizeName};

/// One size: a step of every ensemble.
#[derive(Debug)]
pub(crate) struct JointSize<'m> {
    pub(crate) rules: usize,
    pub(crate) complexity: usize,
    pub(crate) steps: Vec<&'m Size>,
    /// The places of the steps on their paths.
    pub(crate) places: Vec<usize>,
}

/// Every size, by complexity: the order in which a model keeps what cross-validation found.
pub(crate) fn sizes(model: &Model) -> Vec<JointSize<'_>> {
    if let [list] = model.lists() {
        return (0..list.path.len()).map(|place| joint(model, place)).collect();
    }
    let mut sizes: Vec<JointSize> = model.sizes().into_iter().map(|rules| at(model, rules.into())).collect();
    sizes.sort_by_key(|size| size.complexity);
    sizes
}

/// The size at a place of the path of every ensemble.
fn joint(model: &Model, place: usize) -> JointSize<'_> {
    let steps: Vec<&Size> = model.ensembles.iter().map(|ensemble| &ensemble.path[place]).collect();
    let (rules, complexity) = (steps[0].rules, model.complexity_of(steps.iter().copied()));
    JointSize { rules, complexity, places: vec![place; steps.len()], steps }
}

/// The size that is meant.
fn at(model: &Model, size: SizeName) -> JointSize<'_> {
    let (places, steps): (Vec<usize>, Vec<&Size>) = model.steps(size).map(|(e, step)| (place(e, step), step)).unzip();
    let rules = steps.iter().map(|s| s.rules).max().unwrap_or(0);
    JointSize { rules, complexity: model.complexity_of(steps.iter().copied()), steps, places }
}

fn place(ensemble: &Ensemble, step: &Size) -> usize {
    ensemble.path.iter().position(|s| std::ptr::eq(s, step)).unwrap_or(0)
}

/// The place of the chosen size among all.
pub(crate) fn chosen(model: &Model, sizes: &[JointSize]) -> usize {
    let places = at(model, model.chosen()).places;
    sizes.iter().position(|size| size.places == places).unwrap_or(sizes.len().saturating_sub(1))
}
