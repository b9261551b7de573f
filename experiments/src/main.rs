//! The measurements behind the claims: each is a command that anyone can run again.

mod data;
mod quality;
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
    /// Risk for every complexity on the benchmark data sets.
    Quality(quality::Quality),
    /// Time to fit on generated rows.
    Speed(speed::Speed),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Quality(args) => quality::run(&args),
        Command::Speed(args) => speed::run(&args),
    }
}
