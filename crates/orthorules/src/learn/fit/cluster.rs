//! A fit to a table in partitions that lie elsewhere: what is sent there, what comes back, and who answers.
//!
//! Whoever runs the fit sends every message to all partitions, adds up their replies in the order of the partitions ([`merge`]), and
//! hands back what comes out. A message says all that its reply depends on beside the partition's own source, so that a partition that
//! was lost is made again by whoever is asked next.

use super::{checked, finished};
use crate::base::error::{Error, Result};
use crate::base::threads::on_threads;
use crate::base::wire::{Wire, damaged, wire_enum};
use crate::codes::stream::Known;
use crate::codes::stream::partition::{CodedFacts, Plan, Survey, SurveyRequest};
use crate::data::loss::Loss;
use crate::data::problem::Roles;
use crate::data::table::Source;
use crate::data::warning::{NoFolds, Warning};
use crate::engine::answer::{Answer, Held};
use crate::engine::rows::ask::{Cluster, Request};
use crate::engine::target_plan::{KnownRows, TargetPlan};
use crate::learn::cv;
use crate::learn::fitted::Fitted;
use crate::learn::one::Binned;
use crate::model::Size;
use crate::model::certificate::Certificate;
use crate::model::observer::Observer;
use crate::model::rule::Rule;
use crate::params::{Cv, Learner, MaxBins, Params, Polish, RegLambda, Search, Terms};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The first bytes of every message and reply: whose they are, and of which version.
const MARK: [u8; 3] = [b'O', b'R', 1];

/// What partitions are asked.
enum Message {
    /// What there is, before there are codes.
    Survey(SurveyRequest),
    /// To make codes, and what is known of them.
    Encode(Vec<u8>),
    /// Questions of the search, with how codes are made and what is fitted.
    Ask(Vec<u8>, TargetPlan, Request),
}
wire_enum!(Message { 0 => Survey(request), 1 => Encode(plan), 2 => Ask(plan, aim, request) });

/// What partitions reply.
enum Reply {
    Survey(Survey),
    Encoded(Vec<CodedFacts>),
    Answers(Vec<Answer>),
}
wire_enum!(Reply { 0 => Survey(survey), 1 => Encoded(facts), 2 => Answers(answers) });

fn marked(value: &impl Wire) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    value.put(&mut bytes);
    bytes
}

fn unmarked<T: Wire>(bytes: &[u8]) -> Result<T> {
    T::of_bytes(bytes.strip_prefix(&MARK).ok_or_else(damaged)?)
}

/// The reply of the partitions of both, of which those of `next` come after the others.
pub fn merge(first: &[u8], next: &[u8]) -> Result<Vec<u8>> {
    let both = match (unmarked(first)?, unmarked(next)?) {
        (Reply::Survey(mut all), Reply::Survey(more)) => {
            all.append(more)?;
            Reply::Survey(all)
        }
        (Reply::Encoded(mut all), Reply::Encoded(more)) => {
            if all.len() != more.len() || !all.iter_mut().zip(&more).all(|(all, more)| all.append(more)) {
                return Err(damaged());
            }
            Reply::Encoded(all)
        }
        (Reply::Answers(all), Reply::Answers(more)) => {
            if all.len() != more.len() {
                return Err(damaged());
            }
            Reply::Answers(all.into_iter().zip(&more).map(|(all, more)| all.with(more)).collect::<Result<_>>()?)
        }
        _ => return Err(damaged()),
    };
    Ok(marked(&both))
}

/// Some rows of a table, in a file, which answer what a fit asks.
///
/// What it keeps between questions, codes above all, saves time and nothing else.
#[derive(Debug)]
pub struct Partition {
    path: PathBuf,
    number: usize,
    stamp: String,
    threads: Option<usize>,
    source: Option<OpenSource>,
    /// How codes were made, and what was made.
    held: Option<(Vec<u8>, Held)>,
}

struct OpenSource(Arc<Source>);

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenSource")
    }
}

impl Partition {
    /// The rows of the file at `path`, which is the partition with this number, counted from 0. A `stamp` tells whether its source is
    /// what it was when the fit began: it must be the same whoever opens it. Works on so many threads.
    pub fn new(path: &Path, number: usize, stamp: &str, threads: Option<usize>) -> Self {
        Self { path: path.to_owned(), number, stamp: stamp.to_owned(), threads, source: None, held: None }
    }

    /// The reply to a message.
    pub fn answer(&mut self, message: &[u8]) -> Result<Vec<u8>> {
        let message = unmarked(message)?;
        let threads = self.threads;
        on_threads(threads, || self.reply(&message).map(|reply| marked(&reply)))?
    }

    /// Whether codes were made, so that the source is not needed any more.
    pub fn is_coded(&self) -> bool {
        self.held.is_some()
    }

    fn reply(&mut self, message: &Message) -> Result<Reply> {
        match message {
            Message::Survey(request) => {
                let source = self.source()?;
                Ok(Reply::Survey(request.answer(&source, self.number, &self.stamp)?))
            }
            Message::Encode(plan) => {
                Ok(Reply::Encoded(self.held(plan)?.columns().iter().map(CodedFacts::of).collect()))
            }
            Message::Ask(plan, aim, request) => Ok(Reply::Answers(self.held(plan)?.answers(aim, request)?)),
        }
    }

    fn source(&mut self) -> Result<Arc<Source>> {
        if let Some(OpenSource(source)) = &self.source {
            return Ok(Arc::clone(source));
        }
        let source = Arc::new(Source::open(&self.path)?);
        self.source = Some(OpenSource(Arc::clone(&source)));
        Ok(source)
    }

    /// The rows as codes.
    fn held(&mut self, plan: &[u8]) -> Result<&mut Held> {
        if self.held.as_ref().is_none_or(|(known, _)| known != plan) {
            self.held = None;
            let source = self.source()?;
            let (columns, (target, weight, exposure)) =
                Plan::of_bytes(plan)?.encode(&source, self.number, &self.stamp)?;
            self.source = None;
            self.held = Some((plan.to_vec(), Held::new(columns, KnownRows { target, weight, exposure })));
        }
        self.held.as_mut().map(|(_, held)| held).ok_or_else(damaged)
    }
}

/// Brings a message to all partitions and back what they reply together.
pub type Trip<'t> = &'t (dyn Fn(&[u8]) -> Result<Vec<u8>> + Sync);

/// The partitions, as the search sees them.
struct Partitions<'t> {
    trip: Trip<'t>,
    plan: Vec<u8>,
    aim: Mutex<Option<TargetPlan>>,
    failure: Mutex<Option<Error>>,
    failed: AtomicBool,
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
        match sent(self.trip, &Message::Ask(self.plan.clone(), aim, request.clone()))? {
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

    fn aim(&self, plan: TargetPlan) {
        *self.aim.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan);
    }

    fn refuse(&self, why: String) {
        self.fail(Error::Conflict(why));
    }
}

/// An observer that stops a fit whose partitions do not answer.
struct Listening<'o> {
    observer: &'o dyn Observer,
    failed: &'o AtomicBool,
}

impl Observer for Listening<'_> {
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

fn sent(trip: Trip, message: &Message) -> Result<Reply> {
    unmarked(&trip(&marked(message))?)
}

fn surveyed(trip: Trip, request: SurveyRequest) -> Result<Survey> {
    match sent(trip, &Message::Survey(request))? {
        Reply::Survey(survey) => Ok(survey),
        _ => Err(damaged()),
    }
}

/// What needs all rows in one place is refused.
fn refuse_local(roles: &Roles, params: &Params) -> Result<()> {
    let what = match params {
        Params { learner: Learner::Sirus, .. } => "sirus",
        Params { search: Search::Exact, .. } => "exact search",
        Params { cv: Some(Cv::Folds(_)), .. } => "cross-validation",
        Params { bootstrap: Some(_), .. } => "the bootstrap",
        Params { reg_lambda: Some(RegLambda::Cv), .. } => "a penalty by folds",
        Params { terms: Terms::Linear | Terms::Hinge, .. } => "a trend",
        Params { polish: Some(Polish::Light | Polish::Full), .. } => "polish",
        _ if roles.groups.is_some() => "groups, which are for cross-validation and the bootstrap,",
        _ => return Ok(()),
    };
    Err(Error::Conflict(format!("{what} cannot be had on several machines: fit on one, or leave it out")))
}

/// Learns a model from a table in partitions, which are reached by `trip`: to the last bit the model of [`Coded::fit`] to the
/// partitions as one table, one after the other. Also returns notes about columns that were not read.
///
/// Target, weights and exposures of all rows are held here, 8 bytes a row each; features stay where they are. Cross-validation, the
/// bootstrap, exact search and SIRUS are refused.
///
/// [`Coded::fit`]: crate::Coded::fit
pub fn fit_partitions(
    roles: &Roles,
    params: &Params,
    observer: &dyn Observer,
    trip: Trip,
) -> Result<(Fitted, Vec<String>)> {
    let start = Instant::now();
    refuse_local(roles, params)?;
    let cutting = params.check(Loss::Squared, 1)?.cutting();
    let mut known = Known::default();
    let request = |known: &Known, places| SurveyRequest { roles: roles.clone(), known: known.clone(), cutting, places };
    let survey = loop {
        let before = known.clone();
        let survey = surveyed(trip, request(&known, None))?;
        survey.teach(&mut known, roles)?;
        if known == before {
            break survey;
        }
    };
    let places = survey.places(cutting.max_bins == MaxBins::Exact);
    let sample = (!places.is_empty()).then(|| surveyed(trip, request(&known, Some(places)))).transpose()?;
    let (problem, plan, warnings, notes) = survey.plan(sample, known, roles, &params.check(Loss::Squared, 1)?)?;
    let checked = checked(&problem, params)?;
    let bytes = plan.bytes();
    let columns = match sent(trip, &Message::Encode(bytes.clone()))? {
        Reply::Encoded(facts) => plan.columns(facts)?,
        _ => return Err(damaged()),
    };
    let partitions = Partitions {
        trip,
        plan: bytes,
        aim: Mutex::default(),
        failure: Mutex::default(),
        failed: AtomicBool::new(false),
    };
    let listening = Listening { observer, failed: &partitions.failed };
    let fitted = on_threads(Some(checked.threads), || {
        Binned::elsewhere(&problem, &columns, &partitions).fit(&checked, &listening)
    })?;
    if let Some(error) = partitions.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut fitted = match checked.cv {
        Some((Cv::Auto, _)) => {
            let why = cv::too_much(&problem, &checked).unwrap_or(NoFolds::Streamed);
            fitted.with(Warning::NoFolds(why))
        }
        _ => fitted,
    };
    fitted.warnings.splice(..0, warnings.into_iter().chain(problem.warnings()));
    Ok((finished(fitted, &checked, observer, start)?, notes))
}
