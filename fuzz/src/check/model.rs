//! Any file as a model: loaded, printed, saved, and used on a table that has its columns.

use super::{Outcome, Verdict, refused, values};
use crate::case::Case;
use orthorules::model::ColumnSpec;
use orthorules::rule::Operand;
use orthorules::{Column, Kind, Model, Table, Task, Values};
use std::path::Path;

/// Rows of the table that a model is tried on.
const ROWS: usize = 12;

pub(super) fn check(case: &Case, folder: &Path) -> Verdict {
    let path = folder.join(&case.name);
    std::fs::write(&path, &case.bytes).map_err(|e| format!("the harness cannot write: {e}"))?;
    let model = match Model::load(&path) {
        Ok(model) => model,
        Err(error) => return refused(&error),
    };
    values::survives_its_file(&model, folder)?;
    for size in model.sizes() {
        let conditions: usize =
            model.steps(size).flat_map(|(list, step)| list.members(step)).map(orthorules::Rule::complexity).sum();
        if conditions != model.complexity(size) {
            return Err(format!("the complexity of the size with {size} rules is not that of its parts"));
        }
    }
    let table = match table_for(&model) {
        Ok(table) => table,
        // Two parts played by columns of one name.
        Err(error) => return refused(&error),
    };
    values::predictions(&model, &table)?.map_err(|e| format!("its own columns cannot be predicted: {e}"))?;
    if let Err(error) = values::measures(&model, &table)? {
        refused(&error)?;
    }
    Ok(Outcome::Used)
}

/// A table with the model's columns: thresholds and their neighbours, known and unknown levels, missing values.
fn table_for(model: &Model) -> orthorules::Result<Table> {
    let mut columns: Vec<Column> = model.columns.iter().map(|spec| column(model, spec)).collect();
    let mut add = |name: &str, values: Values| {
        if columns.iter().all(|c| c.name != name) {
            columns.push(Column::new(name, values));
        }
    };
    for name in [&model.weight, &model.exposure, &model.offset].into_iter().flatten() {
        add(name, Values::numbers((0..ROWS).map(|i| 0.5 + (i % 3) as f64)));
    }
    let class = |i: usize| model.classes.get(i % model.classes.len().max(1));
    let target = match model.task {
        Task::Classification => Values::text((0..ROWS).map(class)),
        _ => Values::numbers((0..ROWS).map(|i| (i % 5) as f64)),
    };
    add(&model.target, target);
    Table::new(columns)
}

fn column(model: &Model, spec: &ColumnSpec) -> Column {
    let rules = model.all_rules().flat_map(|r| &r.conditions);
    let asked: Vec<&Operand> = rules.filter(|c| c.column == spec.name).filter_map(|c| c.value.as_ref()).collect();
    let trends = model.all_rules().filter_map(|r| r.trend.as_ref());
    let values = match spec.kind {
        Kind::Numeric => {
            let mut numbers = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0];
            for operand in asked {
                if let Operand::Number(t) = operand {
                    numbers.extend([*t, t.next_up(), t.next_down()]);
                }
            }
            for trend in trends.filter(|trend| trend.column == spec.name) {
                numbers.extend([trend.from, trend.to, trend.zero, trend.zero.next_up()]);
            }
            Values::numbers((0..ROWS).map(|i| numbers[i % numbers.len()]))
        }
        Kind::Boolean => Values::booleans((0..ROWS).map(|i| [None, Some(false), Some(true)][i % 3])),
        _ => {
            let mut levels = vec![None, Some("a level of its own".to_owned())];
            levels.extend(spec.levels.iter().cloned().map(Some));
            for operand in asked {
                for level in operand.levels() {
                    levels.push(Some(level.clone()));
                }
            }
            Values::text((0..ROWS).map(|i| levels[i % levels.len()].clone()))
        }
    };
    Column::new(spec.name.clone(), values)
}
