//! The program `orthorules`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(orthorules_cli::main_with(std::env::args_os()))
}
