//! Partitions that answer questions, and forget what they know again and again.

use crate::base::wire::Wire;
use crate::codes::binning;
use crate::codes::column::BinnedColumn;
use crate::codes::packed::Codes;
use crate::data::problem::Problem;
use crate::data::row_facts::RowFacts;
use crate::engine::rows::question::{Ask, Request};
use crate::engine::targets::facts::TargetFacts;
use crate::engine::targets::numbers::TargetRows;
use crate::engine::targets::plan::TargetPlan;
use crate::engine::targets::response::Response;
use crate::learn::one::along_its_path;
use crate::learn::seconds::Seconds;
use crate::learn::setup::Setup;
use crate::model::RuleList;
use crate::model::observer::Silent;
use crate::params::Params;
use crate::remote::answer::{NodeAnswer, PartitionRows};
use crate::remote::client::{Cluster, rows_of};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// How often partitions were asked.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    /// Of each round trip, what was asked.
    pub(super) each: Vec<String>,
    /// Nodes that were searched, but for all rows, of which everything is known.
    pub(super) nodes: usize,
}

impl RoundTrips {
    /// Whether these and those `before` the search are at most 5 and one for each node; if not, what they were.
    pub(super) fn are_few(&self, before: usize) -> Result<(), String> {
        if before + self.each.len() <= 5 + self.nodes {
            return Ok(());
        }
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        self.each.iter().for_each(|round_trip| *kinds.entry(round_trip).or_default() += 1);
        Err(format!("{before} + {} round_trips, {} nodes: {kinds:?}", self.each.len(), self.nodes))
    }
}

/// The kinds of questions of a request, each once.
fn kinds(request: &Request) -> String {
    let kind = |ask: &Ask| format!("{ask:?}").split('(').next().unwrap_or_default().to_owned();
    let mut kinds: Vec<String> = request.asks.iter().map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.join("+")
}

/// Partitions that answer questions, each of which may forget all that it knows at any time.
#[derive(Debug)]
struct Answering {
    plan: TargetPlan,
    parts: Mutex<Vec<(Range<usize>, Option<PartitionRows>)>>,
    columns: Vec<BinnedColumn>,
    known: TargetRows<'static>,
    round_trips: Mutex<RoundTrips>,
    /// How often the answers of all are added to themselves.
    doublings: u32,
}

impl Answering {
    fn new(problem: &Problem, columns: &[BinnedColumn], plan: TargetPlan, ends: &[usize]) -> Self {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let ends = ends.iter().copied().chain([problem.rows]);
        let known = known_rows(problem);
        let parts = Mutex::new(starts.zip(ends).map(|(start, end)| (start..end, None)).collect());
        Self { plan, parts, columns: columns.to_vec(), known, round_trips: Mutex::default(), doublings: 0 }
    }

    /// The partition of some rows, as if it was read.
    fn held(&self, rows: Range<usize>) -> PartitionRows {
        let mut held = PartitionRows::new(self.columns.iter().map(|column| column.slice(rows.clone())).collect());
        held.aim(&self.plan, self.known.slice(rows)).unwrap();
        held
    }
}

/// What is known of all rows of a problem.
fn known_rows(problem: &Problem) -> TargetRows<'static> {
    TargetRows::owned(problem.target.clone(), problem.weight.clone(), problem.exposure.clone())
}

impl Cluster for Answering {
    fn ask(&self, request: &Request) -> Option<Vec<Vec<u8>>> {
        let request = Request::of_bytes(&request.bytes()).unwrap();
        self.round_trips.lock().unwrap().each.push(kinds(&request));
        let (mut parts, round_trips) = (self.parts.lock().unwrap(), self.round_trips.lock().unwrap().each.len());
        let mut all: Option<Vec<NodeAnswer>> = None;
        for (number, (rows, held)) in parts.iter_mut().enumerate() {
            if (round_trips + number).is_multiple_of(5) {
                *held = None;
            }
            let held = held.get_or_insert_with(|| self.held(rows.clone()));
            let answers = held.answers(&request).unwrap();
            let answers = Vec::<NodeAnswer>::of_bytes(&answers.bytes()).unwrap();
            all = Some(match all {
                None => answers,
                Some(all) => all.into_iter().zip(&answers).map(|(a, b)| a.with(b).unwrap()).collect(),
            });
        }
        for _ in 0..self.doublings {
            all = all.map(|all| all.into_iter().map(|answer| answer.clone().with(&answer).unwrap()).collect());
        }
        all.map(|answers| answers.into_iter().map(|answer| answer.bytes).collect())
    }

    fn searches(&self, nodes: usize) {
        self.round_trips.lock().unwrap().nodes += nodes;
    }

    fn refuse(&self, why: String) {
        panic!("{why}");
    }
}

/// What is learned where partitions that end before the rows `ends` are asked; and how often they were asked.
pub(super) fn learned(problem: &Problem, params: &Params, shared: bool, ends: &[usize]) -> (RuleList, RoundTrips) {
    let whole = if shared { Response::shared(problem) } else { Response::new(problem, 1) };
    let class = u32::from(!shared);
    let plan = TargetPlan::of(&whole, class, problem.weight.is_some(), problem.exposure.is_some());
    learned_by(problem, params, (plan, ends, 0))
}

/// What is learned with this plan where every row is there 2^`doublings` times.
pub(super) fn learned_by(
    problem: &Problem,
    params: &Params,
    (plan, ends, doublings): (TargetPlan, &[usize], u32),
) -> (RuleList, RoundTrips) {
    let checked = params.check(problem.task.loss(), problem.counted_rows() << doublings).unwrap();
    let response = plan.remote_response();
    let params = checked.for_target(|| response.mean_target());
    let columns = binning::bin(&problem.features, problem.weight.as_deref(), params.cutting(), &BTreeMap::new());
    let cluster = Answering { doublings, ..Answering::new(problem, &columns, plan, ends) };
    let without_codes = |column: BinnedColumn| {
        let counts = column.counts().into_iter().map(|count| count << doublings).collect();
        BinnedColumn { remote_counts: Some(counts), codes: Codes::U8(Vec::new().into()), ..column }
    };
    let columns: Vec<BinnedColumn> = columns.into_iter().map(without_codes).collect();
    let rows = rows_of(&cluster, &columns, problem.rows << doublings);
    let setup = Setup { rows, ..Setup::new(&response, &columns, &params, &Silent) };
    let list = along_its_path(&setup, &mut Seconds::default());
    drop(setup);
    (list, cluster.round_trips.into_inner().unwrap())
}

/// What all rows share where every row is there 2^`doublings` times, found out by asking.
pub(super) fn plan_of_many(problem: &Problem, shared: bool, doublings: u32) -> TargetPlan {
    facts_of_many(problem, doublings).0.plan(u32::from(!shared), shared).unwrap()
}

/// RoundTrips before the search: what there is, the sample and the codes, with which two questions about targets go;
/// and the others.
pub(super) fn round_trips_before(problem: &Problem) -> usize {
    3 + facts_of_many(problem, 0).1.saturating_sub(2)
}

/// What is known of targets, and how many questions it took.
fn facts_of_many(problem: &Problem, doublings: u32) -> (TargetFacts, usize) {
    let known = known_rows(problem);
    let mut first = RowFacts::of(problem.rows, known.numbers(), known.weight.as_deref(), known.exposure.as_deref());
    (0..doublings).for_each(|_| first.append(&first.clone()));
    assert_eq!(first.rows, problem.rows << doublings);
    let (loss, classes) = (problem.task.loss(), problem.classes.len());
    let mut facts = TargetFacts::new(loss, classes, first, problem.exposure.is_some());
    let mut questions = 0;
    while let Some(question) = facts.question() {
        questions += 1;
        let mut answer = question.answer(&known).unwrap();
        (0..doublings).for_each(|_| answer.append(&answer.clone()).unwrap());
        facts.learn(&question, answer).unwrap();
    }
    (facts, questions)
}
