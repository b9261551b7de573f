//! Which rules came, went, moved or have another weight.
//!
//! Rules that say the same are the same rule. Of the others, two that compare the same columns in the same way and
//! differ in thresholds or levels alone are one rule that moved: the nearest pair first.

use crate::model::Rule;
use crate::model::rule::{Condition, Op, Operand};
use serde::Serialize;

/// What happened to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// The second model alone has it.
    Came,
    /// The first model alone had it.
    Went,
    /// It has other thresholds, levels or ends.
    Moved,
    /// It has another weight.
    Weight,
}

/// One rule that is not what it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RuleChange {
    /// What happened.
    pub change: ChangeKind,
    /// Its text in the second model; in the first, where it went.
    pub rule: String,
    /// Its text in the first model, where it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Its weight in the first model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_before: Option<f64>,
    /// Its weight in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_after: Option<f64>,
}

type TermWeight<'r> = (&'r Rule, f64);

/// What happened to the rules, and how many stayed with their weights.
pub(super) fn changes(old: &[TermWeight], new: &[TermWeight]) -> (Vec<RuleChange>, usize) {
    let partners = partners(old, new);
    let mut unchanged = 0;
    let mut changes = Vec::new();
    for (&(rule, weight), partner) in new.iter().zip(&partners) {
        let was = partner.map(|place| old[place]);
        let (change, text_before) = match was {
            None => (ChangeKind::Came, None),
            Some((other, before)) if other.is_same_term(rule) => {
                if before == weight {
                    unchanged += 1;
                    continue;
                }
                (ChangeKind::Weight, None)
            }
            Some((other, _)) => (ChangeKind::Moved, Some(other.to_string())),
        };
        let weight_before = was.map(|(_, weight)| weight);
        changes.push(RuleChange {
            change,
            rule: rule.to_string(),
            was: text_before,
            weight_before,
            weight_after: Some(weight),
        });
    }
    let went = old.iter().enumerate().filter(|(place, _)| !partners.contains(&Some(*place)));
    changes.extend(went.map(|(_, &(rule, weight))| RuleChange {
        change: ChangeKind::Went,
        rule: rule.to_string(),
        was: None,
        weight_before: Some(weight),
        weight_after: None,
    }));
    (changes, unchanged)
}

/// For each new rule the place of the old one that it is, or that it was before it moved.
fn partners(old: &[TermWeight], new: &[TermWeight]) -> Vec<Option<usize>> {
    let mut taken = vec![false; old.len()];
    let mut partners: Vec<Option<usize>> = vec![None; new.len()];
    for (partner, (rule, _)) in partners.iter_mut().zip(new) {
        let same = old.iter().zip(&taken).position(|((other, _), taken)| !taken && other.is_same_term(rule));
        if let Some(place) = same {
            taken[place] = true;
            *partner = same;
        }
    }
    let mut near: Vec<(f64, usize, usize)> = Vec::new();
    for (k, (rule, _)) in new.iter().enumerate().filter(|(k, _)| partners[*k].is_none()) {
        let free = old.iter().enumerate().filter(|(place, _)| !taken[*place]);
        near.extend(free.filter_map(|(place, (other, _))| Some((distance(other, rule)?, k, place))));
    }
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, k, place) in near {
        if partners[k].is_none() && !taken[place] {
            taken[place] = true;
            partners[k] = Some(place);
        }
    }
    partners
}

/// How far a rule moved to become another; nothing if they do not compare the same columns in the same way.
fn distance(a: &Rule, b: &Rule) -> Option<f64> {
    match (&a.trend, &b.trend) {
        (Some(a), Some(b)) => {
            let same_kind = a.column == b.column && a.is_line() == b.is_line() && (a.per > 0.0) == (b.per > 0.0);
            same_kind.then(|| apart(a.from, b.from) + apart(a.to, b.to))
        }
        (None, None) if a.conditions.len() == b.conditions.len() => {
            let ordered = |rule: &Rule| -> Vec<Condition> {
                let mut conditions = rule.conditions.clone();
                conditions.sort_by(|a, b| (&a.column, family(a.op)).cmp(&(&b.column, family(b.op))));
                conditions
            };
            ordered(a).iter().zip(&ordered(b)).map(|(a, b)| step(a, b)).sum()
        }
        _ => None,
    }
}

/// Comparisons of one family can become each other by another threshold or other levels.
fn family(op: Op) -> u8 {
    match op {
        Op::Le => 0,
        Op::Ge => 1,
        Op::Eq | Op::In => 2,
        Op::Ne | Op::NotIn => 3,
        Op::Missing => 4,
        Op::Present => 5,
        Op::Is => 6,
        Op::IsNot => 7,
    }
}

/// How far one condition moved.
fn step(a: &Condition, b: &Condition) -> Option<f64> {
    if a.column != b.column || family(a.op) != family(b.op) {
        return None;
    }
    if let (Some(Operand::Number(a)), Some(Operand::Number(b))) = (&a.value, &b.value) {
        return Some(apart(*a, *b));
    }
    let (a, b) = (a.levels(), b.levels());
    let shared = a.iter().filter(|level| b.contains(level)).count();
    let all = a.len() + b.len() - shared;
    Some(if all == 0 { 0.0 } else { 1.0 - shared as f64 / all as f64 })
}

/// From 0 for equal numbers to 2 for opposite ones, whatever their unit is.
fn apart(a: f64, b: f64) -> f64 {
    let scale = a.abs().max(b.abs());
    if a == b { 0.0 } else { ((a / scale) - (b / scale)).abs() }
}
