//! Every size of a model: how much risk each unit of complexity takes off, and the rules of one size.
//!
//!     cargo run --release -p orthorules --example sizes

use orthorules::{Params, Problem, Result, Roles, Silent, fit, generate};

fn main() -> Result<()> {
    let problem = Problem::new(generate::friedman1(500, 1), &Roles { target: "y".into(), ..Roles::default() })?;
    let fitted = fit(&problem, &Params { max_complexity: Some(20), ..Params::default() }, &Silent)?;
    let list = &fitted.model.lists[0];
    println!("complexity  rules  risk on the training rows");
    for size in &list.sizes {
        println!("{:>10}  {:>5}  {:.3}", size.complexity, size.rules, size.train_risk);
    }
    let size = list.chosen();
    println!("\n{:+.2} always", size.scores[0].intercept);
    for (rule, weight) in list.terms(size) {
        println!("{weight:+.2} if {rule} ({} rows)", rule.covered);
    }
    println!("\nlearned in {:.3} s", fitted.seconds.total);
    Ok(())
}
