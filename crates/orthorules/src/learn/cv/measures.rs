//! How well classes are predicted for rows that were held out, in the usual measures.

use super::curve::{HeldOutFold, SizeCandidate, up_to};
use crate::model::evaluate::auc;
use crate::model::predict::Predictions;
use crate::model::report::{CvMeasures, sizes};

/// The measures of the chosen size: every row is predicted by the fit that has not seen it, and all rows are measured
/// together. None where numbers are predicted, which have no classes to count.
pub(super) fn of_classes(count: usize, folds: &[HeldOutFold], chosen: SizeCandidate) -> Option<CvMeasures> {
    if count == 0 {
        return None;
    }
    let (mut class, mut weight, mut probabilities) = (Vec::new(), Vec::new(), Vec::new());
    let (mut right, mut loss) = (0.0, 0.0);
    for fold in folds {
        let model = &fold.models[chosen.trial];
        let sizes = sizes(model);
        let complexities: Vec<usize> = sizes.iter().map(|size| size.complexity).collect();
        let steps = &sizes[up_to(&complexities, chosen.complexity)].steps;
        let predictions = fold.activations[chosen.trial].predictions_of(model, steps);
        let Predictions::Classes { labels, probabilities: given } = predictions else { return None };
        for (row, own) in given.chunks_exact(count).enumerate() {
            let (real, w) = (fold.truth.class[row], fold.truth.weight[row]);
            right += if labels[row] == real { w } else { 0.0 };
            loss -= w * own[real as usize].max(f64::MIN_POSITIVE).ln();
        }
        class.extend_from_slice(&fold.truth.class);
        weight.extend_from_slice(&fold.truth.weight);
        probabilities.extend(given);
    }
    let total: f64 = weight.iter().sum();
    // Of two classes the second is the positive one; of several each is compared with all others.
    let against = |k: usize| {
        let scores: Vec<f64> = probabilities.iter().skip(k).step_by(count).copied().collect();
        let is: Vec<u32> = class.iter().map(|&c| u32::from(c as usize == k)).collect();
        auc(&scores, &is, &weight)
    };
    let areas: Vec<f64> = if count == 2 { vec![against(1)] } else { (0..count).map(against).collect() };
    let mean = areas.iter().sum::<f64>() / areas.len() as f64;
    let auc = Some(mean).filter(|area| area.is_finite());
    Some(CvMeasures { auc, accuracy: right / total, log_loss: loss / total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::problem::{Problem, Roles, Task};
    use crate::data::table::{Column, Table, Values};
    use crate::learn::cv::division::HeldOutRows;
    use crate::learn::cv::folds::Folds;
    use crate::model::observer::Silent;
    use crate::params::Params;
    use crate::{Predictor, fit};

    /// By single rows and all pairs of rows.
    #[test]
    fn measures_are_those_of_rows_one_by_one() {
        for classes in [2, 3] {
            let mut random = crate::base::random::SplitMix64::new(5);
            let x: Vec<f64> = (0..150).map(|_| (random.uniform() * 20.0).floor()).collect();
            let y: Vec<usize> = x.iter().map(|x| (*x as usize / 7 + random.below(2)) % classes).collect();
            let table = Table::new(vec![
                Column::new("x", Values::numbers(x.iter().copied())),
                Column::new("y", Values::text(y.iter().map(|y| Some(["a", "b", "c"][*y])))),
                Column::new("w", Values::numbers((0..150).map(|r| 1.0 + f64::from(r % 3)))),
            ]);
            let (table, task) = (table.unwrap(), Some(Task::Classification));
            let roles = Roles { target: "y".into(), weight: Some("w".into()), task, ..Roles::default() };
            let problem = Problem::new(table.clone(), &roles).unwrap();
            let folds = Folds::new(&problem, 5, 0).unwrap();
            let params = Params { max_complexity: Some(6), cv: None, threads: Some(1), ..Params::default() };
            let mut rows: Vec<(usize, f64, Vec<f64>, u32)> = Vec::new();
            let held: Vec<HeldOutFold> = (0..5)
                .map(|f| {
                    let model = fit(&problem.take(&folds.rows(f, false)), &params, &Silent).unwrap().model;
                    HeldOutFold::new(HeldOutRows::of(&problem, &folds.rows(f, true)).unwrap(), vec![model]).unwrap()
                })
                .collect();
            for (fold, f) in held.iter().zip(0..) {
                let own = folds.rows(f, true);
                let size = crate::model::SizeName::Complexity(6);
                let found = Predictor::at(&fold.models[0], size).predict(&table.take(&own)).unwrap();
                for (i, &row) in own.iter().enumerate() {
                    let own = found.values()[i * classes..(i + 1) * classes].to_vec();
                    let place = ["a", "b", "c"].iter().position(|c| *c == ["a", "b", "c"][y[row as usize]]).unwrap();
                    rows.push((place, 1.0 + f64::from(row % 3), own, found.labels().unwrap()[i]));
                }
            }
            let area = |k: usize| {
                let (mut above, mut pairs) = (0.0, 0.0);
                for (yes, w, p, _) in rows.iter().filter(|row| row.0 == k) {
                    for (_, v, q, _) in rows.iter().filter(|row| row.0 != k) {
                        assert_eq!(*yes, k);
                        pairs += w * v;
                        above += w * v * if p[k] > q[k] { 1.0 } else { 0.5 * f64::from(p[k] == q[k]) };
                    }
                }
                above / pairs
            };
            let areas: Vec<f64> = if classes == 2 { vec![area(1)] } else { (0..3).map(area).collect() };
            let total: f64 = rows.iter().map(|row| row.1).sum();
            let right: f64 = rows.iter().filter(|row| row.0 == row.3 as usize).map(|row| row.1).sum();
            let loss: f64 = rows.iter().map(|row| -row.1 * row.2[row.0].ln()).sum();
            let chosen = SizeCandidate::new(0, 0, 6);
            let found = of_classes(problem.classes.len(), &held, chosen).unwrap();
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
            near(found.auc.unwrap(), areas.iter().sum::<f64>() / areas.len() as f64);
            near(found.accuracy, right / total);
            near(found.log_loss, loss / total);
        }
    }
}
