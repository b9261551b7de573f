//! A model that is saved, loaded, and asked why it predicts what it predicts.
//!
//!     cargo run --release -p orthorules --example explain

use orthorules::predict::Activations;
use orthorules::{Model, Params, Predictions, Problem, Result, Roles, Silent, fit, generate};

fn main() -> Result<()> {
    let table = generate::friedman1(300, 2);
    let problem = Problem::new(table.clone(), &Roles { target: "y".into(), ..Roles::default() })?;
    let model = fit(&problem, &Params { max_rules: Some(5), ..Params::default() }, &Silent)?.model;

    // A model is one JSON document.
    let model = Model::from_json(&model.to_json())?;
    if let Predictions::Numbers(predicted) = model.predict(&table)? {
        println!("The first row is predicted to be {:.2}:", predicted[0]);
    }
    for explanation in model.explain(&Activations::new(&model, &table)?, model.chosen(), 0) {
        println!("{:+.2} always", explanation.intercept);
        for fired in explanation.contributions.iter().filter(|c| c.fires) {
            println!("{:+.2} since {}", fired.weight, fired.rule);
        }
    }
    Ok(())
}
