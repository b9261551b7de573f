//! The weights of the sizes of a model, fitted again to a table within the limits that edits set.

use super::risk::{ListRisk, TrendValues};
use super::rows::{CellTotals, ListTargets, RowCells};
use super::solver::{Risk, minimum};
use crate::base::error::Result;
use crate::data::loss::{DefaultLambda, Link};
use crate::data::special::SpecialCode;
use crate::data::table::{Table, Values};
use crate::engine::refit::softmax::penalty_factor;
use crate::engine::trend::scale_of;
use crate::model::edit::{Bounds, Limits};
use crate::model::evaluate::Truth;
use crate::model::predict::Activations;
use crate::model::signs::Signs;
use crate::model::{Model, RuleList, ScoreWeights, Size};
use crate::params::{Intercept, Monotone};
use std::collections::BTreeMap;

/// Weights that leave at most this part of the squared slopes, but for a penalty, are the best ones.
const CLOSE: f64 = 1e-6;

/// How weights are fitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fitting {
    /// λ; without it that of the loss.
    pub(super) reg_lambda: Option<f64>,
    pub(super) intercept: Intercept,
}

/// A table as weights are fitted to it.
pub(super) struct Fitter<'t> {
    table: &'t Table,
    pub(super) truth: &'t Truth,
    fitting: Fitting,
}

impl<'t> Fitter<'t> {
    pub(super) fn new(table: &'t Table, truth: &'t Truth, fitting: Fitting) -> Self {
        Self { table, truth, fitting }
    }

    /// What list `list` is fitted to.
    fn targets(&self, model: &Model, list: usize) -> ListTargets {
        match (model.link, model.lists[list].class.as_ref()) {
            (Link::Softmax, _) => ListTargets::of_classes(self.truth, model.classes.len()),
            (_, Some(_)) => ListTargets::of_score(model.loss, self.truth, Some(list as u32)),
            (_, None) => ListTargets::of_score(model.loss, self.truth, None),
        }
    }

    /// λ of a list.
    fn lambda(&self, model: &Model, targets: &ListTargets) -> f64 {
        self.fitting.reg_lambda.unwrap_or_else(|| match model.loss.default_lambda() {
            DefaultLambda::Fixed(lambda) => lambda,
            DefaultLambda::MeanTarget => targets.mean_target(),
        })
    }

    /// λ by which the weights of the chosen sizes are the best ones for the table, if there is one: then they were
    /// fitted to it.
    pub(super) fn recovered_lambda(&self, model: &Model, activations: &Activations) -> Option<f64> {
        let scopes = self.scopes(model, activations, &Limits::default()).ok()?;
        let (mut along, mut weight, mut slope) = (0.0, 0.0, 0.0);
        let mut pairs = Vec::new();
        for (scope, list) in scopes.iter().zip(&model.lists) {
            let sums = CellTotals::new(&scope.targets, &scope.cells, None);
            pairs.extend(scope.slopes(list.chosen(), &sums));
        }
        for (pull, own) in &pairs {
            along -= pull * own;
            weight += own * own;
            slope += pull * pull;
        }
        let lambda = along / weight;
        let rest: f64 = pairs.iter().map(|(pull, own)| (pull + lambda * own).powi(2)).sum();
        (lambda > 0.0 && lambda <= 1e100 && rest <= CLOSE * slope).then_some(lambda)
    }

    /// λ of the first list.
    pub(super) fn first_lambda(&self, model: &Model) -> f64 {
        self.lambda(model, &self.targets(model, 0))
    }

    /// Fits the weights of all sizes again, list by list.
    pub(super) fn fit(&self, model: &mut Model, activations: &Activations, limits: &Limits) -> Result<()> {
        let scopes = self.scopes(model, activations, limits)?;
        for (l, scope) in scopes.iter().enumerate() {
            let sums = CellTotals::new(&scope.targets, &scope.cells, None);
            for place in 0..model.lists[l].sizes.len() {
                let fitted = scope.fitted(&model.lists[l].sizes[place], &sums);
                model.lists[l].sizes[place] = fitted;
            }
        }
        Ok(())
    }

    /// Out-of-fold scores of the chosen size: the weights of each fold are fitted to the other rows.
    pub(super) fn cross_validated(
        &self,
        model: &Model,
        activations: &Activations,
        limits: &Limits,
        folds: &[u32],
    ) -> Result<f64> {
        let scopes = self.scopes(model, activations, limits)?;
        let count = folds.iter().max().map_or(0, |&fold| fold + 1);
        let (mut total, mut weight) = (0.0, 0.0);
        for fold in 0..count {
            let mut held_out = model.clone();
            for (l, scope) in scopes.iter().enumerate() {
                let left_out = folds.iter().map(|&own| own == fold).collect();
                let sums = CellTotals::new(&scope.targets, &scope.cells, Some(left_out));
                let size = scope.fitted(held_out.lists[l].chosen(), &sums);
                let list = &mut held_out.lists[l];
                let place = list.place_of(list.chosen());
                list.sizes[place] = size;
            }
            let steps: Vec<&Size> = held_out.lists.iter().map(RuleList::chosen).collect();
            let losses = self.truth.losses(&held_out, activations, &steps);
            for (row, loss) in losses.iter().enumerate().filter(|(row, _)| folds[*row] == fold) {
                total += self.truth.weight[row] * loss;
                weight += self.truth.weight[row];
            }
        }
        Ok(total / weight)
    }

    /// What fitting each list takes.
    fn scopes(&self, model: &Model, activations: &Activations, limits: &Limits) -> Result<Vec<Scope>> {
        let promised = model.columns.iter().filter_map(|c| Some((c.name.clone(), c.monotone?)));
        let monotone: BTreeMap<String, Monotone> = promised.collect();
        let scope = |l: usize| {
            let list = &model.lists[l];
            let rows = self.truth.weight.len();
            let is_rule: Vec<bool> = list.rules.iter().map(|rule| rule.trend.is_none()).collect();
            let targets = self.targets(model, l);
            let lambda = self.lambda(model, &targets);
            let classes: Vec<Option<&str>> = match (&list.class, model.is_shared()) {
                (Some(class), _) => vec![Some(class.as_str())],
                (None, true) => model.classes.iter().map(|class| Some(class.as_str())).collect(),
                (None, false) => vec![None],
            };
            let mut terms = Vec::with_capacity(list.rules.len());
            for (k, rule) in list.rules.iter().enumerate() {
                let demanded = match Signs::of_rule(rule, &monotone) {
                    Signs::Any => Bounds::FREE,
                    Signs::Positive => Bounds { low: 0.0, ..Bounds::FREE },
                    Signs::Negative => Bounds { high: 0.0, ..Bounds::FREE },
                    Signs::Neither => Bounds { low: 0.0, high: 0.0 },
                };
                let bounds: Vec<Option<Bounds>> =
                    classes.iter().map(|class| limits.bounds(rule, *class).and(demanded)).collect();
                let Some(bounds) = bounds.into_iter().collect::<Option<Vec<_>>>() else {
                    let what = "its weight cannot be what the edit asks for, because columns are monotone";
                    return Err(crate::Error::Edit(format!("rule \"{rule}\": {what}")));
                };
                let values = rule.trend.as_ref().map(|trend| {
                    let per = self.scale(model, &trend.column).map_or(1.0, |scale| scale / trend.per);
                    ((0..rows).map(|row| activations.amount(l, k, row)).collect(), per)
                });
                terms.push(FittedTerm { bounds, values });
            }
            let cells = RowCells::new(activations, l, &is_rule, rows);
            Ok(Scope { targets, cells, terms, lambda, intercept: self.fitting.intercept })
        };
        (0..model.lists.len()).map(scope).collect()
    }

    /// The scale of the trends of a column, on which their weights are penalised.
    fn scale(&self, model: &Model, name: &str) -> Option<f64> {
        let special = &model.columns.iter().find(|column| column.name == name)?.special;
        match &self.table.column(name)?.values {
            Values::Numeric(numbers) => scale_of(&SpecialCode::masked(special, numbers), Some(&self.truth.weight)),
            Values::Categorical { .. } => None,
        }
    }
}

/// A term of a list: what its weight may be in each score and, of a trend, its values and what the square of its weight
/// is penalised by.
struct FittedTerm {
    bounds: Vec<Bounds>,
    values: Option<(Vec<f64>, f64)>,
}

/// All that fitting the sizes of a list takes.
struct Scope {
    targets: ListTargets,
    cells: RowCells,
    terms: Vec<FittedTerm>,
    lambda: f64,
    intercept: Intercept,
}

impl Scope {
    /// A size with the weights that fit best.
    fn fitted(&self, size: &Size, sums: &CellTotals) -> Size {
        let members: Vec<usize> = size.members().collect();
        let (targets, width) = (&self.targets, members.len() + 1);
        let trends = self.trends(&members);
        let of_member = |&k: &usize| {
            let (_, scale) =
                self.terms[k].values.as_ref().map_or((None, 1.0), |(values, scale)| (Some(values), *scale));
            self.lambda * self.share() * scale * scale
        };
        let of_score = || std::iter::once(0.0).chain(members.iter().map(of_member));
        let penalty: Vec<f64> = (0..targets.b.len()).flat_map(|_| of_score()).collect();
        let risk = ListRisk::new(targets, (&self.cells, sums), &members, (&trends, penalty));
        let start = self.inside(size);
        let constant = self.constant(sums);
        let fixed = |s: usize| match self.intercept {
            Intercept::Corrected => Bounds::FREE,
            Intercept::Fixed => Bounds { low: constant[s], high: constant[s] },
            Intercept::None => Bounds { low: self.intercept_inside(0.0), high: self.intercept_inside(0.0) },
        };
        let inside = |bounds: Bounds| Bounds { low: bounds.low / targets.unit, high: bounds.high / targets.unit };
        let of_score = |s: usize| {
            let of_terms = members.iter().map(move |&k| inside(self.terms[k].bounds[s]));
            std::iter::once(fixed(s)).chain(of_terms)
        };
        let bounds: Vec<Bounds> = (0..targets.b.len()).flat_map(of_score).collect();
        let found = minimum(&risk, start, &bounds);
        let mut x = found.x;
        if targets.is_softmax && self.intercept == Intercept::Corrected {
            // What all classes share says nothing.
            let mean = x.iter().step_by(width).sum::<f64>() / targets.b.len() as f64;
            x.iter_mut().step_by(width).for_each(|intercept| *intercept -= mean);
        }
        let score = |(s, x): (usize, &[f64])| {
            let outside = |(place, w): (usize, &f64)| self.terms[members[place]].bounds[s].nearest(w * targets.unit);
            ScoreWeights {
                intercept: x[0] * targets.unit + targets.center,
                weights: x[1..].iter().enumerate().map(outside).collect(),
            }
        };
        Size {
            scores: x.chunks_exact(width).enumerate().map(score).collect(),
            train_risk: targets.mean_loss(risk.loss(&x)),
            status: found.status,
            ..size.clone()
        }
    }

    /// Of each weight of a size that is not 0, the slope of the loss, and what the penalty pulls by for λ = 1.
    fn slopes(&self, size: &Size, sums: &CellTotals) -> Vec<(f64, f64)> {
        let members: Vec<usize> = size.members().collect();
        let (targets, width) = (&self.targets, members.len() + 1);
        let trends = self.trends(&members);
        let free = vec![0.0; width * targets.b.len()];
        let risk = ListRisk::new(targets, (&self.cells, sums), &members, (&trends, free));
        let x = self.inside(size);
        let (gradient, _) = risk.derivatives(&x);
        let of_place = |i: usize| {
            let k = members[(i % width).checked_sub(1)?];
            let scale = self.terms[k].values.as_ref().map_or(1.0, |(_, scale)| *scale);
            (x[i] != 0.0).then_some((gradient[i], self.share() * scale * scale * x[i]))
        };
        (0..x.len()).filter_map(of_place).collect()
    }

    /// What λ is multiplied by for each of several weights of a rule.
    fn share(&self) -> f64 {
        if self.targets.is_softmax { penalty_factor(self.targets.b.len()) } else { 1.0 }
    }

    /// The trends among some terms.
    fn trends(&self, members: &[usize]) -> Vec<TrendValues> {
        let trend = |(place, &k): (usize, &usize)| {
            let (values, _) = self.terms[k].values.as_ref()?;
            Some(TrendValues { place, values: values.clone() })
        };
        members.iter().enumerate().filter_map(trend).collect()
    }

    /// The weights of a size as scores are counted here: from the center, in units.
    fn inside(&self, size: &Size) -> Vec<f64> {
        let of_score = |score: &ScoreWeights| {
            let weights = score.weights.iter().map(|w| w / self.targets.unit);
            std::iter::once(self.intercept_inside(score.intercept)).chain(weights).collect::<Vec<f64>>()
        };
        size.scores.iter().flat_map(of_score).collect()
    }

    fn intercept_inside(&self, x: f64) -> f64 {
        (x - self.targets.center) / self.targets.unit
    }

    /// The best score without any rule, for each score.
    fn constant(&self, sums: &CellTotals) -> Vec<f64> {
        let scores = self.targets.b.len();
        let mass: f64 = sums.mass.iter().sum();
        let b = |s: usize| sums.b.iter().skip(s).step_by(scores).sum::<f64>();
        let of_score = |s: usize| {
            if self.targets.is_softmax {
                ((b(s) + 0.5) / (mass + 0.5 * scores as f64)).ln()
            } else {
                self.targets.loss.best_constant(mass, b(s))
            }
        };
        (0..scores).map(of_score).collect()
    }
}
