//! Special codes: numbers of a column that stand for words, as −9 for "refused". They are neither numbers nor missing.

use crate::base::decimal;
use crate::base::error::Error;
use crate::base::wire::wire;
use crate::data::dates::DateSource;
use crate::data::kind::Kind;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Names that already mean something after `is`.
const RESERVED: [&str; 3] = ["missing", "present", "known"];

/// A number that stands for a word.
///
/// ```
/// # use orthorules_table as orthorules;
/// use orthorules::table::SpecialCode;
///
/// let codes = SpecialCode::list("-9:refused|-8:unknown")?;
/// assert_eq!((codes[0].value, codes[1].name.as_str()), (-9.0, "unknown"));
/// assert!(SpecialCode::list("-9:refused|-9:unknown").is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecialCode {
    /// The number as the table has it.
    pub value: f64,
    /// What it stands for.
    pub name: String,
}
wire!(SpecialCode { value, name });

impl SpecialCode {
    /// A code; a zero has no sign.
    pub fn new(value: f64, name: impl Into<String>) -> Self {
        Self { value: value + 0.0, name: name.into() }
    }

    /// The codes that `-9:refused|-8:unknown` lists. Blanks around numbers and names do not count.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let code = |item: &str| {
            let (value, name) = item.split_once(':').ok_or_else(|| format!("{item:?} is not VALUE:NAME"))?;
            let value = value.trim();
            let number = value.parse::<f64>().ok().filter(|x| x.is_finite());
            let number = number.ok_or_else(|| format!("the code {value:?} is not a number"))?;
            Ok(Self::new(number, name.trim()))
        };
        let codes = text.split('|').map(code).collect::<Result<Vec<Self>, String>>()?;
        Self::check(&codes)?;
        Ok(codes)
    }

    /// Whether a column can have these codes: there is one, and no number or name is there twice.
    pub fn check(codes: &[Self]) -> Result<(), String> {
        if codes.is_empty() {
            return Err("there is no code".into());
        }
        for (i, Self { value, name }) in codes.iter().enumerate() {
            if !value.is_finite() {
                return Err(format!("the code {value} is not a number that a table can have"));
            }
            if name.is_empty() || name.trim() != name {
                return Err(format!("the name {name:?} is empty or has blanks at an end"));
            }
            if name.contains(|c: char| c == '|' || c.is_control()) {
                return Err(format!("the name {name:?} has a character that no name may have"));
            }
            if RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name)) {
                return Err(format!("the name {name:?} means something else in a rule: choose another"));
            }
            if codes[..i].iter().any(|other| other.value == *value) {
                return Err(format!("the code {} is there twice", decimal::plain(*value)));
            }
            if codes[..i].iter().any(|other| other.name == *name) {
                return Err(format!("the name {name:?} is there twice"));
            }
        }
        Ok(())
    }

    /// An error unless the column called `name` can have special codes.
    pub fn check_column(name: &str, kind: Kind, date: Option<&DateSource>) -> Result<(), Error> {
        let what = match (kind, date) {
            (_, Some(date)) => format!("it is a part of the dates in {:?}", date.column),
            (Kind::Numeric, None) => return Ok(()),
            _ => "it does not hold numbers".into(),
        };
        Err(Error::Role { column: name.to_owned(), what: format!("column {name:?} cannot have special codes: {what}") })
    }

    /// Codes as [`Self::list`] reads them.
    pub fn spelled(codes: &[Self]) -> String {
        let code = |code: &Self| format!("{}:{}", decimal::plain(code.value), code.name);
        codes.iter().map(code).collect::<Vec<_>>().join("|")
    }

    /// The place among `codes` of the one that is this number.
    #[inline]
    pub fn place(codes: &[Self], x: f64) -> Option<usize> {
        codes.iter().position(|code| code.value == x)
    }

    /// These values with NaN in place of special codes.
    pub fn masked<'v>(codes: &[Self], values: &'v [f64]) -> Cow<'v, [f64]> {
        if codes.is_empty() || !values.iter().any(|&x| Self::place(codes, x).is_some()) {
            return Cow::Borrowed(values);
        }
        let number = |&x: &f64| if Self::place(codes, x).is_some() { f64::NAN } else { x };
        Cow::Owned(values.iter().map(number).collect())
    }

    /// How many rows of a column have each of `codes`.
    pub fn counts(codes: &[Self], values: &[f64]) -> Vec<u64> {
        let mut counts = vec![0; codes.len()];
        values.iter().filter_map(|&x| Self::place(codes, x)).for_each(|place| counts[place] += 1);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn codes_are_read_or_refused() {
        let codes = SpecialCode::list(" -9 : no answer | 1e3:a:b|-0:zero").unwrap();
        let expected = [(-9.0, "no answer"), (1000.0, "a:b"), (0.0, "zero")];
        assert_eq!(codes, expected.map(|(value, name)| SpecialCode::new(value, name)));
        assert_eq!(SpecialCode::spelled(&codes), "-9:no answer|1000:a:b|0:zero");
        for (text, what) in [
            ("", "is not VALUE:NAME"),
            ("-9", "is not VALUE:NAME"),
            ("-9:a|", "is not VALUE:NAME"),
            ("x:a", "\"x\" is not a number"),
            ("NaN:a", "is not a number"),
            ("inf:a", "is not a number"),
            ("1e999:a", "is not a number"),
            (":a", "is not a number"),
            ("-9:", "is empty"),
            ("-9:a|-9.0:b", "the code -9 is there twice"),
            ("0:a|-0:b", "the code 0 is there twice"),
            ("-9:a|-8:a", "the name \"a\" is there twice"),
            ("-9:Missing", "means something else"),
            ("-9:a\tb", "character"),
        ] {
            assert!(SpecialCode::list(text).unwrap_err().contains(what), "{text}");
        }
        assert!(SpecialCode::check(&[SpecialCode { value: f64::NAN, name: "a".into() }]).is_err());
        assert!(SpecialCode::check(&[]).is_err());
    }

    proptest! {
        /// What is spelled is read back, and masks leave all other numbers as they are.
        #[test]
        fn codes_come_back(values in prop::collection::btree_set(-20i32..20, 1..6)) {
            let code = |&x: &i32| SpecialCode::new(f64::from(x) / 4.0, format!("code {x}"));
            let codes: Vec<SpecialCode> = values.iter().map(code).collect();
            prop_assert_eq!(SpecialCode::list(&SpecialCode::spelled(&codes)).unwrap(), codes.clone());
            let numbers: Vec<f64> = (-30..30).map(|x| f64::from(x) / 4.0).chain([f64::NAN]).collect();
            for (&x, &masked) in numbers.iter().zip(SpecialCode::masked(&codes, &numbers).iter()) {
                let special = codes.iter().any(|code| code.value == x);
                let expected = if special { f64::NAN } else { x };
                prop_assert_eq!(masked.to_bits(), expected.to_bits());
            }
        }
    }
}
