//! Rules that several classes share, with a column of weights for each class.

use crate::args::Order;
use crate::number::{share, signed};
use crate::text::{Cell, DIM, Grid, broken, certificate, listed, width};
use orthorules::Model;
use orthorules::model::{RuleList, RuleText, Size};
use unicode_width::UnicodeWidthStr;

/// At least this much of a line is left to the rules.
const FOR_RULES: usize = 34;
/// A longer name of a class is cut.
const LONGEST_NAME: usize = 14;

/// The rules of a size of a list. Where a screen is too narrow for all classes there are several tables, one below the
/// other.
pub(crate) fn rules(model: &Model, list: &RuleList, size: &Size, order: Order) -> String {
    let weights = |k: usize| size.scores.iter().map(move |score| score.weights[k]);
    let sums: Vec<f64> = (0..size.rules).map(|k| weights(k).map(f64::abs).sum()).collect();
    let places = listed(model, (&list.rules, size), &sums, order);
    let members: Vec<usize> = size.members().collect();
    let known = list.rules.iter().any(|rule| rule.covered > 0);
    // As in a list of one score: told only where exact search has proven something.
    let certified = list.rules.iter().any(|rule| rule.proven);
    let rows = model.rows.filter(|_| known);
    let lines: Vec<ClassLine> = places
        .iter()
        .map(|&place| {
            let rule = &list.rules[members[place]];
            let covered = known.then(|| Cell::right(rule.covered.to_string()));
            let part = rows.map(|n| Cell::right(share(rule.covered, n as usize)).styled(DIM));
            let gap = rule.gap().filter(|_| certified);
            let proof = gap.map(|gap| Cell::left(certificate(rule.proven, gap)).styled(DIM));
            ClassLine {
                weights: weights(place).collect(),
                rule: Some(model.told(rule)),
                after: covered.into_iter().chain(part).chain(proof).collect(),
            }
        })
        .chain([ClassLine {
            weights: size.scores.iter().map(|score| score.intercept).collect(),
            rule: None,
            after: Vec::new(),
        }])
        .collect();
    table(model, &lines, known.then_some("rows"))
}

/// A rule, or what always holds, and the weight of each class.
pub(crate) struct ClassLine {
    pub(crate) weights: Vec<f64>,
    /// None for what always holds.
    pub(crate) rule: Option<RuleText>,
    /// What stands behind the rule.
    pub(crate) after: Vec<Cell>,
}

/// The lines, with the names of the classes above their weights and `after` above what stands behind the rules.
pub(crate) fn table(model: &Model, lines: &[ClassLine], after: Option<&str>) -> String {
    let columns: Vec<Vec<String>> = (0..model.classes.len())
        .map(|class| signed(&lines.iter().map(|line| line.weights[class]).collect::<Vec<f64>>(), 3))
        .collect();
    let names: Vec<String> = model.classes.iter().map(|class| shortened(class)).collect();
    let widths: Vec<usize> = columns
        .iter()
        .zip(&names)
        .map(|(texts, name)| 2 + texts.iter().map(|text| text.width()).max().unwrap_or(0).max(name.width()))
        .collect();
    let mut beside = Grid::default();
    lines.iter().for_each(|line| beside.line(line.after.iter().cloned()));
    let free = width().saturating_sub(beside.width() + FOR_RULES).max(1);
    let mut text = String::new();
    let mut first = 0;
    while first < names.len() {
        let mut used = 0;
        let fitting = widths[first..].iter().take_while(|width| {
            used += **width;
            used <= free
        });
        let last = first + fitting.count().max(1);
        let taken: usize = widths[first..last].iter().sum();
        let room = width().saturating_sub(beside.width() + taken + 2).max(20);
        let mut grid = Grid::default();
        let heads = names[first..last].iter().map(|name| Cell::right(name).styled(DIM));
        grid.line(heads.chain([Cell::left("")]).chain(after.map(|head| Cell::right(head).styled(DIM))));
        for (place, line) in lines.iter().enumerate() {
            let weights = columns[first..last].iter().map(|texts| Cell::signed(&texts[place]));
            let Some(rule) = &line.rule else {
                grid.line(weights.chain([Cell::left("always (intercept)")]));
                continue;
            };
            let mut parts = broken(rule, room).into_iter();
            let rule = Cell::left(parts.next().unwrap_or_default());
            grid.line(weights.chain([rule]).chain(line.after.iter().cloned()));
            let blank = || (first..last).map(|_| Cell::left(""));
            parts.for_each(|more| grid.line(blank().chain([Cell::left(more)])));
        }
        if first > 0 {
            text.push('\n');
        }
        text.push_str(&grid.to_string());
        first = last;
    }
    text
}

/// The name of a class, cut where it is long.
fn shortened(name: &str) -> String {
    if name.width() <= LONGEST_NAME {
        return name.to_owned();
    }
    let mut short = String::new();
    for c in name.chars() {
        if short.width() + 2 > LONGEST_NAME {
            break;
        }
        short.push(c);
    }
    short + "…"
}
