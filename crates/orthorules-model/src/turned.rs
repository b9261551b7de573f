//! Hinges that go down, written so that their weights say what each step away from the bend adds.

use super::Model;

impl Model {
    /// Turns hinges whose steps run with the column: `per` and the weights change their signs, and with these the intervals of
    /// the bootstrap. Scores stay the same to the bit. The engine and older files have hinges of that kind.
    #[doc(hidden)]
    pub fn turn_hinges(&mut self) {
        let chosen = self.chosen();
        let members: Vec<Vec<usize>> = self.steps(chosen).map(|(_, step)| step.members().collect()).collect();
        for (e, ensemble) in self.ensembles.iter_mut().enumerate() {
            let backwards = |rule: &crate::Rule| rule.trend.as_ref().is_some_and(super::trend::Trend::counts_backwards);
            let turned: Vec<bool> = ensemble.rules.iter().map(backwards).collect();
            if !turned.contains(&true) {
                continue;
            }
            for step in &mut ensemble.path {
                let members: Vec<usize> = step.members().collect();
                let weights = step.weights.iter_mut().zip(members).filter(|(_, k)| turned[*k]);
                weights.for_each(|(weight, _)| *weight = -*weight);
            }
            let rules = ensemble.rules.iter_mut().filter_map(|rule| rule.trend.as_mut());
            rules.filter(|trend| trend.counts_backwards()).for_each(|trend| trend.per = -trend.per);
            let bootstrap = self.bootstrap.as_mut().and_then(|bootstrap| bootstrap.ensembles.get_mut(e));
            let intervals = bootstrap.into_iter().flat_map(|found| &mut found.rules).zip(&members[e]);
            for (found, _) in intervals.filter(|(_, k)| turned[**k]) {
                found.interval = (-found.interval.1, -found.interval.0);
            }
        }
    }
}
