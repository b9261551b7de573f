//! The sizes of a model as a table that fits on a screen.

use crate::fit::SizeLabel;
use crate::number::aligned;
use crate::text::{BOLD, Cell, DIM, Grid, PLAIN, clean, width};
use orthorules::model::{CrossValidation, CvStep, OtherTerms, SizeName};
use orthorules::{Loss, Model, decimal};
use std::fmt::Write;

/// Sizes that are shown where not all are.
const MOST: usize = 15;

/// Measures that a narrow screen can do without, from the first to go on.
const SPARED: [&str; 7] = ["Brier", "MAE", "error", "± se", "relative", "train R²", "cv R²"];

/// One column of numbers of a [`path_table`].
pub(crate) type Measure<'a> = (&'a str, Vec<f64>);

/// How risks are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RiskScale {
    /// As they are, and beside them as parts of the constant model's.
    Risk,
    /// Squared losses: by their roots, in the units of the target, and as parts of the constant model's.
    Rmse,
    /// Squared losses where the constant model is the mean of the target: by their roots and R².
    Explained,
}

impl RiskScale {
    /// How risks of this loss are told; `from_mean` says whether the constant model is the mean of the target.
    pub(crate) fn of(loss: Loss, from_mean: bool) -> Self {
        match (loss, from_mean) {
            (Loss::Squared, true) => Self::Explained,
            (Loss::Squared, false) => Self::Rmse,
            _ => Self::Risk,
        }
    }

    /// What a risk is called.
    pub(crate) fn name(self) -> &'static str {
        if self == Self::Risk { "risk" } else { "RMSE" }
    }

    /// A risk as it is told.
    pub(crate) fn of_risk(self, risk: f64) -> f64 {
        if self == Self::Risk { risk } else { risk.sqrt() }
    }

    /// The standard error of a risk as it is told: that of a root by its slope.
    fn of_error(self, error: f64, risk: f64) -> f64 {
        if self == Self::Risk { error } else { error / (2.0 * risk.sqrt()) }
    }

    /// Columns with the `risks` of all sizes, and their standard errors if there are any. `names` are those of the
    /// first and of the last column.
    pub(crate) fn measures<'a>(
        self,
        names: (&'a str, &'a str),
        sizes: &[(usize, usize)],
        risks: &[f64],
        errors: Option<&[f64]>,
    ) -> Vec<Measure<'a>> {
        let told = |risks: &[f64]| risks.iter().map(|&risk| self.of_risk(risk)).collect::<Vec<f64>>();
        let errors = errors.map(|errors| errors.iter().zip(risks).map(|(e, r)| self.of_error(*e, *r)).collect());
        let relative = relative(sizes, &told(risks));
        let parts = match self {
            // What is less than a thousandth is nothing.
            Self::Explained => relative.into_iter().map(|part| explained(part * part)).collect(),
            Self::Risk | Self::Rmse => relative,
        };
        let errors = errors.map(|errors| ("± se", errors));
        [(names.0, told(risks))].into_iter().chain(errors).chain([(names.1, parts)]).collect()
    }
}

/// R² of a risk that is this part of the constant model's; nothing explained is not minus nothing.
fn explained(part: f64) -> f64 {
    let r2 = 1.0 - part;
    if r2.abs() < 0.0005 { 0.0 } else { r2 }
}

/// The sizes of a model with their measures; the chosen one is marked. Of many sizes some are shown, and `all` says
/// where the others are; without it every size is shown. `terms` says what is counted first: rules, or also trends.
pub(crate) fn path_table(
    terms: &str,
    sizes: &[(usize, usize)],
    mut measures: Vec<Measure>,
    chosen: SizeLabel,
    all: Option<&str>,
) -> String {
    let chosen = sizes.iter().position(|s| *s == (chosen.rules, chosen.complexity));
    let shown = if all.is_some() { some(sizes.len(), chosen) } else { (0..sizes.len()).collect() };
    let mut table = grid(terms, sizes, &measures, chosen, &shown);
    for name in SPARED {
        if table.width() <= width() {
            break;
        }
        measures.retain(|measure| measure.0 != name);
        table = grid(terms, sizes, &measures, chosen, &shown);
    }
    let mut text = table.to_string();
    if let Some(place) = all.filter(|_| shown.len() < sizes.len()) {
        let _ = writeln!(text, "\n{} of {} sizes; {place}.", shown.len(), sizes.len());
    }
    text
}

fn grid(terms: &str, sizes: &[(usize, usize)], measures: &[Measure], chosen: Option<usize>, shown: &[usize]) -> Grid {
    let mut grid = Grid::default();
    let names = [terms, "complexity"].into_iter().chain(measures.iter().map(|m| m.0));
    grid.line(names.map(|name| Cell::right(name).styled(DIM)));
    let columns: Vec<Vec<String>> = measures.iter().map(|(name, values)| aligned(values, digits(name))).collect();
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

/// Risks have four digits, what is beside them three.
fn digits(name: &str) -> usize {
    if name.contains("risk") || name.contains("RMSE") { 4 } else { 3 }
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
fn trade(model: &Model, cv: &CrossValidation, scale: RiskScale, chosen: SizeLabel) -> Option<String> {
    let chosen = cv.path.iter().find(|s| (s.rules, s.complexity) == (chosen.rules, chosen.complexity))?;
    let smaller = cv.path.iter().rfind(|s| s.rules > 0 && 2 * s.complexity <= chosen.complexity);
    let best = cv.path.iter().min_by(|a, b| a.cv_risk.total_cmp(&b.cv_risk).then(a.complexity.cmp(&b.complexity)))?;
    let told = |size: &CvStep, verb: &str| {
        let change = 100.0 * (scale.of_risk(size.cv_risk) / scale.of_risk(chosen.cv_risk) - 1.0).abs();
        let (terms, complexity) = (model.counted(SizeName::Complexity(size.complexity)), size.complexity);
        let told =
            || format!("{terms} (complexity {complexity}) would {verb} the {} by {} %", scale.name(), few(change));
        change.is_finite().then(told)
    };
    let cost = smaller.filter(|s| s.cv_risk >= chosen.cv_risk).and_then(|s| told(s, "raise"));
    let save = Some(best).filter(|s| s.cv_risk < chosen.cv_risk && s.complexity > chosen.complexity);
    let save = save.and_then(|s| told(s, "lower"));
    let all: Vec<String> = cost.into_iter().chain(save).collect();
    (!all.is_empty()).then(|| format!("{}.\n", all.join(", ")))
}

/// Few digits of a percentage.
fn few(percent: f64) -> String {
    if percent < 0.1 { "less than 0.1".into() } else { decimal::readable(percent, 2) }
}

/// Which other sizes do as well, where these differ by more than a factor of two: those within one standard error of
/// the best.
fn spread(cv: &CrossValidation, chosen: SizeLabel) -> Option<String> {
    let best = cv.path.iter().map(|s| s.cv_risk).min_by(f64::total_cmp)?;
    let near: Vec<&CvStep> = cv.path.iter().filter(|s| s.cv_risk - best <= s.cv_difference_se).collect();
    let (low, high) = (near.first()?.complexity.min(chosen.complexity), near.last()?.complexity.max(chosen.complexity));
    let is_large = high > 2 * low;
    is_large.then(|| {
        format!("The folds cannot tell complexities from {low} to {high} apart: each is within one standard error.\n")
    })
}

/// What other terms would cost or save.
fn others(cv: &CrossValidation, scale: RiskScale, chosen: SizeLabel) -> String {
    let Some(own) = cv.path.iter().find(|s| (s.rules, s.complexity) == (chosen.rules, chosen.complexity)) else {
        return String::new();
    };
    let told = |other: &OtherTerms| {
        let change = 100.0 * (scale.of_risk(other.cv_risk) / scale.of_risk(own.cv_risk) - 1.0);
        if !change.is_finite() {
            return None;
        }
        let verb = if change < 0.0 { "lower" } else { "raise" };
        let (name, change) = (scale.name(), few(change.abs()));
        let what = match other.terms.as_str() {
            "rules" => "Rules alone".to_owned(),
            terms => format!("--terms {terms}"),
        };
        Some(format!("{what} (complexity {}) would {verb} the {name} by {change} %.\n", other.complexity))
    };
    cv.others.iter().filter_map(told).collect()
}

/// What cross-validation chose, how sure that is, and what other terms would do.
pub(crate) fn cross_validation(model: &Model, cv: &CrossValidation, scale: RiskScale) -> String {
    let rule = cv.described();
    let groups = cv.groups.as_ref().map_or(String::new(), |g| format!(" by {}", clean(g)));
    let chosen = SizeLabel::of(model, model.chosen());
    let trade = trade(model, cv, scale, chosen).unwrap_or_default();
    let spread = spread(cv, chosen).unwrap_or_default();
    let others = others(cv, scale, chosen);
    let times = if cv.repeats > 1 { format!("; dealt out {} times", cv.repeats) } else { String::new() };
    let by = if cv.folds == 1 { "rows held out once".to_owned() } else { format!("{} folds", cv.folds) };
    let lambda = decimal::readable(cv.reg_lambda, 3);
    let mut text = format!("Chosen by {by}{groups}: {rule}{times}; penalty λ = {lambda}.\n{trade}{others}{spread}");
    // Files of earlier versions have the best size of every λ.
    if cv.grid.len() < 2 {
        return text;
    }
    text.push_str("The best size with each penalty λ:\n\n");
    let mut grid = Grid::default();
    let name = format!("cv {}", scale.name());
    grid.line(["λ", terms(model), "complexity", &name, "± se"].map(|name| Cell::right(name).styled(DIM)));
    let risks = aligned(&cv.grid.iter().map(|g| scale.of_risk(g.cv_risk)).collect::<Vec<_>>(), 4);
    let errors = aligned(&cv.grid.iter().map(|g| scale.of_error(g.cv_se, g.cv_risk)).collect::<Vec<_>>(), 3);
    for (i, point) in cv.grid.iter().enumerate() {
        let size = SizeLabel { rules: point.rules, complexity: point.complexity };
        let is_chosen = point.reg_lambda == cv.reg_lambda && size == chosen;
        let lambda = decimal::readable(point.reg_lambda, 3);
        let cells =
            [lambda, point.rules.to_string(), point.complexity.to_string(), risks[i].clone(), errors[i].clone()];
        let mark = is_chosen.then(|| Cell::left("chosen").styled(DIM));
        let style = if is_chosen { BOLD } else { PLAIN };
        grid.line(cells.map(|text| Cell::right(text).styled(style)).into_iter().chain(mark));
    }
    let _ = write!(text, "{grid}");
    text
}

/// What a size counts.
pub(crate) fn terms(model: &Model) -> &'static str {
    if model.has_trends() { "terms" } else { "rules" }
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
            "rules",
            &sizes,
            risks(),
            SizeLabel { rules: 50, complexity: 100 },
            Some("-v shows all"),
        ))
        .to_string();
        assert!(text.lines().count() <= MOST + 3 && text.ends_with(" of 100 sizes; -v shows all.\n"), "{text}");
        assert_eq!(
            path_table("rules", &sizes, risks(), SizeLabel { rules: 50, complexity: 100 }, None).lines().count(),
            101
        );
    }

    #[test]
    fn squared_losses_are_told_by_their_roots() {
        let sizes = [(0, 0), (1, 2)];
        let told = |scale: RiskScale| scale.measures(("train", "part"), &sizes, &[4.0, 1.0], Some(&[0.4, 0.1]));
        let root = [("train", vec![2.0, 1.0]), ("± se", vec![0.1, 0.05])];
        assert_eq!(told(RiskScale::Rmse), [&root[..], &[("part", vec![1.0, 0.5])]].concat());
        assert_eq!(told(RiskScale::Explained), [&root[..], &[("part", vec![0.0, 0.75])]].concat());
        assert_eq!(
            told(RiskScale::Risk),
            [("train", vec![4.0, 1.0]), ("± se", vec![0.4, 0.1]), ("part", vec![1.0, 0.25])]
        );
        assert_eq!(
            (RiskScale::of(Loss::Squared, true).name(), RiskScale::of(Loss::Logistic, true).name()),
            ("RMSE", "risk")
        );
    }

    #[test]
    fn relative_risk_needs_a_constant_model() {
        assert_eq!(relative(&[(0, 0), (1, 2)], &[2.0, 1.0]), [1.0, 0.5]);
        assert!(relative(&[(1, 2)], &[1.0])[0].is_nan());
        assert!(relative(&[(0, 0)], &[0.0])[0].is_nan());
    }
}
