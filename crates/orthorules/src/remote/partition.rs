//! A partition: some rows of a table, in a file, which answer what a fit asks.

use crate::base::error::Result;
use crate::base::threads::on_threads;
use crate::base::wire::{Wire, damaged};
use crate::data::table::Source;
use crate::engine::targets::facts::TargetAnswer;
use crate::engine::targets::numbers::{TargetColumn, TargetRows};
use crate::engine::targets::plan::TargetPlan;
use crate::remote::answer::PartitionRows;
use crate::remote::features::CodedFacts;
use crate::remote::gather::GatheredRows;
use crate::remote::messages::{Message, Reply, TargetQuestion, marked, unmarked};
use crate::remote::role_plan::{RolePlan, RoleValues};
use crate::remote::survey::CodePlan;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// How targets were read, and these, until it is known what is fitted to them.
    targets: Option<(Vec<u8>, TargetRows<'static>)>,
    held: Option<CodedRows>,
}

/// Rows as codes.
#[derive(Debug)]
struct CodedRows {
    /// How they were made, and how targets are read.
    plan: Vec<u8>,
    roles: Vec<u8>,
    /// Whether there are several classes, so that something else may be fitted to the same targets.
    several: bool,
    /// The classes of rows, once one of them is fitted and others may be.
    classes: Option<Vec<u32>>,
    rows: PartitionRows,
}

struct OpenSource(Arc<Source>);

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenSource")
    }
}

impl Partition {
    /// The rows of the file at `path`, which is the partition with this number, counted from 0. A `stamp` tells whether
    /// its source is what it was when the fit began: it must be the same on every machine that opens it. Works on this
    /// many threads.
    pub fn new(path: &Path, number: usize, stamp: &str, threads: Option<usize>) -> Self {
        Self {
            path: path.to_owned(),
            number,
            stamp: stamp.to_owned(),
            threads,
            source: None,
            targets: None,
            held: None,
        }
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
            Message::Survey(request, question) => {
                let source = self.source()?;
                let survey = request.answer(&source, self.number, &self.stamp)?;
                Ok(Reply::Survey(survey, self.told(question.as_ref())?))
            }
            Message::Encode(plan, question) => {
                let coded = self.coded(plan)?;
                let facts = coded.rows.columns().iter().map(CodedFacts::of).collect();
                self.held = Some(coded);
                Ok(Reply::Encoded(facts, self.told(question.as_ref())?))
            }
            Message::Targets(question) => Ok(Reply::Targets(self.told(Some(question))?.ok_or_else(damaged)?)),
            Message::Ask(plan, aim, request) => {
                let mut coded = self.coded(plan)?;
                let answers = self.aimed(&mut coded, aim).and_then(|()| coded.rows.answers(request));
                self.held = Some(coded);
                Ok(Reply::Answers(answers?))
            }
            Message::Rows(plan, keeps_numbers) => {
                // Nothing is kept: there are no questions after this one.
                let (source, plan) = (self.source()?, CodePlan::of_bytes(plan)?);
                let (columns, numbers) = plan.encode(&source, (self.number, &self.stamp), *keeps_numbers)?;
                let values = plan.roles.read(&source, self.number, &self.stamp)?;
                let facts = columns.iter().map(CodedFacts::of).collect();
                Ok(Reply::Rows(facts, GatheredRows::of(&columns, numbers, values)))
            }
        }
    }

    /// The answer to a question about targets, if there is one.
    fn told(&mut self, question: Option<&TargetQuestion>) -> Result<Option<TargetAnswer>> {
        let Some((plan, question)) = question else { return Ok(None) };
        Ok(Some(question.answer(self.targets(plan)?)?))
    }

    /// Targets, weights and exposures, as a fit counts with them.
    fn targets(&mut self, plan: &[u8]) -> Result<&TargetRows<'static>> {
        if self.targets.as_ref().is_none_or(|(known, _)| known != plan) {
            let source = self.source()?;
            let RoleValues { target, weight, exposure, .. } =
                RolePlan::of_bytes(plan)?.read_folded(&source, self.number, &self.stamp)?;
            self.targets = Some((plan.to_vec(), TargetRows::owned(target, weight, exposure)));
        }
        self.targets.as_ref().map(|(_, known)| known).ok_or_else(damaged)
    }

    fn source(&mut self) -> Result<Arc<Source>> {
        if let Some(OpenSource(source)) = &self.source {
            return Ok(Arc::clone(source));
        }
        let source = Arc::new(Source::open(&self.path)?);
        self.source = Some(OpenSource(Arc::clone(&source)));
        Ok(source)
    }

    /// The rows as codes, to be put back.
    fn coded(&mut self, plan: &[u8]) -> Result<CodedRows> {
        if let Some(coded) = self.held.take_if(|coded| coded.plan == plan) {
            return Ok(coded);
        }
        self.held = None;
        let source = self.source()?;
        let codes = CodePlan::of_bytes(plan)?;
        let roles = codes.roles.bytes();
        // While there is a source.
        self.targets(&roles)?;
        let rows = PartitionRows::new(codes.encode(&source, (self.number, &self.stamp), false)?.0);
        self.source = None;
        Ok(CodedRows { plan: plan.to_vec(), roles, several: codes.roles.classes.len() > 2, classes: None, rows })
    }

    /// Makes rows ready for what is fitted. Targets are of no more use then but for their classes, if each of several
    /// has its turn.
    fn aimed(&mut self, coded: &mut CodedRows, aim: &TargetPlan) -> Result<()> {
        if coded.rows.aims_at(aim) {
            return Ok(());
        }
        let in_turn = coded.several && !aim.is_shared();
        if let Some(classes) = coded.classes.as_ref().filter(|_| in_turn)
            && coded.rows.aim_at_another(aim, classes)
        {
            return Ok(());
        }
        self.targets(&coded.roles)?;
        let (_, known) = self.targets.take().ok_or_else(damaged)?;
        coded.classes = match &known.target {
            TargetColumn::Classes(classes) if in_turn => Some(classes.to_vec()),
            _ => None,
        };
        coded.rows.aim(aim, known)
    }
}
