//! One fit: a problem with its columns as codes, and a model for each class.

use crate::base::clock::Instant;
use crate::base::decimal::at_most_finite;
use crate::codes::binning;
use crate::codes::coded::Coded;
use crate::codes::column::BinnedColumn;
use crate::codes::repeats::{Repeats, is_called_id};
use crate::data::loss::Link;
use crate::data::outline::Outline;
use crate::data::problem::{Problem, Task};
use crate::data::schema::ColumnSpec;
use crate::data::table::Kind;
use crate::data::warning::Warning;
use crate::engine::rows::Rows;
use crate::engine::targets::response::Response;
use crate::engine::trend::{TrendColumn, numbers_of, trend_columns};
use crate::learn::best_path::BestPath;
use crate::learn::boosting::along;
use crate::learn::fitted::Fitted;
use crate::learn::nested::{Candidates, FromSearch, Nested};
use crate::learn::pins;
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::learn::state::State;
use crate::learn::watch::Watch;
use crate::learn::{share, sirus, start};
use crate::model::observer::Observer;
use crate::model::reading::Reading;
use crate::model::{Model, RuleList};
use crate::params::{Checked, Learner, Multiclass, PathKind};
use std::borrow::Cow;

/// A problem with its columns as codes: fits that differ in λ alone share it.
pub(crate) struct Binned<'p> {
    outline: Outline,
    columns: Cow<'p, [BinnedColumn]>,
    /// The columns that terms may grow with; none unless such terms are wanted.
    trends: Vec<TrendColumn<'p>>,
    seconds: f64,
    target: TargetSource<'p>,
}

/// Where targets and weights are.
enum TargetSource<'p> {
    Here(&'p Problem),
    /// With partitions, which have told what all rows share.
    Remote(&'p dyn RemoteTarget),
}

/// The target of remote rows. The module `remote` has it.
pub(crate) trait RemoteTarget: Sync {
    /// The response of a class, or of all that share their rules, and the rows with these columns. A second-order fit
    /// needs no norms. Nothing if too little is known, and then the fit ends.
    fn response<'c>(&'c self, class: u32, kind: FitKind, columns: &'c [BinnedColumn]) -> Option<(Response, Rows<'c>)>;
}

/// What of the parameters decides how targets are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitKind {
    /// Whether classes share one list of rules.
    pub(crate) shared: bool,
    pub(crate) second_order: bool,
}

impl<'p> Binned<'p> {
    pub(crate) fn new(problem: &'p Problem, params: &Checked) -> Self {
        let start = Instant::now();
        let mut columns = binning::bin(&problem.features, problem.weight.as_deref(), params.cutting(), &params.cuts);
        pins::cut(&params.wishes, &mut columns, &problem.features);
        let trends = if params.may_have_trends() {
            trend_columns(problem.features.iter().map(numbers_of), &columns, problem.weight.as_deref())
        } else {
            Vec::new()
        };
        let seconds = start.elapsed().as_secs_f64();
        Self {
            outline: problem.outline(),
            columns: Cow::Owned(columns),
            trends,
            seconds,
            target: TargetSource::Here(problem),
        }
    }

    /// Codes of the rows of a problem, which has no features of its own. `numbers` are those of the columns that have
    /// some, where terms may grow with them, or nothing.
    pub(crate) fn of_columns(problem: &'p Problem, columns: &'p [BinnedColumn], numbers: &'p [Vec<f64>]) -> Self {
        let (outline, target) = (problem.outline(), TargetSource::Here(problem));
        let numbers =
            numbers.iter().map(|numbers| Some(Cow::Borrowed(&numbers[..])).filter(|numbers| !numbers.is_empty()));
        let named = columns.iter().map(|column| column.name.as_str()).zip(numbers);
        let trends = trend_columns(named, columns, problem.weight.as_deref());
        Self { outline, columns: Cow::Borrowed(columns), trends, seconds: 0.0, target }
    }

    /// The problem without its rows.
    pub(crate) fn outline(&self) -> &Outline {
        &self.outline
    }

    /// The columns as codes.
    pub(crate) fn columns(&self) -> &[BinnedColumn] {
        &self.columns
    }

    /// The numbers of each column that terms may grow with, where the parameters allow such terms; others have none.
    pub(crate) fn numbers(&self, params: &Checked) -> Vec<&[f64]> {
        let mut numbers: Vec<&[f64]> = Vec::new();
        if params.terms.has_trends() {
            numbers.resize(self.columns.len(), &[]);
            self.trends.iter().for_each(|column| numbers[column.column as usize] = column.numbers());
        }
        numbers
    }

    /// Codes that were made while a file was read.
    pub(crate) fn of_codes(coded: &'p Coded) -> Self {
        let start = Instant::now();
        let numbers =
            coded.numbers.iter().map(|numbers| Some(Cow::Borrowed(&numbers[..])).filter(|numbers| !numbers.is_empty()));
        let columns = coded.columns.iter().map(|column| column.name.as_str()).zip(numbers);
        let trends = trend_columns(columns, &coded.columns, coded.problem.weight.as_deref());
        Self {
            outline: coded.problem.outline(),
            columns: Cow::Borrowed(&coded.columns),
            trends,
            seconds: coded.seconds + start.elapsed().as_secs_f64(),
            target: TargetSource::Here(&coded.problem),
        }
    }

    /// The scales of the columns that terms may grow with, by their numbers.
    pub(crate) fn scales(&self) -> Vec<(u32, f64)> {
        self.trends.iter().map(|column| (column.column, column.scale())).collect()
    }

    /// Rows whose codes, targets and weights are on other machines.
    #[cfg(feature = "cluster")]
    pub(crate) fn remote(outline: Outline, columns: &'p [BinnedColumn], target: &'p dyn RemoteTarget) -> Self {
        let target = TargetSource::Remote(target);
        Self { outline, columns: Cow::Borrowed(columns), trends: Vec::new(), seconds: 0.0, target }
    }

    /// The response of a class, or of all that share their rules; and the rows, if they are remote. Nothing if too
    /// little is known of these, and then the fit ends.
    fn response(&self, class: u32, params: &Checked) -> Option<(Response, Option<Rows<'_>>)> {
        let shared = is_shared(&self.outline, params);
        match self.target {
            TargetSource::Here(problem) if shared => Some((Response::shared(problem), None)),
            TargetSource::Here(problem) => Some((Response::new(problem, class), None)),
            TargetSource::Remote(target) => {
                let kind = FitKind { shared, second_order: params.objective.is_second_order() };
                let (response, rows) = target.response(class, kind, &self.columns)?;
                Some((response, Some(rows)))
            }
        }
    }

    /// One fit, on the threads of the caller.
    pub(crate) fn fit(&self, checked: &Checked, watch: &Watch) -> Fitted {
        let (problem, columns) = (&self.outline, &*self.columns);
        let start = Instant::now();
        let mut seconds = Seconds { bin: self.seconds, ..Seconds::default() };
        let shared = is_shared(problem, checked);
        let positive: Vec<u32> = match problem.classes.len() {
            0..=2 => vec![1],
            _ if shared => vec![0],
            several => (0..several as u32).collect(),
        };
        let checked = if positive.len() > 1 {
            let share = watch.first(1.0 / (positive.len() + 1) as f64).quietly();
            share::within_budget(checked, &problem.specs, |params| self.list((0, None), params, &share, &mut seconds))
        } else {
            Cow::Borrowed(checked)
        };
        let checked = &*checked;
        let list_of = |(place, &class): (usize, &u32)| {
            // Each of several classes has its share of the time that is left.
            let watch = watch.first(1.0 / (positive.len() - place) as f64);
            let name = (positive.len() > 1).then(|| problem.classes[class as usize].as_str());
            self.list((class, name), checked, &watch, &mut seconds)
        };
        let mut lists: Vec<RuleList> = positive.iter().enumerate().filter_map(list_of).collect();
        if positive.len() > 1 && checked.learner != Learner::Sirus {
            share::within(&mut lists, checked.max_complexity);
        }
        seconds.total = start.elapsed().as_secs_f64();
        let model = model(problem, columns, lists, checked);
        let warnings = remarks(columns, &model.columns);
        Fitted { model, seconds, reg_lambda: None, warnings }
    }

    /// The rules of a class, which has a name beside others, or of all that share theirs. Nothing if too little is
    /// known of remote rows.
    fn list(
        &self,
        (class, name): (u32, Option<&str>),
        checked: &Checked,
        watch: &Watch,
        seconds: &mut Seconds,
    ) -> Option<RuleList> {
        let (response, remote) = &self.response(class, checked)?;
        let params = &checked.for_target(|| response.mean_target()).for_class(name);
        if params.learner == Learner::Sirus {
            return Some(sirus::list(&self.columns, response, params, name, watch));
        }
        let deadline = watch.exact_end();
        let mut trends = if params.terms.has_trends() { self.trends.clone() } else { Vec::new() };
        pins::give_trends(&params.wishes, &mut trends);
        let setup = Setup::new(response, &self.columns, params, watch);
        let rows = remote.clone().unwrap_or_else(|| setup.rows.clone());
        let setup = Setup { class: name, deadline, rows, trends, ..setup };
        let list = along_its_path(&setup, seconds);
        if watch.was_late() {
            watch.out_of_time(name);
        }
        Some(list)
    }
}

/// Whether one list of rules is to serve several classes.
pub(crate) fn is_shared(problem: &Outline, params: &Checked) -> bool {
    problem.classes.len() > 2 && params.multiclass == Multiclass::Shared
}

/// A column with more levels than this is worth a remark.
const MANY_LEVELS: usize = 50;

/// Fewer groups of rows are not worth a remark, nor are groups of this many rows on average.
const FEWEST_GROUPS: usize = 10;
const LARGE_GROUPS: usize = 20;

/// What a user should know of columns that tell nothing, or that may name rows or groups of rows.
fn remarks(columns: &[BinnedColumn], specs: &[ColumnSpec]) -> Vec<Warning> {
    // Dates within a year have one year, and that is no surprise.
    let constant = columns.iter().zip(specs).filter(|(column, spec)| spec.date.is_none() && column.is_constant());
    let constant: Vec<String> = constant.map(|(_, spec)| spec.name.clone()).collect();
    let constant = (!constant.is_empty()).then_some(Warning::Constant { columns: constant });
    let names = columns.iter().zip(specs).filter_map(|(column, spec)| remark(column, spec));
    let codes = columns.iter().zip(specs).filter(|(_, spec)| spec.date.is_none());
    let codes = codes.flat_map(|(column, spec)| [code_like(column, spec), unused_codes(column, spec)]).flatten();
    names.chain(codes).chain(constant).collect()
}

/// What a user should know of numbers that look like codes.
fn code_like(column: &BinnedColumn, spec: &ColumnSpec) -> Option<Warning> {
    let codes: Vec<(f64, usize)> = column.code_like.iter().map(|code| (code.value, code.rows)).collect();
    (!codes.is_empty()).then(|| Warning::CodeLike { column: spec.name.clone(), codes })
}

/// What a user should know of special codes that no row has.
fn unused_codes(column: &BinnedColumn, spec: &ColumnSpec) -> Option<Warning> {
    if column.special.is_empty() {
        return None;
    }
    let counts = column.counts();
    let counts = &counts[column.ordinary()..];
    let unused = column.special.iter().zip(counts).filter(|(_, count)| **count == 0).map(|(code, _)| code.value);
    let codes: Vec<f64> = unused.collect();
    (!codes.is_empty()).then(|| Warning::UnusedCodes { column: spec.name.clone(), codes })
}

/// What a user should know of a column that may name rows, or groups of rows.
fn remark(column: &BinnedColumn, spec: &ColumnSpec) -> Option<Warning> {
    let name = || spec.name.clone();
    let is_nominal = spec.kind == Kind::Categorical;
    if spec.date.is_some() || !(is_nominal || spec.kind == Kind::Numeric) {
        return None;
    }
    // Of many rows a part is known one by one.
    let all_differ = column.repeats.is_none_or(|repeats| repeats.values == repeats.rows);
    if column.counts_rows() && all_differ {
        return Some(Warning::CountsRows { column: name() });
    }
    let called_id = is_called_id(&spec.name);
    let levels = is_nominal && spec.levels.len() > MANY_LEVELS;
    let many = levels.then(|| Warning::ManyLevels { column: name(), levels: spec.levels.len() });
    // Whether counts are known, or needed.
    if !called_id && (is_nominal || column.repeats.is_none() && column.bins <= MANY_LEVELS) {
        return many;
    }
    let Some(Repeats { rows, values, number_rows, name_groups }) = column.repeats() else { return many };
    if number_rows || called_id && values == rows && column.missing() == 0 {
        return Some(Warning::NamesRows { column: name() });
    }
    let small_groups = values < rows && values >= FEWEST_GROUPS && rows <= LARGE_GROUPS * values;
    let groups =
        (name_groups || called_id && small_groups).then(|| Warning::NamesGroups { column: name(), values, rows });
    groups.or(many)
}

/// A fit along the path that the parameters ask for.
pub(crate) fn along_its_path(setup: &Setup, seconds: &mut Seconds) -> RuleList {
    let constant = State::constant(setup);
    match setup.params.path {
        PathKind::Nested => {
            let mut candidates = FromSearch::new(setup, &constant);
            let pinned = start::states(setup, &constant, |state, found, moved| {
                candidates.added(setup, state, found, moved);
            });
            let path = Nested::new(candidates, &constant);
            along(setup, path, (constant, pinned), seconds)
        }
        PathKind::Best => {
            let mut path = BestPath::new(setup, &constant);
            let pinned = start::states(setup, &constant, |state, found, moved| path.added(setup, state, found, moved));
            along(setup, path, (constant, pinned), seconds)
        }
    }
}

pub(crate) fn model(problem: &Outline, binned: &[BinnedColumn], lists: Vec<RuleList>, params: &Checked) -> Model {
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
            _ if is_shared(problem, params) => Link::Softmax,
            _ => Link::Canonical,
        },
        target: problem.target.clone(),
        target_kind: Some(problem.target_kind),
        rows: Some(problem.rows as u64),
        classes: problem.classes.clone(),
        weight: problem.weight.clone(),
        exposure: problem.exposure.clone(),
        offset: problem.offset.clone(),
        reading: Reading::default(),
        columns,
        budget: params.wishes.budget.as_ref().map(|wished| wished.budget.clone()),
        lists,
        cv: None,
        bootstrap: None,
        ledger: Vec::new(),
        provenance: None,
    }
}
