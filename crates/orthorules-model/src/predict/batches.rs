//! Predictions for the rows of a file, some at a time.

use super::{Predictions, Predictor};
use crate::base::error::{Error, Result};
use crate::base::threads::available_threads;
use crate::data::table::{Batches, Table};

impl Predictor<'_> {
    /// What `make` makes of each of the `batches` and the predictions for it, in order. As many are predicted at once
    /// as there are cores, and only these are in memory. Errors count rows from the first of the file; nothing follows
    /// an error.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("t.csv");
    /// # let lines: String = (0..60).map(|i| format!("{},{}\n", i, i / 30)).collect();
    /// # std::fs::write(&path, format!("x,y\n{lines}")).unwrap();
    /// # mod orthorules {
    /// #     pub use orthorules_model::*;
    /// #     pub use orthorules_table::table;
    /// # }
    /// # let model = orthorules::Model::from_json(
    /// #     r#"{"format": "orthorules-model", "version": 1, "task": "classification", "loss": "logistic",
    /// #         "target": "y", "classes": ["0", "1"], "columns": [{"name": "x", "kind": "numeric"}],
    /// #         "rules": [{"conditions": [{"column": "x", "op": ">=", "value": 30}]}], "chosen": 1,
    /// #         "path": [{"rules": 1, "intercept": -1, "weights": [2], "train_risk": 0.5}]}"#,
    /// # )?;
    /// use orthorules::Predictor;
    /// use orthorules::table::Batches;
    ///
    /// let predictor = Predictor::at(&model, model.chosen());
    /// let batches = Batches::open(&path, &model.options_to_predict())?;
    /// for predictions in predictor.each(batches, |_, predictions| predictions) {
    ///     assert_eq!(predictions?.labels().unwrap().len(), 60);
    /// }
    /// # Ok::<(), orthorules::Error>(())
    /// ```
    pub fn each<T: Send>(
        &self,
        batches: Batches,
        make: impl Fn(&Table, Predictions) -> T + Sync,
    ) -> impl Iterator<Item = Result<T>> {
        let (mut batches, mut rows, mut ended) = (batches, 0, false);
        let mut waiting = Vec::new().into_iter();
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            if waiting.len() == 0 {
                let group: Result<Vec<Table>> = batches.by_ref().take(available_threads()).collect();
                let made =
                    group.map(|group| side_by_side(&group, |table| Ok(make(table, self.predict(table)?)), &mut rows));
                waiting = made.unwrap_or_else(|error| vec![Err(error)]).into_iter();
            }
            let next = waiting.next();
            ended = !matches!(next, Some(Ok(_)));
            next
        })
    }
}

/// What `work` makes of each table, on a thread each. The first of them begins after this many `rows` of the file.
fn side_by_side<T: Send>(
    group: &[Table],
    work: impl Fn(&Table) -> Result<T> + Sync,
    rows: &mut usize,
) -> Vec<Result<T>> {
    let results: Vec<Result<T>> = std::thread::scope(|scope| {
        let work = &work;
        let start = |table| std::thread::Builder::new().spawn_scoped(scope, move || work(table));
        let running: Vec<_> = group.iter().map(|table| (table, start(table))).collect();
        let stopped = |_| Err(Error::Table("a thread stopped unexpectedly".into()));
        let finished = running.into_iter().map(|(table, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(stopped),
            // There is no room for another thread.
            Err(_) => work(table),
        });
        finished.collect()
    });
    let placed = group.iter().zip(results).map(|(table, result)| {
        let before = *rows;
        *rows += table.rows();
        result.map_err(|error| after(error, before))
    });
    placed.collect()
}

/// An error about a row of a batch, counted from the first row of the file.
fn after(error: Error, rows: usize) -> Error {
    match error {
        Error::Column { role, column, row, what } => Error::Column { role, column, row: row.map(|r| r + rows), what },
        other => other,
    }
}
