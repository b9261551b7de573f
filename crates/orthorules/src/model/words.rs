//! What a model is about and what its weights mean, in words that every shell shows.

use crate::data::loss::Link;
use crate::data::problem::Task;
use crate::data::warning::Warning;
use crate::model::{Ensemble, Model, Status};

impl Model {
    /// What the model is about, in a few words.
    pub fn subject(&self) -> String {
        let target = &self.target;
        let offset = self.offset.as_ref().map_or(String::new(), |offset| format!(", with offset {offset}"));
        match (self.task, self.classes.as_slice()) {
            (Task::Regression, _) => format!("Regression of {target}{offset}"),
            (Task::Poisson | Task::Gamma, _) => {
                let exposure = self.exposure.as_ref().map_or(String::new(), |e| format!(" per unit of {e}"));
                let name = if self.task == Task::Gamma { "Gamma" } else { "Poisson" };
                format!("{name} regression of {target}{exposure}{offset}")
            }
            (Task::Classification, [negative, positive]) => {
                format!("Classification of {target}: {positive} against {negative}")
            }
            (Task::Classification, classes) => format!("Classification of {target} into {} classes", classes.len()),
        }
    }

    /// What the weights of the rules that apply to a row add up to.
    pub fn sum_of_weights(&self) -> String {
        let target = &self.target;
        match (self.task, self.link, self.classes.as_slice()) {
            (Task::Regression, _, _) => target.clone(),
            (Task::Poisson, _, _) => format!("the logarithm of the rate of {target}"),
            (Task::Gamma, _, _) => format!("the logarithm of the mean of {target}"),
            (Task::Classification, Link::Identity, _) => "the probability of the class".into(),
            (Task::Classification, Link::Softmax, _) => "the score of the class".into(),
            (Task::Classification, Link::Canonical, [_, positive]) => format!("the log-odds of {target} = {positive}"),
            (Task::Classification, Link::Canonical, _) => "the log-odds of the class against the rest".into(),
        }
    }

    /// What to know of the weights of the chosen size that are where the fit stopped rather than where the risk is least.
    pub fn warnings(&self) -> Vec<Warning> {
        let warning = |ensemble: &Ensemble| {
            let (class, size) = (ensemble.class.clone(), ensemble.chosen());
            match size.status {
                Status::Unbounded if size.rules == 0 => Some(Warning::OneTarget { class }),
                Status::Unbounded => Some(Warning::Unbounded { class }),
                Status::Stalled => Some(Warning::Stalled { class }),
                Status::Converged | Status::Step => None,
            }
        };
        if self.is_shared() {
            // The weights of all classes are found together.
            let first = self.ensembles.first().map(|first| Ensemble { class: None, ..first.clone() });
            return first.iter().filter_map(warning).collect();
        }
        self.ensembles.iter().filter_map(warning).collect()
    }

    /// What a weight means, in a sentence.
    pub fn meaning(&self) -> String {
        let target = &self.target;
        let what = match self.link {
            Link::Canonical | Link::Softmax => "log-odds",
            Link::Identity => "probability",
        };
        match (self.task, self.classes.as_slice()) {
            (Task::Regression, _) => {
                let offset = self.offset.as_ref().map_or(String::new(), |offset| format!(", plus {offset} (offset)"));
                format!("A prediction of {target} is the sum of the weights of all lines that apply to a row{offset}.")
            }
            (Task::Poisson | Task::Gamma, _) => {
                let offset = self.offset.as_ref();
                let offset = offset.map_or(String::new(), |name| format!(" So does exp({name}), the offset."));
                format!(
                    "A rule that applies to a row multiplies the expected {target} by its factor, exp(weight).{offset}"
                )
            }
            (Task::Classification, [_, positive]) => {
                format!("The weights of all lines that apply to a row add up to the {what} of {target} = {positive}.")
            }
            (Task::Classification, _) if self.is_shared() => format!(
                "Every line has a weight for each {target}. The weights of all lines that apply to a row add up to the score \
                 of each {target}; the probabilities are exp(score), scaled to sum to 1."
            ),
            (Task::Classification, _) => format!(
                "In each list the weights of all lines that apply to a row add up to the {what} of that {target}; \
                 the probabilities are scaled to sum to 1."
            ),
        }
    }
}
