//! Any parameters, on a plain table.

use super::{Verdict, refused, table};
use crate::case::Case;
use crate::make::sheet::plain;
use crate::mutate::text;
use crate::rng::Rng;
use crate::settings::Settings;
use std::path::Path;

pub(super) fn check(case: &Case, folder: &Path) -> Verdict {
    let mut settings = Settings::from_json(&case.bytes).map_err(|e| format!("the harness: {e}"))?;
    let which = settings.0.iter().find(|(name, _)| name == "table").and_then(|(_, value)| value.parse().ok());
    settings.0.retain(|(name, _)| name != "table");
    let understood = match settings.understood() {
        Ok(understood) => understood,
        Err(error) => return refused(&error),
    };
    let path = folder.join("t.csv");
    let (_, bytes) = text::written(&mut Rng::of_case(2, 0, 0), &text::rows(&plain(which.unwrap_or(0))));
    std::fs::write(&path, bytes).map_err(|e| format!("the harness cannot write: {e}"))?;
    table::with(&path, &understood, folder)
}
