//! `orthorules export`: the model in other systems.

use crate::args::ExportArgs;
use crate::console::Output;
use crate::input::{self, Failure};
use orthorules::model::{Size, write_whole};
use orthorules_export::{Options, export};

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> Result<Output, Failure> {
    let (dialect, table, form) = (args.dialect.as_deref(), args.table.as_deref(), args.form.as_deref());
    let options = Options::named(&args.to, dialect, table, form, args.cases)?;
    match &args.output {
        Some(path) => input::check_output(path, [&args.model])?,
        None if options.target.is_binary() => {
            let what = format!("--to {} writes no text: name a file with -o FILE", options.target);
            return Err(Failure::Input(what));
        }
        None => {}
    }
    let model = input::model(&args.model)?;
    let size = input::size(&model, &args.size)?;
    let steps: Vec<&Size> = model.steps(size).map(|(_, step)| step).collect();
    let written = export(&model, &steps, &options)?;
    match &args.output {
        Some(path) => {
            write_whole(path, &written)?;
            Ok(Output::Data(String::new()))
        }
        None => String::from_utf8(written).map(Output::Data).map_err(|e| Failure::Other(e.to_string())),
    }
}
