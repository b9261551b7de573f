//! Models of every kind, learned from plain tables.

use super::sheet::{Data, Sheet, plain};
use crate::rng::Rng;
use crate::settings::Settings;
use orthorules::{Column, Problem, Silent, Table, Values, fit};
use serde_json::Value;
use std::sync::LazyLock;

/// Which plain table each model is learned from, and how.
const RECIPES: [(usize, &[(&str, &str)]); 11] = [
    (0, &[]),
    (1, &[]),
    (2, &[]),
    (3, &[("task", "poisson"), ("exposure", "b")]),
    (0, &[("offset", "w"), ("max_complexity", "6")]),
    (0, &[("cv", "3"), ("weight", "w"), ("max_complexity", "6")]),
    (1, &[("bootstrap", "20"), ("max_complexity", "6")]),
    (0, &[("monotone", "a=+1"), ("path", "nested")]),
    (1, &[("preset", "sirus"), ("num_trees", "20")]),
    (0, &[("terms", "hinge"), ("max_complexity", "8")]),
    (0, &[("search", "exact"), ("node_limit", "50"), ("max_complexity", "5")]),
];

static MODELS: LazyLock<Vec<Value>> =
    LazyLock::new(|| RECIPES.iter().map(|(table, how)| learned(*table, how)).collect());

/// The document of one of the models.
pub(crate) fn any(rng: &mut Rng) -> &'static Value {
    rng.pick(&MODELS)
}

/// A sheet as the engine's table.
pub(crate) fn table(sheet: &Sheet) -> orthorules::Result<Table> {
    let values = |data: &Data| match data {
        Data::Numbers(v) => Values::numbers(v.iter().map(|x| x.unwrap_or(f64::NAN))),
        Data::Text(v) => Values::text(v.iter().map(Option::as_ref)),
        Data::Truth(v) => Values::booleans(v.iter().copied()),
    };
    Table::new(sheet.columns.iter().map(|(name, data)| Column::new(name.clone(), values(data))).collect())
}

fn learned(which: usize, how: &[(&str, &str)]) -> Value {
    let settings = Settings(how.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
    let model = || -> anyhow::Result<Value> {
        let understood = settings.understood()?;
        let mut sheet = plain(which);
        // Exposures are positive.
        if understood.roles.exposure.is_some() {
            sheet.columns[1].1 = Data::Numbers((0..sheet.rows).map(|i| Some(0.5 + (i % 4) as f64)).collect());
        }
        let problem = Problem::new(table(&sheet)?, &understood.roles)?;
        let model = fit(&problem, &understood.params, &Silent)?.model;
        Ok(serde_json::from_str(&model.to_json())?)
    };
    model().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_gives_a_model_with_rules() {
        for (model, recipe) in MODELS.iter().zip(RECIPES) {
            let text = model.to_string();
            let has_terms = text.contains("\"conditions\":[{") || text.contains("\"trend\":{");
            assert!(has_terms, "{recipe:?}: {text}");
            assert!(orthorules::Model::from_json(&text).is_ok(), "{recipe:?}");
        }
    }
}
