//! Systems side by side: tables, comparisons and CSV.

use super::curve::{Comparison, Curve, LEVELS, geometric};
use crate::data::DataSet;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What one system does on one split.
#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) train: Curve,
    pub(crate) test: Curve,
    /// Of the fit; not known of peers.
    pub(crate) seconds: f64,
}

/// One system on all data sets: scores by data set and split.
pub(crate) struct System {
    pub(crate) name: String,
    pub(crate) scores: BTreeMap<(usize, usize), Score>,
}

impl System {
    /// The scores on one data set.
    fn on(&self, data: usize) -> impl Iterator<Item = &Score> {
        self.scores.range((data, 0)..(data + 1, 0)).map(|(_, score)| score)
    }

    /// The mean over splits of one figure; absent where there is no split.
    fn mean(&self, data: usize, figure: fn(&Score) -> f64) -> Option<f64> {
        let values: Vec<f64> = self.on(data).map(figure).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The geometric mean of one figure over the data sets that were measured.
    fn over_all(&self, sets: usize, figure: fn(&Score) -> f64) -> f64 {
        geometric((0..sets).filter_map(|d| self.mean(d, figure)))
    }

    /// The average test or training curve: mean over splits, geometric mean over data sets.
    pub(crate) fn average_curve(&self, sets: usize, curve: fn(&Score) -> &Curve) -> Vec<f64> {
        let means: Vec<Curve> = (0..sets)
            .map(|d| self.on(d).map(curve).collect::<Vec<_>>())
            .filter(|curves| !curves.is_empty())
            .map(|curves| Curve::mean(&curves))
            .collect();
        (0..LEVELS).map(|level| geometric(means.iter().map(|c| c.0[level]))).collect()
    }

    /// Logarithms of the ratios of this system's test figure to `other`'s, on the splits that both have.
    fn log_ratios(&self, other: &Self, sets: impl Iterator<Item = usize>) -> Vec<f64> {
        let sums = |d: usize| {
            let shared = self.scores.range((d, 0)..(d + 1, 0)).filter_map(|(key, a)| Some((a, other.scores.get(key)?)));
            shared.fold((0.0, 0.0), |(x, y), (a, b)| (x + a.test.average(), y + b.test.average()))
        };
        sets.map(sums).filter(|&(x, _)| x > 0.0).map(|(x, y)| (x / y).ln()).collect()
    }
}

/// Data sets × systems, and geometric means.
pub(crate) fn table(systems: &[System], sets: &[DataSet]) -> String {
    let figures: [fn(&Score) -> f64; 3] = [|s| s.train.average(), |s| s.test.average(), |s| s.seconds];
    let mut text = format!("{:16}", "");
    for system in systems {
        let _ = write!(text, "{:>25}", system.name);
    }
    let _ = writeln!(text, "\n{:16}{}", "data set", "   train    test  seconds".repeat(systems.len()));
    let line = |text: &mut String, [train, test, seconds]: [Option<f64>; 3]| {
        let show = |x: Option<f64>, digits: usize| match x {
            Some(x) if x.is_finite() => format!("{x:.digits$}"),
            _ => "–".to_owned(),
        };
        let _ = write!(text, "{:>8}{:>8}{:>9}", show(train, 4), show(test, 4), show(seconds, 3));
    };
    for (d, set) in sets.iter().enumerate() {
        let _ = write!(text, "{:16}", set.name);
        systems.iter().for_each(|s| line(&mut text, figures.map(|f| s.mean(d, f))));
        text.push('\n');
    }
    let _ = write!(text, "{:16}", "geometric mean");
    systems.iter().for_each(|s| line(&mut text, figures.map(|f| Some(s.over_all(sets.len(), f)))));
    text.push('\n');
    text
}

/// The first system against every other, on all data sets; then on the small and the large ones, where there are both.
pub(crate) fn comparisons(systems: &[System], sets: &[DataSet]) -> String {
    let mut text = String::new();
    let Some((first, others)) = systems.split_first() else { return text };
    let size = |small: bool| (0..sets.len()).filter(move |&d| sets[d].is_small() == small);
    for other in others {
        let ratios = first.log_ratios(other, 0..sets.len());
        let Comparison { wins, ties, losses, p, .. } = Comparison::new(&ratios);
        let ratio = geometric(ratios.iter().map(|x| x.exp()));
        let _ = writeln!(
            text,
            "{} against {}: test risk × {ratio:.3} on {} data sets; {wins} better, {ties} within 1 %, {losses} worse; \
             Wilcoxon p = {p:.2e}",
            first.name,
            other.name,
            ratios.len()
        );
        let mut groups = vec![("all", ratios)];
        for (name, small) in [("small", true), ("large", false)] {
            groups.push((name, first.log_ratios(other, size(small))));
        }
        let both = groups[1..].iter().all(|(_, ratios)| !ratios.is_empty());
        for (name, ratios) in groups.iter().take(if both { 3 } else { 1 }) {
            let Comparison { mean: [mean, se], clear: [better, worse], .. } = Comparison::new(ratios);
            let _ = writeln!(
                text,
                "  {name:5} mean log ratio {mean:+.4} ± {se:.4}; {better} better and {worse} worse by 0.5 %, of {}",
                ratios.len()
            );
        }
    }
    text
}

/// The steps of every system's curves on every split, as `peers::read` takes them.
pub(crate) fn sizes_csv(systems: &[System], sets: &[DataSet]) -> String {
    let mut text = String::from("data_set,split,system,complexity,train_risk,test_risk\n");
    for system in systems {
        for ((d, split), score) in &system.scores {
            let mut before = [1.0, 1.0];
            let mut line = |level: usize, [train, test]: [f64; 2]| {
                let _ = writeln!(text, "{},{split},{},{level},{train},{test}", sets[*d].name, system.name);
            };
            line(0, before);
            for level in 0..LEVELS {
                let now = [score.train.0[level], score.test.0[level]];
                if now != before {
                    line(level + 1, now);
                    before = now;
                }
            }
        }
    }
    text
}

/// Every system on every data set.
pub(crate) fn csv(systems: &[System], sets: &[DataSet]) -> String {
    let mut text = String::from("data_set,variant,train,test,seconds\n");
    for (d, set) in sets.iter().enumerate() {
        for system in systems {
            let [train, test, seconds] =
                [|s: &Score| s.train.average(), |s: &Score| s.test.average(), |s: &Score| s.seconds]
                    .map(|f: fn(&Score) -> f64| system.mean(d, f));
            if let (Some(train), Some(test)) = (train, test) {
                let seconds = seconds.filter(|s| s.is_finite()).map_or(String::new(), |s| s.to_string());
                let _ = writeln!(text, "{},{},{train},{test},{seconds}", set.name, system.name);
            }
        }
    }
    text
}

/// The average curves.
pub(crate) fn curves_csv(systems: &[System], sets: usize) -> String {
    let mut text = String::from("variant,complexity,train,test\n");
    for system in systems {
        let train = system.average_curve(sets, |score| &score.train);
        let test = system.average_curve(sets, |score| &score.test);
        for level in 0..LEVELS {
            let _ = writeln!(text, "{},{},{},{}", system.name, level + 1, train[level], test[level]);
        }
    }
    text
}
