//! Hinges that go down, written so that their weights say what each step away from the bend adds.

use super::Model;

impl Model {
    /// Turns hinges whose steps run with the column: `per` and the weights change their signs, and with these the
    /// intervals of the bootstrap. Scores stay the same to the bit. The engine and older files have hinges of that
    /// kind.
    #[doc(hidden)]
    pub fn turn_hinges(&mut self) {
        let chosen = self.chosen();
        let members: Vec<Vec<usize>> = self.steps(chosen).map(|(_, step)| step.members().collect()).collect();
        let mut first_score = 0;
        for (list, members) in self.lists.iter_mut().zip(members) {
            let (start, scores) = (first_score, list.score_count());
            first_score += scores;
            let backwards = |rule: &crate::Rule| rule.trend.as_ref().is_some_and(super::trend::Trend::counts_backwards);
            let turned: Vec<bool> = list.rules.iter().map(backwards).collect();
            if !turned.contains(&true) {
                continue;
            }
            for size in &mut list.sizes {
                let members: Vec<usize> = size.members().collect();
                for score in &mut size.scores {
                    let weights = score.weights.iter_mut().zip(&members).filter(|(_, k)| turned[**k]);
                    weights.for_each(|(weight, _)| *weight = -*weight);
                }
            }
            let rules = list.rules.iter_mut().filter_map(|rule| rule.trend.as_mut());
            rules.filter(|trend| trend.counts_backwards()).for_each(|trend| trend.per = -trend.per);
            let bootstrap = self.bootstrap.iter_mut().flat_map(|bootstrap| &mut bootstrap.scores);
            for found in bootstrap.skip(start).take(scores) {
                let intervals = found.rules.iter_mut().zip(&members).filter(|(_, k)| turned[**k]);
                intervals.for_each(|(found, _)| found.interval = (-found.interval.1, -found.interval.0));
            }
        }
    }
}
