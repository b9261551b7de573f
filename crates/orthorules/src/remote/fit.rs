//! A fit to a table in partitions: the side that asks.
//!
//! The caller sends every message to all partitions, adds up their replies in the order of the partitions ([`merge`]),
//! and hands back what comes out. A message says all that its reply depends on beside the partition's own source, so
//! that a partition that was lost is made again by the worker that is asked next.
//!
//! [`merge`]: crate::remote::messages::merge

use crate::base::again::until_nothing_new;
use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::wire::{Wire, damaged};
use crate::codes::column::BinnedColumn;
use crate::codes::stream::ColumnFindings;
use crate::data::loss::Loss;
use crate::data::outline::Remarkable;
use crate::data::problem::Roles;
use crate::data::warning::Warning;
use crate::engine::rows::Rows;
use crate::engine::rows::question::Request;
use crate::engine::targets::facts::{TargetAnswer, TargetFacts};
use crate::engine::targets::plan::TargetPlan;
use crate::engine::targets::response::Response;
use crate::learn::fit::{FitJob, LearnedRows};
use crate::learn::fitted::Fitted;
use crate::learn::one::{Binned, FitKind, RemoteTarget};
use crate::learn::origin::{FitOrigin, RowContents};
use crate::learn::suitable::checked;
use crate::model::Size;
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::params::{Checked, Cv, Learner, MaxBins, Params, Search, Thresholds};
use crate::remote::client::{Cluster, rows_of};
use crate::remote::gather::Gather;
use crate::remote::messages::{Message, Reply, TargetQuestion, marked, unmarked};
use crate::remote::survey::{CodePlan, Subject, SurveyRequest};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Brings a message to all partitions and back what they reply together.
pub type RoundTrip<'t> = &'t (dyn Fn(&[u8]) -> Result<Vec<u8>> + Sync);

/// The partitions, as the search sees them.
struct Partitions<'t> {
    round_trip: RoundTrip<'t>,
    plan: Vec<u8>,
    aim: Mutex<Option<TargetPlan>>,
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
    /// Nodes that were searched, but for all rows.
    searched: AtomicUsize,
}

impl fmt::Debug for Partitions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Partitions")
    }
}

impl Partitions<'_> {
    fn fail(&self, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }

    fn answers(&self, request: &Request) -> Result<Vec<Vec<u8>>> {
        let aim = self.aim.lock().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(damaged)?;
        match sent(self.round_trip, &Message::Ask(self.plan.clone(), aim, request.clone()))? {
            Reply::Answers(answers) if answers.len() == request.asks.len() => {
                Ok(answers.into_iter().map(|answer| answer.bytes).collect())
            }
            _ => Err(damaged()),
        }
    }
}

impl Cluster for Partitions<'_> {
    fn ask(&self, request: &Request) -> Option<Vec<Vec<u8>>> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        self.answers(request).map_err(|error| self.fail(error)).ok()
    }

    fn refuse(&self, why: String) {
        self.fail(Error::Remote(why));
    }

    fn searches(&self, nodes: usize) {
        self.searched.fetch_add(nodes, Ordering::Relaxed);
    }
}

/// The partitions with what is known of their targets.
struct PartitionTargets<'t> {
    partitions: &'t Partitions<'t>,
    facts: &'t TargetFacts,
    rows: usize,
}

impl RemoteTarget for PartitionTargets<'_> {
    fn response<'c>(&'c self, class: u32, kind: FitKind, columns: &'c [BinnedColumn]) -> Option<(Response, Rows<'c>)> {
        let plan = self.facts.plan(class, kind.shared).map_err(|error| self.partitions.fail(error)).ok()?;
        let plan = if kind.second_order { plan.without_norms() } else { plan };
        let response = plan.remote_response();
        *self.partitions.aim.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan);
        Some((response, rows_of(self.partitions, columns, self.rows)))
    }
}

/// An observer that stops a fit whose partitions do not answer.
struct PartitionWatch<'o> {
    observer: &'o dyn Observer,
    failed: &'o AtomicBool,
}

impl Observer for PartitionWatch<'_> {
    fn step(&self, class: Option<&str>, rule: &Rule, step: &Size) {
        self.observer.step(class, rule, step);
    }

    fn searched(&self, class: Option<&str>, certificate: &Certificate) {
        self.observer.searched(class, certificate);
    }

    fn out_of_time(&self, class: Option<&str>) {
        self.observer.out_of_time(class);
    }

    fn stop(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.observer.stop()
    }
}

fn sent(round_trip: RoundTrip, message: &Message) -> Result<Reply> {
    unmarked(&round_trip(&marked(message))?)
}

/// What needs all rows in one place is refused.
fn refuse_local(roles: &Roles, params: &Params) -> Result<()> {
    let what = match params {
        Params { learner: Learner::Sirus, .. } => "sirus",
        Params { search: Search::Exact, .. } => "exact search",
        Params { cv: Some(Cv::Folds(_)), .. } => "cross-validation",
        Params { bootstrap: Some(_), .. } => "the bootstrap",
        Params { thresholds: Thresholds::Refine, .. } => "thresholds refine",
        _ if roles.groups.is_some() => "groups, which are for cross-validation and the bootstrap,",
        _ => return Ok(()),
    };
    Err(Error::Remote(format!("{what} cannot be had on several machines: fit on one, or leave it out")))
}

/// What a fit to partitions comes to.
#[derive(Debug)]
pub struct FromPartitions {
    /// The model, and what there is to say of it.
    pub fitted: Fitted,
    /// About columns that were not read.
    pub notes: Vec<String>,
    /// The nodes that the search looked at where the rows are, all rows aside. The fit asked at most this often, and
    /// five times.
    pub searched: usize,
}

/// Learns a model from a table in partitions, which are reached by `round_trip`: to the last bit the model of
/// [`Coded::fit`] to the partitions as one table, one after the other.
///
/// All rows of a small table are brought here, unless `gather` says that they are not to be ([`Gather`]). Nothing else
/// comes here of single rows, but the sample of each column that its cuts come from, and a few rows that show what is
/// wrong with the target, or what classes there are. Cross-validation, the bootstrap, exact search and SIRUS are
/// refused.
///
/// [`Coded::fit`]: crate::Coded::fit
pub fn fit_partitions(
    roles: &Roles,
    params: &Params,
    gather: Gather,
    observer: &dyn Observer,
    round_trip: RoundTrip,
) -> Result<FromPartitions> {
    let start = Instant::now();
    refuse_local(roles, params)?;
    let ranges = params.check(Loss::Squared, 1)?;
    let cutting = ranges.cutting();
    let request =
        |known: &ColumnFindings, places| SurveyRequest { roles: roles.clone(), known: known.clone(), cutting, places };
    let mut known = ColumnFindings::default();
    let survey = until_nothing_new(&mut known, |known| {
        let Reply::Survey(survey, _) = sent(round_trip, &Message::Survey(request(known, None), None))? else {
            return Err(damaged());
        };
        survey.teach(known, roles);
        Ok(survey)
    })?;
    let mut subject = survey.subject(&known, roles)?;
    let (loss, classes) = (subject.outline.task.loss(), subject.outline.classes.len());
    let facts = TargetFacts::new(loss, classes, subject.facts.clone(), subject.outline.is_exposed());
    let mut targets = TargetSurvey { facts, plan: subject.plan.bytes() };
    let places = survey.places(cutting.max_bins == MaxBins::Exact);
    let sample = if places.is_empty() {
        None
    } else {
        let question = targets.question();
        let message = Message::Survey(request(&known, Some(places)), question.clone());
        let Reply::Survey(sample, answer) = sent(round_trip, &message)? else { return Err(damaged()) };
        targets.learn(question, answer)?;
        Some(sample)
    };
    let (plan, warnings, notes) = survey.plan(sample, &mut subject, &ranges)?;
    let checked = checked(&subject.outline, subject.facts.counted_rows(), params)?;
    let asked = FitOrigin { roles, params, from: None };
    let whole = SurveyedTable { subject: &subject, plan: &plan, asked, params: &checked, observer, start, round_trip };
    let (mut fitted, about, searched) =
        if gather.brings_rows(&subject.outline, subject.facts.counted_rows(), &checked)? {
            let (fitted, about) = whole.fit_here(roles)?;
            (fitted, about, 0)
        } else {
            whole.fit_remotely(targets)?
        };
    fitted.warnings.splice(..0, warnings.into_iter().chain(about));
    Ok(FromPartitions { fitted, notes, searched })
}

/// All that is known of a table before there are codes.
struct SurveyedTable<'w> {
    subject: &'w Subject,
    plan: &'w CodePlan,
    asked: FitOrigin<'w>,
    params: &'w Checked,
    observer: &'w dyn Observer,
    start: Instant,
    round_trip: RoundTrip<'w>,
}

impl SurveyedTable<'_> {
    fn job<'j>(&'j self, rows: LearnedRows<'j>, observer: &'j dyn Observer) -> FitJob<'j> {
        FitJob { rows, asked: self.asked, params: self.params, observer, start: self.start }
    }

    /// A fit to all rows, which are brought here; and what there is to say of them.
    fn fit_here(&self, roles: &Roles) -> Result<(Fitted, Vec<Warning>)> {
        let message = Message::Rows(self.plan.bytes(), self.params.may_have_trends());
        let Reply::Rows(facts, rows) = sent(self.round_trip, &message)? else { return Err(damaged()) };
        let (problem, columns, numbers) = rows.problem(self.subject, roles, &self.plan.columns(facts)?)?;
        let fitted = self.job(LearnedRows::Codes(&problem), self.observer);
        let fitted = fitted.run(|| Binned::of_columns(&problem, &columns, &numbers))?;
        Ok((fitted, problem.warnings()))
    }

    /// A fit that asks; what there is to say of the rows, and how many nodes were searched.
    fn fit_remotely(&self, mut targets: TargetSurvey) -> Result<(Fitted, Vec<Warning>, usize)> {
        let (plan, question) = (self.plan.bytes(), targets.question());
        let Reply::Encoded(coded, answer) = sent(self.round_trip, &Message::Encode(plan.clone(), question.clone()))?
        else {
            return Err(damaged());
        };
        let columns = self.plan.columns(coded)?;
        targets.learn(question, answer)?;
        while let Some(question) = targets.question() {
            let message = Message::Targets(question.clone());
            let Reply::Targets(answer) = sent(self.round_trip, &message)? else { return Err(damaged()) };
            targets.learn(Some(question), Some(answer))?;
        }
        let (facts, outline) = (targets.facts, &self.subject.outline);
        let partitions = Partitions {
            round_trip: self.round_trip,
            plan,
            aim: Mutex::default(),
            failure: Mutex::default(),
            failed: AtomicBool::new(false),
            searched: AtomicUsize::new(0),
        };
        let listening = PartitionWatch { observer: self.observer, failed: &partitions.failed };
        let target = PartitionTargets { partitions: &partitions, facts: &facts, rows: outline.rows };
        let contents = RowContents { rows: self.subject.content.clone(), classes: facts.counts() };
        let job = self.job(LearnedRows::Remote(outline, &contents), &listening);
        let fitted = job.run(|| Binned::remote(outline.clone(), &columns, &target));
        let searched = partitions.searched.load(Ordering::Relaxed);
        // What went wrong there comes before what came of it.
        if let Some(error) = partitions.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let about = Remarkable {
            rows: outline.rows,
            weightless: self.subject.facts.weightless,
            dropped: self.subject.dropped,
            weight: facts.total_weight(),
            classes: &outline.classes,
            counts: facts.counts(),
        };
        Ok((fitted?, about.warnings(), searched))
    }
}

/// What is found out about targets, with how they are read.
struct TargetSurvey {
    facts: TargetFacts,
    plan: Vec<u8>,
}

impl TargetSurvey {
    fn question(&self) -> Option<TargetQuestion> {
        self.facts.question().map(|question| (self.plan.clone(), question))
    }

    fn learn(&mut self, question: Option<TargetQuestion>, answer: Option<TargetAnswer>) -> Result<()> {
        match (question, answer) {
            (Some((_, question)), Some(answer)) => self.facts.learn(&question, answer),
            (None, _) => Ok(()),
            (Some(_), None) => Err(damaged()),
        }
    }
}
