//! Any file as a table: read whole and in batches, learned from in memory and as codes, predicted, explained, measured.

use super::{Outcome, Verdict, refused, values};
use crate::case::Case;
use crate::settings::Understood;
use orthorules::params::RegLambda;
use orthorules::table::{Batches, ReadOptions, read};
use orthorules::{Coded, Error, Loss, Model, Observer, Predictions, Predictor, Problem, Result as Engine, Table, fit};
use std::path::Path;
use std::time::{Duration, Instant};

/// A fit is asked to stop after this long, and then has the rest of the case's time to do so.
const PATIENCE: Duration = Duration::from_secs(4);

/// Asks to stop when patience ends.
pub(super) struct Patience(Instant);

impl Patience {
    pub(super) fn new() -> Self {
        Self(Instant::now())
    }

    fn ended(&self) -> bool {
        self.0.elapsed() > PATIENCE
    }
}

impl Observer for Patience {
    fn stop(&self) -> bool {
        self.ended()
    }
}

pub(super) fn check(case: &Case, folder: &Path) -> Verdict {
    let path = folder.join(&case.name);
    std::fs::write(&path, &case.bytes).map_err(|e| format!("the harness cannot write: {e}"))?;
    let understood = match case.settings.understood() {
        Ok(understood) => understood,
        Err(error) => return refused(&error),
    };
    with(&path, &understood, folder)
}

/// Everything that the command line does with the table at `path`.
pub(super) fn with(path: &Path, understood: &Understood, folder: &Path) -> Verdict {
    let Understood { roles, params, memory_limit } = understood;
    let options = roles.read_options();
    let whole = read(path, &options);
    same_rows(&whole, path, &options)?;
    // As the command line does: bad parameters are told before a table is read.
    if let Err(error) = params.check(Loss::Squared, 1) {
        return refused(&error);
    }
    let held = whole.and_then(|table| Ok((Problem::new(table.clone(), roles)?, table)));
    // Folds and draws need the table in memory, and so do groups in the folds that choose λ.
    let grouped = params.reg_lambda == Some(RegLambda::Cv) && roles.groups.is_some();
    let held_whole = params.cv.is_some() || params.bootstrap.is_some() || grouped;
    let patience = Patience::new();
    let in_memory = |problem: &Problem| fit(problem, params, &patience).map(|fitted| fitted.model);
    let (model, table) = if held_whole {
        match held.and_then(|(problem, table)| Ok((in_memory(&problem)?, table))) {
            Ok(found) => found,
            Err(error) => return refused(&error),
        }
    } else {
        let streamed = Coded::read(path, roles, params, *memory_limit).map(|(coded, _)| coded);
        match (streamed, held) {
            (Ok(streamed), Ok((problem, table))) => {
                let first = streamed.fit(&patience).map(|fitted| fitted.model);
                let second = in_memory(&problem);
                if params.time_limit.is_none() && !patience.ended() {
                    same(&first, &second)?;
                }
                match first {
                    Ok(model) => (model, table),
                    Err(error) => return refused(&error),
                }
            }
            (Err(error), Err(other)) if same_fault(&error, &other) => return refused(&error),
            (Err(error), Err(other)) => return Err(format!("streamed: {error}; in memory: {other}")),
            // Of a damaged file, one way of reading may meet what the other does not need.
            (Ok(_), Err(error)) | (Err(error), Ok(_)) if is_damage(&error) => return refused(&error),
            (Ok(_), Err(error)) => return Err(format!("only in memory: {error}")),
            // What a task and parameters exclude is told before the codes are made, or else by the fit.
            (Err(error), Ok((problem, _))) => {
                return match in_memory(&problem) {
                    Err(other) if same_fault(&error, &other) => refused(&error),
                    _ => Err(format!("only streamed: {error}")),
                };
            }
        }
    };
    values::survives_its_file(&model, folder)?;
    // Learning from a file implies that it can be predicted.
    values::predictions(&model, &table)?.map_err(|e| format!("the training table cannot be predicted: {e}"))?;
    same_in_batches(&model, path, &table)?;
    if let Err(error) = values::measures(&model, &table)? {
        refused(&error)?;
    }
    Ok(Outcome::Used)
}

/// Whether the bytes of a file are damaged, rather than its values.
fn is_damage(error: &Error) -> bool {
    error.to_string().contains("is not a readable")
}

/// Whether both say the same. Of a file that is damaged in several places, each may have met another one first.
fn same_fault(error: &Error, other: &Error) -> bool {
    error.to_string() == other.to_string() || (is_damage(error) && is_damage(other))
}

/// Batches hold as many rows as the whole table, and are refused where it is.
fn same_rows(whole: &Engine<Table>, path: &Path, options: &ReadOptions) -> Result<(), String> {
    let batches: Engine<Vec<Table>> = Batches::open(path, options).and_then(Iterator::collect);
    match (whole, batches) {
        (Ok(table), Ok(batches)) => {
            let rows: usize = batches.iter().map(Table::rows).sum();
            if rows == table.rows() { Ok(()) } else { Err(format!("{rows} rows in batches, {} in all", table.rows())) }
        }
        (Err(_), Err(_)) => Ok(()),
        (Ok(_), Err(error)) if is_damage(&error) => Ok(()),
        (Ok(_), Err(error)) => Err(format!("only batches cannot be read: {error}")),
        (Err(error), Ok(_)) => Err(format!("only in batches it can be read: {error}")),
    }
}

fn same(first: &Engine<Model>, second: &Engine<Model>) -> Result<(), String> {
    match (first, second) {
        // By their files: a number that is none is found where the model is saved.
        (Ok(a), Ok(b)) if a.to_json() == b.to_json() => Ok(()),
        (Err(a), Err(b)) if a.to_string() == b.to_string() => Ok(()),
        (Ok(_), Ok(_)) => Err("streamed and in memory, the models differ".into()),
        (a, b) => {
            let told = |r: &Engine<Model>| r.as_ref().map_or_else(ToString::to_string, |_| "a model".into());
            Err(format!("streamed: {}; in memory: {}", told(a), told(b)))
        }
    }
}

/// Predictions batch by batch are those of the whole table, as `orthorules predict` reads it.
fn same_in_batches(model: &Model, path: &Path, table: &Table) -> Result<(), String> {
    let predictor = Predictor::at(model, model.chosen());
    let predict = || -> Engine<Predictions> {
        predictor.each(Batches::open(path, &model.options_to_predict())?, |_, part| part).collect()
    };
    let parts = match predict() {
        Ok(parts) => parts,
        // Damage behind the last row is met or not, as pieces end.
        Err(error) if is_damage(&error) => return Ok(()),
        Err(error) => return Err(format!("the training file cannot be predicted in batches: {error}")),
    };
    let whole = model.predict(table).map_err(|e| format!("the training table cannot be predicted: {e}"))?;
    let bits = |predictions: &Predictions| -> Vec<u64> { predictions.values().iter().map(|x| x.to_bits()).collect() };
    if bits(&parts) == bits(&whole) { Ok(()) } else { Err("predictions in batches differ".into()) }
}
