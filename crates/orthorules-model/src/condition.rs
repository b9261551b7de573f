//! Conditions: their text, and what they ask of values.

use crate::base::decimal;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::{Kind, MISSING, Values};
use crate::model::quote;
use serde::{Deserialize, Serialize};

/// A comparison of one column's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Op {
    /// At most a threshold.
    #[serde(rename = "<=")]
    Le,
    /// At least a threshold.
    #[serde(rename = ">=")]
    Ge,
    /// Equal to a level.
    #[serde(rename = "=")]
    Eq,
    /// Present and different from a level.
    #[serde(rename = "!=")]
    Ne,
    /// One of some levels.
    #[serde(rename = "in")]
    In,
    /// Present and none of some levels.
    #[serde(rename = "not in")]
    NotIn,
    /// No value.
    #[serde(rename = "missing")]
    Missing,
    /// Some value.
    #[serde(rename = "present")]
    Present,
    /// A special code of a column of numbers.
    #[serde(rename = "is")]
    Is,
    /// Present and not this special code.
    #[serde(rename = "is not")]
    IsNot,
}

/// What a comparison looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    /// Whether a number is large.
    Rising,
    /// Whether a number is small.
    Falling,
    /// Which level it is.
    Level,
    /// Whether there is a value at all.
    Presence,
    /// Which special code it is.
    Special,
}

impl Op {
    /// What it looks at.
    #[inline]
    pub(crate) fn sense(self) -> Sense {
        match self {
            Self::Ge => Sense::Rising,
            Self::Le => Sense::Falling,
            Self::Eq | Self::Ne | Self::In | Self::NotIn => Sense::Level,
            Self::Missing | Self::Present => Sense::Presence,
            Self::Is | Self::IsNot => Sense::Special,
        }
    }

    /// Whether numbers are compared with a threshold.
    #[doc(hidden)]
    #[inline]
    pub fn has_threshold(self) -> bool {
        matches!(self.sense(), Sense::Rising | Sense::Falling)
    }

    /// Whether several levels are named.
    #[inline]
    pub(crate) fn has_set(self) -> bool {
        matches!(self, Self::In | Self::NotIn)
    }

    /// Whether it tells only if there is a value.
    #[doc(hidden)]
    #[inline]
    pub fn is_presence(self) -> bool {
        self.sense() == Sense::Presence
    }

    /// The comparison that holds where this one does not.
    #[doc(hidden)]
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Le => Self::Ge,
            Self::Ge => Self::Le,
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::In => Self::NotIn,
            Self::NotIn => Self::In,
            Self::Missing => Self::Present,
            Self::Present => Self::Missing,
            Self::Is => Self::IsNot,
            Self::IsNot => Self::Is,
        }
    }
}

/// A condition, given the kind of the column and the codes of its levels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    /// A number of at most this.
    AtMost(f64),
    /// A number of at least this.
    AtLeast(f64),
    /// A number of at most this that is none of these.
    AtMostBut(f64, Vec<f64>),
    /// A number of at least this that is none of these.
    AtLeastBut(f64, Vec<f64>),
    /// This number.
    Only(f64),
    /// Any number but this.
    AllBut(f64),
    /// No number.
    NoNumber,
    /// Any number.
    Number,
    /// This level.
    Level(u32),
    /// Some other level.
    OtherLevel(u32),
    /// A level from the first of these to the second.
    LevelsBetween(u32, u32),
    /// Of each level of the table whether it is wanted, and whether a level without a code is.
    Among(Vec<bool>, bool),
    /// Some level.
    AnyLevel,
    /// What the column cannot satisfy.
    Never,
}

/// What tells conditions apart: column, comparison, threshold and levels.
pub(crate) type ConditionKey<'c> = (&'c str, Op, Option<u64>, &'c [String]);

/// What a value is compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Operand {
    /// A threshold.
    Number(f64),
    /// A level.
    Text(String),
    /// Some levels.
    Levels(Vec<String>),
}

impl Operand {
    /// The levels that it names.
    pub fn levels(&self) -> &[String] {
        match self {
            Self::Number(_) => &[],
            Self::Text(level) => std::slice::from_ref(level),
            Self::Levels(levels) => levels,
        }
    }
}

/// One condition on one column. A missing value satisfies only [`Op::Missing`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The column's name.
    pub column: String,
    /// The comparison.
    pub op: Op,
    /// What is compared with; absent for [`Op::Missing`] and [`Op::Present`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Operand>,
    /// Whether the column holds 0 and 1 alone, so that a bound is told as one of them. The model's columns know it.
    #[doc(hidden)]
    #[serde(skip)]
    pub of_flag: bool,
    /// Special codes of the column: those that a threshold must leave out, or the one that is named. The model's
    /// columns know them.
    #[doc(hidden)]
    #[serde(skip)]
    pub codes: Vec<f64>,
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Le => "<=",
            Self::Ge => ">=",
            Self::Eq => "=",
            Self::Ne => "!=",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::Missing => "missing",
            Self::Present => "present",
            Self::Is => "is",
            Self::IsNot => "is not",
        })
    }
}

impl std::fmt::Display for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(t) => f.write_str(&decimal::plain(*t)),
            Self::Text(level) => f.write_str(&quote::level(level)),
            Self::Levels(levels) => {
                f.write_str("{")?;
                for (i, level) in levels.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, quote::member(level))?;
                }
                f.write_str("}")
            }
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let column = quote::name(&self.column);
        match &self.value {
            // At least 1 is 1, and at most 0 is 0, where there is nothing else.
            Some(Operand::Number(t)) if self.of_flag && self.op.has_threshold() => {
                let bit = u8::from(self.op == Op::Ge);
                let plain = if self.op == Op::Ge { *t > 0.0 && *t <= 1.0 } else { *t >= 0.0 && *t < 1.0 };
                if plain {
                    write!(f, "{column} = {bit}")
                } else {
                    write!(f, "{column} {} {}", self.op, decimal::plain(*t))
                }
            }
            Some(Operand::Text(level)) if self.op.has_threshold() => {
                write!(f, "{column} {} {}", self.op, quote::end(level))
            }
            Some(Operand::Text(name)) if self.op.sense() == Sense::Special => {
                write!(f, "{column} {} {}", self.op, quote::special(name))
            }
            Some(operand) => write!(f, "{column} {} {operand}", self.op),
            None => write!(f, "{column} {}", self.op),
        }
    }
}

impl Condition {
    /// A condition of whose column nothing is known.
    #[doc(hidden)]
    pub fn new(column: impl Into<String>, op: Op, value: Option<Operand>) -> Self {
        Self { column: column.into(), op, value, of_flag: false, codes: Vec::new() }
    }

    /// The same, knowing whether its column holds 0 and 1 alone, and its special codes.
    #[doc(hidden)]
    #[must_use]
    pub fn known(self, of_flag: bool, special: &[SpecialCode]) -> Self {
        let concerns = |code: &&SpecialCode| match (self.op, &self.value) {
            (Op::Le, Some(Operand::Number(t))) => code.value <= *t,
            (Op::Ge, Some(Operand::Number(t))) => code.value >= *t,
            (Op::Is | Op::IsNot, Some(Operand::Text(name))) => code.name == *name,
            _ => false,
        };
        let codes = special.iter().filter(concerns).map(|code| code.value).collect();
        Self { of_flag, codes, ..self }
    }

    /// The operand, where the condition is a bound from the side that `op` says.
    fn bound(&self, op: Op) -> Option<&Operand> {
        self.value.as_ref().filter(|_| self.op == op)
    }

    /// The text of a lower and an upper bound of one column, whichever comes first: an interval, or one number.
    pub(super) fn interval(&self, other: &Self) -> Option<String> {
        fn bounds<'c>(low: &'c Condition, high: &'c Condition) -> Option<(&'c Operand, &'c Operand)> {
            Some((low.bound(Op::Ge)?, high.bound(Op::Le)?))
        }
        let (low, high) = bounds(self, other).or_else(|| bounds(other, self))?;
        let crossed = matches!((low, high), (Operand::Number(low), Operand::Number(high)) if low > high);
        if self.column != other.column || crossed {
            return None;
        }
        let column = quote::name(&self.column);
        let end = |operand: &Operand| match operand {
            Operand::Text(level) => quote::end(level).into_owned(),
            other => other.to_string(),
        };
        Some(if low == high {
            format!("{column} = {low}")
        } else {
            format!("{} <= {column} <= {}", end(low), end(high))
        })
    }

    /// Whether the operand fits the comparison.
    pub fn is_valid(&self) -> bool {
        match (self.op.sense(), &self.value) {
            (Sense::Rising | Sense::Falling, Some(Operand::Number(t))) => t.is_finite(),
            (Sense::Level, Some(Operand::Levels(levels))) => {
                let mut known = std::collections::HashSet::new();
                self.op.has_set() && !levels.is_empty() && levels.iter().all(|level| known.insert(level))
            }
            (Sense::Rising | Sense::Falling | Sense::Level, Some(Operand::Text(_))) => !self.op.has_set(),
            (Sense::Special, Some(Operand::Text(_))) | (Sense::Presence, None) => true,
            _ => false,
        }
    }

    /// Whether the condition can be asked of a column of this kind.
    pub fn fits(&self, kind: Kind) -> bool {
        match self.op.sense() {
            Sense::Rising | Sense::Falling if matches!(self.value, Some(Operand::Text(_))) => kind == Kind::Ordered,
            Sense::Rising | Sense::Falling | Sense::Special => kind == Kind::Numeric,
            Sense::Level => kind != Kind::Numeric,
            Sense::Presence => true,
        }
    }

    /// Whether it can be asked of a column: of its kind, and of the special codes and ordered levels that it has.
    pub(crate) fn fits_column(&self, column: &ColumnSpec) -> bool {
        let has_level = |level: &String| match column.kind {
            // Where levels are in order, what is not among them has no place.
            Kind::Ordered => column.levels.contains(level),
            Kind::Numeric => column.special.iter().any(|code| code.name == *level),
            Kind::Categorical | Kind::Boolean => true,
        };
        self.is_valid() && self.fits(column.kind) && self.levels().iter().all(has_level)
    }

    /// What tells it from other conditions.
    pub(crate) fn key(&self) -> ConditionKey<'_> {
        let threshold = match &self.value {
            Some(Operand::Number(t)) => Some(t.to_bits()),
            _ => None,
        };
        (&self.column, self.op, threshold, self.levels())
    }

    /// The levels that it names.
    pub fn levels(&self) -> &[String] {
        self.value.as_ref().map_or(&[], Operand::levels)
    }

    /// What it asks of the values of its column. Where levels are in order, `values` has those of the model, in its
    /// order.
    pub(crate) fn test(&self, values: &Values) -> Test {
        let threshold = match self.value {
            Some(Operand::Number(t)) => t,
            _ => f64::NAN,
        };
        let code = |levels: &[String]| match &self.value {
            Some(Operand::Text(level)) => levels.iter().position(|l| l == level).map(|c| c as u32),
            _ => None,
        };
        match (values, self.op) {
            (Values::Numeric(_), Op::Le) if self.codes.is_empty() => Test::AtMost(threshold),
            (Values::Numeric(_), Op::Ge) if self.codes.is_empty() => Test::AtLeast(threshold),
            (Values::Numeric(_), Op::Le) => Test::AtMostBut(threshold, self.codes.clone()),
            (Values::Numeric(_), Op::Ge) => Test::AtLeastBut(threshold, self.codes.clone()),
            (Values::Numeric(_), Op::Is) => self.codes.first().map_or(Test::Never, |&code| Test::Only(code)),
            (Values::Numeric(_), Op::IsNot) => self.codes.first().map_or(Test::Number, |&code| Test::AllBut(code)),
            (Values::Numeric(_), Op::Missing) => Test::NoNumber,
            (Values::Numeric(_), Op::Present) => Test::Number,
            (Values::Categorical { levels, .. }, Op::Eq) => code(levels).map_or(Test::Never, Test::Level),
            (Values::Categorical { levels, .. }, Op::Ne) => code(levels).map_or(Test::AnyLevel, Test::OtherLevel),
            (Values::Categorical { levels, .. }, Op::Le) => {
                code(levels).map_or(Test::Never, |c| Test::LevelsBetween(0, c))
            }
            (Values::Categorical { levels, .. }, Op::Ge) => {
                code(levels).map_or(Test::Never, |c| Test::LevelsBetween(c, (levels.len() as u32).wrapping_sub(1)))
            }
            (Values::Categorical { levels, .. }, Op::In | Op::NotIn) => {
                let (named, inside) = (self.levels(), self.op == Op::In);
                let named: std::collections::HashSet<&String> = named.iter().collect();
                Test::Among(levels.iter().map(|level| named.contains(level) == inside).collect(), !inside)
            }
            (Values::Categorical { .. }, Op::Missing) => Test::Level(MISSING),
            (Values::Categorical { .. }, Op::Present) => Test::AnyLevel,
            (Values::Numeric(_), Op::Eq | Op::Ne | Op::In | Op::NotIn)
            | (Values::Categorical { .. }, Op::Is | Op::IsNot) => Test::Never,
        }
    }

    /// This condition where its column has no levels but `a` and `b`: not to be one is to be the other, and is spelled
    /// so.
    #[doc(hidden)]
    #[must_use]
    pub fn among_two(&self, (a, b): (&str, &str)) -> Self {
        let mut plain = self.clone();
        if let (Op::Ne, Some(Operand::Text(level))) = (self.op, &self.value) {
            plain.op = Op::Eq;
            plain.value = Some(Operand::Text(if level == a { b } else { a }.to_owned()));
        }
        plain
    }

    /// Clears `selected[i]` for every row i whose value does not satisfy the condition.
    pub fn narrow(&self, values: &Values, selected: &mut [bool]) {
        match values {
            Values::Numeric(v) => {
                let threshold = match self.value {
                    Some(Operand::Number(t)) => t,
                    _ => f64::NAN,
                };
                match self.op {
                    Op::Le => keep(selected, v, |x| x <= threshold && !self.codes.contains(&x)),
                    Op::Ge => keep(selected, v, |x| x >= threshold && !self.codes.contains(&x)),
                    Op::Is => keep(selected, v, |x| self.codes.contains(&x)),
                    Op::IsNot => keep(selected, v, |x| !x.is_nan() && !self.codes.contains(&x)),
                    Op::Missing => keep(selected, v, f64::is_nan),
                    Op::Present => keep(selected, v, |x| !x.is_nan()),
                    Op::Eq | Op::Ne | Op::In | Op::NotIn => selected.fill(false),
                }
            }
            Values::Categorical { codes, levels, .. } => {
                let wanted = match &self.value {
                    Some(Operand::Text(level)) => levels.iter().position(|l| l == level).map(|c| c as u32),
                    _ => None,
                };
                let named = |c: u32| levels.get(c as usize).is_some_and(|level| self.levels().contains(level));
                match self.op {
                    Op::In => keep(selected, codes, named),
                    Op::NotIn => keep(selected, codes, |c| c != MISSING && !named(c)),
                    Op::Eq => keep(selected, codes, |c| Some(c) == wanted),
                    Op::Ne => keep(selected, codes, |c| c != MISSING && Some(c) != wanted),
                    Op::Missing => keep(selected, codes, |c| c == MISSING),
                    Op::Present => keep(selected, codes, |c| c != MISSING),
                    Op::Le => keep(selected, codes, |c| wanted.is_some_and(|wanted| c <= wanted)),
                    Op::Is | Op::IsNot => selected.fill(false),
                    Op::Ge => {
                        keep(selected, codes, |c| wanted.is_some_and(|wanted| c >= wanted && c < levels.len() as u32));
                    }
                }
            }
        }
    }
}

fn keep<T: Copy>(selected: &mut [bool], values: &[T], satisfied: impl Fn(T) -> bool) {
    for (s, &v) in selected.iter_mut().zip(values) {
        *s &= satisfied(v);
    }
}

#[cfg(test)]
mod tests;
