//! `orthorules export`: the model in other systems.

use crate::args::ExportArgs;
use crate::console::Output;
use crate::input::{self, Failure};
use orthorules::Model;
use orthorules::model::{Size, write_whole};
use orthorules_export::{Options, export};

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> Result<Output, Failure> {
    let (dialect, table, form) = (args.dialect.as_deref(), args.table.as_deref(), args.form.as_deref());
    let options = Options::named(&args.to, dialect, table, form, args.cases)?;
    match &args.output {
        Some(path) => input::check_output(path, &[&args.model])?,
        None if options.target.is_binary() => {
            let what = format!("--to {} writes no text: name a file with -o FILE", options.target);
            return Err(Failure::Input(what));
        }
        None => {}
    }
    let model = input::model(&args.model)?;
    let written = export(&model, &steps(&model, args)?, &options)?;
    match &args.output {
        Some(path) => {
            write_whole(path, &written)?;
            Ok(Output::Data(String::new()))
        }
        None => String::from_utf8(written).map(Output::Data).map_err(|e| Failure::Other(e.to_string())),
    }
}

/// The size that was asked for, or the chosen one.
fn steps<'m>(model: &'m Model, args: &ExportArgs) -> Result<Vec<&'m Size>, Failure> {
    let Some(complexity) = args.complexity else {
        let rules = input::size(model, args.size.rules)?;
        return Ok(model.steps(rules).map(|(_, step)| step).collect());
    };
    model.steps_within(complexity).ok_or_else(|| {
        let least = model.sizes().into_iter().map(|rules| model.complexity(rules)).min().unwrap_or(0);
        Failure::Input(format!("--complexity must be at least {least}, that of the smallest size, got {complexity}"))
    })
}
