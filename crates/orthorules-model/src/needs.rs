//! Which columns of a table a model needs, and how files are read for it.

use crate::data::warning::Warning;
use crate::model::Model;
use crate::model::rule::Rule;

#[cfg(feature = "files")]
use crate::base::decimal;
#[cfg(feature = "files")]
use crate::data::dates::DateSource;
#[cfg(feature = "files")]
use crate::data::table::{Dates, Kind, KnownDates, ReadOptions};
#[cfg(feature = "files")]
use std::collections::BTreeMap;

impl Model {
    /// The names of the columns that rules use.
    pub fn used_columns(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.all_rules().flat_map(Rule::columns).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What to say of predictions for a table without the exposures that the model was trained with: rates where there
    /// could be counts. `has_column` says which columns the table has.
    pub fn warning_of_exposure(&self, has_column: impl Fn(&str) -> bool) -> Option<Warning> {
        let missing = self.exposure.as_ref().filter(|name| !has_column(name));
        missing.map(|column| Warning::NoExposure { column: column.clone() })
    }
}

#[cfg(feature = "files")]
impl Model {
    /// How to read a whole table for the model, with its target and weights: categories are read as such, and no column
    /// that it may need is left out.
    pub fn read_options(&self) -> ReadOptions {
        let target = (!target_is_inferred(&self.classes)).then(|| self.target.clone());
        let roles = [Some(&self.target), self.weight.as_ref(), self.exposure.as_ref(), self.offset.as_ref()];
        ReadOptions {
            categorical: self.categories().chain(target).collect(),
            keep: self.used().chain(roles.into_iter().flatten().cloned()).collect(),
            numeric: self.numeric().collect(),
            dates: self.dates(),
            notation: self.reading.notation.clone(),
            ..ReadOptions::default()
        }
    }

    /// How to read what predictions need and nothing else.
    pub fn options_to_predict(&self) -> ReadOptions {
        let needed: Vec<String> = self.used().chain(self.exposure.clone()).chain(self.offset.clone()).collect();
        ReadOptions {
            categorical: self.categories().collect(),
            keep: needed.clone(),
            only: Some(needed),
            numeric: self.numeric().collect(),
            dates: self.dates(),
            notation: self.reading.notation.clone(),
            ..ReadOptions::default()
        }
    }

    fn categories(&self) -> impl Iterator<Item = String> {
        self.columns.iter().filter(|c| matches!(c.kind, Kind::Categorical | Kind::Ordered)).map(|c| c.name.clone())
    }

    /// The columns of dates whose parts rules use.
    #[doc(hidden)]
    pub fn dates(&self) -> Dates {
        let used = self.used_columns();
        let mut known: BTreeMap<String, KnownDates> = BTreeMap::new();
        for column in self.columns.iter().filter(|c| used.contains(&c.name.as_str())) {
            if let Some(DateSource { column, part, form, .. }) = &column.date {
                let dates = known.entry(column.clone()).or_insert_with(|| KnownDates::new(*form));
                dates.parts.push(*part);
            }
        }
        Dates { recognised: false, known }
    }

    /// The columns of numbers that rules use.
    fn numeric(&self) -> impl Iterator<Item = String> {
        let used = self.used_columns();
        self.columns
            .iter()
            .filter(move |c| c.kind == Kind::Numeric && used.contains(&c.name.as_str()))
            .map(|c| c.name.clone())
    }

    fn used(&self) -> impl Iterator<Item = String> {
        self.used_columns().into_iter().map(str::to_owned)
    }
}

/// Whether the class labels are what reading makes of numbers or booleans. Other labels are read as text: a few rows
/// of them may happen to look like numbers.
#[cfg(feature = "files")]
fn target_is_inferred(classes: &[String]) -> bool {
    let number = |label: &String| label.parse().is_ok_and(|x: f64| decimal::plain(x) == *label);
    classes.iter().all(number) || classes.iter().all(|label| label == "false" || label == "true")
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;

    #[test]
    fn labels_that_reading_makes_of_numbers_are_recognised() {
        let inferred =
            |labels: &[&str]| target_is_inferred(&labels.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert!(inferred(&["-1", "1"]) && inferred(&["0", "0.5"]) && inferred(&["false", "true"]) && inferred(&[]));
        assert!(!inferred(&["01", "02"]) && !inferred(&["1", "x"]) && !inferred(&["no", "yes"]));
        assert!(!inferred(&["1.0", "2"]));
    }
}
