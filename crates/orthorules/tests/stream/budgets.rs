//! Budgets of columns hold where rows are in partitions or become codes while they are read: it is the same model.

use super::partitions::{partitioned, staying};
use super::*;
use orthorules::params::Multiclass;
use orthorules::{Gather, Model};

/// What the rules of a model use, by name.
fn columns(model: &str) -> std::collections::BTreeSet<String> {
    let model = Model::from_json(model).unwrap();
    model.all_rules().flat_map(orthorules::Rule::columns).map(str::to_owned).collect()
}

#[test]
fn partitions_keep_the_budget_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let rows = rows(400, 36);
    let write = |name: &str, rows: &[Row]| {
        let path = folder.path().join(name);
        std::fs::write(&path, parquet_of(&batches(rows))).unwrap();
        path
    };
    let whole = write("whole.parquet", &rows);
    let parts: Vec<_> = [0..1, 1..150, 150..400]
        .into_iter()
        .enumerate()
        .map(|(i, part)| write(&format!("{i}.parquet"), &rows[part]))
        .collect();
    let ignore = vec!["id".to_owned(), "gone".to_owned()];
    let classes = Roles {
        target: "few".into(),
        task: Some(Task::Classification),
        drop_missing_target: true,
        ignore: ignore.clone(),
        ..roles()
    };
    let numbers = Roles { ignore, ..roles() };
    let priced = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 2.0)).collect();
    let base = || Params { max_complexity: Some(12), threads: Some(1), ..staying() };
    for (roles, params) in [
        (&numbers, Params { max_columns: Some(2), ..base() }),
        (&numbers, Params { column_cost: priced(&["x", "few", "flag"]), max_cost: Some(3.0), ..base() }),
        (&classes, Params { max_columns: Some(2), ..base() }),
        (&classes, Params { max_columns: Some(2), multiclass: Some(Multiclass::OneVsRest), ..base() }),
    ] {
        let (expected, _) = in_memory(&whole, roles, &params).unwrap();
        let used = columns(&expected);
        assert!(!used.is_empty() && (params.max_cost.is_some() || used.len() <= 2), "{used:?}");
        assert!(used.iter().filter(|name| params.column_cost.contains_key(*name)).count() <= 1, "{used:?}");
        assert_eq!(streamed(&whole, roles, &params, None).unwrap().0, expected);
        for gather in [Gather::Never, Gather::WhereSmall] {
            assert_eq!(partitioned(parts.clone(), roles, &params, gather).unwrap(), expected, "{gather:?}");
        }
    }
}
