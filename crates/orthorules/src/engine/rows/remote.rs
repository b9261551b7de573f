//! Rows on other machines, as the search sees them.

use super::question::{Ask, CellSplit, Node, Request};
use crate::base::wire::Wire;
use crate::codes::column::BinnedColumn;
use crate::codes::wanted::LevelSets;
use std::fmt::Debug;
use std::sync::Arc;

/// What answers questions about remote rows. Answers are bytes of what each question asks for.
pub(crate) trait RemoteAccess: Send + Sync + Debug {
    /// The answers of all partitions together, one for each question; none once something went wrong, which ends the
    /// fit.
    fn ask(&self, request: &Request) -> Option<Vec<Vec<u8>>>;

    /// Takes the answer to a question that came before it was asked.
    fn take(&self, history: &[Arc<CellSplit>], ask: &Ask) -> Option<Vec<u8>>;

    /// A copy of such an answer.
    fn peek(&self, history: &[Arc<CellSplit>], ask: &Ask) -> Option<Vec<u8>>;

    /// Keeps an answer to a question that is likely to come.
    fn keep(&self, history: &[Arc<CellSplit>], ask: &Ask, answer: Vec<u8>);

    /// Forgets large answers, since other nodes are searched now. Counts these nodes.
    fn search_others(&self, nodes: usize);

    /// Ends the fit, for this reason.
    fn refuse(&self, why: String);
}

/// All rows of a table that is on other machines.
#[derive(Debug, Clone)]
pub(crate) struct RemoteRows<'a> {
    access: Arc<dyn RemoteAccess + 'a>,
    /// The columns, without codes.
    pub(crate) columns: &'a [BinnedColumn],
    /// How many rows there are.
    pub(super) count: usize,
    pub(super) sets: Arc<LevelSets>,
}

impl<'a> RemoteRows<'a> {
    pub(crate) fn new(access: Arc<dyn RemoteAccess + 'a>, columns: &'a [BinnedColumn], count: usize) -> Self {
        Self { access, columns, count, sets: Arc::default() }
    }

    pub(crate) fn access(&self) -> &(dyn RemoteAccess + 'a) {
        &*self.access
    }

    /// The answer to a single question that no scorer has a part in.
    pub(crate) fn answer<T: Wire>(&self, history: &[Arc<CellSplit>], ask: Ask) -> Option<T> {
        let bytes = if let Some(bytes) = self.access.take(history, &ask) {
            bytes
        } else {
            let request = Request { history: history.to_vec(), scorer: None, by_norm: false, asks: vec![ask] };
            self.access.ask(&request)?.pop()?
        };
        self.read(&bytes)
    }

    /// An answer as what it should be; if it is not, the fit ends.
    pub(crate) fn read<T: Wire>(&self, bytes: &[u8]) -> Option<T> {
        T::of_bytes(bytes).map_err(|error| self.access.refuse(error.to_string())).ok()
    }

    /// Asks some questions and keeps the answers: they will be asked one by one.
    pub(crate) fn ask_ahead(&self, history: &[Arc<CellSplit>], by_norm: bool, asks: Vec<Ask>) {
        let request = Request { history: history.to_vec(), scorer: None, by_norm, asks };
        for (ask, answer) in request.asks.iter().zip(self.access.ask(&request).into_iter().flatten()) {
            self.access.keep(history, ask, answer);
        }
    }

    /// All of them.
    pub(super) fn all(&self) -> RemoteNode {
        RemoteNode { node: Node::default(), count: self.count }
    }
}

/// Some remote rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RemoteNode {
    pub(crate) node: Node,
    /// How many these are.
    pub(crate) count: usize,
}
