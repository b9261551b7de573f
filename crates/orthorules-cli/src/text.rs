//! Text for people: aligned tables, numbers of even precision, rules as lists.

use anstyle::{AnsiColor, Style};
use orthorules::model::CrossValidation;
use orthorules::model::{Ensemble, Size};
use orthorules::{Model, Task, decimal};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// What matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
const PLAIN: Style = Style::new();
const UP: Style = AnsiColor::Green.on_default();
const DOWN: Style = AnsiColor::Red.on_default();

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

    /// The same in another style.
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
}

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut widths: Vec<usize> = Vec::new();
        for line in &self.0 {
            widths.resize(widths.len().max(line.len()), 0);
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.text.width().min(WIDEST));
            }
        }
        for line in &self.0 {
            // Blanks wait until something follows them: lines have no blanks at their end.
            let mut blanks = 0;
            for (cell, width) in line.iter().zip(&widths) {
                let fill = width.saturating_sub(cell.text.width());
                blanks += 2 + if cell.right { fill } else { 0 };
                if !cell.text.is_empty() {
                    // A format's width ends at 65,535.
                    (0..blanks).try_for_each(|_| f.write_str(" "))?;
                    f.write_str(&styled(cell.style, &cell.text))?;
                    blanks = 0;
                }
                blanks += if cell.right { 0 } else { fill };
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

/// `values` with equally many decimals, so that their points align when flush right: `digits` significant digits for
/// the largest, two for the smallest where six decimals suffice. Very large or small numbers are scientific.
pub(crate) fn aligned(values: &[f64], digits: usize) -> Vec<String> {
    let sizes = || values.iter().map(|x| x.abs()).filter(|x| x.is_finite() && *x > 0.0);
    let (smallest, largest) = sizes().fold((f64::INFINITY, 0.0), |(low, high), x| (x.min(low), x.max(high)));
    let exponent = |x: f64| x.log10().floor() as i32;
    let scientific = largest > 0.0 && !(1e-4..1e9).contains(&largest);
    let decimals = if largest > 0.0 && !scientific {
        (digits as i32 - 1 - exponent(largest)).max(1 - exponent(smallest)).clamp(0, 6) as usize
    } else {
        0
    };
    let show = |&x: &f64| match x {
        x if x.is_nan() => "–".to_owned(),
        x if x.is_infinite() => if x > 0.0 { "inf" } else { "-inf" }.to_owned(),
        0.0 => format!("{:.decimals$}", 0.0),
        x if scientific => format!("{x:.*e}", digits - 1),
        x if x.abs() < 0.5e-6 => format!("{x:.1e}"),
        x => format!("{x:.decimals$}"),
    };
    values.iter().map(show).collect()
}

/// As [`aligned`], with a plus sign where there is no minus.
pub(crate) fn signed(values: &[f64], digits: usize) -> Vec<String> {
    let mut texts = aligned(values, digits);
    texts.iter_mut().filter(|t| !t.starts_with('-') && !t.starts_with('–')).for_each(|t| t.insert(0, '+'));
    texts
}

/// `part` of `whole` in per cent, without pretending that a few are none or nearly all are all.
fn share(part: u64, whole: usize) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    match percent {
        p if part > 0 && p < 0.5 => "<1%".into(),
        p if p < 100.0 && p > 99.5 => ">99%".into(),
        p => format!("{p:.0}%"),
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

/// The rules of one size, a list for each ensemble. Coverage also in per cent where the number of training rows
/// is known.
pub(crate) fn rules(model: &Model, rules: usize, rows: Option<usize>) -> String {
    let mut text = String::new();
    for (i, (ensemble, step)) in model.steps(rules).enumerate() {
        let size = format!("{}, complexity {}", count(step.rules, "rule"), step.complexity);
        let class = ensemble.class.as_ref().map_or(String::new(), |c| clean(&format!("{} = {c}: ", model.target)));
        let gap = if i > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{}\n", styled(BOLD, &format!("{class}{size}")));
        let _ = write!(text, "{}", rule_list(model.task, ensemble, step, rows));
    }
    text
}

fn rule_list(task: Task, ensemble: &Ensemble, step: &Size, rows: Option<usize>) -> Grid {
    let values: Vec<f64> = step.weights.iter().copied().chain([step.intercept]).collect();
    let weights = signed(&values, 3);
    let factors = aligned(&values.iter().map(|w| w.exp()).collect::<Vec<_>>(), 3);
    let mut grid = Grid::default();
    let head = |text| Cell::right(text).styled(DIM);
    let factor_head = (task == Task::Poisson).then(|| head("factor"));
    // Rules of a model written by hand may not know their coverage.
    let known = ensemble.rules.iter().any(|rule| rule.covered > 0);
    // Every search bounds what it missed; the text tells only where exact search has proven something.
    let certified = ensemble.rules.iter().any(|rule| rule.proven);
    let rows_head = known.then(|| head("rows"));
    grid.line([head("weight")].into_iter().chain(factor_head).chain([Cell::left("")]).chain(rows_head));
    let factor = |line: usize| (task == Task::Poisson).then(|| Cell::right(format!("×{}", factors[line])));
    for (line, rule) in step.members().map(|k| &ensemble.rules[k]).enumerate() {
        let covered = known.then(|| Cell::right(rule.covered.to_string()));
        let part = known.then_some(rows).flatten().map(|n| Cell::right(share(rule.covered, n)).styled(DIM));
        let proof = rule.gap().filter(|_| certified).map(|gap| Cell::left(certificate(rule.proven, gap)).styled(DIM));
        let what = [Cell::left(format!("if {rule}"))];
        let weight = [Cell::signed(&weights[line])].into_iter();
        grid.line(weight.chain(factor(line)).chain(what).chain(covered).chain(part).chain(proof));
    }
    let intercept = [Cell::signed(&weights[step.rules])].into_iter().chain(factor(step.rules));
    grid.line(intercept.chain([Cell::left("always (intercept)")]));
    grid
}

/// What exact search knows of a rule.
fn certificate(proven: bool, gap: f64) -> String {
    if proven { "best".into() } else { format!("within {}% of the best", decimal::rounded(100.0 * gap, 2)) }
}

/// One column of numbers of a [`path_table`].
pub(crate) type Measure<'a> = (&'a str, Vec<f64>);

/// Every size of a model with its measures; the chosen one is marked.
pub(crate) fn path_table(sizes: &[(usize, usize)], measures: &[Measure], chosen: usize) -> Grid {
    let mut grid = Grid::default();
    let names = ["rules", "complexity"].into_iter().chain(measures.iter().map(|m| m.0));
    grid.line(names.map(|name| Cell::right(name).styled(DIM)));
    let columns: Vec<Vec<String>> = measures.iter().map(|(_, values)| aligned(values, 4)).collect();
    // Of several sizes with that many rules the most complex is the chosen one.
    let chosen = sizes.iter().rposition(|s| s.0 == chosen);
    for (i, &(rules, complexity)) in sizes.iter().enumerate() {
        let is_chosen = chosen == Some(i);
        let style = if is_chosen { BOLD } else { PLAIN };
        let numbers = [rules.to_string(), complexity.to_string()];
        let cells = numbers.into_iter().chain(columns.iter().map(|c| c[i].clone()));
        let mark = is_chosen.then(|| Cell::left("chosen").styled(DIM));
        grid.line(cells.map(|text| Cell::right(text).styled(style)).chain(mark));
    }
    grid
}

/// What cross-validation chose, and the best size of every λ that it tried.
pub(crate) fn cross_validation(cv: &CrossValidation) -> String {
    let rule = cv.select.described();
    let groups = cv.groups.as_ref().map_or(String::new(), |g| format!(" by {}", clean(g)));
    let mut text = format!("Chosen by {} folds{groups}: {rule}.\n", cv.folds);
    if cv.grid.len() < 2 {
        return text;
    }
    text.push_str("The best size with each penalty λ:\n\n");
    let mut grid = Grid::default();
    grid.line(["λ", "rules", "complexity", "cv risk", "± se"].map(|name| Cell::right(name).styled(DIM)));
    let risks = aligned(&cv.grid.iter().map(|g| g.cv_risk).collect::<Vec<_>>(), 4);
    let errors = aligned(&cv.grid.iter().map(|g| g.cv_se).collect::<Vec<_>>(), 4);
    for (i, point) in cv.grid.iter().enumerate() {
        let chosen = point.reg_lambda == cv.reg_lambda;
        let lambda = decimal::rounded(point.reg_lambda, 3);
        let cells =
            [lambda, point.rules.to_string(), point.complexity.to_string(), risks[i].clone(), errors[i].clone()];
        let mark = chosen.then(|| Cell::left("chosen").styled(DIM));
        let style = if chosen { BOLD } else { PLAIN };
        grid.line(cells.map(|text| Cell::right(text).styled(style)).into_iter().chain(mark));
    }
    let _ = write!(text, "{grid}");
    text
}

/// How sure the rules and weights are; nothing where the bootstrap was not asked about this size.
pub(crate) fn uncertainty(model: &Model, rules: usize) -> String {
    let Some(bootstrap) = model.bootstrap.as_ref().filter(|b| b.rules == rules) else { return String::new() };
    let what = bootstrap.groups.as_ref().map_or("rows".to_owned(), |g| format!("groups by {}", clean(g)));
    let mut text = format!("\n{}\n\n", styled(BOLD, &format!("How sure: {} draws of the {what}", bootstrap.samples)));
    let mut grid = Grid::default();
    let heads = [Cell::right("weight"), Cell::right("95% from"), Cell::right("to"), Cell::right("found")];
    grid.line(heads.into_iter().map(|cell| cell.styled(DIM)));
    for ((ensemble, step), found) in model.steps(rules).zip(&bootstrap.ensembles) {
        let class = ensemble.class.as_ref().map_or(String::new(), |c| format!("{c}: "));
        let ends = found.rules.iter().map(|r| r.interval).chain([found.intercept]);
        let ends: Vec<f64> = ends.flat_map(|(low, high)| [low, high]).collect();
        let all: Vec<f64> = step.weights.iter().copied().chain([step.intercept]).chain(ends).collect();
        let texts = signed(&all, 3);
        let (weights, ends) = texts.split_at(step.rules + 1);
        let names = step.members().map(|k| format!("{class}if {}", ensemble.rules[k]));
        let frequencies = found.rules.iter().map(|r| percent(r.frequency)).chain([String::new()]);
        let names = names.chain([format!("{class}always (intercept)")]);
        for (i, (name, frequency)) in names.zip(frequencies).enumerate() {
            let interval = [Cell::right(&ends[2 * i]), Cell::right(&ends[2 * i + 1])];
            let line = [Cell::signed(&weights[i])].into_iter().chain(interval);
            grid.line(line.chain([Cell::right(frequency), Cell::left(name)]));
        }
    }
    let _ = write!(
        text,
        "{grid}\nFound: in how many draws the search came upon a rule like this one. The interval of a weight takes the rules as \
         given:\nit does not cover that they were selected by the same rows, and weights stay pulled towards 0 by the penalty.\n"
    );
    text
}

fn percent(part: f64) -> String {
    format!("{:.0}%", 100.0 * part)
}

/// `risks` divided by that of the constant model; not a number where there is none or it is 0.
pub(crate) fn relative(sizes: &[(usize, usize)], risks: &[f64]) -> Vec<f64> {
    let constant = sizes.iter().position(|s| s.0 == 0).map_or(f64::NAN, |i| risks[i]);
    risks.iter().map(|r| if constant > 0.0 { r / constant } else { f64::NAN }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_align_at_the_point() {
        assert_eq!(signed(&[0.741, -1.42, -0.409], 3), ["+0.74", "-1.42", "-0.41"]);
        assert_eq!(aligned(&[23211.4, 592.3, -81.0], 3), ["23211", "592", "-81"]);
        assert_eq!(aligned(&[0.693, 0.000_12, 0.0], 4), ["0.69300", "0.00012", "0.00000"]);
        assert_eq!(aligned(&[0.693, 1e-12], 4)[1], "1.0e-12");
        assert_eq!(aligned(&[1e300, -2.5e299], 3), ["1.00e300", "-2.50e299"]);
        assert_eq!(aligned(&[f64::NAN, 1.5, f64::INFINITY], 2), ["–", "1.5", "inf"]);
        assert_eq!(aligned(&[0.0, 0.0], 4), ["0", "0"]);
        assert_eq!(signed(&[0.0], 3), ["+0"]);
    }

    #[test]
    fn grids_align_by_width_on_screen() {
        let mut grid = Grid::default();
        grid.line([Cell::left("日本"), Cell::right("1")]);
        grid.line([Cell::left("abcdef"), Cell::right("23")]);
        grid.line([Cell::left("é\n\x1b[2J"), Cell::left("")]);
        let text = anstream::adapter::strip_str(&grid.to_string()).to_string();
        assert_eq!(text, "  日本           1\n  abcdef        23\n  é\\n\\u{1b}[2J\n");
    }

    #[test]
    fn shares_do_not_overstate() {
        let texts = [(0, 10), (1, 1000), (19, 100), (999, 1000), (7, 7)].map(|(part, whole)| share(part, whole));
        assert_eq!(texts, ["0%", "<1%", "19%", ">99%", "100%"]);
    }

    #[test]
    fn relative_risk_needs_a_constant_model() {
        assert_eq!(relative(&[(0, 0), (1, 2)], &[2.0, 1.0]), [1.0, 0.5]);
        assert!(relative(&[(1, 2)], &[1.0])[0].is_nan());
        assert!(relative(&[(0, 0)], &[0.0])[0].is_nan());
    }
}
