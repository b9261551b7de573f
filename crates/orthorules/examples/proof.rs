//! Rules that are proven to be the best ones, watched while they are found.
//!
//!     cargo run --release -p orthorules --example proof

use orthorules::model::Size;
use orthorules::params::Search;
use orthorules::{Certificate, Observer, Params, Problem, Result, Roles, Rule, fit, generate};

/// Prints what it is told.
struct Printer;

impl Observer for Printer {
    fn searched(&self, _class: Option<&str>, certificate: &Certificate) {
        let said = if certificate.proven { "proven the best" } else { "not proven" };
        println!("{said} after {} queries", certificate.nodes);
    }

    fn step(&self, _class: Option<&str>, rule: &Rule, size: &Size) {
        println!("  {rule}: risk {:.4}", size.train_risk);
    }
}

fn main() -> Result<()> {
    let roles = Roles { target: "x_wins".into(), ..Roles::default() };
    let problem = Problem::new(generate::tic_tac_toe(), &roles)?;
    let params = Params { search: Search::Exact, max_rules: Some(4), ..Params::default() };
    fit(&problem, &params, &Printer)?;
    Ok(())
}
