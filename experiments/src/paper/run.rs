//! One method on one split: paths for every λ, the choice of λ for every size, and the resulting curve.

use super::LEVELS;
use super::curve::{Curve, CurveSize};
use super::method::{Method, exact};
use super::protocol::{Prepared, Protocol, constants, side};
use super::sirus;
use crate::data::{DataSet, Entry};
use anyhow::Result;
use orthorules::evaluate::Evaluation;
use orthorules::model::Size;
use orthorules::params::Objective;
use orthorules::study::{Variant, boost};
use orthorules::{Certificate, Model, Observer, Params, Problem, Roles, Rule, Table, Task, fit};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// How an evaluation is run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) protocol: Protocol,
    /// Whether λ is cross-validated; else it is the same for all sizes.
    pub(crate) cross_validate: bool,
    /// Most queries that branch and bound expands for a rule.
    pub(crate) nodes: u64,
}

/// Stops a path when its complexity exceeds 50 and counts searches that hit the limit of nodes.
#[derive(Default)]
struct Watch {
    enough: AtomicBool,
    searched: AtomicUsize,
    stopped: AtomicUsize,
    nodes: u64,
}

impl Observer for Watch {
    fn step(&self, _class: Option<&str>, _rule: &Rule, step: &Size) {
        if step.complexity >= LEVELS {
            self.enough.store(true, Ordering::Relaxed);
        }
    }

    fn searched(&self, _class: Option<&str>, certificate: &Certificate) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        self.stopped.fetch_add(usize::from(certificate.nodes >= self.nodes), Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }
}

impl Plan {
    /// What a stored result depends on.
    pub(crate) fn setting(&self) -> String {
        let choice = if self.cross_validate { "cross-validated" } else { "one lambda" };
        format!("{}, {choice}, {} nodes, v2", self.protocol.name(), self.nodes)
    }

    /// λ without cross-validation.
    fn fixed(entry: &Entry) -> f64 {
        if entry.task == Task::Regression { 0.1 } else { 1.0 }
    }

    /// `method` on split `split`.
    pub(crate) fn curve(&self, entry: &Entry, data: &DataSet, split: usize, method: Method) -> Result<Curve> {
        let start = Instant::now();
        let mut curve = match method {
            Method::Ours => self.single(data, split, method, &data.table)?,
            Method::Sirus if self.protocol == Protocol::Published => sirus::curve(entry, data, split, self.setting())?,
            Method::Sirus => self.single(data, split, method, &entry.with_paper_codes(&data.table)?)?,
            _ => self.boosted(entry, data, split, method)?,
        };
        if self.protocol == Protocol::Published && method == Method::Ours {
            let prepared = self.protocol.prepare(entry, data, split)?;
            curve = published_scale(entry, &prepared, curve);
        }
        if split > 0 {
            curve.sizes.iter_mut().for_each(|s| s.text.clear());
        }
        curve.total_seconds = start.elapsed().as_secs_f64();
        Ok(curve)
    }

    /// A learner that is fitted once, on the target as it is.
    fn single(&self, data: &DataSet, split: usize, method: Method, table: &Table) -> Result<Curve> {
        let is_test = &data.splits[split];
        let (train, test) = (side(table, is_test, false), side(table, is_test, true));
        let start = Instant::now();
        let params = method.greedy(self.protocol.intercept());
        let model = fit(&Problem::new(train.clone(), &data.roles)?, &params, &orthorules::Silent)?.model;
        let seconds = start.elapsed().as_secs_f64();
        let constant = constants(data, &train, &test)?;
        let path = Path::new(model, &train, &test)?;
        let sizes = (0..path.train.len()).filter(|&i| path.train[i].rules > 0).map(|i| path.size(i, None)).collect();
        let setting = self.setting();
        Ok(Curve { setting, normaliser: constant, constant, sizes, seconds, ..Curve::default() })
    }

    fn boosted(&self, entry: &Entry, data: &DataSet, split: usize, method: Method) -> Result<Curve> {
        let prepared = self.protocol.prepare(entry, data, split)?;
        let as_published = self.protocol == Protocol::Published;
        let greedy =
            Params { max_rules: Some(self.protocol.max_rules(entry)), ..method.greedy(self.protocol.intercept()) };
        let params = if method.is_exact(as_published) { exact(greedy.clone(), self.nodes) } else { greedy.clone() };
        let chosen = self.choose(entry, data, &prepared, &params)?;
        let mut lambdas = chosen.clone();
        lambdas.sort_unstable_by(f64::total_cmp);
        lambdas.dedup();
        let watch = Watch { nodes: self.nodes, ..Watch::default() };
        let fits = Fits { entry, roles: &data.roles, train: &prepared.train, params: &params, watch: &watch };
        let (mut paths, mut seconds) = (Vec::new(), 0.0);
        for (model, taken) in fits.paths(&lambdas, as_published)? {
            seconds = if paths.is_empty() { taken } else { seconds };
            paths.push(Path::new(model, &prepared.train, &prepared.test)?);
        }
        let mut sizes: Vec<CurveSize> = Vec::new();
        for (k, &lambda) in chosen.iter().enumerate() {
            let from = lambdas.iter().position(|&l| l == lambda).unwrap_or(0);
            // A path that has no rule to add stays what it is.
            let at = (k + 1).min(paths[from].train.len() - 1);
            let size = paths[from].size(at, Some(lambda));
            let enough = size.complexity > LEVELS;
            if at > 0 {
                sizes.push(size);
            }
            if enough {
                break;
            }
        }
        Ok(Curve {
            setting: self.setting(),
            normaliser: prepared.normaliser,
            constant: prepared.constant,
            sizes,
            seconds,
            early: usize::from(as_published && entry.task == Task::Poisson),
            stopped: watch.stopped.into_inner(),
            searched: watch.searched.into_inner(),
            ..Curve::default()
        })
    }

    /// λ for ensembles of 1, 2, … rules: that of the least risk on the held-out rows of the folds.
    fn choose(&self, entry: &Entry, data: &DataSet, prepared: &Prepared, params: &Params) -> Result<Vec<f64>> {
        let most = self.protocol.max_rules(entry);
        if !self.cross_validate {
            return Ok(vec![Self::fixed(entry); most]);
        }
        let lambdas = self.protocol.lambdas(entry, 0);
        // risk[λ][k − 1], summed over rows of all folds.
        let mut risk = vec![vec![0.0; most]; lambdas.len()];
        for fold in 0..prepared.folds.len() {
            let (train, held_out) = prepared.fold(fold);
            let watch = Watch { nodes: u64::MAX, ..Watch::default() };
            let fits = Fits { entry, roles: &data.roles, train: &train, params, watch: &watch };
            let models = fits.paths(&lambdas, self.protocol == Protocol::Published)?;
            for (risk, (model, _)) in risk.iter_mut().zip(models) {
                let path = model.evaluate(&held_out)?;
                for (k, sum) in risk.iter_mut().enumerate() {
                    *sum += path[(k + 1).min(path.len() - 1)].risk * held_out.rows() as f64;
                }
            }
        }
        let best = |k: usize| {
            let allowed = self.protocol.lambdas(entry, k + 1);
            let open = (0..lambdas.len()).filter(|&i| allowed.contains(&lambdas[i]));
            open.min_by(|&i, &j| risk[i][k].total_cmp(&risk[j][k])).map_or(lambdas[0], |i| lambdas[i])
        };
        Ok((0..most).map(best).collect())
    }
}

/// Fits to the same rows that differ in λ alone.
struct Fits<'a> {
    entry: &'a Entry,
    roles: &'a Roles,
    train: &'a Table,
    params: &'a Params,
    watch: &'a Watch,
}

impl Fits<'_> {
    /// The path for every λ, with the published thresholds of the rows, and its seconds. `whole` lets the query of all
    /// rows become a rule, as the published code does where there is no intercept.
    ///
    /// Rules that cannot depend on λ are searched for once: with squared loss the part of the gradient that is
    /// orthogonal to the rules is that of the target, whatever the weights; and no first-order objective sees λ before
    /// the first rule.
    fn paths(&self, lambdas: &[f64], whole: bool) -> Result<Vec<(Model, f64)>> {
        let problem = Problem::new(self.train.clone(), self.roles)?;
        let cuts = self.entry.paper_cuts(self.train);
        let mut paths: Vec<(Model, f64)> = Vec::new();
        for &lambda in lambdas {
            let params = Params {
                reg_lambda: Some(orthorules::params::RegLambda::Value(lambda)),
                max_complexity: Some(10_000),
                cuts: cuts.clone(),
                ..self.params.clone()
            };
            self.watch.enough.store(false, Ordering::Relaxed);
            let known = paths.first().map_or(&[][..], |(model, _)| &model.lists[0].rules);
            let shared = match params.objective {
                Objective::Ogb if self.entry.task == Task::Regression => known.len(),
                Objective::Ogb | Objective::Gb | Objective::Gs => known.len().min(1),
                _ => 0,
            };
            let variant = Variant { given: &known[..shared], whole };
            let start = Instant::now();
            let model = boost(&problem, &params, variant, self.watch)?;
            paths.push((model, start.elapsed().as_secs_f64()));
        }
        Ok(paths)
    }
}

/// A model with the risks of all its sizes.
struct Path {
    model: Model,
    train: Vec<Evaluation>,
    test: Vec<Evaluation>,
}

impl Path {
    fn new(model: Model, train: &Table, test: &Table) -> Result<Self> {
        Ok(Self { train: model.evaluate(train)?, test: model.evaluate(test)?, model })
    }

    fn size(&self, index: usize, lambda: Option<f64>) -> CurveSize {
        let (list, step) = (&self.model.lists[0], &self.model.lists[0].sizes[index]);
        CurveSize {
            rules: step.rules,
            complexity: step.complexity,
            train: self.train[index].risk,
            test: self.test[index].risk,
            lambda,
            text: std::iter::once(format!("{:+.4}", step.scores[0].intercept))
                .chain(list.terms(step).map(|(rule, w)| format!("{w:+.4} if {rule}")))
                .collect(),
        }
    }
}

/// The curve of a target that was neither centred nor divided, with the published normaliser and constant on its scale.
fn published_scale(entry: &Entry, prepared: &Prepared, curve: Curve) -> Curve {
    // Only counts were divided, by the same number in both parts.
    let poisson = entry.task == Task::Poisson;
    let scale = if poisson { curve.constant[0] / prepared.train_constant } else { 1.0 };
    Curve {
        normaliser: prepared.normaliser.map(|n| n * scale),
        constant: prepared.constant.map(|c| c * scale),
        early: usize::from(poisson),
        ..curve
    }
}
