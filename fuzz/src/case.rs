//! A case: an input, its name and what is done with it. It is made of a format, a seed and a number, or read from a
//! file.

use crate::make::{commands, models, params, sheet, typed as write};
use crate::mutate::{bytes, json, packed, text, typed};
use crate::rng::Rng;
use crate::settings::Settings;
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::path::Path;

/// What is fed to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables as text.
    Csv,
    /// Tables packed by gzip.
    Gz,
    /// Tables packed by zstd.
    Zst,
    /// Parquet files.
    Parquet,
    /// Arrow IPC files and streams.
    Arrow,
    /// Model files.
    Model,
    /// Parameters of a fit.
    Params,
    /// Whole command lines, on the program itself.
    Commands,
    /// Cases that misbehave on purpose: what the harness must find.
    #[value(hide = true)]
    Faults,
}

/// An input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// The name of the input's file, whose ending may tell its format.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// What is done with a table.
    pub(crate) settings: Settings,
}

/// Of findings larger than this only the seed is kept.
const MOST_BYTES: usize = 1 << 20;
/// How a settings file's name goes on after that of its input.
const SETTINGS: &str = ".settings.json";

impl Format {
    /// Those that are run unless one is asked for.
    pub(crate) const ALL: [Self; 8] =
        [Self::Csv, Self::Gz, Self::Zst, Self::Parquet, Self::Arrow, Self::Model, Self::Params, Self::Commands];

    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }
}

impl Case {
    /// Case `index` of the run with `seed`.
    pub(crate) fn make(format: Format, seed: u64, index: u64) -> Result<Self> {
        let rng = &mut Rng::of_case(seed, format as u64, index);
        let alone = |name: &str, bytes| Ok(Self { name: name.into(), bytes, settings: Settings::default() });
        match format {
            Format::Csv => Ok(csv(rng)),
            Format::Gz | Format::Zst => packed_table(rng, format == Format::Gz),
            Format::Parquet | Format::Arrow => typed_table(rng, format == Format::Parquet),
            Format::Model => {
                let (whole, other) = (models::any(rng), models::any(rng));
                alone("model.json", json::document(rng, whole, other))
            }
            Format::Params => alone("params.json", params::extreme(rng).to_json()),
            Format::Commands => alone("args.json", serde_json::to_vec_pretty(&commands::line(rng))?),
            Format::Faults => alone("fault", index.to_string().into_bytes()),
        }
    }

    /// The case that is kept in a file, with its settings beside it where it needs any.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = path.file_name().context("no file name")?.to_string_lossy().into_owned();
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let beside = path.with_file_name(format!("{name}{SETTINGS}"));
        let settings =
            if beside.exists() { Settings::from_json(&std::fs::read(beside)?)? } else { Settings::default() };
        Ok(Self { name, bytes, settings })
    }

    /// Keeps the case in `folder`, under a name that starts with `label`; false where it is too large.
    pub(crate) fn keep(&self, folder: &Path, label: &str) -> Result<bool> {
        if self.bytes.len() > MOST_BYTES {
            return Ok(false);
        }
        std::fs::create_dir_all(folder)?;
        let name = format!("{label}-{}", self.name);
        std::fs::write(folder.join(&name), &self.bytes)?;
        if !self.settings.0.is_empty() {
            std::fs::write(folder.join(format!("{name}{SETTINGS}")), self.settings.to_json())?;
        }
        Ok(true)
    }
}

/// The cases that are kept in a folder, in the order of their names.
pub(crate) fn kept(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = entries.filter(|path| !path.to_string_lossy().ends_with(SETTINGS)).collect();
    files.sort();
    files
}

fn csv(rng: &mut Rng) -> Case {
    let (sheet, settings) = sheet::sheet(rng);
    let mut rows = text::rows(&sheet);
    if rng.once_in(2) {
        text::cells(rng, &mut rows);
    }
    let (name, mut file) = text::written(rng, &rows);
    if rng.once_in(4) {
        bytes::bytes(rng, &mut file);
    }
    Case { name: name.into(), bytes: file, settings }
}

fn packed_table(rng: &mut Rng, gzip: bool) -> Result<Case> {
    let inner = match rng.below(150) {
        0 => Case { name: "a.csv".into(), bytes: packed::bomb(rng), settings: Settings::default() },
        1..=30 => {
            let parquet = rng.once_in(2);
            typed_table(rng, parquet)?
        }
        _ => csv(rng),
    };
    let mut file = if gzip { packed::gzip(rng, &inner.bytes)? } else { packed::zstd(rng, &inner.bytes)? };
    if !rng.once_in(3) {
        packed::frames(rng, &mut file, gzip);
    }
    let ending = match rng.below(10) {
        0 => "",
        1 => *rng.pick(&[".gz", ".zst", ".GZ"]),
        _ if gzip => ".gz",
        _ => ".zst",
    };
    Ok(Case { name: format!("{}{ending}", inner.name), bytes: file, settings: inner.settings })
}

fn typed_table(rng: &mut Rng, parquet: bool) -> Result<Case> {
    let (sheet, settings) = sheet::sheet(rng);
    let bomb = rng.once_in(300);
    let rows = rng.between(1, 1_000_000);
    let batches = if bomb { vec![write::monotonous(rng, rows)?] } else { write::batches(rng, &sheet)? };
    let (name, mut file) =
        if parquet { ("a.parquet", write::parquet(rng, &batches, bomb)?) } else { write::arrow(rng, &batches)? };
    if !rng.once_in(4) {
        if parquet {
            typed::parquet(rng, &mut file);
        } else {
            typed::arrow(rng, &mut file);
        }
    }
    let name =
        if rng.once_in(15) { *rng.pick(&["a", "a.csv", "a.pq", "a.feather", "a.parquet", "a.arrow"]) } else { name };
    Ok(Case { name: name.into(), bytes: file, settings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_its_seed() {
        for format in Format::ALL {
            let cases = |seed| (0..8).map(|i| Case::make(format, seed, i).unwrap()).collect::<Vec<_>>();
            assert_eq!(cases(5), cases(5), "{format:?}");
            assert_ne!(cases(5), cases(6), "{format:?}");
        }
    }

    #[test]
    fn a_kept_case_is_the_same_case() {
        let folder = tempfile::tempdir().unwrap();
        for format in Format::ALL {
            let case = Case::make(format, 3, 4).unwrap();
            assert!(case.keep(folder.path(), "3-4").unwrap());
            let [path] = &kept(folder.path())[..] else { panic!("one file and perhaps its settings") };
            let read = Case::read(path).unwrap();
            assert_eq!((read.bytes, read.settings), (case.bytes, case.settings));
            std::fs::remove_file(path).unwrap();
            kept(folder.path()).iter().for_each(|path| std::fs::remove_file(path).unwrap());
            std::fs::remove_dir_all(folder.path()).unwrap();
        }
    }
}
