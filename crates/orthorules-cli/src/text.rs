//! Text for people: aligned tables, rules as lists.

use crate::args::Order;
use crate::class_table;
use crate::number::{aligned, percent, share, signed};
use anstyle::{AnsiColor, Style};
use orthorules::model::{RuleList, RuleText, Size, SizeName, counted};
use orthorules::{Model, Rule, decimal};
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::OnceLock;
use unicode_width::UnicodeWidthStr;

/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// All else.
pub(crate) const PLAIN: Style = Style::new();
const UP: Style = AnsiColor::Green.on_default();
const DOWN: Style = AnsiColor::Red.on_default();

/// How many columns the screen has: what `COLUMNS` says, else the terminal, else 100; from 60 to 200.
pub(crate) fn width() -> usize {
    static WIDTH: OnceLock<usize> = OnceLock::new();
    let found = || {
        let asked = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse::<usize>().ok());
        let screen = || {
            let out = std::io::stdout();
            terminal_size::terminal_size_of(&out).filter(|_| out.is_terminal()).map(|(columns, _)| columns.0.into())
        };
        asked.filter(|&columns| columns > 0).or_else(screen).unwrap_or(100).clamp(60, 200)
    };
    *WIDTH.get_or_init(found)
}

/// `text` in `style`.
pub(crate) fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// `text` with control characters spelled out, so that a name from a file cannot steer the terminal.
pub(crate) fn clean(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// `count` things, in the singular where it is one.
pub(crate) fn count(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// One entry of a [`Grid`].
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    /// Text, flush left.
    pub(crate) fn left(text: impl AsRef<str>) -> Self {
        Self { text: clean(text.as_ref()), style: PLAIN, right: false }
    }

    /// A number, flush right.
    pub(crate) fn right(text: impl AsRef<str>) -> Self {
        Self { right: true, ..Self::left(text) }
    }

    /// This cell in another style.
    pub(crate) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// A number whose sign shows in its colour.
    pub(crate) fn signed(text: &str) -> Self {
        Self::right(text).styled(if text.starts_with('-') { DOWN } else { UP })
    }
}

/// A wider cell does not move what other lines have in the columns after it.
const WIDEST: usize = 1000;

/// Lines of cells, each column as wide as its widest cell.
#[derive(Debug, Default)]
pub(crate) struct Grid(Vec<Vec<Cell>>);

impl Grid {
    /// Adds a line.
    pub(crate) fn line(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.0.push(cells.into_iter().collect());
    }

    /// How wide each column is.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for line in &self.0 {
            widths.resize(widths.len().max(line.len()), 0);
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.text.width().min(WIDEST));
            }
        }
        widths
    }

    /// How wide the whole is.
    pub(crate) fn width(&self) -> usize {
        self.widths().iter().map(|width| 2 + width).sum()
    }
}

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let widths = self.widths();
        for line in &self.0 {
            // Blanks wait until something follows them: lines have no blanks at their end.
            let mut blanks = 0;
            for (cell, width) in line.iter().zip(&widths) {
                let fill = width.saturating_sub(cell.text.width());
                blanks += 2 + if cell.right { fill } else { 0 };
                let text = cell.text.trim_end_matches(' ');
                if !text.is_empty() {
                    // A format's width ends at 65,535.
                    (0..blanks).try_for_each(|_| f.write_str(" "))?;
                    f.write_str(&styled(cell.style, text))?;
                    blanks = 0;
                }
                blanks += cell.text.len() - text.len();
                blanks += if cell.right { 0 } else { fill };
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

/// What the model is about, in a few words.
pub(crate) fn subject(model: &Model) -> String {
    clean(&model.subject())
}

/// What a weight means.
pub(crate) fn meaning(model: &Model) -> String {
    clean(&model.meaning())
}

/// What a size uses of the budget of columns, as a paragraph of its own; nothing where there is none.
pub(crate) fn spending(model: &Model, size: SizeName) -> String {
    model.spending(size).map_or(String::new(), |spent| format!("\n{}\n", clean(&spent.to_string())))
}

/// The rules of one size, list by list. Coverage also in per cent where the number of training rows
/// is known.
pub(crate) fn rules(model: &Model, size: SizeName, order: Order) -> String {
    let mut text = String::new();
    for (i, (list, step)) in model.steps(size).enumerate() {
        let several = step.scores.len() > 1;
        let size = format!("{}, complexity {}", counted(list.members(step)), step.complexity);
        let size = if several { format!("{size}, with a weight for each class") } else { size };
        let class = list.class.as_ref().map_or(String::new(), |c| clean(&format!("{} = {c}: ", model.target)));
        let gap = if i > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{}\n", styled(BOLD, &format!("{class}{size}")));
        if several {
            text.push_str(&class_table::rules(model, list, step, order));
        } else {
            let _ = write!(text, "{}", rule_list(model, list, step, order));
        }
    }
    text
}

/// The places of the rules of a size in the order in which they are listed, where their weights have these `sizes`. The
/// importance of a rule is |weight| 2p(1−p) with p the share of the training rows that it covers: how far what it adds
/// to a row is from the mean of that, on average. A rule and its complement are equally important. For a trend this is
/// what it would be if the numbers were spread evenly between its ends.
pub(crate) fn listed(model: &Model, (rules, step): (&[Rule], &Size), sizes: &[f64], order: Order) -> Vec<usize> {
    let mut places: Vec<usize> = (0..step.rules).collect();
    if let (Order::Importance, Some(rows)) = (order, model.rows.filter(|&rows| rows > 0)) {
        let share = |rule: &Rule| (rule.covered as f64 / rows as f64).min(1.0);
        let importance = |(k, size): (usize, &f64)| {
            let rule = &rules[k];
            let share = share(rule);
            match &rule.trend {
                // As if the numbers were spread evenly between its ends.
                Some(trend) => size * 0.25 * (trend.value(trend.to) - trend.value(trend.from)).abs() * share,
                None => size * 2.0 * share * (1.0 - share),
            }
        };
        let importances: Vec<f64> = step.members().zip(sizes).map(importance).collect();
        // Equally important rules stay in the order of discovery.
        places.sort_by(|&i, &j| importances[j].total_cmp(&importances[i]));
    }
    places
}

/// The sizes of weights.
fn magnitudes(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|weight| weight.abs()).collect()
}

fn rule_list(model: &Model, list: &RuleList, step: &Size, order: Order) -> Grid {
    let own = &step.scores[0];
    let values: Vec<f64> = own.weights.iter().copied().chain([own.intercept]).collect();
    let weights = signed(&values, 3);
    let factors = aligned(&values.iter().map(|w| w.exp()).collect::<Vec<_>>(), 3);
    let head = |text| Cell::right(text).styled(DIM);
    let multiplies = model.task.is_multiplied();
    // Rules of a model written by hand may not know their coverage.
    let known = list.rules.iter().any(|rule| rule.covered > 0);
    // Every search bounds what it missed; the text tells only where exact search has proven something.
    let certified = list.rules.iter().any(|rule| rule.proven);
    let rows = model.rows.filter(|_| known);
    let factor = |line: usize| multiplies.then(|| Cell::right(format!("×{}", factors[line])));
    let before = |line: usize| [Cell::signed(&weights[line])].into_iter().chain(factor(line)).collect::<Vec<_>>();
    let terms: Vec<&Rule> = list.members(step).collect();
    let after = |rule: &Rule| {
        let covered = known.then(|| Cell::right(rule.covered.to_string()));
        let part = rows.map(|n| Cell::right(share(rule.covered, n as usize)).styled(DIM));
        let proof = rule.gap().filter(|_| certified).map(|gap| Cell::left(certificate(rule.proven, gap)).styled(DIM));
        covered.into_iter().chain(part).chain(proof).collect::<Vec<_>>()
    };
    // What stands beside the rules leaves this much for them.
    let mut beside = Grid::default();
    let heads = || [head("weight")].into_iter().chain(multiplies.then(|| head("factor")));
    let rows_head = || known.then(|| head("rows"));
    beside.line(heads().chain(rows_head()));
    for (line, rule) in terms.iter().enumerate() {
        beside.line([before(line), after(rule)].concat());
    }
    let room = width().saturating_sub(beside.width() + 2).max(20);
    let mut grid = Grid::default();
    grid.line(heads().chain([Cell::left("")]).chain(rows_head()));
    for line in listed(model, (&list.rules, step), &magnitudes(&own.weights), order) {
        let rule = terms[line];
        let mut lines = broken(&model.told(rule), room).into_iter();
        let first = Cell::left(lines.next().unwrap_or_default());
        grid.line(before(line).into_iter().chain([first]).chain(after(rule)));
        let blank = || before(line).into_iter().map(|_| Cell::left(""));
        lines.for_each(|more| grid.line(blank().chain([Cell::left(more)])));
    }
    grid.line(before(step.rules).into_iter().chain([Cell::left("always (intercept)")]));
    grid
}

/// A rule in lines of at most `room` columns that end between conditions, where these are not wider themselves.
pub(crate) fn broken(rule: &RuleText, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = rule.opening.to_owned();
    if line.is_empty() {
        return vec![clean(&rule.to_string())];
    }
    let mut is_new = true;
    for (i, clause) in rule.clauses.iter().map(|clause| clean(clause)).enumerate() {
        let end = if i + 1 < rule.clauses.len() { " &" } else { "" };
        if !is_new && line.width() + 1 + clause.width() + end.len() > room {
            lines.push(std::mem::replace(&mut line, "  ".into()));
        }
        is_new = false;
        let _ = write!(line, " {clause}{end}");
    }
    lines.push(line);
    lines
}

/// What exact search knows of a rule.
pub(crate) fn certificate(proven: bool, gap: f64) -> String {
    if proven { "best".into() } else { format!("within {}% of the best", decimal::readable(100.0 * gap, 3)) }
}

/// How sure the rules and weights are; nothing where the bootstrap was not asked about this size.
pub(crate) fn uncertainty(model: &Model, size: SizeName, order: Order) -> String {
    let Some(bootstrap) = model.bootstrap.as_ref().filter(|b| b.is_about(model, size)) else {
        return String::new();
    };
    let what = bootstrap.groups.as_ref().map_or("rows".to_owned(), |g| format!("groups by {}", clean(g)));
    let mut text = format!("\n{}\n\n", styled(BOLD, &format!("How sure: {} draws of the {what}", bootstrap.samples)));
    let mut grid = Grid::default();
    let heads = [Cell::right("weight"), Cell::right("95% from"), Cell::right("to"), Cell::right("found")];
    grid.line(heads.into_iter().map(|cell| cell.styled(DIM)));
    for (score, found) in model.scores(size).iter().zip(&bootstrap.scores) {
        let class = score.class.map_or(String::new(), |c| format!("{c}: "));
        let (step, own) = (score.size, score.weights);
        let ends = found.rules.iter().map(|r| r.interval).chain([found.intercept]);
        let ends: Vec<f64> = ends.flat_map(|(low, high)| [low, high]).collect();
        let all: Vec<f64> = own.weights.iter().copied().chain([own.intercept]).chain(ends).collect();
        let texts = signed(&all, 3);
        let (weights, ends) = texts.split_at(step.rules + 1);
        let names = score.terms().map(|(rule, _)| format!("{class}{}", model.told(rule)));
        let frequencies = found.rules.iter().map(|r| percent(r.frequency)).chain([String::new()]);
        let names = names.chain([format!("{class}always (intercept)")]);
        let named: Vec<(String, String)> = names.zip(frequencies).collect();
        let order = listed(model, (score.rules, step), &magnitudes(&own.weights), order);
        for i in order.into_iter().chain([step.rules]) {
            let (name, frequency) = &named[i];
            let interval = [Cell::right(&ends[2 * i]), Cell::right(&ends[2 * i + 1])];
            let line = [Cell::signed(&weights[i])].into_iter().chain(interval);
            grid.line(line.chain([Cell::right(frequency), Cell::left(name)]));
        }
    }
    let _ = write!(
        text,
        "{grid}\nFound: in how many draws the search came upon a rule like this one. The interval of a weight takes \
         the rules as given:\nit does not cover that they were selected by the same rows, and weights stay pulled \
         towards 0 by the penalty.\n"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_align_by_width_on_screen() {
        let mut grid = Grid::default();
        grid.line([Cell::left("日本"), Cell::right("1")]);
        grid.line([Cell::left("abcdef"), Cell::right("23")]);
        grid.line([Cell::left("é\n\x1b[2J"), Cell::left("")]);
        grid.line([Cell::left("a"), Cell::right("4  ")]);
        let text = anstream::adapter::strip_str(&grid.to_string()).to_string();
        assert_eq!(text, "  日本            1\n  abcdef         23\n  é\\n\\u{1b}[2J\n  a             4\n");
    }

    #[test]
    fn long_rules_break_between_conditions() {
        let clauses = ["weather = snow", "17 <= hour <= 19", "km >= 6.1"].map(String::from).to_vec();
        let rule = RuleText { opening: "if", clauses };
        assert_eq!(broken(&rule, 80), ["if weather = snow & 17 <= hour <= 19 & km >= 6.1"]);
        assert_eq!(broken(&rule, 38), ["if weather = snow & 17 <= hour <= 19 &", "   km >= 6.1"]);
        assert_eq!(broken(&rule, 5), ["if weather = snow &", "   17 <= hour <= 19 &", "   km >= 6.1"]);
        let trend = RuleText { opening: "", clauses: vec!["per 10 of age, from 18 to 65 (0 at 40)".into()] };
        assert_eq!(broken(&trend, 5), ["per 10 of age, from 18 to 65 (0 at 40)"]);
    }
}
