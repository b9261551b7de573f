//! The sizes of a model as a table that fits on a screen.

use crate::fit::SizeLabel;
use crate::number::aligned;
use crate::text::{BOLD, Cell, DIM, Grid, PLAIN, clean, count, width};
use orthorules::decimal;
use orthorules::model::{CrossValidation, CvStep};
use std::fmt::Write;

/// Sizes that are shown where not all are.
const MOST: usize = 15;

/// Measures that a narrow screen can do without, from the first to go on.
const SPARED: [&str; 5] = ["brier", "mae", "error", "± se", "relative"];

/// One column of numbers of a [`path_table`].
pub(crate) type Measure<'a> = (&'a str, Vec<f64>);

/// The sizes of a model with their measures; the chosen one is marked. Of many sizes some are shown, and `all` says
/// where the others are; without it every size is shown.
pub(crate) fn path_table(
    sizes: &[(usize, usize)],
    mut measures: Vec<Measure>,
    chosen: SizeLabel,
    all: Option<&str>,
) -> String {
    let chosen = sizes.iter().position(|s| *s == (chosen.rules, chosen.complexity));
    let shown = if all.is_some() { some(sizes.len(), chosen) } else { (0..sizes.len()).collect() };
    let mut table = grid(sizes, &measures, chosen, &shown);
    for name in SPARED {
        if table.width() <= width() {
            break;
        }
        measures.retain(|measure| measure.0 != name);
        table = grid(sizes, &measures, chosen, &shown);
    }
    let mut text = table.to_string();
    if let Some(place) = all.filter(|_| shown.len() < sizes.len()) {
        let _ = writeln!(text, "\n{} of {} sizes; {place}.", shown.len(), sizes.len());
    }
    text
}

fn grid(sizes: &[(usize, usize)], measures: &[Measure], chosen: Option<usize>, shown: &[usize]) -> Grid {
    let mut grid = Grid::default();
    let names = ["rules", "complexity"].into_iter().chain(measures.iter().map(|m| m.0));
    grid.line(names.map(|name| Cell::right(name).styled(DIM)));
    let columns: Vec<Vec<String>> = measures.iter().map(|(_, values)| aligned(values, 4)).collect();
    for &i in shown {
        let (rules, complexity) = sizes[i];
        let is_chosen = chosen == Some(i);
        let style = if is_chosen { BOLD } else { PLAIN };
        let numbers = [rules.to_string(), complexity.to_string()];
        let cells = numbers.into_iter().chain(columns.iter().map(|c| c[i].clone()));
        let mark = is_chosen.then(|| Cell::left("chosen").styled(DIM));
        grid.line(cells.map(|text| Cell::right(text).styled(style)).chain(mark));
    }
    grid
}

/// At most [`MOST`] of `count` sizes: the first and the last, the chosen one and its neighbours, others evenly spread.
fn some(count: usize, chosen: Option<usize>) -> Vec<usize> {
    if count <= MOST {
        return (0..count).collect();
    }
    let near = chosen.into_iter().flat_map(|c| c.saturating_sub(1)..=c + 1).filter(|&i| i < count);
    let near: Vec<usize> = near.collect();
    let with = |spread: usize| {
        let even = (0..spread).map(|i| i * (count - 1) / (spread - 1));
        let mut shown: Vec<usize> = even.chain(near.iter().copied()).collect();
        shown.sort_unstable();
        shown.dedup();
        shown
    };
    (2..=MOST).rev().map(with).find(|shown| shown.len() <= MOST).unwrap_or_else(|| with(2))
}

/// What about half the complexity would cost, and what the size of least risk would save.
fn trade(cv: &CrossValidation, chosen: SizeLabel) -> Option<String> {
    let chosen = cv.path.iter().find(|s| (s.rules, s.complexity) == (chosen.rules, chosen.complexity))?;
    let smaller = cv.path.iter().rfind(|s| s.rules > 0 && 2 * s.complexity <= chosen.complexity);
    let best = cv.path.iter().min_by(|a, b| a.cv_risk.total_cmp(&b.cv_risk).then(a.complexity.cmp(&b.complexity)))?;
    let told = |size: &CvStep, verb: &str| {
        let change = 100.0 * (size.cv_risk / chosen.cv_risk - 1.0).abs();
        let rules = count(size.rules, "rule");
        change.is_finite().then(|| format!("{rules} (complexity {}) would {verb} {} %", size.complexity, brief(change)))
    };
    let cost = smaller.filter(|s| s.cv_risk >= chosen.cv_risk).and_then(|s| told(s, "cost"));
    let cost = cost.map(|text| format!("{text} more"));
    let save = Some(best).filter(|s| s.cv_risk < chosen.cv_risk && s.complexity > chosen.complexity);
    let save = save.and_then(|s| told(s, "save"));
    let all: Vec<String> = cost.into_iter().chain(save).collect();
    (!all.is_empty()).then(|| format!("{} of that risk.\n", all.join(", ")))
}

/// Few digits of a percentage.
fn brief(percent: f64) -> String {
    if percent < 0.1 { "less than 0.1".into() } else { decimal::rounded(percent, 2) }
}

/// What cross-validation chose, and the best size of every λ that it tried.
pub(crate) fn cross_validation(cv: &CrossValidation, chosen: SizeLabel) -> String {
    let rule = cv.select.described();
    let groups = cv.groups.as_ref().map_or(String::new(), |g| format!(" by {}", clean(g)));
    let trade = trade(cv, chosen).unwrap_or_default();
    let mut text = format!("Chosen by {} folds{groups}: {rule}.\n{trade}", cv.folds);
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

/// `risks` divided by that of the constant model; not a number where there is none or it is 0.
pub(crate) fn relative(sizes: &[(usize, usize)], risks: &[f64]) -> Vec<f64> {
    let constant = sizes.iter().position(|s| s.0 == 0).map_or(f64::NAN, |i| risks[i]);
    risks.iter().map(|r| if constant > 0.0 { r / constant } else { f64::NAN }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_told_in_fifteen_lines() {
        assert_eq!(some(15, Some(3)), (0..15).collect::<Vec<_>>());
        for count in [16, 17, 40, 1000] {
            for chosen in [0, 1, count / 3, count - 2, count - 1] {
                let shown = some(count, Some(chosen));
                assert!((12..=MOST).contains(&shown.len()), "{count} {chosen}: {shown:?}");
                assert_eq!((shown[0], shown[shown.len() - 1]), (0, count - 1));
                let near = [chosen.saturating_sub(1), chosen, (chosen + 1).min(count - 1)];
                assert!(near.iter().all(|i| shown.contains(i)), "{count} {chosen}: {shown:?}");
                assert!(shown.is_sorted_by(|a, b| a < b));
            }
        }
        assert_eq!(some(1000, None).len(), MOST);
    }

    #[test]
    fn the_rest_is_named() {
        let sizes: Vec<(usize, usize)> = (0..100).map(|k| (k, 2 * k)).collect();
        let risks = || vec![("risk", (0..100).map(|k| 1.0 / f64::from(k + 1)).collect::<Vec<f64>>())];
        let text = anstream::adapter::strip_str(&path_table(
            &sizes,
            risks(),
            SizeLabel { rules: 50, complexity: 100 },
            Some("-v shows all"),
        ))
        .to_string();
        assert!(text.lines().count() <= MOST + 3 && text.ends_with(" of 100 sizes; -v shows all.\n"), "{text}");
        assert_eq!(path_table(&sizes, risks(), SizeLabel { rules: 50, complexity: 100 }, None).lines().count(), 101);
    }

    #[test]
    fn relative_risk_needs_a_constant_model() {
        assert_eq!(relative(&[(0, 0), (1, 2)], &[2.0, 1.0]), [1.0, 0.5]);
        assert!(relative(&[(1, 2)], &[1.0])[0].is_nan());
        assert!(relative(&[(0, 0)], &[0.0])[0].is_nan());
    }
}
