//! `orthorules alternatives`: what could stand in a rule's place, and what it costs to do without a column.

use crate::args::AlternativesArgs;
use crate::console::{Notes, Output};
use crate::edit::refused;
use crate::input::{self, Failure};
use crate::number::{aligned, percent};
use crate::text::{self, BOLD, Cell, DIM, Grid, styled};
use orthorules::model::edit::{Refit, with_rules_of};
use orthorules::{Alternatives, EditOptions, RuleAlternatives, decimal};
use std::fmt::Write;

/// Alternatives of a rule that are shown.
const MOST: usize = 8;

/// Runs the command.
pub(crate) fn run(args: &AlternativesArgs) -> Result<Output, Failure> {
    let source = input::TableInput::new(&args.table)?;
    let model = input::model(&args.model)?;
    let notes = Notes { quiet: args.quiet, verbose: false };
    let wanted = with_rules_of(&model, &[], Refit::Search);
    let notation = args.notation.notation(&model.reading.notation);
    let table = input::table_for(&wanted, &source.path, notation, notes)?;
    let without: Vec<String> = args.without.iter().flat_map(|list| list.0.clone()).collect();
    let mut options = EditOptions::default();
    options.reg_lambda = args.reg_lambda;
    let found = orthorules::alternatives(&model, &table, args.rule.as_deref(), &without, &options)
        .map_err(|error| refused(error, &model, &source))?;
    Ok(if args.json { Output::json(&found) } else { Output::Text(describe(&found)) })
}

/// A cost in per cent, with its sign.
fn cost(part: f64) -> String {
    let percent = 100.0 * part;
    // What rounds to nothing has no sign.
    if percent.abs() < 0.005 { "0.00%".into() } else { format!("{percent:+.2}%") }
}

fn describe(found: &Alternatives) -> String {
    let mut text = format!("Risk of the model on this table: {}\n", decimal::readable(found.risk, 4));
    for rule in &found.rules {
        let class = rule.class.as_ref().map_or(String::new(), |class| format!("{class}: "));
        let _ = writeln!(text, "\n{}\n", styled(BOLD, &text::clean(&format!("In place of {class}{}", rule.rule))));
        text.push_str(&listed(rule));
    }
    if !found.rules.is_empty() {
        let count = found.within_one_percent;
        let _ = writeln!(text, "\n{} within 1% of the risk.", text::count(count, "ensemble"));
        text.push_str(
            "Risks are those of all weights fitted again. Rows: the part that both rules cover, of those that one \
             does.\n",
        );
    }
    if !found.without.is_empty() {
        let mut grid = Grid::default();
        grid.line(
            ["risk", "cost"]
                .map(|head| Cell::right(head).styled(DIM))
                .into_iter()
                .chain([Cell::left("without").styled(DIM)]),
        );
        let risks = aligned(&found.without.iter().map(|other| other.risk).collect::<Vec<_>>(), 4);
        for (other, risk) in found.without.iter().zip(risks) {
            grid.line([Cell::right(risk), Cell::right(cost(other.cost)), Cell::left(&other.column)]);
        }
        let _ = write!(text, "\n{}\n\n{grid}", styled(BOLD, "The best that is found without a column"));
        for other in &found.without {
            let _ = writeln!(text, "\nWithout {}:", text::clean(&other.column));
            other.rules.iter().for_each(|rule| {
                let _ = writeln!(text, "  {}", text::clean(rule));
            });
        }
    }
    text
}

/// The alternatives of a rule as a table.
fn listed(rule: &RuleAlternatives) -> String {
    if rule.alternatives.is_empty() {
        return "  no other rule helps\n".into();
    }
    let shown = &rule.alternatives[..rule.alternatives.len().min(MOST)];
    let risks = aligned(&shown.iter().map(|other| other.risk).collect::<Vec<_>>(), 4);
    let mut grid = Grid::default();
    grid.line(["risk", "cost", "rows"].map(|head| Cell::right(head).styled(DIM)));
    for (other, risk) in shown.iter().zip(risks) {
        let near = match other.near_copies {
            0 => String::new(),
            copies => format!(" (and {} of nearly the same rows)", text::count(copies, "rule")),
        };
        let numbers = [risk, cost(other.cost), percent(other.shared_rows)];
        grid.line(numbers.map(Cell::right).into_iter().chain([Cell::left(format!("{}{near}", other.rule))]));
    }
    grid.to_string()
}
