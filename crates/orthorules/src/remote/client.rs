//! Answers on the machine of the fit: which came before they were asked for, and which must be asked.

use crate::base::wire::Wire;
use crate::codes::column::BinnedColumn;
use crate::engine::rows::Rows;
use crate::engine::rows::question::{Ask, CellSplit, Request};
use crate::engine::rows::remote::{RemoteAccess, RemoteRows};
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Answers that came with others and wait until they are asked for.
const MOST_WAITING: usize = 1024;

/// The partitions together.
pub(crate) trait Cluster: Sync + Debug {
    /// The answers of all partitions together, one for each question; none once something went wrong, which the cluster
    /// remembers.
    fn ask(&self, request: &Request) -> Option<Vec<Vec<u8>>>;

    /// Ends the fit, for this reason.
    fn refuse(&self, why: String);

    /// Counts the nodes that the search looks at now.
    fn searches(&self, nodes: usize);
}

/// So many rows of a cluster, with their columns.
pub(crate) fn rows_of<'a>(cluster: &'a dyn Cluster, columns: &'a [BinnedColumn], count: usize) -> Rows<'a> {
    let access = Client { cluster, small: Mutex::default(), tables: Mutex::default() };
    Rows::Remote(RemoteRows::new(Arc::new(access), columns, count))
}

/// A cluster with the answers that came before they were asked for, by the last rule of the history and the question.
#[derive(Debug)]
struct Client<'a> {
    cluster: &'a dyn Cluster,
    small: Mutex<HashMap<QuestionKey, WaitingAnswer>>,
    /// Large answers, about the nodes that are searched now.
    tables: Mutex<HashMap<QuestionKey, WaitingAnswer>>,
}

type QuestionKey = (usize, Vec<u8>);

#[derive(Debug)]
struct WaitingAnswer {
    /// The last rule of the history, which thereby keeps its address.
    _last: Option<Arc<CellSplit>>,
    bytes: Vec<u8>,
    /// Later ones have larger numbers.
    number: u64,
}

/// A rule is known by its address, which it keeps while an answer waits.
fn key(history: &[Arc<CellSplit>], ask: &Ask) -> QuestionKey {
    (history.last().map_or(0, |last| Arc::as_ptr(last) as usize), ask.bytes())
}

impl Client<'_> {
    /// Where answers to such a question wait.
    fn waiting(&self, ask: &Ask) -> MutexGuard<'_, HashMap<QuestionKey, WaitingAnswer>> {
        let large = matches!(ask, Ask::Count(..) | Ask::Bins(..) | Ask::Codes(_));
        let answers = if large { &self.tables } else { &self.small };
        answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RemoteAccess for Client<'_> {
    fn ask(&self, request: &Request) -> Option<Vec<Vec<u8>>> {
        self.cluster.ask(request)
    }

    fn take(&self, history: &[Arc<CellSplit>], ask: &Ask) -> Option<Vec<u8>> {
        self.waiting(ask).remove(&key(history, ask)).map(|answer| answer.bytes)
    }

    fn peek(&self, history: &[Arc<CellSplit>], ask: &Ask) -> Option<Vec<u8>> {
        self.waiting(ask).get(&key(history, ask)).map(|answer| answer.bytes.clone())
    }

    fn keep(&self, history: &[Arc<CellSplit>], ask: &Ask, bytes: Vec<u8>) {
        let history = if ask.is_of_any_rules() { &[][..] } else { history };
        let mut answers = self.waiting(ask);
        if answers.len() >= MOST_WAITING {
            let oldest = answers.iter().min_by_key(|(_, answer)| answer.number).map(|(key, _)| key.clone());
            oldest.map(|oldest| answers.remove(&oldest));
        }
        let number = answers.values().map(|answer| answer.number + 1).max().unwrap_or_default();
        answers.insert(key(history, ask), WaitingAnswer { _last: history.last().cloned(), bytes, number });
    }

    fn search_others(&self, nodes: usize) {
        self.cluster.searches(nodes);
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn refuse(&self, why: String) {
        self.cluster.refuse(why);
    }
}
