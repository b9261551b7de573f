//! SIRUS: stable rules from a random forest (Bénard, Biau, Da Veiga and Scornet, 2021).
//!
//! 1. [`forest`]: many shallow trees on quantile bins; each node of a tree is a path, a conjunction of its splits.
//! 2. [`select`]: paths by how many trees have them, without those that add nothing to the span of more frequent ones.
//! 3. Each rule says: the mean target inside if the path holds, else the mean outside. [`weights`] combines them:
//!    the plain average for classes, a ridge with weights of at least 0 for numbers.
//!
//! "If q then a else b" with the weight w is the constant w b and the weight w (a − b) of q, so the result is an
//! additive ensemble like any other. For classes its score is a probability, not its log-odds: the model's link says
//! so.

mod forest;
mod select;
mod weights;

use crate::codes::column::BinnedColumn;
use crate::codes::query::Query;
use crate::engine::targets::response::Response;
use crate::learn::watch::Watch;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::model::{RuleList, ScoreWeights, Size, Status};
use crate::params::Checked;
use weights::SizeWeights;

/// The part of a time limit that trees may take.
const TREES_SHARE: f64 = 0.6;

/// A rule before it has a weight.
struct UnweightedRule {
    query: Query,
    /// Part of the trees that have it.
    frequency: f64,
    rows: Vec<u32>,
}

/// Targets and weights as the forest needs them.
struct Data<'a> {
    columns: &'a [BinnedColumn],
    y: Vec<f64>,
    weight: Vec<f64>,
}

impl<'a> Data<'a> {
    fn new(columns: &'a [BinnedColumn], response: &Response) -> Self {
        let mass = |r: usize| response.mass(r);
        let y = (0..response.rows()).map(|r| response.b(r) / mass(r)).collect();
        let weight = (0..response.rows()).map(|r| mass(r) / response.loss.factor()).collect();
        Self { columns, y, weight }
    }

    fn rows(&self) -> usize {
        self.y.len()
    }
}

/// The list of every size: the most frequent rule, the two most frequent ones, and so on.
pub(crate) fn list(
    columns: &[BinnedColumn],
    response: &Response,
    params: &Checked,
    class: Option<&str>,
    watch: &Watch,
) -> RuleList {
    let data = Data::new(columns, response);
    // Rules are chosen and weighted after the trees, in the time that is left.
    let growing = watch.first(TREES_SHARE);
    let paths = forest::paths(&data, params, &growing);
    if growing.was_late() {
        watch.out_of_time(class);
    }
    let candidates = select::independent(&data, paths, params);
    let combined = if response.loss.is_quadratic() {
        weights::ridge(&data, &candidates, params.seed)
    } else {
        weights::average(&data, &candidates)
    };
    let mut rules = Vec::new();
    let mut sizes = vec![size(response, &data, &candidates[..0], &combined[0])];
    for (k, candidate) in candidates.iter().enumerate() {
        rules.push(rule(candidate, columns));
        sizes.push(size(response, &data, &candidates[..=k], &combined[k + 1]));
        watch.step(class, &rules[k], &sizes[k + 1]);
    }
    let chosen = rules.len();
    RuleList { class: class.map(str::to_owned), rules, sizes, chosen, chosen_complexity: None }
}

fn rule(candidate: &UnweightedRule, columns: &[BinnedColumn]) -> Rule {
    let conditions = candidate.query.atoms.iter().map(|a| columns[a.column as usize].condition(a.selection)).collect();
    Rule {
        trend: None,
        conditions,
        covered: candidate.rows.len() as u64,
        value: candidate.frequency,
        bound: None,
        proven: false,
        nodes: 0,
    }
}

/// One size with its training risk.
fn size(response: &Response, data: &Data, rules: &[UnweightedRule], combined: &SizeWeights) -> Size {
    let mut scores = vec![combined.intercept; data.rows()];
    for (candidate, weight) in rules.iter().zip(&combined.weights) {
        candidate.rows.iter().for_each(|&r| scores[r as usize] += weight);
    }
    let train_risk = if response.loss.is_quadratic() {
        response.mean_square(|r| scores[r])
    } else {
        let loss = |r: usize| {
            let p = scores[r].clamp(0.0, 1.0);
            let right = if data.y[r] > 0.5 { p } else { 1.0 - p };
            -data.weight[r] * right.max(f64::MIN_POSITIVE).ln()
        };
        (0..data.rows()).map(loss).sum::<f64>() / response.total_weight
    };
    Size {
        rules: rules.len(),
        members: None,
        complexity: rules.iter().map(|c| 1 + c.query.len()).sum(),
        scores: vec![ScoreWeights {
            intercept: response.outside_intercept(combined.intercept),
            weights: combined.weights.iter().map(|&w| response.outside_weight(w)).collect(),
        }],
        train_risk,
        status: Status::Step,
    }
}
