//! What is done with an input: roles and parameters as pairs of text, so that a finding can be kept beside its input.

use anyhow::Context;
use orthorules::{Error, Params, Result, Roles};

/// Pairs of name and value, in order. Names are those of parameters, of roles, and `memory_limit`.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Settings(pub(crate) Vec<(String, String)>);

/// Settings as the engine takes them.
#[derive(Debug)]
pub(crate) struct Understood {
    pub(crate) roles: Roles,
    pub(crate) params: Params,
    pub(crate) memory_limit: Option<u64>,
}

impl Settings {
    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    pub(crate) fn from_json(bytes: &[u8]) -> anyhow::Result<Self> {
        serde_json::from_slice(bytes).context("settings are pairs of name and value")
    }

    /// Roles and parameters; an error where the engine has one for a value.
    pub(crate) fn understood(&self) -> Result<Understood> {
        let mut roles = Roles { target: "y".into(), ..Roles::default() };
        let (mut params, mut memory_limit) = (Params::default(), None);
        for (name, value) in &self.0 {
            let text = || value.clone();
            match name.as_str() {
                "target" => roles.target = text(),
                "task" => roles.task = serde_json::from_value(value.as_str().into()).ok(),
                "positive" => roles.positive = Some(text()),
                "weight" => roles.weight = Some(text()),
                "exposure" => roles.exposure = Some(text()),
                "offset" => roles.offset = Some(text()),
                "groups" => roles.groups = Some(text()),
                "ignore" => roles.ignore.push(text()),
                "categorical" => roles.categorical.push(text()),
                "memory_limit" => memory_limit = value.parse().ok(),
                "preset" => params = value.parse::<orthorules::params::Preset>()?.params(),
                "cuts" => {
                    let (column, list) = value.rsplit_once('=').unwrap_or((value, ""));
                    let number = |t: &str| t.parse().map_err(|_| Error::Table(format!("{t:?} is not a number")));
                    let list = list.split(',').map(number).collect::<Result<Vec<f64>>>()?;
                    params.cuts.insert(column.to_owned(), list);
                }
                "monotone" => {
                    let (column, direction) = value.rsplit_once('=').unwrap_or((value, ""));
                    params.monotone.insert(column.to_owned(), direction.parse()?);
                }
                _ => params.set(name, value)?,
            }
        }
        Ok(Understood { roles, params, memory_limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_keep_their_meaning_in_a_file() {
        let mut settings = Settings::default();
        for (name, value) in
            [("target", "l\nm"), ("cuts", "a=b=1,2.5"), ("monotone", "x=-1"), ("beam_width", "3"), ("search", "beam")]
        {
            settings.set(name, value);
        }
        let read = Settings::from_json(&settings.to_json()).unwrap();
        assert_eq!(read, settings);
        let Understood { roles, params, .. } = read.understood().unwrap();
        assert_eq!(roles.target, "l\nm");
        assert_eq!((params.beam_width, &params.cuts["a=b"]), (Some(3), &vec![1.0, 2.5]));
        settings.set("cv", "many");
        assert_eq!(settings.understood().unwrap_err().to_string(), "cv must be at least 2 folds, or auto, got many");
    }
}
