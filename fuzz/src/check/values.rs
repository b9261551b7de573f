//! What predictions, explanations and measures of any model on any table must be.

use orthorules::model::SizeName;
use orthorules::predict::Activations;
use orthorules::{Model, Predictions, Predictor, Table};

/// Sizes of a model that are tried, and rows that are explained.
const SOME: usize = 4;

/// The model keeps its meaning in its file.
pub(super) fn survives_its_file(model: &Model, folder: &std::path::Path) -> Result<(), String> {
    let path = folder.join("saved.json");
    model.save(&path).map_err(|e| format!("a model cannot be saved: {e}"))?;
    let read = Model::load(&path).map_err(|e| format!("a model that was saved cannot be loaded: {e}"))?;
    if read != *model {
        return Err("a model changes when it is saved and loaded".into());
    }
    if read.to_json() != model.to_json() {
        return Err("a model's file changes when it is loaded and saved".into());
    }
    Ok(())
}

/// Predictions of some sizes are numbers of the right kind, and agree with the rules one by one.
pub(super) fn predictions(model: &Model, table: &Table) -> Result<orthorules::Result<()>, String> {
    let activations = match Activations::new(model, table) {
        Ok(activations) => activations,
        Err(error) => return Ok(Err(error)),
    };
    let mut sizes = model.sizes();
    let most = sizes.len().saturating_sub(SOME);
    sizes.drain(..most);
    for size in sizes.into_iter().map(SizeName::from).chain([model.chosen()]) {
        let predicted = match Predictor::at(model, size).predict(table) {
            Ok(predicted) => predicted,
            Err(error) => return Ok(Err(error)),
        };
        if predicted != activations.predictions(model, size) && !has_nan(&predicted) {
            return Err(format!("predictions at size {size} differ between blocks and rules"));
        }
        sensible(model, &predicted, table.rows())?;
        for row in 0..table.rows().min(SOME) {
            for (explanation, score) in model.explain(&activations, size, row).iter().zip(model.scores(size)) {
                let score = activations.scores(&score)[row];
                if explanation.score.to_bits() != score.to_bits() {
                    return Err(format!("row {row} is explained as {}, but its score is {score}", explanation.score));
                }
                explanation.contributions.iter().for_each(|c| drop(c.rule.to_string()));
            }
        }
    }
    Ok(Ok(()))
}

fn has_nan(predictions: &Predictions) -> bool {
    predictions.values().iter().any(|x| x.is_nan())
}

fn sensible(model: &Model, predictions: &Predictions, rows: usize) -> Result<(), String> {
    let values = predictions.values();
    match predictions.labels() {
        None => {
            let fine = |x: f64| !x.is_nan() && (!model.task.is_multiplied() || x >= 0.0);
            match values.iter().find(|x| !fine(**x)) {
                Some(x) => Err(format!("{} predicts {x}", model.task)),
                None if values.len() == rows => Ok(()),
                None => Err(format!("{} predictions for {rows} rows", values.len())),
            }
        }
        Some(labels) => {
            let classes = model.classes.len();
            if labels.len() != rows || values.len() != rows * classes {
                let (labels, values) = (labels.len(), values.len());
                return Err(format!("{labels} labels and {values} probabilities for {rows} rows"));
            }
            for (row, &label) in values.chunks_exact(classes.max(1)).zip(labels) {
                let sum: f64 = row.iter().sum();
                let within = row.iter().all(|p| (0.0..=1.0).contains(p));
                if !within || (sum - 1.0).abs() > 1e-9 || label as usize >= classes {
                    return Err(format!("class {label} with probabilities {row:?}"));
                }
            }
            Ok(())
        }
    }
}

/// Every size is measured, and no risk is not a number.
pub(super) fn measures(model: &Model, table: &Table) -> Result<orthorules::Result<()>, String> {
    let sizes = match model.evaluate(table) {
        Ok(sizes) => sizes,
        Err(error) => return Ok(Err(error)),
    };
    for size in sizes {
        // r2 and auc are not defined on every table.
        let bounded = size.metrics.iter().filter(|(name, _)| !["r2", "auc"].contains(name));
        for (name, value) in bounded.chain([&("risk", size.risk)]) {
            if value.is_nan() {
                return Err(format!("{name} of the size with {} rules is not a number", size.rules));
            }
        }
    }
    Ok(Ok(()))
}
