//! `orthorules report`: one page on which a model can be read and tried.

use crate::args::ReportArgs;
use crate::console::{Notes, Output, interrupted, keep_rules_on_interrupt};
use crate::input::{self, Failure, TableInput, in_table, shown};
use crate::text;
use orthorules::model::{SizeName, write_whole};
use orthorules::table::{Batches, Notation, ReadOptions};
use orthorules::{Error, Model};
use orthorules_report::{Report, Sha256, Summarizer, Summary, hex, page};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &ReportArgs) -> Result<Output, Failure> {
    let sources: Vec<TableInput> =
        args.table.iter().chain(&args.test).map(|path| TableInput::new(path)).collect::<Result<_, _>>()?;
    let inputs = sources.iter().flat_map(|source| &source.files).chain([&args.model]);
    input::check_output(&args.output, inputs)?;
    let model = input::model(&args.model)?;
    let start = Some(places(&model, input::size(&model, &args.size)?));
    keep_rules_on_interrupt();
    let notes = Notes { quiet: args.quiet, verbose: false };
    let notation = || args.notation.notation(&model.reading.notation);
    let mut rest = sources.iter();
    let mut report = Report { start, ..Report::new(&model) };
    if args.table.is_some()
        && let Some(source) = rest.next()
    {
        let summary = read(Summarizer::new(&model), &model, source, notation(), notes)?;
        if !summary.is_labelled() {
            let what = "so the page does not say how well the model fits it";
            notes.note(&format!("{} has no column {:?}, {what}", shown(&source.path), model.target));
        }
        report.table = Some(summary);
    }
    if let Some(source) = rest.next() {
        report.test = Some(read(Summarizer::judging(&model), &model, source, notation(), notes)?);
    }
    let html = page(&[report]);
    write_whole(&args.output, html.as_bytes())?;
    let (file, size) = (text::clean(&args.output.display().to_string()), html.len().div_ceil(1000));
    Ok(Output::Text(format!("The report is in {file} ({size} kB): open it in a browser.\n")))
}

/// The places of a size in the lists.
fn places(model: &Model, size: SizeName) -> Vec<usize> {
    model.steps(size).map(|(list, step)| list.place_of(step)).collect()
}

/// What the page keeps of the table in a file, read a batch at a time.
fn read(
    rows: Summarizer,
    model: &Model,
    source: &TableInput,
    notation: Notation,
    notes: Notes,
) -> Result<Summary, Failure> {
    let in_table = in_table(&source.path);
    let mut rows = if source.single().is_some() { rows.without_fingerprint() } else { rows };
    let needed = Summarizer::needs(model);
    let options = ReadOptions { notation, only: Some(needed), ..model.read_options() };
    let batches = Batches::open(&source.path, &options).map_err(&in_table)?;
    let remarks = batches.remarks();
    for batch in batches {
        if interrupted() {
            return Err(Failure::Other("interrupted: nothing was written".into()));
        }
        let batch = batch.map_err(&in_table)?;
        let kept = model.reading.drop_missing_target.then(|| model.rows_with_target(&batch)).flatten();
        rows.add(kept.as_ref().unwrap_or(&batch)).map_err(&in_table)?;
    }
    remarks.warnings().iter().for_each(|warning| notes.warn(warning));
    let mut summary = rows.finish();
    if source.is_lasting() {
        summary.name = source.path.file_name().map(|name| name.to_string_lossy().into_owned());
    }
    if let Some(file) = source.single() {
        summary.fingerprint = fingerprint(file)?;
        summary.fingerprint_of = "file";
    }
    Ok(summary)
}

/// The digest of a file, as `sha256sum` prints it.
fn fingerprint(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::from(Error::io(path, error));
    let mut file = File::open(path).map_err(failed)?;
    let (mut hash, mut buffer) = (Sha256::default(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(hex(&hash.finish())),
            length => hash.add(&buffer[..length]),
        }
    }
}
