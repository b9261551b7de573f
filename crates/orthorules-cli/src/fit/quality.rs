//! How good the chosen size is, in measures that people know.

use crate::number::alone;
use orthorules::evaluate::Evaluation;
use orthorules::params::Intercept;
use orthorules::{Model, Params, Task};

/// RMSE and R² follow from squared risks. AUC and accuracy are measured by `evaluate`, where it can.
pub(super) fn told(model: &Model, params: &Params, evaluate: impl FnOnce() -> Option<Evaluation>) -> Option<String> {
    match model.task {
        Task::Regression => {
            let [list] = model.lists.as_slice() else { return None };
            let risks = list.sizes.iter().map(|size| size.train_risk);
            let chosen = list.place_of(list.chosen());
            // Beside an offset, the first size is not the mean of the target.
            let has_r2 = params.intercept != Intercept::None && model.offset.is_none();
            let train = squared(has_r2, &risks.collect::<Vec<_>>(), chosen)?;
            let held_out = model
                .cv
                .as_ref()
                .and_then(|cv| squared(has_r2, &cv.path.iter().map(|size| size.cv_risk).collect::<Vec<_>>(), chosen));
            let held_out = held_out.map_or(String::new(), |measures| format!(" Cross-validated: {measures}."));
            Some(format!("On the training rows: {train}.{held_out}"))
        }
        Task::Classification => {
            let metrics = evaluate()?.metrics;
            let metric = |name: &str| metrics.iter().find(|m| m.0 == name).map(|m| m.1).filter(|x| x.is_finite());
            let auc = metric("auc").map_or(String::new(), |auc| format!("AUC {}, ", alone(auc, 3)));
            let held_out = model.cv.as_ref().and_then(|cv| cv.measures).map_or(String::new(), |held| {
                let auc = held.auc.map_or(String::new(), |auc| format!("AUC {}, ", alone(auc, 3)));
                let (accuracy, loss) = (accuracy(held.accuracy), alone(held.log_loss, 3));
                format!(" Cross-validated: {auc}accuracy {accuracy}, log loss {loss}.")
            });
            Some(format!("On the training rows: {auc}accuracy {}.{held_out}", accuracy(metric("accuracy")?)))
        }
        _ => None,
    }
}

/// A part of right answers; only without a wrong one it is all.
fn accuracy(part: f64) -> String {
    if (0.9995..1.0).contains(&part) { ">99.9%".into() } else { format!("{:.1}%", 100.0 * part) }
}

/// RMSE of the size at `chosen`, and R² where the first size is the mean of the target.
fn squared(has_r2: bool, risks: &[f64], chosen: usize) -> Option<String> {
    let (constant, risk) = (*risks.first()?, *risks.get(chosen)?);
    let rmse = alone(risk.sqrt(), 4);
    // Rounded first, so that nothing explained is not minus nothing.
    let r2 = ((1.0 - risk / constant) * 1000.0).round() / 1000.0 + 0.0;
    let r2 = if has_r2 && constant > 0.0 { format!(", R² {r2:.3}") } else { String::new() };
    Some(format!("RMSE {rmse}{r2}"))
}
