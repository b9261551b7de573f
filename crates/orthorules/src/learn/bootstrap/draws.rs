//! One draw: the search run again on the drawn rows, and the chosen rules weighted by them.

use super::alike::RuleMatcher;
use crate::base::error::Result;
use crate::base::random::SplitMix64;
use crate::data::problem::Problem;
use crate::engine::targets::response::Response;
use crate::learn::given::{self, GivenTerm};
use crate::learn::one::Binned;
use crate::learn::watch::Watch;
use crate::model::predict::Activations;
use crate::model::rule::Rule;
use crate::model::signs::Signs;
use crate::model::{Model, RuleList, Size};
use crate::params::Checked;
use std::borrow::Cow;

/// What one draw says of one list: which rules and conditions were found again, and the intercept and weights of each
/// score.
pub(super) struct Draw {
    pub(super) found: Vec<(bool, Vec<bool>)>,
    pub(super) scores: Vec<(f64, Vec<f64>)>,
}

/// For every list and rule of `model`, whether each row satisfies it.
pub(super) fn fired(problem: &Problem, model: &Model) -> Result<Vec<Vec<Vec<bool>>>> {
    let activations = Activations::new(model, &problem.table_of(problem.features.clone())?)?;
    let rows = |l, k| (0..problem.rows).map(|r| activations.fires(l, k, r)).collect();
    let of_list = |(l, list): (usize, &RuleList)| (0..list.rules.len()).map(|k| rows(l, k)).collect();
    Ok(model.lists.iter().enumerate().map(of_list).collect())
}

/// Everything that a draw needs.
pub(super) struct Draws<'a> {
    pub(super) problem: &'a Problem,
    pub(super) params: &'a Checked,
    /// The parameters, up to the chosen complexity.
    pub(super) search: &'a Checked,
    pub(super) model: &'a Model,
    pub(super) chosen: &'a [(&'a RuleList, &'a Size)],
    pub(super) fired: Vec<Vec<Vec<bool>>>,
    /// The scales of the columns that terms may grow with, by their numbers.
    pub(super) scales: Vec<(u32, f64)>,
}

impl Draws<'_> {
    pub(super) fn draw(&self, seed: u64, watch: &Watch) -> Vec<Draw> {
        let rows = self.rows(&mut SplitMix64::new(seed));
        let drawn = self.problem.take(&rows);
        let again = Binned::new(&drawn, self.search).fit(self.search, &watch.quietly()).model;
        let alike = RuleMatcher::new(&self.problem.features);
        let of_list = |(l, (list, step)): (usize, &(&RuleList, &Size))| {
            let other = &again.lists[l];
            let size = other.sizes.iter().rfind(|s| s.complexity <= step.complexity).unwrap_or(&other.sizes[0]);
            let rules: Vec<&Rule> = other.members(size).collect();
            let found = |rule: &Rule| {
                let condition = |c| rules.iter().any(|r| r.conditions.iter().any(|d| alike.conditions(c, d)));
                (rules.iter().any(|r| alike.rules(rule, r)), rule.conditions.iter().map(condition).collect())
            };
            let scores = match step.scores.len() {
                1 => vec![self.weights(l, step, &rows, &drawn)],
                _ => self.shared_weights(step, &rows, &drawn),
            };
            Draw { found: list.members(step).map(found).collect(), scores }
        };
        self.chosen.iter().enumerate().map(of_list).collect()
    }

    /// As many rows, or groups, as there are, drawn with replacement.
    fn rows(&self, random: &mut SplitMix64) -> Vec<u32> {
        let Some(groups) = &self.problem.groups else {
            let mut rows: Vec<u32> = (0..self.problem.rows).map(|_| random.below(self.problem.rows) as u32).collect();
            // In the order of the table, as every fit has them.
            rows.sort_unstable();
            return rows;
        };
        let count = groups.iter().max().map_or(0, |&g| g as usize + 1);
        let mut times = vec![0usize; count];
        (0..count).for_each(|_| times[random.below(count)] += 1);
        (0..self.problem.rows).flat_map(|r| std::iter::repeat_n(r as u32, times[groups[r] as usize])).collect()
    }

    /// Intercepts and weights of all classes that share the chosen rules, on the drawn rows.
    fn shared_weights(&self, step: &Size, rows: &[u32], drawn: &Problem) -> Vec<(f64, Vec<f64>)> {
        let covered = step.members().map(|k| self.covered(0, k, rows)).collect();
        given::shared_weights(&Response::shared(drawn), covered, self.params)
    }

    /// Intercept and weights of the chosen rules on the drawn rows, fitted as the model's were. Trends are penalised on
    /// the scale that the model's were.
    pub(super) fn weights(&self, l: usize, step: &Size, rows: &[u32], drawn: &Problem) -> (f64, Vec<f64>) {
        let class = if self.model.lists.len() > 1 { l as u32 } else { 1 };
        let term = |k: usize| {
            let rule = &self.model.lists[l].rules[k];
            let signs = Signs::of_rule(rule, &self.params.monotone);
            match rule.trend.as_ref().and_then(|trend| Some((trend, self.numbers(&trend.column)?))) {
                Some((trend, (numbers, scale))) => {
                    GivenTerm::trend(trend, rows.iter().map(|&row| numbers[row as usize]), scale, signs)
                }
                None => GivenTerm::rule(self.covered(l, k, rows), signs),
            }
        };
        given::weights(&Response::new(drawn, class), step.members().map(term).collect(), self.params)
    }

    /// The drawn rows that satisfy a rule, by their places among these.
    fn covered(&self, l: usize, k: usize, rows: &[u32]) -> Vec<u32> {
        let fires = |&place: &u32| self.fired[l][k][rows[place as usize] as usize];
        (0..rows.len() as u32).filter(fires).collect()
    }

    /// The numbers of a column, and the scale of its trends.
    fn numbers(&self, name: &str) -> Option<(Cow<'_, [f64]>, f64)> {
        let place = self.problem.features.iter().position(|column| column.name == name)?;
        let scale = self.scales.iter().find(|(column, _)| *column as usize == place)?.1;
        Some((self.problem.features[place].plain_numbers()?, scale))
    }
}
