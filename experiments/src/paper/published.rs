//! The paper's table of results.

use super::method::Method;
use std::collections::HashMap;
use std::path::Path;

/// Values by data set and column; empty when there is no table.
pub(crate) struct Published(HashMap<(String, String), f64>);

impl Published {
    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let mut values = HashMap::new();
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            for (column, field) in header.iter().zip(&fields).skip(1) {
                if let Ok(value) = field.parse() {
                    values.insert((fields[0].to_owned(), (*column).to_owned()), value);
                }
            }
        }
        Self(values)
    }

    /// Of `kind` train, test or time.
    pub(crate) fn get(&self, set: &str, method: Method, kind: &str) -> Option<f64> {
        self.0.get(&(set.to_owned(), format!("{kind}_{}", method.published()?))).copied()
    }
}
