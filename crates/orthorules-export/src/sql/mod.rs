//! One query, for SQLite, DuckDB, PostgreSQL and Spark: the table, and beside it scores, predictions and reasons.
//!
//! The sum is repeated where the prediction needs it, rather than named in an inner query and used in an outer one: a
//! table with a column of that name would then be read in its place. With several classes it would be repeated for each
//! of them, so that there scores are named within, and get names that the model's own columns do not have.

mod dialect;

use crate::cannot_hold;
use crate::header::Blanks;
use crate::options::{Dialect, Form, Options};
use crate::plan::{Growth, Holds, Mean, Plan, PlanRule, PlanTest, Score, spellings};
use orthorules_model::{Kind, Result};
use std::collections::HashSet;
use std::fmt::Write;

/// Terms that are added in one go. Engines limit how deep an expression may be, and each addition is one level.
const IN_ONE_GO: usize = 64;

/// A distance that makes no difference to any score.
const NEAR: f64 = 1e-150;

/// A plan, and how one dialect spells it.
struct SqlQuery<'p> {
    plan: &'p Plan<'p>,
    dialect: Dialect,
    /// The columns, quoted.
    columns: Vec<String>,
    /// When each rule holds.
    rules: Vec<String>,
}

/// The query or the view.
pub(crate) fn write(plan: &Plan, options: &Options) -> Result<String> {
    let dialect = options.dialect;
    let mut seen = HashSet::new();
    if let Some(column) = plan.columns.iter().find(|column| !seen.insert(dialect.folded(column.name))) {
        let what = format!("the name {:?}: another differs from it in case alone", column.name);
        return Err(cannot_hold(dialect, what));
    }
    // Outside of the query that has such a column SQLite does not find it, in whatever quotes its name stands.
    let is_lost = |name: &str| ["true", "false"].contains(&name.to_ascii_lowercase().as_str());
    if dialect == Dialect::Sqlite
        && plan.has_several()
        && let Some(column) = plan.columns.iter().find(|column| is_lost(column.name))
    {
        let what = format!("the name {:?} where there are several classes: it takes it for a truth value", column.name);
        return Err(cannot_hold("sqlite", what));
    }
    let columns = plan.columns.iter().map(|column| dialect.quoted(column.name)).collect::<Result<Vec<String>>>()?;
    let mut query = SqlQuery { plan, dialect, columns, rules: Vec::new() };
    query.rules = plan.rules.iter().map(|rule| query.rule(rule)).collect::<Result<_>>()?;
    let table = table(dialect, &options.table, "")?;
    let missing = if dialect.nan().is_some() { "NULL and NaN" } else { "NULL" };
    let header = plan.header(missing, Blanks::TakenOff);
    let mut text = header.iter().fold(String::new(), |text, line| text + "-- " + &dialect::remark(line) + "\n");
    let _ = writeln!(text, "-- For {dialect}.");
    if options.form == Form::View {
        let _ = writeln!(text, "CREATE VIEW {} AS", self::table(dialect, &options.table, "_scored")?);
    }
    text.push_str(&query.select(&table)?);
    text.push_str(if options.form == Form::View { ";\n" } else { "\n" });
    Ok(text)
}

/// The name of a table, with its schema if there is one: points separate, except in double quotes.
fn table(dialect: Dialect, given: &str, suffix: &str) -> Result<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut characters = given.chars().peekable();
    while let Some(c) = characters.next() {
        let part = parts.last_mut().map_or(0, |part| part.len());
        match c {
            '"' if !quoted && part == 0 && given.matches('"').count() > 1 => quoted = true,
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                parts.last_mut().into_iter().for_each(|part| part.push('"'));
            }
            '"' if quoted => quoted = false,
            '.' if !quoted => parts.push(String::new()),
            _ => parts.last_mut().into_iter().for_each(|part| part.push(c)),
        }
    }
    parts.last_mut().into_iter().for_each(|part| part.push_str(suffix));
    Ok(parts.iter().map(|part| dialect.quoted(part)).collect::<Result<Vec<String>>>()?.join("."))
}

/// `parts` with `sign` between them, each on a line of its own; many are put into groups, so that no expression is
/// deep.
fn joined(parts: &[String], sign: &str, indent: &str) -> String {
    if parts.len() <= IN_ONE_GO {
        return parts.join(&format!("{sign}\n{indent}"));
    }
    let group = |group: &[String]| format!("({})", joined(group, sign, indent));
    let groups: Vec<String> = parts.chunks(parts.len().div_ceil(IN_ONE_GO).max(IN_ONE_GO)).map(group).collect();
    joined(&groups, sign, indent)
}

impl SqlQuery<'_> {
    /// The whole query, without an end.
    fn select(&self, table: &str) -> Result<String> {
        let names = self.names()?;
        let sums: Vec<String> = self.plan.scores.iter().map(|score| self.sum(score)).collect();
        let named = |(what, name): (&String, &String)| format!("{what} AS {name}");
        let list = |columns: Vec<String>| columns.join(",\n  ");
        let reasons = format!("{} AS {}", self.reasons()?, names.reasons);
        if self.plan.has_several() {
            let inner = list(sums.iter().zip(&names.scores).map(named).collect());
            let outer: Vec<String> =
                self.probabilities(&names.scores).iter().zip(&names.predictions).map(named).chain([reasons]).collect();
            return Ok(format!(
                "SELECT *,\n  {}\nFROM (\nSELECT *,\n  {inner}\nFROM {table}\n) AS scored",
                list(outer)
            ));
        }
        let mut columns: Vec<String> = sums.iter().zip(&names.scores).map(named).collect();
        columns.extend([format!("{} AS {}", self.mean(&sums[0]), names.predictions[0]), reasons]);
        Ok(format!("SELECT *,\n  {}\nFROM {table}", list(columns)))
    }

    /// The prediction from the only score.
    fn mean(&self, score: &str) -> String {
        let (dialect, one) = (self.dialect, self.dialect.number(1.0));
        match self.plan.mean {
            Mean::Score => score.to_owned(),
            Mean::Cut => dialect.cut(&format!("({score})")),
            Mean::Softmax => dialect.exp(score),
            Mean::Logistic => format!("{one} / ({one} + {})", dialect.exp(&format!("-({score})"))),
            Mean::Exp => match self.plan.exposure {
                None => dialect.exp(&format!("({score})")),
                Some(place) => {
                    format!("COALESCE({}, {one}) * {}", self.given(place), dialect.exp(&format!("({score})")))
                }
            },
        }
    }

    /// The number in a column, NULL where it is missing.
    fn given(&self, place: usize) -> String {
        let number = self.dialect.as_number(&self.columns[place]);
        match self.dialect.nan() {
            Some(nan) => format!("NULLIF({number}, {nan})"),
            None => number,
        }
    }

    /// The prediction for each class from the names of the scores.
    fn probabilities(&self, scores: &[String]) -> Vec<String> {
        if self.plan.mean == Mean::Softmax {
            return self.softmax(scores);
        }
        let means: Vec<String> = scores.iter().map(|score| self.mean(score)).collect();
        let total = format!("({})", joined(&means, " +", "      "));
        let (zero, one) = (self.dialect.number(0.0), self.dialect.number(1.0));
        let share = |mean: &String| {
            format!(
                "CASE WHEN {total} > {zero} THEN ({mean}) * ({one} / {total}) ELSE {one} / {} END",
                self.dialect.number(scores.len() as f64)
            )
        };
        means.iter().map(share).collect()
    }

    /// exp(score) of each class, divided by their sum: with all exponents relative to its own, none of which is so
    /// large that the sum of all overflows.
    fn softmax(&self, scores: &[String]) -> Vec<String> {
        let (dialect, one) = (self.dialect, self.dialect.number(1.0));
        let share = |own: &String| {
            let relative = |score: &String| dialect.exp(&dialect.at_most(&format!("{score} - {own}"), 700.0));
            let term = |score: &String| if score == own { one.clone() } else { relative(score) };
            let terms: Vec<String> = scores.iter().map(term).collect();
            format!("{one} / ({})", joined(&terms, " +", "      "))
        };
        scores.iter().map(share).collect()
    }

    /// The intercept and what rules add, in their order.
    fn sum(&self, score: &Score) -> String {
        let zero = self.dialect.number(0.0);
        let term = |&(rule, weight): &(usize, f64)| {
            let (holds, weight) = (&self.rules[rule], self.dialect.number(weight));
            let added = self.plan.rules[rule].growth.map_or(weight.clone(), |growth| self.product(&weight, growth));
            format!("CASE WHEN {holds} THEN {added} ELSE {zero} END")
        };
        let terms = std::iter::once(self.dialect.number(score.intercept)).chain(score.terms.iter().map(term));
        let terms = terms.chain(self.plan.offset.map(|place| self.given(place)));
        joined(&terms.collect::<Vec<String>>(), " +", "    ")
    }

    /// A weight times what a trend is.
    fn product(&self, weight: &str, growth: Growth) -> String {
        let Growth { column, from, to, zero, per } = growth;
        let x = self.dialect.as_number(&self.columns[column]);
        let [from, to, zero, per] = [from, to, zero, per].map(|x| self.dialect.threshold(x));
        format!(
            "{weight} * ((CASE WHEN {x} < {from} THEN {from} WHEN {x} > {to} THEN {to} ELSE {x} END - {zero}) / {per})"
        )
    }

    /// When a rule holds. A line adds nothing at its zero, nor does any trend so near to it that PostgreSQL would
    /// refuse a product that becomes 0.
    fn rule(&self, rule: &PlanRule) -> Result<String> {
        let holds = self.conjunction(&rule.tests)?;
        Ok(match rule.growth {
            Some(Growth { column, from, to, zero, .. }) if (from < zero && zero < to) || zero.abs() < NEAR => {
                let x = self.dialect.as_number(&self.columns[column]);
                let [zero, near] = [self.dialect.threshold(zero), self.dialect.number(NEAR)];
                format!("{holds} AND ABS({x} - {zero}) >= {near}")
            }
            _ => holds,
        })
    }

    fn conjunction(&self, tests: &[PlanTest]) -> Result<String> {
        let tests = tests.iter().map(|test| self.condition(test)).collect::<Result<Vec<String>>>()?;
        Ok(if tests.is_empty() { "1 = 1".into() } else { tests.join(" AND ") })
    }

    /// When a condition holds. It may be NULL where it does not.
    fn condition(&self, test: &PlanTest) -> Result<String> {
        let (dialect, name) = (self.dialect, &self.columns[test.column]);
        let number = || dialect.as_number(name);
        let kind = self.plan.columns[test.column].kind;
        let is_number = kind == Kind::Numeric;
        let text = || match kind {
            Kind::Boolean => format!("LOWER({})", dialect.as_text(name)),
            _ => dialect.as_text(name),
        };
        let list = |levels: &[&str]| {
            levels
                .iter()
                .map(|level| dialect.text(level))
                .collect::<Result<Vec<String>>>()
                .map(|texts| texts.join(", "))
        };
        Ok(match &test.holds {
            Holds::AtMost(t) => format!("{} <= {}", number(), dialect.threshold(*t)),
            Holds::AtLeast(t) => {
                let holds = format!("{} >= {}", number(), dialect.threshold(*t));
                dialect.nan().map_or(holds.clone(), |nan| format!("{holds} AND {name} <> {nan}"))
            }
            Holds::Not(x) => {
                let holds = format!("{} <> {}", number(), dialect.threshold(*x));
                dialect.nan().map_or(holds.clone(), |nan| format!("{holds} AND {name} <> {nan}"))
            }
            Holds::In(levels) if levels.is_empty() => "1 = 0".into(),
            Holds::In(levels) => match spellings(kind, levels).as_slice() {
                [level] => format!("{} = {}", text(), dialect.text(level)?),
                several => format!("{} IN ({})", text(), list(several)?),
            },
            Holds::NotIn(levels) => {
                let levels: Vec<&str> = spellings(kind, levels).into_iter().chain([""]).collect();
                format!("{} NOT IN ({})", text(), list(&levels)?)
            }
            Holds::Missing if is_number => match dialect.nan() {
                Some(nan) => format!("({name} IS NULL OR {name} = {nan})"),
                None => format!("{} IS NULL", number()),
            },
            Holds::Present if is_number => match dialect.nan() {
                Some(nan) => format!("{name} <> {nan}"),
                None => format!("{} IS NOT NULL", number()),
            },
            Holds::Missing => format!("({name} IS NULL OR {} = '')", text()),
            Holds::Present => format!("{} <> ''", text()),
        })
    }

    /// The texts of the rules that hold, with what they contribute.
    fn reasons(&self) -> Result<String> {
        let item = |reason: &crate::plan::RuleContribution| {
            let text = format!("{} ({})", self.plan.rules[reason.rule].text, self.plan.effect(reason));
            (self.rules[reason.rule].clone(), text)
        };
        self.dialect.list(&self.plan.reasons().iter().map(item).collect::<Vec<_>>())
    }

    /// The names of the new columns. None is that of a column which the model knows of.
    fn names(&self) -> Result<Names> {
        let model = self.plan.model;
        let roles = [Some(&model.target), model.weight.as_ref(), model.exposure.as_ref(), model.offset.as_ref()];
        let known = model.columns.iter().map(|column| &column.name).chain(roles.into_iter().flatten());
        let mut taken: HashSet<String> = known.map(|name| self.dialect.folded(name)).collect();
        let mut free = |name: String| {
            let mut name = name;
            while !taken.insert(self.dialect.folded(&name)) {
                name.push('_');
            }
            self.dialect.quoted(&name)
        };
        let mut each = |what: &str| {
            let name = |score: &Score| score.class.map_or(what.to_owned(), |class| format!("{what}_{class}"));
            self.plan.scores.iter().map(|score| free(name(score))).collect::<Result<Vec<String>>>()
        };
        Ok(Names { scores: each("score")?, predictions: each("prediction")?, reasons: free("reasons".into())? })
    }
}

/// The new columns, quoted.
struct Names {
    scores: Vec<String>,
    predictions: Vec<String>,
    reasons: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_separate_unless_quoted() {
        let name = |given| table(Dialect::DuckDb, given, "").unwrap();
        assert_eq!(name("trips"), "\"trips\"");
        assert_eq!(name("main.trips"), "\"main\".\"trips\"");
        assert_eq!(name("\"a.b\".c"), "\"a.b\".\"c\"");
        assert_eq!(name("a\"b"), "\"a\"\"b\"");
        assert_eq!(name("x;--"), "\"x;--\"");
        assert_eq!(name("\"a\"\"b\""), "\"a\"\"b\"");
        assert_eq!(table(Dialect::Sqlite, "s.t", "_scored").unwrap(), "`s`.`t_scored`");
        assert!(table(Dialect::Sqlite, "", "").is_err() && table(Dialect::Sqlite, "a.", "").is_err());
    }

    #[test]
    fn no_expression_is_deep() {
        let parts: Vec<String> = (0..10_000).map(|i| i.to_string()).collect();
        let text = joined(&parts, " +", "");
        let depth = text.chars().scan(0, |depth, c| {
            *depth += i32::from(c == '(') - i32::from(c == ')');
            Some(*depth)
        });
        assert!(depth.max().unwrap() <= 3);
        let widest = text.split(['(', ')']).map(|group| group.matches('+').count()).max().unwrap();
        assert!(widest <= 200, "{widest}");
        assert_eq!(text.split([' ', '+', '(', ')', '\n']).filter(|t| !t.is_empty()).count(), 10_000);
    }
}
