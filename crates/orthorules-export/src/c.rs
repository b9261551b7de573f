//! One C99 file without any library: a struct for a row, scores, predictions, and which rules hold.

use crate::cannot_hold;
use crate::header::Blanks;
use crate::plan::{Growth, Holds, Mean, Plan, PlanTest, spellings};
use crate::text::{comment, identifiers, number};
use orthorules_model::{Kind, Result};
use std::fmt::Write;

/// Keywords of C and C++, and macros that the headers included here have on one system or another.
const TAKEN: &str = "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class \
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype \
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int \
    long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register \
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch \
    template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using \
    virtual void volatile wchar_t while xor xor_eq \
    DOMAIN FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_INT_DOWNWARD \
    FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO FP_INT_TOWARDZERO FP_INT_UPWARD FP_LLOGB0 FP_LLOGBNAN FP_NAN FP_NORMAL \
    FP_QNAN FP_SNAN FP_SUBNORMAL FP_SUPERNORMAL FP_ZERO HUGE HUGE_VAL HUGE_VALF HUGE_VALL I INFINITY MATH_ERREXCEPT \
    MATH_ERRNO MAXFLOAT M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 M_SQRT1_2 \
    M_SQRT2 NAN NULL OVERFLOW PLOSS SING SNAN SNANF SNANL TLOSS UNDERFLOW X_TLOSS complex errno fpclassify isfinite \
    isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal isunordered linux math_errhandling \
    offsetof signbit signgam unix";

const TRIMMED: &str = r"
/* How many bytes of blank are here, in UTF-8. */
static size_t orthorules_blank(const unsigned char *at)
{
    if (*at == ' ' || (*at >= 9 && *at <= 13)) return 1;
    if (at[0] == 0xC2 && (at[1] == 0x85 || at[1] == 0xA0)) return 2;
    if (at[0] == 0xE1 && at[1] == 0x9A && at[2] == 0x80) return 3;
    if (at[0] == 0xE2 && at[1] == 0x80 && at[2] >= 0x80 && at[2] <= 0x8A) return 3;
    if (at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9 || at[2] == 0xAF)) return 3;
    if (at[0] == 0xE2 && at[1] == 0x81 && at[2] == 0x9F) return 3;
    if (at[0] == 0xE3 && at[1] == 0x80 && at[2] == 0x80) return 3;
    return 0;
}

/* Where text begins and how long it is, without blanks around it. */
static const unsigned char *orthorules_trimmed(const char *text, size_t *length)
{
    const unsigned char *start = (const unsigned char *)text, *at, *end;
    while (orthorules_blank(start)) start += orthorules_blank(start);
    for (at = end = start; *at;) {
        size_t blank = orthorules_blank(at);
        at += blank ? blank : 1;
        if (!blank) end = at;
    }
    *length = (size_t)(end - start);
    return start;
}
";

const PRESENT: &str = r"
/* Whether there is any text. */
static int orthorules_present(const char *text)
{
    size_t length = 0;
    if (text) orthorules_trimmed(text, &length);
    return length > 0;
}
";

const IS: &str = r"
/* Whether text is this level. */
static int orthorules_is(const char *text, const char *level)
{
    size_t length;
    const unsigned char *start;
    if (!text) return 0;
    start = orthorules_trimmed(text, &length);
    return length == strlen(level) && memcmp(start, level, length) == 0;
}
";

const SAYS: &str = r"
/* Whether text is this word, in capital or small letters. */
static int orthorules_says(const char *text, const char *word)
{
    size_t length, i;
    const unsigned char *start;
    if (!text) return 0;
    start = orthorules_trimmed(text, &length);
    if (length != strlen(word)) return 0;
    for (i = 0; i < length; i++) {
        int letter = start[i] >= 'A' && start[i] <= 'Z' ? start[i] + 32 : start[i];
        if (letter != word[i]) return 0;
    }
    return 1;
}
";

const TREND: &str = r"
/* How far a number is from zero, in steps; 0 where it is missing. */
static double orthorules_trend(double x, double low, double high, double zero, double per)
{
    return isnan(x) ? 0.0 : ((x < low ? low : x > high ? high : x) - zero) / per;
}

/* A product that is rounded before it is added to anything. */
static double orthorules_times(double weight, double value)
{
    volatile double product = weight * value;
    return product;
}
";

/// A literal of plain ASCII: other bytes are escaped, three digits each, so that no digit after one belongs to it.
fn literal(text: &str) -> String {
    let mut quoted = String::from('"');
    for byte in text.bytes() {
        match byte {
            // Two question marks may begin a trigraph.
            b'"' | b'\\' | b'?' => quoted.extend(['\\', byte as char]),
            b' '..=b'~' => quoted.push(byte as char),
            _ => {
                let _ = write!(quoted, "\\{byte:03o}");
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Text inside a comment.
fn remark(text: &str) -> String {
    comment(text).replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/")
}

/// The file.
pub(crate) fn write(plan: &Plan) -> Result<String> {
    let levels = plan.rules.iter().flat_map(|rule| &rule.tests).flat_map(|test| match &test.holds {
        Holds::In(levels) | Holds::NotIn(levels) => levels.as_slice(),
        _ => &[],
    });
    let names = plan.columns.iter().map(|column| column.name);
    let texts = levels.copied().chain(names).chain(plan.classes().iter().map(String::as_str));
    if let Some(text) = texts.into_iter().find(|text| text.contains('\0')) {
        return Err(cannot_hold("c", format!("{text:?}: its text ends at the character 0")));
    }
    let mut text = String::from("/*\n");
    for line in plan.header("NaN in a double, NULL in a const char *", Blanks::TakenOff) {
        let _ = writeln!(text, " * {}", remark(&line));
    }
    text.push_str(" *\n * C99. Text is UTF-8. Link with -lm.\n */\n");
    text.push_str("#include <math.h>\n#include <stddef.h>\n#include <string.h>\n\n");
    text.push_str("#ifdef __FAST_MATH__\n#error \"compile without -ffast-math: NaN means missing\"\n#endif\n");
    let names = identifiers(plan.columns.iter().map(|column| column.name), TAKEN);
    declarations(plan, &names, &mut text);
    helpers(plan, &mut text);
    rules(plan, &names, &mut text);
    if plan.has_several() {
        several_scores(plan, &mut text);
        several_predictions(plan, &mut text);
    } else {
        one_score(plan, &names, &mut text);
    }
    fired(plan, &mut text);
    Ok(text)
}

/// The struct and the tables.
fn declarations(plan: &Plan, names: &[String], text: &mut String) {
    let _ = writeln!(text, "\n#define ORTHORULES_RULES {}", plan.rules.len());
    if !plan.classes().is_empty() {
        let _ = writeln!(text, "#define ORTHORULES_CLASSES {}", plan.classes().len());
    }
    text.push_str("\n/* A row. Its fields are these columns, in this order: */\ntypedef struct {\n");
    for (column, name) in plan.columns.iter().zip(names) {
        let (kind, note) = match column.kind {
            Kind::Numeric => ("double ", ""),
            Kind::Boolean => ("const char *", ", true or false"),
            _ => ("const char *", ""),
        };
        let _ = writeln!(text, "    {kind}{name}; /* {}{note} */", remark(column.name));
    }
    if plan.columns.is_empty() {
        text.push_str("    char unused; /* no rule uses a column */\n");
    }
    text.push_str("} orthorules_row;\n");
    let table = |kind: &str, name: &str, size: &str, values: Vec<String>| {
        let values = if values.is_empty() { "0".into() } else { values.join(",\n    ") };
        format!("\nextern const {kind}{name}[];\nconst {kind}{name}[{size}] = {{\n    {values}\n}};\n")
    };
    let rules = if plan.rules.is_empty() { "1" } else { "ORTHORULES_RULES" };
    text.push_str("\n/* The text of each rule. */");
    let texts = plan.rules.iter().map(|rule| literal(&rule.text)).collect();
    text.push_str(&table("char *const ", "orthorules_texts", rules, texts));
    let weight = |rule: usize, score: &crate::plan::Score| {
        let term = score.terms.iter().find(|term| term.0 == rule);
        number(term.map_or(0.0, |term| term.1))
    };
    if plan.classes().is_empty() {
        let steps = if plan.has_trends() { "; a trend for each step" } else { "" };
        let _ = write!(text, "\n/* What each rule adds to the score where it holds{steps}. */");
    } else {
        text.push_str("\n/* The classes. */");
        let labels = plan.classes().iter().map(|class| literal(class)).collect();
        text.push_str(&table("char *const ", "orthorules_labels", "ORTHORULES_CLASSES", labels));
        text.push_str(
            "\n/* What each rule adds where it holds: with several classes to the score of each, rule by rule. */",
        );
    }
    let scores = |rule: usize| plan.scores.iter().map(|s| weight(rule, s)).collect::<Vec<_>>().join(", ");
    let weights: Vec<String> = (0..plan.rules.len()).map(scores).collect();
    let size = if plan.has_several() { format!("{rules} * ORTHORULES_CLASSES") } else { rules.to_owned() };
    text.push_str(&table("double ", "orthorules_weights", &size, weights));
}

/// The functions that conditions call, none in vain: a compiler may refuse one that is not used.
fn helpers(plan: &Plan, text: &mut String) {
    let tests = || plan.rules.iter().flat_map(|rule| &rule.tests);
    let kind = |test: &&PlanTest| plan.columns[test.column].kind;
    let compares = |test: &PlanTest| matches!(&test.holds, Holds::In(l) | Holds::NotIn(l) if !l.is_empty());
    let is = tests().filter(|test| matches!(kind(test), Kind::Categorical | Kind::Ordered)).any(compares);
    let says = tests().filter(|test| kind(test) == Kind::Boolean).any(compares);
    let asks = |test: &PlanTest| !matches!(test.holds, Holds::In(_));
    let present = tests().filter(|test| kind(test) != Kind::Numeric).any(asks);
    let parts =
        [(is || says || present, TRIMMED), (present, PRESENT), (is, IS), (says, SAYS), (plan.has_trends(), TREND)];
    for (wanted, part) in parts {
        if wanted {
            text.push_str(part);
        }
    }
}

/// One function a rule.
fn rules(plan: &Plan, names: &[String], text: &mut String) {
    if !plan.rules.is_empty() {
        text.push_str("\n/* When each rule holds. */\n");
    }
    for (place, (rule, effect)) in plan.rules.iter().zip(plan.effects()).enumerate() {
        let tests: Vec<String> = rule.tests.iter().map(|test| condition(plan, test, &names[test.column])).collect();
        let holds = match rule.tests.iter().all(|test| never(&test.holds)) {
            true if tests.is_empty() => "((void)row, 1)".into(),
            true => "((void)row, 0)".into(),
            false => tests.join(" && "),
        };
        let note = remark(&format!("{effect} {}", rule.phrase()));
        let holds = if let Some(Growth { column, from, to, zero, per }) = &rule.growth {
            let (numbers, name) = ([from, to, zero, per].map(|x| number(*x)).join(", "), &names[*column]);
            let trend = format!("orthorules_trend(row->{name}, {numbers})");
            let exceptions = rule.exceptions();
            let except: Vec<String> =
                exceptions.iter().map(|test| condition(plan, test, &names[test.column])).collect();
            let trend = if except.is_empty() { trend } else { format!("{} ? {trend} : 0.0", except.join(" && ")) };
            let _ = writeln!(text, "static double trend_{place}(const orthorules_row *row) {{ return {trend}; }}");
            format!("trend_{place}(row) != 0.0")
        } else {
            holds
        };
        let _ = writeln!(text, "static int rule_{place}(const orthorules_row *row) {{ return {holds}; }} /* {note} */");
    }
}

/// What a rule adds where it holds.
fn product(plan: &Plan, rule: usize, weight: f64) -> String {
    match plan.rules[rule].growth {
        Some(_) => format!("orthorules_times({}, trend_{rule}(row))", number(weight)),
        None => number(weight),
    }
}

fn condition(plan: &Plan, test: &PlanTest, name: &str) -> String {
    let kind = plan.columns[test.column].kind;
    let value = format!("row->{name}");
    let function = if kind == Kind::Boolean { "orthorules_says" } else { "orthorules_is" };
    let any = |levels: &[&str]| {
        let is = |level: &str| format!("{function}({value}, {})", literal(level));
        spellings(kind, levels).into_iter().map(is).collect::<Vec<_>>().join(" || ")
    };
    match &test.holds {
        Holds::AtMost(t) => format!("{value} <= {}", number(*t)),
        Holds::AtLeast(t) => format!("{value} >= {}", number(*t)),
        Holds::Not(x) => format!("!isnan({value}) && {value} != {}", number(*x)),
        holds if never(holds) => "0".into(),
        Holds::In(levels) => format!("({})", any(levels)),
        Holds::NotIn(levels) if levels.is_empty() => format!("orthorules_present({value})"),
        Holds::NotIn(levels) => format!("orthorules_present({value}) && !({})", any(levels)),
        Holds::Missing if kind == Kind::Numeric => format!("isnan({value})"),
        Holds::Present if kind == Kind::Numeric => format!("!isnan({value})"),
        Holds::Missing => format!("!orthorules_present({value})"),
        Holds::Present => format!("orthorules_present({value})"),
    }
}

/// Whether no value satisfies it, so that none need be looked at.
fn never(holds: &Holds) -> bool {
    matches!(holds, Holds::In(levels) if levels.is_empty())
}

/// The mean of a score as an expression.
fn mean(plan: &Plan, score: &str) -> String {
    match plan.mean {
        Mean::Score => score.to_owned(),
        Mean::Exp => format!("exp({score})"),
        Mean::Logistic => format!("1.0 / (1.0 + exp(-{score}))"),
        Mean::Cut => format!("{score} < 0.0 ? 0.0 : {score} > 1.0 ? 1.0 : {score}"),
        Mean::Softmax => format!("exp({score} - highest)"),
    }
}

fn one_score(plan: &Plan, names: &[String], text: &mut String) {
    let score = &plan.scores[0];
    text.push_str("\n/* The score of a row. */\ndouble orthorules_score(const orthorules_row *row);\n");
    let _ = writeln!(
        text,
        "double orthorules_score(const orthorules_row *row)\n{{\n    double score = {};",
        number(score.intercept)
    );
    if score.terms.is_empty() && plan.offset.is_none() {
        text.push_str("    (void)row;\n");
    }
    for (rule, weight) in &score.terms {
        let _ = writeln!(text, "    if (rule_{rule}(row)) score += {};", product(plan, *rule, *weight));
    }
    if let Some(place) = plan.offset {
        let _ = writeln!(text, "    score += row->{};", names[place]);
    }
    text.push_str("    return score;\n}\n");
    let what = match plan.classes() {
        [_, positive] => format!("The probability of {positive}", positive = remark(positive)),
        _ => "The prediction for a row".into(),
    };
    let _ = writeln!(text, "\n/* {what}. */\ndouble orthorules_predict(const orthorules_row *row);");
    text.push_str(
        "double orthorules_predict(const orthorules_row *row)\n{\n    double score = orthorules_score(row);\n",
    );
    let mean = mean(plan, "score");
    let _ = match plan.exposure.map(|place| &names[place]) {
        Some(name) => writeln!(text, "    return (isnan(row->{name}) ? 1.0 : row->{name}) * {mean};\n}}"),
        None => writeln!(text, "    return {mean};\n}}"),
    };
}

fn several_scores(plan: &Plan, text: &mut String) {
    text.push_str("\n/* The scores of a row, one for each class. */\n");
    text.push_str("void orthorules_score(const orthorules_row *row, double *scores);\n");
    text.push_str("void orthorules_score(const orthorules_row *row, double *scores)\n{\n");
    if plan.rules.is_empty() {
        text.push_str("    (void)row;\n");
    }
    for (place, score) in plan.scores.iter().enumerate() {
        let class = remark(score.class.unwrap_or_default());
        let _ = writeln!(text, "    scores[{place}] = {}; /* {class} */", number(score.intercept));
        for (rule, weight) in &score.terms {
            let _ = writeln!(text, "    if (rule_{rule}(row)) scores[{place}] += {};", product(plan, *rule, *weight));
        }
    }
    text.push_str("}\n");
}

fn several_predictions(plan: &Plan, text: &mut String) {
    if plan.mean == Mean::Softmax {
        let _ = write!(
            text,
            "\n/* The probabilities of a row, one for each class. */\n\
             void orthorules_predict(const orthorules_row *row, double *probabilities);\n\
             void orthorules_predict(const orthorules_row *row, double *probabilities)\n{{\n    \
             double total = 0.0, highest;\n    int k;\n    \
             orthorules_score(row, probabilities);\n    \
             highest = probabilities[0];\n    \
             for (k = 1; k < ORTHORULES_CLASSES; k++)\n        \
             if (probabilities[k] > highest) highest = probabilities[k];\n    \
             for (k = 0; k < ORTHORULES_CLASSES; k++) {{\n        \
             double score = probabilities[k];\n        probabilities[k] = {};\n        \
             total += probabilities[k];\n    }}\n    \
             for (k = 0; k < ORTHORULES_CLASSES; k++) probabilities[k] /= total;\n}}\n",
            mean(plan, "score")
        );
        return;
    }
    let _ = write!(
        text,
        "\n/* The probabilities of a row, one for each class. */\n\
         void orthorules_predict(const orthorules_row *row, double *probabilities);\n\
         void orthorules_predict(const orthorules_row *row, double *probabilities)\n{{\n    \
         double total = 0.0, scale;\n    int k;\n    \
         orthorules_score(row, probabilities);\n    \
         for (k = 0; k < ORTHORULES_CLASSES; k++) {{\n        \
         double score = probabilities[k];\n        probabilities[k] = {};\n        \
         total += probabilities[k];\n    }}\n    \
         scale = 1.0 / total;\n    \
         for (k = 0; k < ORTHORULES_CLASSES; k++)\n        \
         probabilities[k] = total > 0.0 ? probabilities[k] * scale : 1.0 / ORTHORULES_CLASSES;\n}}\n",
        mean(plan, "score")
    );
}

fn fired(plan: &Plan, text: &mut String) {
    text.push_str(
        "\n/* Writes the places of the rules that hold, counted from 0, to `rules`, which has room for all;\n",
    );
    text.push_str("   returns how many there are. */\nint orthorules_fired(const orthorules_row *row, int *rules);\n");
    text.push_str("int orthorules_fired(const orthorules_row *row, int *rules)\n{\n    int count = 0;\n");
    if plan.rules.is_empty() {
        text.push_str("    (void)row;\n    (void)rules;\n");
    }
    for place in 0..plan.rules.len() {
        let _ = writeln!(text, "    if (rule_{place}(row)) rules[count++] = {place};");
    }
    text.push_str("    return count;\n}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_plain_ascii() {
        assert_eq!(literal("a\"\\??/é1\n"), r#""a\"\\\?\?/\303\2511\012""#);
    }

    #[test]
    fn no_comment_ends_early() {
        assert_eq!(remark("a */ b /* c\n*/"), "a * / b / * c * /");
        assert!(!remark("*\u{0}/ /*/ **/ ??/").contains("*/"));
    }
}
