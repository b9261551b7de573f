//! The measurements behind the claims: each is a command that anyone can run again.

mod bound_study;
mod certify;
mod data;
mod kernels;
mod paper;
mod quality;
mod say;
mod selection;
mod speed;

use clap::{Parser, Subcommand};

/// Experiments of the Orthorules project.
#[derive(Debug, Parser)]
#[command(name = "orthorules-experiments", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The paper's study of its bound, with the admissible bound beside it.
    BoundStudy(bound_study::BoundStudy),
    /// Certified rules in the paper's setting on the benchmark data sets.
    Certify(certify::Certify),
    /// Instructions of every kernel, compared with a table.
    Instructions(kernels::Instructions),
    /// Time of every kernel beside its naive twin, and against the bandwidth of memory.
    Kernels(kernels::Kernels),
    /// The paper's evaluation: every system, table and figure.
    Paper(paper::Paper),
    /// Risk for every complexity on the benchmark data sets.
    Quality(quality::Quality),
    /// What cross-validation chooses on the benchmark data sets.
    Selection(selection::Selection),
    /// Time to fit on generated rows.
    Speed(speed::Speed),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::BoundStudy(args) => {
            bound_study::run(&args);
            Ok(())
        }
        Command::Certify(args) => certify::run(&args),
        Command::Instructions(args) => kernels::instructions(&args),
        Command::Kernels(args) => kernels::run(&args),
        Command::Paper(args) => paper::run(&args),
        Command::Quality(args) => quality::run(&args),
        Command::Selection(args) => selection::run(&args),
        Command::Speed(args) => speed::run(&args),
    }
}
