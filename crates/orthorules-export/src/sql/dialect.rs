//! How each engine spells names, text, numbers and comparisons.

use crate::cannot_hold;
use crate::options::Dialect;
use crate::text::number;
use orthorules_model::Result;
use std::fmt::Write;

/// The most bytes of a name in PostgreSQL, which cuts off the rest without a word.
const POSTGRESQL_NAME: usize = 63;

impl Dialect {
    /// A name in quotes, or why there can be no such name.
    pub(super) fn quoted(self, name: &str) -> Result<String> {
        let cannot = |why: &str| Err(cannot_hold(self, format!("the name {name:?}: {why}")));
        if name.is_empty() {
            return cannot("a name needs a character");
        }
        if name.contains('\0') {
            return cannot("names have no character 0");
        }
        match self {
            Self::PostgreSql if name.len() > POSTGRESQL_NAME => cannot("names have at most 63 bytes"),
            // It puts in the value of a variable there, even between quotes.
            Self::Spark if name.contains("${") => cannot("it takes ${ for a variable"),
            // What is in double quotes is text to SQLite where there is no such column, without any error.
            Self::Sqlite | Self::Spark => Ok(format!("`{}`", name.replace('`', "``"))),
            Self::DuckDb | Self::PostgreSql => Ok(format!("\"{}\"", name.replace('"', "\"\""))),
        }
    }

    /// A name as it is when two of them are compared: only PostgreSQL tells capital letters from small ones.
    pub(super) fn folded(self, name: &str) -> String {
        match self {
            Self::PostgreSql => name.to_owned(),
            Self::Sqlite | Self::DuckDb => name.to_ascii_lowercase(),
            Self::Spark => name.to_lowercase(),
        }
    }

    /// Text in quotes, or why there can be no such text.
    pub(super) fn text(self, text: &str) -> Result<String> {
        if text.contains('\0') {
            return Err(cannot_hold(self, format!("the text {text:?}: text has no character 0")));
        }
        let doubled = text.replace('\'', "''");
        Ok(match self {
            // Right whether or not the server takes backslashes for themselves.
            Self::PostgreSql if text.contains('\\') => format!("E'{}'", doubled.replace('\\', "\\\\")),
            Self::Sqlite | Self::DuckDb | Self::PostgreSql => format!("'{doubled}'"),
            // Two quotes in a row would be two texts, and `${` a variable.
            Self::Spark => {
                format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace("${", "$\\u007b"))
            }
        })
    }

    /// A number in double precision.
    pub(super) fn number(self, x: f64) -> String {
        let text = number(x);
        match self {
            Self::Sqlite => text,
            // An exponent makes it a double rather than a decimal.
            Self::DuckDb if text.contains('e') => text,
            Self::DuckDb => format!("{text}e0"),
            Self::PostgreSql => format!("{text}::float8"),
            Self::Spark => format!("{text}D"),
        }
    }

    /// A number in double precision, to the bit: a value may lie on it.
    pub(super) fn threshold(self, x: f64) -> String {
        if self != Self::Sqlite || reads_well(x) {
            return self.number(x);
        }
        let (mantissa, mut exponent) = parts(x);
        let mut text = format!("({mantissa} * 1.0");
        while exponent != 0 {
            let step = exponent.clamp(-62, 62);
            let sign = if step < 0 { '/' } else { '*' };
            let _ = write!(text, " {sign} {}", 1u64 << step.unsigned_abs());
            exponent -= step;
        }
        text + ")"
    }

    /// A column as a number.
    pub(super) fn as_number(self, name: &str) -> String {
        match self {
            // A column without a type, or imported as text, would be compared as text.
            Self::Sqlite => format!("NULLIF({name}, '') + 0.0"),
            _ => name.to_owned(),
        }
    }

    /// A column as text without blanks around it.
    pub(super) fn as_text(self, name: &str) -> String {
        match self {
            Self::Sqlite => format!("TRIM({name})"),
            Self::DuckDb => format!("TRIM(CAST({name} AS VARCHAR))"),
            Self::PostgreSql => format!("TRIM(CAST({name} AS text))"),
            Self::Spark => format!("TRIM(CAST({name} AS STRING))"),
        }
    }

    /// The number that is none and yet no NULL, where there is one. It is larger than every number.
    pub(super) fn nan(self) -> Option<&'static str> {
        match self {
            Self::Sqlite => None,
            Self::DuckDb => Some("'NaN'::DOUBLE"),
            Self::PostgreSql => Some("'NaN'::float8"),
            Self::Spark => Some("double('NaN')"),
        }
    }

    /// exp, of a number that PostgreSQL does not refuse as too large or too small.
    pub(super) fn exp(self, x: &str) -> String {
        match self {
            Self::PostgreSql => format!("exp(GREATEST(-745.0::float8, LEAST(709.78::float8, {x})))"),
            _ => format!("exp({x})"),
        }
    }

    /// A number, or this one if it is larger.
    pub(super) fn at_most(self, x: &str, most: f64) -> String {
        let least = if self == Self::Sqlite { "MIN" } else { "LEAST" };
        format!("{least}({}, {x})", self.number(most))
    }

    /// A number cut off at 0 and 1.
    pub(super) fn cut(self, x: &str) -> String {
        let (most, least) = if self == Self::Sqlite { ("MIN", "MAX") } else { ("LEAST", "GREATEST") };
        format!("{most}({}, {least}({}, {x}))", self.number(1.0), self.number(0.0))
    }

    /// The list of those texts whose condition holds.
    pub(super) fn list(self, items: &[(String, String)]) -> Result<String> {
        let lines = |line: &dyn Fn(&(String, String)) -> Result<String>| {
            items.iter().map(line).collect::<Result<Vec<String>>>().map(|lines| lines.join(",\n    "))
        };
        let or_null = |(holds, text): &(String, String)| Ok(format!("CASE WHEN {holds} THEN {} END", self.text(text)?));
        Ok(match self {
            Self::Sqlite => {
                let item = |(holds, text): &(String, String)| {
                    let text = self.text(&format!(",{}", json(text)))?;
                    Ok(format!("CASE WHEN {holds} THEN {text} ELSE '' END"))
                };
                let items = items.iter().map(item).collect::<Result<Vec<String>>>()?;
                let all = if items.is_empty() { "''".into() } else { super::joined(&items, " ||", "    ") };
                format!("'[' || substr({all}, 2) || ']'")
            }
            Self::DuckDb if items.is_empty() => "CAST([] AS VARCHAR[])".into(),
            Self::DuckDb => {
                let texts = lines(&|(_, text)| self.text(text))?;
                let masks = lines(&|(holds, _)| Ok(format!("CASE WHEN {holds} THEN TRUE ELSE FALSE END")))?;
                format!("list_where([\n    {texts}\n  ], [\n    {masks}\n  ])")
            }
            Self::PostgreSql => format!("array_remove(ARRAY[\n    {}\n  ]::text[], NULL)", lines(&or_null)?),
            Self::Spark if items.is_empty() => "CAST(array() AS ARRAY<STRING>)".into(),
            Self::Spark => format!("filter(array(\n    {}\n  ), reason -> reason IS NOT NULL)", lines(&or_null)?),
        })
    }
}

/// Text inside a comment.
pub(super) fn remark(text: &str) -> String {
    crate::text::comment(text).replace("${", "$ {").replace("*/", "* /").replace("/*", "/ *")
}

/// A JSON string.
fn json(text: &str) -> String {
    crate::text::literal(text)
}

/// A double as a whole number times a power of two.
fn parts(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, (bits & ((1 << 52) - 1)) as i64);
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    (if x.is_sign_negative() { -mantissa } else { mantissa }, exponent)
}

/// Whether every release of SQLite reads the shortest decimal of `x` as `x`. It divides the digits by a power of ten in
/// more than double precision and rounds once more, which goes wrong where the decimal lies nearly halfway between two
/// doubles.
fn reads_well(x: f64) -> bool {
    if x.fract() == 0.0 && x.abs() < 9e15 {
        return true;
    }
    let text = format!("{}", x.abs());
    let Some((whole, places)) = text.split_once('.') else { return false };
    let (Ok(digits), tens) = (format!("{whole}{places}").parse::<u128>(), places.len() as u32) else { return false };
    let (mantissa, exponent) = parts(x.abs());
    if digits >= 1 << 53 || tens > 20 || !(-73..0).contains(&exponent) {
        return false;
    }
    let ten = 10u128.pow(tens);
    let distance = (digits << exponent.unsigned_abs()).abs_diff(mantissa as u128 * ten);
    64 * distance < 31 * ten
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Dialect; 4] = [Dialect::Sqlite, Dialect::DuckDb, Dialect::PostgreSql, Dialect::Spark];

    #[test]
    fn quotes_are_doubled_or_escaped() {
        let names = |name: &str| ALL.map(|dialect| dialect.quoted(name).unwrap());
        assert_eq!(names("a\"b`c"), ["`a\"b``c`", "\"a\"\"b`c\"", "\"a\"\"b`c\"", "`a\"b``c`"]);
        let texts = |text: &str| ALL.map(|dialect| dialect.text(text).unwrap());
        assert_eq!(texts("a'b\\"), ["'a''b\\'", "'a''b\\'", "E'a''b\\\\'", "'a\\'b\\\\'"]);
        assert_eq!(Dialect::Spark.text("${x}").unwrap(), "'$\\u007bx}'");
        assert_eq!(remark("a\n*/ ${"), "a * / $ {");
    }

    #[test]
    fn names_that_cannot_be_are_refused_in_one_line() {
        let long = "é".repeat(32);
        for (dialect, name) in [
            (Dialect::PostgreSql, long.as_str()),
            (Dialect::Spark, "a${b}"),
            (Dialect::Sqlite, ""),
            (Dialect::DuckDb, "a\0b"),
        ] {
            let message = dialect.quoted(name).unwrap_err().to_string();
            assert!(message.contains(dialect.name()) && !message.contains('\n'), "{message}");
        }
        assert!(Dialect::DuckDb.quoted(&long).is_ok());
        assert!(ALL.into_iter().all(|dialect| dialect.text("\0").is_err()));
    }

    #[test]
    fn thresholds_that_sqlite_could_misread_are_spelled_in_powers_of_two() {
        let extremes = [1e-7, 5e-324, 1.797e308, -123_456.789, 0.1 + 0.2, 1.0 / 3.0, 0.1, -0.0];
        let thousandths = || (1..10_000).map(|k| f64::from(k) / 1000.0);
        for x in extremes.into_iter().chain(thousandths()) {
            let text = Dialect::Sqlite.threshold(x);
            if let Some(inside) = text.strip_prefix('(') {
                let mut parts = inside.trim_end_matches(')').split(' ');
                let mut value: f64 = parts.next().unwrap().parse().unwrap();
                while let (Some(sign), Some(by)) = (parts.next(), parts.next()) {
                    let by: f64 = by.parse().unwrap();
                    value = if sign == "*" { value * by } else { value / by };
                }
                assert_eq!(value.to_bits(), x.to_bits(), "{text}");
            } else {
                assert_eq!(text.parse::<f64>().unwrap(), x);
            }
        }
        assert_eq!(Dialect::Sqlite.threshold(44.5), "44.5");
        // Few need it, and only where they must.
        let spelled = thousandths().filter(|&x| Dialect::Sqlite.threshold(x).starts_with('(')).count();
        assert!((1..500).contains(&spelled), "{spelled}");
    }
}
