//! One fit: a problem with its columns as codes, and a model for each class.

use crate::base::decimal::at_most_finite;
use crate::codes::binning;
use crate::codes::coded::Coded;
use crate::codes::column::BinnedColumn;
use crate::data::loss::Link;
use crate::data::outline::Outline;
use crate::data::problem::{Problem, Task};
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::data::warning::Warning;
use crate::engine::response::Response;
use crate::engine::rows::Rows;
use crate::engine::rows::ask::{Cluster, Elsewhere};
use crate::engine::target_facts::TargetFacts;
use crate::engine::trend::{TrendColumn, numbers_of, trend_columns};
use crate::learn::best_path::BestPath;
use crate::learn::boosting::along;
use crate::learn::fitted::Fitted;
use crate::learn::nested::{FromSearch, Nested};
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::learn::watch::{TimeLimits, Watch};
use crate::learn::{share, sirus};
use crate::model::observer::Observer;
use crate::model::{Ensemble, Model};
use crate::params::{Checked, Learner, Multiclass, PathKind, Terms};
use std::borrow::Cow;
use std::time::Instant;

/// A problem with its columns as codes: fits that differ in λ alone share it.
pub(crate) struct Binned<'p> {
    outline: Outline,
    columns: Cow<'p, [BinnedColumn]>,
    /// The columns that terms may grow with; none unless such terms are wanted.
    trends: Vec<TrendColumn<'p>>,
    seconds: f64,
    place: Place<'p>,
}

/// Where targets and weights are.
enum Place<'p> {
    Here(&'p Problem),
    /// With others, who have told what all rows share.
    Elsewhere(&'p dyn Cluster, &'p TargetFacts),
}

impl<'p> Binned<'p> {
    pub(crate) fn new(problem: &'p Problem, params: &Checked) -> Self {
        let start = Instant::now();
        let columns = binning::bin(&problem.features, problem.weight.as_deref(), params.cutting(), &params.cuts);
        let trends = match params.terms {
            Terms::Rules => Vec::new(),
            Terms::Linear | Terms::Hinge => {
                trend_columns(problem.features.iter().map(numbers_of), &columns, problem.weight.as_deref())
            }
        };
        let seconds = start.elapsed().as_secs_f64();
        Self { outline: problem.outline(), columns: Cow::Owned(columns), trends, seconds, place: Place::Here(problem) }
    }

    /// Codes of the rows of a problem, which has no features of its own. `numbers` are those of the columns that have some, where terms may
    /// grow with them, or nothing.
    pub(crate) fn of_columns(problem: &'p Problem, columns: &'p [BinnedColumn], numbers: &'p [Vec<f64>]) -> Self {
        let (outline, place) = (problem.outline(), Place::Here(problem));
        let numbers = numbers.iter().map(|numbers| Some(&numbers[..]).filter(|numbers| !numbers.is_empty()));
        let named = columns.iter().map(|column| column.name.as_str()).zip(numbers);
        let trends = trend_columns(named, columns, problem.weight.as_deref());
        Self { outline, columns: Cow::Borrowed(columns), trends, seconds: 0.0, place }
    }

    /// The columns as codes.
    pub(crate) fn columns(&self) -> &[BinnedColumn] {
        &self.columns
    }

    /// Codes that were made while a file was read.
    pub(crate) fn of_codes(coded: &'p Coded) -> Self {
        let start = Instant::now();
        let numbers = coded.numbers.iter().map(|numbers| Some(&numbers[..]).filter(|numbers| !numbers.is_empty()));
        let columns = coded.columns.iter().map(|column| column.name.as_str()).zip(numbers);
        let trends = trend_columns(columns, &coded.columns, coded.problem.weight.as_deref());
        Self {
            outline: coded.problem.outline(),
            columns: Cow::Borrowed(&coded.columns),
            trends,
            seconds: coded.seconds + start.elapsed().as_secs_f64(),
            place: Place::Here(&coded.problem),
        }
    }

    /// The scales of the columns that terms may grow with, by their numbers.
    pub(crate) fn scales(&self) -> Vec<(u32, f64)> {
        self.trends.iter().map(|column| (column.column, column.scale())).collect()
    }

    /// Codes, targets and weights that others have.
    #[cfg(feature = "files")]
    pub(crate) fn elsewhere(
        outline: Outline,
        columns: &'p [BinnedColumn],
        cluster: &'p dyn Cluster,
        facts: &'p TargetFacts,
    ) -> Self {
        let place = Place::Elsewhere(cluster, facts);
        Self { outline, columns: Cow::Borrowed(columns), trends: Vec::new(), seconds: 0.0, place }
    }

    /// The response of a class, or of all that share their rules; and the rows, if they lie elsewhere. Nothing if too little is known
    /// of these, and then the fit ends.
    fn response(&self, class: u32, params: &Checked) -> Option<(Response, Option<Rows<'_>>)> {
        let shared = self.outline.is_shared(params);
        let (cluster, facts) = match self.place {
            Place::Here(problem) if shared => return Some((Response::shared(problem), None)),
            Place::Here(problem) => return Some((Response::new(problem, class), None)),
            Place::Elsewhere(cluster, facts) => (cluster, facts),
        };
        let plan = facts.plan(class, shared).map_err(|error| cluster.refuse(error.to_string())).ok()?;
        let plan = if params.objective.is_second_order() { plan.without_norms() } else { plan };
        let response = plan.response_elsewhere();
        cluster.aim(plan);
        Some((response, Some(Rows::of_cluster(Elsewhere::new(cluster, &self.columns, self.outline.rows)))))
    }

    /// One fit, on the threads of the caller.
    pub(crate) fn fit(&self, checked: &Checked, observer: &dyn Observer) -> Fitted {
        let (problem, columns) = (&self.outline, &*self.columns);
        let start = Instant::now();
        let limits = checked.time_limit.map(|seconds| TimeLimits::new(start, seconds, checked.exact));
        let mut seconds = Seconds { bin: self.seconds, ..Seconds::default() };
        let shared = problem.is_shared(checked);
        let positive: Vec<u32> = match problem.classes.len() {
            0..=2 => vec![1],
            _ if shared => vec![0],
            several => (0..several as u32).collect(),
        };
        let ensembles_of = |class: u32, seconds: &mut Seconds| {
            let name = (positive.len() > 1).then(|| problem.classes[class as usize].as_str());
            let Some((response, elsewhere)) = &self.response(class, checked) else { return Vec::new() };
            let params = &checked.for_target(|| response.mean_target());
            if params.learner == Learner::Sirus {
                return vec![sirus::ensemble(columns, response, params, name, observer)];
            }
            let watch = Watch::new(observer, limits.map(|l| l.all));
            let deadline = limits.map(|l| l.exact);
            let classes: &[String] = if shared { &problem.classes } else { &[] };
            let trends = self.trends.clone();
            let setup = Setup::new(response, columns, params, &watch);
            let rows = elsewhere.clone().unwrap_or_else(|| setup.rows.clone());
            let setup = Setup { class: name, classes, deadline, rows, trends, ..setup };
            let ensembles = along_its_path(&setup, seconds);
            if watch.was_late() {
                observer.out_of_time(name);
            }
            ensembles
        };
        let mut ensembles: Vec<Ensemble> =
            positive.iter().flat_map(|&class| ensembles_of(class, &mut seconds)).collect();
        if positive.len() > 1 && checked.learner != Learner::Sirus {
            share::within(&mut ensembles, checked.max_complexity);
        }
        seconds.total = start.elapsed().as_secs_f64();
        let model = model(problem, columns, ensembles, checked);
        let warnings = columns.iter().zip(&model.columns).filter_map(|(column, spec)| remark(column, spec)).collect();
        Fitted { model, seconds, reg_lambda: None, warnings }
    }
}

impl Outline {
    /// Whether one list of rules is to serve several classes.
    pub(crate) fn is_shared(&self, params: &Checked) -> bool {
        self.classes.len() > 2 && params.multiclass == Multiclass::Shared
    }
}

/// A column with more levels than this is worth a remark.
const MANY_LEVELS: usize = 50;

/// What a user should know of a column that may name rows.
fn remark(column: &BinnedColumn, spec: &ColumnSpec) -> Option<Warning> {
    let name = || spec.name.clone();
    if spec.kind == Kind::Categorical && spec.levels.len() > MANY_LEVELS {
        return Some(Warning::ManyLevels { column: name(), levels: spec.levels.len() });
    }
    (spec.date.is_none() && column.counts_rows()).then(|| Warning::CountsRows { column: name() })
}

/// A fit along the path that the parameters ask for.
pub(crate) fn along_its_path(setup: &Setup, seconds: &mut Seconds) -> Vec<Ensemble> {
    let constant = State::constant(setup);
    match setup.params.path {
        PathKind::Nested => {
            let path = Nested::new(FromSearch::new(setup, &constant), &constant);
            along(setup, path, constant, seconds)
        }
        PathKind::Best => along(setup, BestPath::new(setup, &constant), constant, seconds),
    }
}

pub(crate) fn model(problem: &Outline, binned: &[BinnedColumn], ensembles: Vec<Ensemble>, params: &Checked) -> Model {
    let mut columns = problem.specs.clone();
    for (column, binned) in columns.iter_mut().zip(binned) {
        column.monotone = params.monotone.get(&column.name).copied();
        // Files hold finite numbers.
        column.range = binned.range.map(|(low, high)| (at_most_finite(low), at_most_finite(high)));
        column.flag = binned.is_flag();
        column.missing = Some(binned.missing() as u64);
    }
    Model {
        task: problem.task,
        loss: problem.task.loss(),
        link: match (params.learner, problem.task) {
            (Learner::Sirus, Task::Classification) => Link::Identity,
            _ if problem.is_shared(params) => Link::Softmax,
            _ => Link::Canonical,
        },
        target: problem.target.clone(),
        target_kind: Some(problem.target_kind),
        rows: Some(problem.rows as u64),
        classes: problem.classes.clone(),
        weight: problem.weight.clone(),
        exposure: problem.exposure.clone(),
        offset: problem.offset.clone(),
        columns,
        ensembles,
        cv: None,
        bootstrap: None,
    }
}
