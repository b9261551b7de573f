//! What is sent to partitions, what they reply, and how replies are put together.

use crate::base::error::Result;
use crate::base::wire::{Wire, damaged, wire_enum};
use crate::engine::rows::question::Request;
use crate::engine::targets::facts::{Question, TargetAnswer};
use crate::engine::targets::plan::TargetPlan;
use crate::remote::answer::NodeAnswer;
use crate::remote::features::CodedFacts;
use crate::remote::gather::GatheredRows;
use crate::remote::survey::{Survey, SurveyRequest};

/// The first bytes of every message and reply: whose they are, and of which version.
const MARK: [u8; 3] = [b'O', b'R', 4];

/// What partitions are asked.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub(crate) enum Message {
    /// What there is, before there are codes.
    Survey(SurveyRequest, Option<TargetQuestion>),
    /// To make codes, and what is known of them.
    Encode(Vec<u8>, Option<TargetQuestion>),
    /// About targets alone.
    Targets(TargetQuestion),
    /// Questions of the search, with how codes are made and what is fitted.
    Ask(Vec<u8>, TargetPlan, Request),
    /// For all rows, of a small table; and whether their numbers are wanted beside their codes.
    Rows(Vec<u8>, bool),
}
wire_enum!(Message {
    0 => Survey(request, question),
    1 => Encode(plan, question),
    2 => Targets(question),
    3 => Ask(plan, aim, request),
    4 => Rows(plan, numbers),
});

/// How targets, weights and exposures are read, and a question about them.
pub(crate) type TargetQuestion = (Vec<u8>, Question);

/// What partitions reply.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub(crate) enum Reply {
    Survey(Survey, Option<TargetAnswer>),
    Encoded(Vec<CodedFacts>, Option<TargetAnswer>),
    Targets(TargetAnswer),
    Answers(Vec<NodeAnswer>),
    Rows(Vec<CodedFacts>, GatheredRows),
}
wire_enum!(Reply {
    0 => Survey(survey, answer),
    1 => Encoded(facts, answer),
    2 => Targets(answer),
    3 => Answers(answers),
    4 => Rows(facts, rows),
});

pub(crate) fn marked(value: &impl Wire) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    value.put(&mut bytes);
    bytes
}

pub(crate) fn unmarked<T: Wire>(bytes: &[u8]) -> Result<T> {
    T::of_bytes(bytes.strip_prefix(&MARK).ok_or_else(damaged)?)
}

/// The reply of the partitions of both, of which those of `next` come after the others.
pub fn merge(first: &[u8], next: &[u8]) -> Result<Vec<u8>> {
    let both = match (unmarked(first)?, unmarked(next)?) {
        (Reply::Survey(mut all, answer), Reply::Survey(more, next)) => {
            all.append(more)?;
            Reply::Survey(all, of_both(answer, next)?)
        }
        (Reply::Encoded(mut all, answer), Reply::Encoded(more, next)) => {
            append(&mut all, &more)?;
            Reply::Encoded(all, of_both(answer, next)?)
        }
        (Reply::Targets(mut all), Reply::Targets(more)) => {
            all.append(&more)?;
            Reply::Targets(all)
        }
        (Reply::Answers(all), Reply::Answers(more)) => {
            if all.len() != more.len() {
                return Err(damaged());
            }
            Reply::Answers(all.into_iter().zip(&more).map(|(all, more)| all.with(more)).collect::<Result<_>>()?)
        }
        (Reply::Rows(mut facts, mut all), Reply::Rows(next, more)) => {
            append(&mut facts, &next)?;
            all.append(more)?;
            Reply::Rows(facts, all)
        }
        _ => return Err(damaged()),
    };
    Ok(marked(&both))
}

/// Adds what the partitions after these tell of each column.
fn append(all: &mut [CodedFacts], more: &[CodedFacts]) -> Result<()> {
    let fits = all.len() == more.len() && all.iter_mut().zip(more).all(|(all, more)| all.append(more));
    if fits { Ok(()) } else { Err(damaged()) }
}

/// The answer of both, if there was a question.
fn of_both(answer: Option<TargetAnswer>, next: Option<TargetAnswer>) -> Result<Option<TargetAnswer>> {
    match (answer, next) {
        (Some(mut all), Some(more)) => {
            all.append(&more)?;
            Ok(Some(all))
        }
        (None, None) => Ok(None),
        _ => Err(damaged()),
    }
}
