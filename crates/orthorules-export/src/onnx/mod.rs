//! A graph in double precision: comparisons, logic, sums. One input a column, each `[rows, 1]`.
//!
//! There is no node for sets of levels: an operator that has one is limited in its size and crashes beyond.

mod graph;
mod protobuf;

use crate::cannot_hold;
use crate::header::Blanks;
use crate::plan::{Growth, Holds, Mean, Plan, PlanTest, spellings};
use crate::text::literal;
use graph::{Element, Graph, int};
use orthorules_model::{Kind, Result};

const OUTPUTS: [&str; 4] = ["score", "prediction", "probabilities", "contributions"];

/// The type number of double, for casts.
const DOUBLE: i64 = Element::Double as i64;

/// The file.
pub(crate) fn write(plan: &Plan) -> Result<Vec<u8>> {
    let cannot = |name: &str, why: &str| Err(cannot_hold("onnx", format!("the name {name:?}: {why}")));
    // A constant model needs some input all the same, which tells how many rows there are.
    let columns = if plan.columns.is_empty() {
        let first = plan.model.columns.first().map(|column| (column.name.as_str(), column.kind));
        let none = || cannot_hold("onnx", "a model without columns: nothing tells how many rows".into());
        vec![first.ok_or_else(none)?]
    } else {
        plan.columns.iter().map(|column| (column.name, column.kind)).collect()
    };
    for (name, _) in &columns {
        if name.is_empty() {
            return cannot(name, "a name needs a character");
        }
        if OUTPUTS.contains(name) {
            return cannot(name, "it is that of an output; rename the column");
        }
    }
    let element = |kind: Kind| if kind == Kind::Numeric { Element::Double } else { Element::Text };
    let inputs: Vec<(&str, Element)> = columns.iter().map(|&(name, kind)| (name, element(kind))).collect();
    let mut graph = Graph::new(&inputs);
    let always = always(&mut graph, inputs[0]);
    // Trends do not hold or not: they get their nodes beside those of the scores.
    let holding = |rule: &crate::plan::PlanRule| match rule.growth {
        Some(_) => String::new(),
        None => conjunction(plan, &mut graph, &rule.tests, &always),
    };
    let holding: Vec<String> = plan.rules.iter().map(holding).collect();
    scores(plan, &mut graph, &holding, &always);
    predictions(plan, &mut graph);
    let header = plan.header("NaN in numbers, \"\" in text", Blanks::Kept).join("\n");
    let list =
        |texts: &mut dyn Iterator<Item = &str>| format!("[{}]", texts.map(literal).collect::<Vec<_>>().join(", "));
    let notes = [
        ("fingerprint", plan.model.fingerprint()),
        ("rules", list(&mut plan.rules.iter().map(|rule| rule.text.as_str()))),
        ("classes", list(&mut plan.classes().iter().map(String::as_str))),
    ];
    Ok(graph.into_bytes(&header, &notes))
}

/// True for every row.
fn always(graph: &mut Graph, (name, element): (&str, Element)) -> String {
    let test = match element {
        Element::Double => graph.node("IsNaN", &[name], &[]),
        Element::Text => is(graph, name, ""),
    };
    let other = graph.node("Not", &[&test], &[]);
    graph.node("Or", &[&test, &other], &[])
}

fn is(graph: &mut Graph, name: &str, level: &str) -> String {
    let level = graph.text(level);
    graph.node("Equal", &[name, &level], &[])
}

fn conjunction(plan: &Plan, graph: &mut Graph, tests: &[PlanTest], always: &str) -> String {
    if tests.is_empty() {
        return always.to_owned();
    }
    let tests: Vec<String> = tests.iter().map(|test| condition(plan, graph, test, always)).collect();
    graph.chain("And", &tests)
}

fn condition(plan: &Plan, graph: &mut Graph, test: &PlanTest, always: &str) -> String {
    let column = plan.columns[test.column];
    let compare = |graph: &mut Graph, operator: &str, t: f64| {
        let t = graph.doubles(&[1, 1], &[t]);
        graph.node(operator, &[column.name, &t], &[])
    };
    let missing = |graph: &mut Graph| match column.kind {
        Kind::Numeric => graph.node("IsNaN", &[column.name], &[]),
        _ => is(graph, column.name, ""),
    };
    let among = |graph: &mut Graph, levels: &[&str]| {
        let tests: Vec<String> =
            written(column.kind, levels).into_iter().map(|level| is(graph, column.name, level)).collect();
        graph.chain("Or", &tests)
    };
    match &test.holds {
        Holds::AtMost(t) => compare(graph, "LessOrEqual", *t),
        Holds::AtLeast(t) => compare(graph, "GreaterOrEqual", *t),
        Holds::Not(x) => {
            let (missing, x) = (missing(graph), graph.doubles(&[1, 1], &[*x]));
            let same = graph.node("Equal", &[column.name, &x], &[]);
            let out = graph.node("Or", &[&missing, &same], &[]);
            graph.node("Not", &[&out], &[])
        }
        Holds::In(levels) if levels.is_empty() => graph.node("Not", &[always], &[]),
        Holds::In(levels) => among(graph, levels),
        Holds::NotIn(levels) => {
            let missing = missing(graph);
            let out = if levels.is_empty() {
                missing
            } else {
                let level = among(graph, levels);
                graph.node("Or", &[&missing, &level], &[])
            };
            graph.node("Not", &[&out], &[])
        }
        Holds::Missing => missing(graph),
        Holds::Present => {
            let missing = missing(graph);
            graph.node("Not", &[&missing], &[])
        }
    }
}

/// The ways to write levels, true and false in capital letters, too: there is no node that makes them small.
fn written<'l>(kind: Kind, levels: &[&'l str]) -> Vec<&'l str> {
    let capitals = levels.iter().flat_map(|level| match (kind, *level) {
        (Kind::Boolean, "true") => ["True", "TRUE"].as_slice(),
        (Kind::Boolean, "false") => ["False", "FALSE"].as_slice(),
        _ => &[],
    });
    spellings(kind, levels).into_iter().chain(capitals.copied()).collect()
}

/// What a trend is: 0 where its column is missing, or has one of the exceptions.
fn trend(
    plan: &Plan,
    graph: &mut Graph,
    Growth { column, from, to, zero, per }: Growth,
    exceptions: &[&PlanTest],
) -> String {
    let x = plan.columns[column].name;
    let [from, to, zero, per, none] = [from, to, zero, per, 0.0].map(|x| graph.doubles(&[1, 1], &[x]));
    let above = graph.node("Max", &[x, &from], &[]);
    let clipped = graph.node("Min", &[&above, &to], &[]);
    let from_zero = graph.node("Sub", &[&clipped, &zero], &[]);
    let value = graph.node("Div", &[&from_zero, &per], &[]);
    if exceptions.is_empty() {
        let missing = graph.node("IsNaN", &[x], &[]);
        return graph.node("Where", &[&missing, &none, &value], &[]);
    }
    let tests: Vec<String> = exceptions.iter().map(|test| condition(plan, graph, test, "")).collect();
    let there = graph.chain("And", &tests);
    graph.node("Where", &[&there, &value, &none], &[])
}

/// The outputs `contributions` (rows × rules, with several classes × classes) and `score` (rows × scores).
fn scores(plan: &Plan, graph: &mut Graph, holding: &[String], always: &str) {
    let (rules, scores) = (plan.rules.len(), plan.scores.len());
    let mut shape = vec![None, Some(rules)];
    shape.extend(plan.has_several().then_some(Some(scores)));
    graph.output("contributions", &shape);
    graph.output("score", &[None, Some(scores)]);
    let intercepts: Vec<f64> = plan.scores.iter().map(|score| score.intercept).collect();
    let intercepts = graph.doubles(&[1, scores], &intercepts);
    let to_double = |graph: &mut Graph, value: &str| graph.node("Cast", &[value], &[int("to", DOUBLE)]);
    if rules == 0 {
        let ones = to_double(graph, always);
        let zeros = graph.node("Sub", &[&ones, &ones], &[]);
        total(plan, graph, &zeros, &intercepts);
        let (from, to, axis) = (graph.ints(&[0]), graph.ints(&[0]), graph.ints(&[1]));
        let none = graph.node("Slice", &[&zeros, &from, &to, &axis], &[]);
        if plan.has_several() {
            let axis = graph.ints(&[2]);
            let flat = graph.node("Unsqueeze", &[&none, &axis], &[]);
            let wide = graph.doubles(&[1, 1, scores], &vec![0.0; scores]);
            graph.named("Mul", &[&flat, &wide], "contributions", &[]);
        } else {
            graph.named("Identity", &[&none], "contributions", &[]);
        }
        return;
    }
    let fired = if plan.has_trends() {
        let amount = |(rule, holds): (&crate::plan::PlanRule, &String)| match rule.growth {
            Some(growth) => trend(plan, graph, growth, &rule.exceptions()),
            None => to_double(graph, holds),
        };
        let amounts: Vec<String> = plan.rules.iter().zip(holding).map(amount).collect();
        let amounts: Vec<&str> = amounts.iter().map(String::as_str).collect();
        graph.node("Concat", &amounts, &[int("axis", 1)])
    } else {
        let holding: Vec<&str> = holding.iter().map(String::as_str).collect();
        let fired = graph.node("Concat", &holding, &[int("axis", 1)]);
        to_double(graph, &fired)
    };
    let weight = |rule: usize, score: &crate::plan::Score| {
        score.terms.iter().find(|term| term.0 == rule).map_or(0.0, |term| term.1)
    };
    let weights: Vec<f64> =
        (0..rules).flat_map(|rule| plan.scores.iter().map(move |score| weight(rule, score))).collect();
    let axis = graph.ints(&[1]);
    let sums = if plan.has_several() {
        let (last, weights) = (graph.ints(&[2]), graph.doubles(&[1, rules, scores], &weights));
        let fired = graph.node("Unsqueeze", &[&fired, &last], &[]);
        graph.named("Mul", &[&fired, &weights], "contributions", &[]);
        graph.node("ReduceSum", &["contributions", &axis], &[int("keepdims", 0)])
    } else {
        let weights = graph.doubles(&[1, rules], &weights);
        graph.named("Mul", &[&fired, &weights], "contributions", &[]);
        graph.node("ReduceSum", &["contributions", &axis], &[int("keepdims", 1)])
    };
    total(plan, graph, &intercepts, &sums);
}

/// The output `score`: the sum of two, and of the offset.
fn total(plan: &Plan, graph: &mut Graph, a: &str, b: &str) {
    match plan.offset.map(|place| plan.columns[place].name) {
        Some(offset) => {
            let sum = graph.node("Add", &[a, b], &[]);
            graph.named("Add", &[&sum, offset], "score", &[]);
        }
        None => graph.named("Add", &[a, b], "score", &[]),
    }
}

/// The output `prediction`, of classes `probabilities`.
fn predictions(plan: &Plan, graph: &mut Graph) {
    let classes = plan.classes().len();
    let name = if classes > 0 { "probabilities" } else { "prediction" };
    graph.output(name, &[None, Some(classes.max(1))]);
    if plan.mean == Mean::Score {
        return graph.named("Identity", &["score"], name, &[]);
    }
    if plan.mean == Mean::Exp && plan.exposure.is_none() {
        return graph.named("Exp", &["score"], name, &[]);
    }
    if plan.mean == Mean::Softmax {
        let axis = graph.ints(&[1]);
        let highest = graph.node("ReduceMax", &["score", &axis], &[int("keepdims", 1)]);
        let below = graph.node("Sub", &["score", &highest], &[]);
        let means = graph.node("Exp", &[&below], &[]);
        let total = graph.node("ReduceSum", &[&means, &axis], &[int("keepdims", 1)]);
        return graph.named("Div", &[&means, &total], name, &[]);
    }
    let one = graph.doubles(&[1, 1], &[1.0]);
    let logistic = |graph: &mut Graph, exponent: &str| {
        let power = graph.node("Exp", &[exponent], &[]);
        let below = graph.node("Add", &[&one, &power], &[]);
        graph.node("Div", &[&one, &below], &[])
    };
    let mean = match plan.mean {
        Mean::Score | Mean::Exp | Mean::Softmax => {
            let exposure = plan.exposure.map_or("", |place| plan.columns[place].name);
            let rate = graph.node("Exp", &["score"], &[]);
            let missing = graph.node("IsNaN", &[exposure], &[]);
            let factor = graph.node("Where", &[&missing, &one, exposure], &[]);
            return graph.named("Mul", &[&factor, &rate], name, &[]);
        }
        Mean::Logistic => {
            let exponent = graph.node("Neg", &["score"], &[]);
            logistic(graph, &exponent)
        }
        Mean::Cut => {
            let zero = graph.doubles(&[1, 1], &[0.0]);
            let positive = graph.node("Max", &["score", &zero], &[]);
            graph.node("Min", &[&positive, &one], &[])
        }
    };
    if !plan.has_several() {
        let rest = match plan.mean {
            Mean::Logistic => logistic(graph, "score"),
            _ => graph.node("Sub", &[&one, &mean], &[]),
        };
        return graph.named("Concat", &[&rest, &mean], name, &[int("axis", 1)]);
    }
    let axis = graph.ints(&[1]);
    let total = graph.node("ReduceSum", &[&mean, &axis], &[int("keepdims", 1)]);
    let (zero, same) = (graph.doubles(&[1, 1], &[0.0]), graph.doubles(&[1, 1], &[1.0 / classes as f64]));
    let some = graph.node("Greater", &[&total, &zero], &[]);
    let scale = graph.node("Div", &[&one, &total], &[]);
    let share = graph.node("Mul", &[&mean, &scale], &[]);
    graph.named("Where", &[&some, &share, &same], name, &[]);
}
