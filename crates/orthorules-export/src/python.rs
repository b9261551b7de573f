//! A Python module without any library: `score(row)`, `predict(row)`, `reasons(row)`.

use crate::header::Blanks;
use crate::plan::{Growth, Holds, Mean, Plan, PlanTest, RuleContribution};
use crate::text::{comment, commented, identifiers, literal, number};
use orthorules_model::Kind;
use std::fmt::Write;

/// Keywords, and the names that the function with the conditions uses.
const TAKEN: &str = "\
    False None True and as assert async await break class continue def del elif else except finally for from \
    global if import in is lambda nonlocal not or pass raise return try while with yield row";

const VALUE: &str = r#"

def _value(row, name):
    """What a row holds under a name; None where it is missing."""
    try:
        value = row[name]
    except (KeyError, IndexError):
        return None
    try:
        return None if value is None or value != value else value
    except TypeError:  # what pandas has for a missing value cannot be compared
        return None
"#;

const NUMBER: &str = r#"

def _number(row, name):
    """A number; NaN where it is missing."""
    value = _value(row, name)
    try:
        return math.nan if value is None else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} needs a number, got {value!r}") from None
"#;

const TEXT: &str = r#"

# What counts as blank around text.
_BLANKS = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _text(row, name):
    """Text; None where it is missing."""
    value = _value(row, name)
    if value is None:
        return None
    text = str(value)
    if not isinstance(value, str):
        if text in ("True", "False"):
            text = text.lower()
        elif isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
            text = str(int(value))
    return text.strip(_BLANKS) or None
"#;

const TRUTH: &str = r#"

def _truth(row, name):
    """"true" or "false"; None where it is missing."""
    text = _text(row, name)
    if text is None:
        return None
    text = text.lower()
    return {"1": "true", "0": "false"}.get(text, text)
"#;

const TREND: &str = r#"

def _trend(x, low, high, zero, per):
    """How far a number is from zero, in steps; 0 where it is missing."""
    if x != x:
        return 0.0
    return ((low if x < low else high if x > high else x) - zero) / per
"#;

const EXP: &str = r#"

def _exp(x):
    """exp(x), infinite where it is too large."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
"#;

/// The module.
pub(crate) fn write(plan: &Plan) -> String {
    let missing = "a key that is not there, None, NaN";
    let mut text = commented(&plan.header(missing, Blanks::TakenOff), "# ");
    text.push_str(
        "#\n# score(row), predict(row) and reasons(row) take a mapping from the names of columns to values.\n",
    );
    text.push_str("\nimport math\n");
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
    if matches!(plan.mean, Mean::Exp | Mean::Logistic | Mean::Softmax) {
        text.push_str(EXP);
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
    let _ = write!(text, "\n\ndef _fired(row):\n    \"\"\"Whether each rule holds{what}.\"\"\"\n");
    for (place, column) in plan.columns.iter().enumerate().filter(|(place, _)| used(*place)) {
        let read = match column.kind {
            Kind::Numeric => "_number",
            Kind::Boolean => "_truth",
            _ => "_text",
        };
        let _ = writeln!(text, "    {} = {read}(row, {})", names[place], literal(column.name));
    }
    text.push_str("    return (\n");
    for (place, (rule, effect)) in plan.rules.iter().zip(plan.effects()).enumerate() {
        let tests: Vec<String> = rule.tests.iter().map(|test| condition(plan, test, &names[test.column])).collect();
        let holds = match &rule.growth {
            Some(Growth { column, from, to, zero, per }) => {
                let numbers = [from, to, zero, per].map(|x| number(*x)).join(", ");
                let trend = format!("_trend({}, {numbers})", names[*column]);
                let exceptions = rule.exceptions();
                let except = exceptions.iter().map(|test| condition(plan, test, &names[test.column]));
                let except: Vec<String> = except.collect();
                if except.is_empty() { trend } else { format!("{trend} if {} else 0.0", except.join(" and ")) }
            }
            None if tests.is_empty() => "True".into(),
            None => tests.join(" and "),
        };
        let _ = writeln!(text, "        {holds},  # {place}: {}", comment(&format!("{effect} {}", rule.phrase())));
    }
    text.push_str("    )\n");
}

fn condition(plan: &Plan, test: &PlanTest, name: &str) -> String {
    let is_number = plan.columns[test.column].kind == Kind::Numeric;
    let list = |levels: &[&str]| levels.iter().map(|level| literal(level)).collect::<Vec<_>>().join(", ");
    match &test.holds {
        Holds::AtMost(t) => format!("{name} <= {}", number(*t)),
        Holds::AtLeast(t) => format!("{name} >= {}", number(*t)),
        Holds::Not(x) => format!("{name} == {name} and {name} != {}", number(*x)),
        Holds::In(levels) => match levels.as_slice() {
            [] => "False".into(),
            [level] => format!("{name} == {}", literal(level)),
            several => format!("{name} in ({})", list(several)),
        },
        Holds::NotIn(levels) => match levels.as_slice() {
            [] => format!("{name} is not None"),
            [level] => format!("{name} is not None and {name} != {}", literal(level)),
            several => format!("{name} is not None and {name} not in ({})", list(several)),
        },
        Holds::Missing if is_number => format!("{name} != {name}"),
        Holds::Present if is_number => format!("{name} == {name}"),
        Holds::Missing => format!("{name} is None"),
        Holds::Present => format!("{name} is not None"),
    }
}

/// A tuple's inside: Python needs a comma after a single element.
fn tuple(parts: &[String]) -> String {
    if let [single] = parts { format!("({single},)") } else { format!("({})", parts.join(", ")) }
}

fn scores(plan: &Plan, text: &mut String) {
    text.push_str("\n\n# Each score: where it starts, and which rules add how much, in the order of addition.\n");
    text.push_str("_SCORES = (\n");
    for score in &plan.scores {
        let terms: Vec<String> =
            score.terms.iter().map(|(rule, weight)| format!("({rule}, {})", number(*weight))).collect();
        let class = score.class.map_or("None".into(), literal);
        let _ = writeln!(text, "    ({class}, {}, {}),", number(score.intercept), tuple(&terms));
    }
    text.push_str(
        r#")


def _scores(row):
    fired = _fired(row)
    scores = {}
    for label, score, terms in _SCORES:
        for rule, weight in terms:
            if fired[rule]:
                score += WEIGHT
        scores[label] = score
    return scores


def score(row):
    """The score of a row"#
            .replace("WEIGHT", if plan.has_trends() { "weight * fired[rule]" } else { "weight" })
            .as_str(),
    );
    let offset =
        plan.offset.map_or(String::new(), |place| format!(" + _number(row, {})", literal(plan.columns[place].name)));
    let _ = if plan.has_several() {
        writeln!(text, ", by label.\"\"\"\n    return _scores(row)")
    } else {
        writeln!(text, ".\"\"\"\n    return _scores(row)[None]{offset}")
    };
}

fn predictions(plan: &Plan, text: &mut String) {
    let target = comment(&plan.model.target).replace(['"', '\\'], "'");
    text.push_str("\n\ndef predict(row):\n");
    let mean = |value: &str| match plan.mean {
        Mean::Logistic => format!("1.0 / (1.0 + _exp(-{value}))"),
        Mean::Cut => format!("0.0 if {value} < 0.0 else 1.0 if {value} > 1.0 else {value}"),
        Mean::Softmax => format!("_exp({value} - highest)"),
        Mean::Exp | Mean::Score => value.to_owned(),
    };
    let _ = match (plan.mean, plan.classes()) {
        (Mean::Score, _) => writeln!(text, "    \"\"\"The prediction of {target}.\"\"\"\n    return score(row)"),
        (Mean::Exp, _) => {
            let _ = writeln!(text, "    \"\"\"The expected {target}.\"\"\"");
            match plan.exposure.map(|place| literal(plan.columns[place].name)) {
                None => writeln!(text, "    return _exp(score(row))"),
                Some(name) => writeln!(
                    text,
                    "    exposure = _number(row, {name})\n    \
                     return (1.0 if exposure != exposure else exposure) * _exp(score(row))"
                ),
            }
        }
        (_, [negative, positive]) if !plan.has_several() => {
            let rest = if plan.mean == Mean::Cut { "1.0 - probability" } else { "1.0 / (1.0 + _exp(value))" };
            writeln!(
                text,
                "    \"\"\"The probability of each label.\"\"\"\n    value = score(row)\n    probability = {}\n    \
                 return {{{}: {rest}, {}: probability}}",
                mean("value"),
                literal(negative),
                literal(positive)
            )
        }
        (Mean::Softmax, _) => writeln!(
            text,
            "    \"\"\"The probability of each label.\"\"\"\n    \
             scores = score(row)\n    highest = max(scores.values())\n    \
             means = {{label: {} for label, value in scores.items()}}\n    \
             total = 0.0\n    for mean in means.values():\n        total += mean\n    \
             return {{label: mean / total for label, mean in means.items()}}",
            mean("value")
        ),
        _ => writeln!(
            text,
            "    \"\"\"The probability of each label.\"\"\"\n    \
             means = {{label: {} for label, value in score(row).items()}}\n    \
             total = 0.0\n    for mean in means.values():\n        total += mean\n    \
             if total > 0.0:\n        scale = 1.0 / total\n        \
             return {{label: mean * scale for label, mean in means.items()}}\n    \
             return {{label: 1.0 / len(means) for label in means}}",
            mean("value")
        ),
    };
}

fn reasons(plan: &Plan, text: &mut String) {
    let reasons = plan.reasons();
    let several = plan.has_several();
    text.push_str("\n\n# What each rule contributes where it holds, the largest first.\n_REASONS = (\n");
    for RuleContribution { rule, weights } in &reasons {
        let contribution = if several {
            let entry = |&(place, weight): &(usize, f64)| {
                format!("{}: {}", literal(plan.scores[place].class.unwrap_or_default()), number(weight))
            };
            format!("{{{}}}", weights.iter().map(entry).collect::<Vec<_>>().join(", "))
        } else {
            weights.first().map_or_else(String::new, |&(_, weight)| number(weight))
        };
        let _ = writeln!(text, "    ({rule}, {}, {contribution}),", literal(&plan.rules[*rule].text));
    }
    if plan.has_trends() {
        return changing_reasons(several, text);
    }
    let _ = write!(
        text,
        ")\n\n\ndef reasons(row):\n    \
         \"\"\"The rules that hold, each with its contribution{}, the largest first.\"\"\"\n    \
         fired = _fired(row)\n    \
         return [(text, {}) for rule, text, contribution in _REASONS if fired[rule]]\n",
        if several { " by label" } else { "" },
        if several { "dict(contribution)" } else { "contribution" },
    );
}

/// The function `reasons` where contributions differ from row to row.
fn changing_reasons(several: bool, text: &mut String) {
    let (labels, own, size) = if several {
        (
            " by label",
            "{label: weight * fired[rule] for label, weight in contribution.items()}",
            "max(abs(x) for x in item[1].values())",
        )
    } else {
        ("", "contribution * fired[rule]", "abs(item[1])")
    };
    let _ = write!(
        text,
        ")\n\n\ndef reasons(row):\n    \
         \"\"\"The rules that hold, each with its contribution{labels}, the largest first.\"\"\"\n    \
         fired = _fired(row)\n    \
         found = [(text, {own}) for rule, text, contribution in _REASONS if fired[rule]]\n    \
         return sorted(found, key=lambda item: -{size})\n",
    );
}
