//! What is asked of rows that lie elsewhere, by whoever would read them if they were here.
//!
//! A question says all that its answer depends on: the rules so far, with where their rows moved, and the rows that are meant, as the
//! codes that they have. So whoever answers need not remember anything. The answers of all partitions are added up on their way.

use crate::base::wire::{Wire, wire, wire_enum};
use crate::codes::column::BinnedColumn;
use crate::codes::wanted::Wanted;
use crate::engine::target_plan::TargetPlan;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers that came with others and are kept until somebody asks.
const MOST_KEPT: usize = 1024;

/// How the statistics of a column are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    Cells,
    Vectors,
    Rules,
}
wire_enum!(Method { 0 => Cells, 1 => Vectors, 2 => Rules });

/// Rows that have some codes of a column, or that do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clause {
    pub(crate) column: u32,
    pub(crate) wanted: Wanted,
    pub(crate) holds: bool,
}
wire!(Clause { column, wanted, holds });

/// Rows that satisfy all clauses, or all others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Node {
    pub(crate) clauses: Vec<Clause>,
    pub(crate) outside: bool,
}
wire!(Node { clauses, outside });

/// A rule that was added: its rows, where those of each cell went, and how many cells there are then.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Split {
    pub(crate) node: Node,
    pub(crate) moved_to: Vec<u32>,
    pub(crate) cells: usize,
}
wire!(Split { node, moved_to, cells });

/// Columns, by their first and the one after the last, and what is wanted of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    pub(crate) method: Method,
    pub(crate) columns: (usize, usize),
}
wire!(Job { method, columns });

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ask {
    /// How many rows a node has.
    Rows(Node),
    /// What the rows of a node have in every cell.
    Sums(Node),
    /// Which of these clauses some row violates alone.
    Needed(Vec<Clause>),
    /// Whether all rows of a node lie in the cells that are marked.
    AllIn(Node, Vec<bool>),
    /// What is counted of a node, which has so many rows in all partitions.
    Count(Node, usize, Vec<Job>),
    /// The same as if there were no rules.
    Bins(Node, usize, Vec<Job>),
    /// How many rows of a node have each code of every column.
    Codes(Node),
}
wire_enum!(Ask {
    0 => Rows(node),
    1 => Sums(node),
    2 => Needed(clauses),
    3 => AllIn(node, cells),
    4 => Count(node, rows, jobs),
    5 => Bins(node, rows, jobs),
    6 => Codes(node),
});

impl Ask {
    /// Whether the answer is the same whatever the rules are.
    pub(crate) fn is_of_any_rules(&self) -> bool {
        matches!(self, Self::Rows(_) | Self::Needed(_) | Self::Codes(_))
    }
}

/// Questions at one point of a fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    /// The rules so far.
    pub(crate) history: Vec<Arc<Split>>,
    /// What every cell has at the current weights, if an answer depends on it.
    pub(crate) scorer: Option<Vec<u8>>,
    /// Whether the norm's own weights are counted.
    pub(crate) by_norm: bool,
    pub(crate) asks: Vec<Ask>,
}
wire!(Request { history, scorer, by_norm, asks });

/// Those who have the rows.
pub(crate) trait Cluster: Sync + Debug {
    /// The answers of all partitions together, one for each question; none once something went wrong, which the cluster remembers.
    fn ask(&self, request: &Request) -> Option<Vec<Vec<u8>>>;

    /// Says what is fitted, before anything is asked.
    fn aim(&self, plan: TargetPlan);

    /// Ends the fit, for this reason.
    fn refuse(&self, why: String);

    /// Hears that the search looks at so many nodes now.
    fn searches(&self, nodes: usize);
}

/// Where rows lie that are not here.
#[derive(Debug, Clone)]
pub(crate) struct Elsewhere<'a> {
    cluster: &'a dyn Cluster,
    pub(crate) columns: &'a [BinnedColumn],
    /// How many rows there are.
    pub(super) rows: usize,
    /// By the last rule of the history and the question.
    known: Arc<Mutex<HashMap<Key, Kept>>>,
    /// The same of large answers, about the nodes that are searched now.
    tables: Arc<Mutex<HashMap<Key, Kept>>>,
}

type Key = (usize, Vec<u8>);

/// An answer.
#[derive(Debug)]
struct Kept {
    /// The last rule of the history, which is thereby kept.
    _last: Option<Arc<Split>>,
    answer: Vec<u8>,
    /// Later ones have larger numbers.
    number: u64,
}

impl<'a> Elsewhere<'a> {
    pub(crate) fn new(cluster: &'a dyn Cluster, columns: &'a [BinnedColumn], rows: usize) -> Self {
        Self { cluster, columns, rows, known: Arc::default(), tables: Arc::default() }
    }

    /// The answers; none once something went wrong.
    pub(crate) fn ask(&self, request: &Request) -> Option<Vec<Vec<u8>>> {
        self.cluster.ask(request)
    }

    /// The answer to a single question that no scorer has a part in.
    pub(crate) fn answer<T: Wire>(&self, history: &[Arc<Split>], ask: Ask) -> Option<T> {
        let bytes = if let Some(bytes) = self.kept(history, &ask) {
            bytes
        } else {
            let request = Request { history: history.to_vec(), scorer: None, by_norm: false, asks: vec![ask] };
            self.ask(&request)?.pop()?
        };
        self.read(&bytes)
    }

    /// An answer as what it should be; if it is not, the fit ends.
    pub(crate) fn read<T: Wire>(&self, bytes: &[u8]) -> Option<T> {
        T::of_bytes(bytes).map_err(|error| self.refuse(error.to_string())).ok()
    }

    /// Where answers to such a question are kept.
    fn place(&self, ask: &Ask) -> MutexGuard<'_, HashMap<Key, Kept>> {
        let place =
            if matches!(ask, Ask::Count(..) | Ask::Bins(..) | Ask::Codes(_)) { &self.tables } else { &self.known };
        place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question that came before it was asked.
    pub(crate) fn kept(&self, history: &[Arc<Split>], ask: &Ask) -> Option<Vec<u8>> {
        self.place(ask).remove(&key(history, ask)).map(|kept| kept.answer)
    }

    /// The same, which may be asked again.
    pub(crate) fn peek(&self, history: &[Arc<Split>], ask: &Ask) -> Option<Vec<u8>> {
        self.place(ask).get(&key(history, ask)).map(|kept| kept.answer.clone())
    }

    /// Forgets large answers: so many other nodes are searched now.
    pub(crate) fn search_others(&self, nodes: usize) {
        self.cluster.searches(nodes);
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Asks some questions and keeps the answers: they will be asked one by one.
    pub(crate) fn ask_ahead(&self, history: &[Arc<Split>], by_norm: bool, asks: Vec<Ask>) {
        let request = Request { history: history.to_vec(), scorer: None, by_norm, asks };
        for (ask, answer) in request.asks.iter().zip(self.ask(&request).into_iter().flatten()) {
            self.keep(history, ask, answer);
        }
    }

    /// Keeps an answer to a question that is likely to come.
    pub(crate) fn keep(&self, history: &[Arc<Split>], ask: &Ask, answer: Vec<u8>) {
        let history = if ask.is_of_any_rules() { &[][..] } else { history };
        let mut known = self.place(ask);
        if known.len() >= MOST_KEPT {
            let oldest = known.iter().min_by_key(|(_, kept)| kept.number).map(|(key, _)| key.clone());
            oldest.map(|oldest| known.remove(&oldest));
        }
        let number = known.values().map(|kept| kept.number + 1).max().unwrap_or_default();
        known.insert(key(history, ask), Kept { _last: history.last().cloned(), answer, number });
    }

    pub(crate) fn refuse(&self, why: String) {
        self.cluster.refuse(why);
    }
}

/// A rule that is kept has a place of its own in memory.
fn key(history: &[Arc<Split>], ask: &Ask) -> Key {
    (history.last().map_or(0, |last| Arc::as_ptr(last) as usize), ask.bytes())
}
