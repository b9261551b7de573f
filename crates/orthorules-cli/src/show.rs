//! `orthorules show`: the rules, readable.

use crate::args::{Order, ShowArgs};
use crate::console::Output;
use crate::edit;
use crate::fit::SizeLabel;
use crate::input::{self, Failure};
use crate::line::RuleLine;
use crate::text;
use orthorules::model::{Bootstrap, LedgerEntry, Provenance, RuleList, Size, SizeName, Spending};
use orthorules::params::Multiclass;
use orthorules::rule::Condition;
use orthorules::{Loss, Model, Rule, Task};
use serde::Serialize;

/// `show --json`.
#[derive(Serialize)]
struct ModelDocument<'m> {
    task: Task,
    loss: Loss,
    target: &'m str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    classes: &'m [String],
    /// `shared` where classes share one list of rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    multiclass: Option<Multiclass>,
    shown: SizeLabel,
    chosen: SizeLabel,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    single: Option<Listing<'m>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    one_vs_rest: Vec<Listing<'m>>,
    /// Where the bootstrap was asked about the size that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    bootstrap: Option<&'m Bootstrap>,
    /// What the size that is shown uses of the budget of columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    spending: Option<Spending>,
    /// The edits that were made.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ledger: &'m [LedgerEntry],
}

#[derive(Serialize)]
struct Listing<'m> {
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intercept: Option<f64>,
    /// One for each class, where these share their rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    intercepts: Vec<f64>,
    rules: Vec<RuleWithConditions<'m>>,
}

#[derive(Serialize)]
struct RuleWithConditions<'m> {
    #[serde(flatten)]
    rule: RuleLine,
    conditions: &'m [Condition],
}

impl<'m> Listing<'m> {
    fn new((list, step): (&'m RuleList, &'m Size)) -> Self {
        let line = |(place, rule): (usize, &'m Rule)| {
            let weights: Vec<f64> = step.scores.iter().map(|score| score.weights[place]).collect();
            RuleWithConditions { rule: RuleLine::new(rule, &weights), conditions: &rule.conditions }
        };
        let rules = list.members(step).enumerate().map(line).collect();
        let (intercept, intercepts) = match step.scores.as_slice() {
            [only] => (Some(only.intercept), Vec::new()),
            several => (None, several.iter().map(|score| score.intercept).collect()),
        };
        Self { class: list.class.as_deref(), intercept, intercepts, rules }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ShowArgs) -> Result<Output, Failure> {
    let model = input::model(&args.model)?;
    if args.provenance {
        return provenance(&model, args);
    }
    let size = input::size(&model, &args.size)?;
    Ok(if args.json {
        Output::json(&document(&model, size))
    } else {
        Output::Text(describe(&model, size, args.order.order))
    })
}

fn document(model: &Model, size: SizeName) -> ModelDocument<'_> {
    let mut listings: Vec<Listing> = model.steps(size).map(Listing::new).collect();
    let single = if listings.len() == 1 { listings.pop() } else { None };
    ModelDocument {
        task: model.task,
        loss: model.loss,
        target: &model.target,
        classes: &model.classes,
        multiclass: model.is_shared().then_some(Multiclass::Shared),
        shown: SizeLabel::of(model, size),
        chosen: SizeLabel::of(model, model.chosen()),
        single,
        one_vs_rest: listings,
        bootstrap: model.bootstrap.as_ref().filter(|b| b.is_about(model, size)),
        spending: model.spending(size),
        ledger: &model.ledger,
    }
}

fn describe(model: &Model, size: SizeName, order: Order) -> String {
    let (rules, chosen) = (model.rule_count(size), SizeLabel::of(model, model.chosen()));
    let mut others: Vec<String> = model.sizes().iter().filter(|&&s| s != rules).map(usize::to_string).collect();
    if others.len() > 12 {
        let last = others.pop().unwrap_or_default();
        others.truncate(10);
        others.extend(["…".into(), last]);
    }
    let hint = match others.as_slice() {
        [] => String::new(),
        _ => format!(
            "\nOther sizes, for --rules: {}. Chosen: {} (complexity {}).",
            others.join(", "),
            chosen.rules,
            chosen.complexity
        ),
    };
    let (subject, meaning) = (text::subject(model), text::meaning(model));
    let (list, sure) = (text::rules(model, size, order), text::uncertainty(model, size, order));
    let spent = text::spending(model, size);
    let edits = edit::ledger(&model.ledger);
    let edits = if edits.is_empty() { edits } else { format!("\n{edits}") };
    format!("{subject}\n\n{list}{sure}{spent}\n{meaning}{hint}\n{edits}")
}

/// `show --provenance --json`.
#[derive(Serialize)]
struct ProvenanceDocument<'m> {
    #[serde(flatten)]
    provenance: &'m Provenance,
    python: String,
}

/// Where the model comes from. The command is the first line, so that a script finds it.
fn provenance(model: &Model, args: &ShowArgs) -> Result<Output, Failure> {
    let Some(provenance) = &model.provenance else {
        let what = "does not say where it comes from: an earlier version made it";
        return Err(Failure::Input(format!("{}: {what}; fit it again", args.model.display())));
    };
    let python = provenance.python(model);
    if args.json {
        return Ok(Output::json(&ProvenanceDocument { provenance, python }));
    }
    let Provenance { command, version, table, .. } = provenance;
    let edits = match model.ledger.len() {
        0 => String::new(),
        count => format!("\n{} followed: `show` lists them.", text::count(count, "edit")),
    };
    Ok(Output::Text(format!(
        "{command}\n\nThe same in Python:\n\n{python}\n\nVersion {version}, {}, fingerprint of the table {}{edits}\n",
        text::count(table.rows as usize, "row"),
        table.fingerprint
    )))
}
