//! Other systems on the same splits, from the CSV that `experiments/quality_peers.py` writes.

use super::curve::Curve;
use super::report::{Score, System};
use crate::data::DataSet;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;

/// Complexity, training and test risk.
type Size = (usize, f64, f64);
/// The sizes of one system by data set and split.
type Sizes = BTreeMap<(usize, usize), Vec<Size>>;

/// The systems in the CSV of peers, in the order in which they appear.
pub(crate) fn read(path: &Path, sets: &[DataSet], splits: usize) -> Result<Vec<System>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut points: Vec<(String, Sizes)> = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let bad = || {
            format!(
                "{}, line {}: not data_set,split,system,complexity,train_risk,test_risk",
                path.display(),
                number + 1
            )
        };
        let fields: Vec<&str> = line.split(',').collect();
        let [set, split, system, complexity, train, test] = fields.as_slice() else { bail!(bad()) };
        let Some(set) = sets.iter().position(|s| s.name == *set) else { continue };
        let split: usize = split.parse().with_context(bad)?;
        if split >= splits {
            continue;
        }
        let point =
            (complexity.parse().with_context(bad)?, train.parse().with_context(bad)?, test.parse().with_context(bad)?);
        let index = points.iter().position(|(name, _)| name == system).unwrap_or(points.len());
        if index == points.len() {
            points.push(((*system).to_owned(), BTreeMap::new()));
        }
        points[index].1.entry((set, split)).or_default().push(point);
    }
    let score = |mut sizes: Vec<Size>| {
        sizes.sort_by_key(|s| s.0);
        let curve = |risk: fn(&Size) -> f64| Curve::new(&sizes.iter().map(|s| (s.0, risk(s))).collect::<Vec<_>>());
        Score { train: curve(|s| s.1), test: curve(|s| s.2), seconds: f64::NAN }
    };
    let system = |(name, sizes): (String, Sizes)| System {
        name,
        scores: sizes.into_iter().map(|(key, sizes)| (key, score(sizes))).collect(),
    };
    Ok(points.into_iter().map(system).collect())
}
