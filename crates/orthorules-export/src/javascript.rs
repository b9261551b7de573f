//! An ES module without any library: `score(row)`, `predict(row)`, `reasons(row)`.

use crate::header::Blanks;
use crate::plan::{Growth, Holds, Mean, Plan, PlanTest, RuleContribution};
use crate::text::{comment, identifiers, literal, number};
use orthorules_model::Kind;
use std::fmt::Write;

/// Keywords, and the names that the function with the conditions uses.
const TAKEN: &str = "\
    abstract arguments async await boolean break byte case catch char class const continue debugger default \
    delete do double else enum eval export extends false final finally float for function get goto if implements \
    import in instanceof int interface let long native new null of package private protected public return set \
    short static super switch synchronized this throw throws transient true try typeof undefined var void \
    volatile while with yield NaN Infinity Number row number text truth trend";

const VALUE: &str = r"
/** What a row holds under a name; null where it is missing. */
function value(row, name) {
  if (!Object.prototype.hasOwnProperty.call(row, name)) return null;
  const found = row[name];
  return found === undefined || Number.isNaN(found) ? null : found;
}
";

const NUMBER: &str = r#"
/** A number; NaN where it is missing. */
function number(row, name) {
  const found = value(row, name);
  if (found === null) return NaN;
  const converted = typeof found === "string" && found.trim() === "" ? NaN : Number(found);
  if (Number.isNaN(converted)) {
    throw new TypeError(`column ${JSON.stringify(name)} needs a number, got ${JSON.stringify(found)}`);
  }
  return converted;
}
"#;

const TEXT: &str = r#"
// What counts as blank around text.
const BLANKS = "\t-\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const AROUND = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, "g");

/** Text; null where it is missing. */
function text(row, name) {
  const found = value(row, name);
  return found === null ? null : String(found).replace(AROUND, "") || null;
}
"#;

const TRUTH: &str = r#"
/** "true" or "false"; null where it is missing. */
function truth(row, name) {
  const found = text(row, name);
  if (found === null) return null;
  const lower = found.toLowerCase();
  return lower === "1" ? "true" : lower === "0" ? "false" : lower;
}
"#;

const TREND: &str = r"
/** How far a number is from zero, in steps; 0 where it is missing. */
function trend(x, low, high, zero, per) {
  if (Number.isNaN(x)) return 0.0;
  return ((x < low ? low : x > high ? high : x) - zero) / per;
}
";

/// A literal that does not end a script element either, should the module be put into a page.
fn quoted(text: &str) -> String {
    literal(text).replace("</", "<\\/").replace("<!", "<\\!")
}

/// Text for the rest of a line.
fn remark(text: &str) -> String {
    comment(text).replace("</", "< /").replace("<!", "< !")
}

/// The module.
pub(crate) fn write(plan: &Plan) -> String {
    let header = plan.header("a property that is not there, undefined, null, NaN", Blanks::TakenOff);
    let mut text = header.iter().fold(String::new(), |text, line| text + "// " + &remark(line) + "\n");
    text.push_str("//\n// score(row), predict(row) and reasons(row) take an object with the columns as properties.\n");
    if !plan.columns.is_empty() {
        text.push_str(VALUE);
    }
    if plan.reads(Kind::Numeric) {
        text.push_str(NUMBER);
    }
    if plan.reads_text() {
        text.push_str(TEXT);
    }
    if plan.reads(Kind::Boolean) {
        text.push_str(TRUTH);
    }
    if plan.has_trends() {
        text.push_str(TREND);
    }
    conditions(plan, &mut text);
    scores(plan, &mut text);
    predictions(plan, &mut text);
    reasons(plan, &mut text);
    text
}

/// The function that says which rules hold: one line a rule.
fn conditions(plan: &Plan, text: &mut String) {
    let names = identifiers(plan.columns.iter().map(|column| column.name), TAKEN);
    let used = |place: usize| plan.rules.iter().flat_map(|rule| &rule.tests).any(|test| test.column == place);
    let what = if plan.has_trends() { ", or what a trend is" } else { "" };
    let _ = write!(text, "\n/** Whether each rule holds{what}. */\nfunction fired(row) {{\n");
    for (place, column) in plan.columns.iter().enumerate().filter(|(place, _)| used(*place)) {
        let read = match column.kind {
            Kind::Numeric => "number",
            Kind::Boolean => "truth",
            _ => "text",
        };
        let _ = writeln!(text, "  const {} = {read}(row, {});", names[place], quoted(column.name));
    }
    text.push_str("  return [\n");
    for (place, (rule, effect)) in plan.rules.iter().zip(plan.effects()).enumerate() {
        let tests: Vec<String> = rule.tests.iter().map(|test| condition(plan, test, &names[test.column])).collect();
        let holds = match &rule.growth {
            Some(Growth { column, from, to, zero, per }) => {
                let numbers = [from, to, zero, per].map(|x| number(*x)).join(", ");
                let trend = format!("trend({}, {numbers})", names[*column]);
                let exceptions = rule.exceptions();
                let except = exceptions.iter().map(|test| condition(plan, test, &names[test.column]));
                let except: Vec<String> = except.collect();
                if except.is_empty() { trend } else { format!("{} ? {trend} : 0", except.join(" && ")) }
            }
            None if tests.is_empty() => "true".into(),
            None => tests.join(" && "),
        };
        let _ = writeln!(text, "    {holds}, // {place}: {}", remark(&format!("{effect} {}", rule.phrase())));
    }
    text.push_str("  ];\n}\n");
}

fn condition(plan: &Plan, test: &PlanTest, name: &str) -> String {
    let is_number = plan.columns[test.column].kind == Kind::Numeric;
    let list = |levels: &[&str]| levels.iter().map(|level| quoted(level)).collect::<Vec<_>>().join(", ");
    match &test.holds {
        Holds::AtMost(t) => format!("{name} <= {}", number(*t)),
        Holds::AtLeast(t) => format!("{name} >= {}", number(*t)),
        Holds::Not(x) => format!("!Number.isNaN({name}) && {name} !== {}", number(*x)),
        Holds::In(levels) => match levels.as_slice() {
            [] => "false".into(),
            [level] => format!("{name} === {}", quoted(level)),
            several => format!("[{}].includes({name})", list(several)),
        },
        Holds::NotIn(levels) => match levels.as_slice() {
            [] => format!("{name} !== null"),
            [level] => format!("{name} !== null && {name} !== {}", quoted(level)),
            several => format!("{name} !== null && ![{}].includes({name})", list(several)),
        },
        Holds::Missing if is_number => format!("Number.isNaN({name})"),
        Holds::Present if is_number => format!("!Number.isNaN({name})"),
        Holds::Missing => format!("{name} === null"),
        Holds::Present => format!("{name} !== null"),
    }
}

fn scores(plan: &Plan, text: &mut String) {
    text.push_str("\n// Each score: where it starts, and which rules add how much, in the order of addition.\n");
    text.push_str("const SCORES = [\n");
    for score in &plan.scores {
        let terms: Vec<String> =
            score.terms.iter().map(|(rule, weight)| format!("[{rule}, {}]", number(*weight))).collect();
        let class = score.class.map_or("null".into(), quoted);
        let _ = writeln!(text, "  [{class}, {}, [{}]],", number(score.intercept), terms.join(", "));
    }
    text.push_str(
        r"];

/** Pairs of label and score. */
function scores(row) {
  const holds = fired(row);
  return SCORES.map(([label, start, terms]) => {
    let total = start;
    for (const [rule, weight] of terms) if (holds[rule]) total += WEIGHT;
    return [label, total];
  });
}

"
        .replace("WEIGHT", if plan.has_trends() { "weight * holds[rule]" } else { "weight" })
        .as_str(),
    );
    let offset =
        plan.offset.map_or(String::new(), |place| format!(" + number(row, {})", quoted(plan.columns[place].name)));
    let _ = if plan.has_several() {
        writeln!(
            text,
            "/** The score of a row, by label. */\nexport function score(row) {{\n  return \
             Object.fromEntries(scores(row));\n}}"
        )
    } else {
        writeln!(
            text,
            "/** The score of a row. */\nexport function score(row) {{\n  return scores(row)[0][1]{offset};\n}}"
        )
    };
}

fn predictions(plan: &Plan, text: &mut String) {
    let mean = |value: &str| match plan.mean {
        Mean::Logistic => format!("1.0 / (1.0 + Math.exp(-{value}))"),
        Mean::Cut => format!("{value} < 0.0 ? 0.0 : {value} > 1.0 ? 1.0 : {value}"),
        Mean::Softmax => format!("Math.exp({value} - highest)"),
        Mean::Exp | Mean::Score => value.to_owned(),
    };
    let is_class = !plan.classes().is_empty();
    let what = if is_class { "The probability of each label" } else { "The prediction" };
    let _ = write!(text, "\n/** {what}. */\nexport function predict(row) {{\n");
    let _ = match (plan.mean, plan.classes()) {
        (Mean::Score, _) => writeln!(text, "  return score(row);"),
        (Mean::Exp, _) => match plan.exposure.map(|place| quoted(plan.columns[place].name)) {
            None => writeln!(text, "  return Math.exp(score(row));"),
            Some(name) => writeln!(
                text,
                "  const exposure = number(row, {name});\n  \
                 return (Number.isNaN(exposure) ? 1.0 : exposure) * Math.exp(score(row));"
            ),
        },
        (_, [negative, positive]) if !plan.has_several() => {
            let rest = if plan.mean == Mean::Cut { "1.0 - probability" } else { "1.0 / (1.0 + Math.exp(value))" };
            writeln!(
                text,
                "  const value = score(row);\n  const probability = {};\n  \
                 return {{ [{}]: {rest}, [{}]: probability }};",
                mean("value"),
                quoted(negative),
                quoted(positive)
            )
        }
        (Mean::Softmax, _) => writeln!(
            text,
            "  const all = scores(row);\n  \
             const highest = all.reduce((most, [, value]) => (value > most ? value : most), -Infinity);\n  \
             const means = all.map(([label, value]) => [label, {}]);\n  \
             let total = 0.0;\n  for (const [, mean] of means) total += mean;\n  \
             return Object.fromEntries(means.map(([label, mean]) => [label, mean / total]));",
            mean("value")
        ),
        _ => writeln!(
            text,
            "  const means = scores(row).map(([label, value]) => [label, {}]);\n  \
             let total = 0.0;\n  for (const [, mean] of means) total += mean;\n  \
             const scale = 1.0 / total;\n  \
             return Object.fromEntries(means.map(([label, mean]) => \
             [label, total > 0.0 ? mean * scale : 1.0 / means.length]));",
            mean("value")
        ),
    };
    text.push_str("}\n");
}

fn reasons(plan: &Plan, text: &mut String) {
    let several = plan.has_several();
    text.push_str("\n// What each rule contributes where it holds, the largest first.\nconst REASONS = [\n");
    for RuleContribution { rule, weights } in &plan.reasons() {
        let contribution = if several {
            let entry = |&(place, weight): &(usize, f64)| {
                format!("[{}]: {}", quoted(plan.scores[place].class.unwrap_or_default()), number(weight))
            };
            format!("{{ {} }}", weights.iter().map(entry).collect::<Vec<_>>().join(", "))
        } else {
            weights.first().map_or_else(String::new, |&(_, weight)| number(weight))
        };
        let _ = writeln!(text, "  [{rule}, {}, {contribution}],", quoted(&plan.rules[*rule].text));
    }
    if plan.has_trends() {
        return changing_reasons(several, text);
    }
    let _ = write!(
        text,
        "];\n\n/** The rules that hold, each with its contribution{}, the largest first. */\n\
         export function reasons(row) {{\n  const holds = fired(row);\n  \
         return REASONS.filter(([rule]) => holds[rule]).map(([, text, contribution]) => [text, {}]);\n}}\n",
        if several { " by label" } else { "" },
        if several { "{ ...contribution }" } else { "contribution" },
    );
}

/// The function `reasons` where contributions differ from row to row.
fn changing_reasons(several: bool, text: &mut String) {
    let (labels, own, size) = if several {
        (
            " by label",
            "Object.fromEntries(Object.entries(contribution).map(([label, weight]) => [label, weight * holds[rule]]))",
            "Math.max(...Object.values(item[1]).map(Math.abs))",
        )
    } else {
        ("", "contribution * holds[rule]", "Math.abs(item[1])")
    };
    let _ = write!(
        text,
        "];\n\n/** The rules that hold, each with its contribution{labels}, the largest first. */\n\
         export function reasons(row) {{\n  const holds = fired(row);\n  const size = (item) => {size};\n  \
         const found = REASONS.filter(([rule]) => holds[rule])\n    \
         .map(([rule, text, contribution]) => [text, {own}]);\n  \
         return found.sort((a, b) => size(b) - size(a));\n}}\n",
    );
}
