//! How a parameter is declared, and what follows from a declaration.
//!
//! The macro [`parameters!`] turns the declarations in `mod.rs` into the struct `Params`, its defaults, the table in
//! its documentation, and [`Parameter::ALL`]. Everything else walks that list: [`Params::set`](super::Params::set), the
//! check of ranges, the flags of the command line, the JSON Schema, the estimators of the Python package.

use std::collections::BTreeMap;
use std::str::FromStr;

/// A parameter of a fit: what a front end needs to know to offer it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name. The flag has hyphens in place of underscores.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParameterKind,
    /// Which numbers are allowed, if it takes numbers.
    pub range: Option<Range>,
    /// Where help and documentation list it.
    pub group: ParameterGroup,
    /// What stands for its value in help.
    pub value_name: &'static str,
    /// The doc comment.
    pub(super) comment: &'static str,
    /// The default in words, where the value alone does not tell.
    pub(super) open: Option<&'static str>,
    /// What a text must be to be a value; without it, what the range says.
    pub(super) want: Option<&'static str>,
}

/// The values that a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A whole number, or this name.
    WholeOr(&'static str),
    /// A number, or this name.
    NumberOr(&'static str),
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Numbers for each column.
    NumbersByColumn,
    /// A number for each column.
    NumberByColumn,
    /// +1 or -1 for each column.
    DirectionByColumn,
    /// Any number of texts.
    Texts,
}

/// The numbers that a parameter may be.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Range {
    /// The least number.
    pub least: f64,
    /// Whether it must be above the least number.
    pub is_open: bool,
    /// The largest number, or infinity.
    pub most: f64,
    /// The range in words, as they follow "must be".
    pub words: &'static str,
}

/// Parameters that help and documentation list together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterGroup {
    /// What a rule is worth, and how weights are fitted.
    Learning,
    /// How rules are found.
    Search,
    /// How many rules there are, and how sure they are.
    Size,
    /// What only SIRUS reads.
    Sirus,
    /// Threads, memory and the seed.
    Running,
}

impl Parameter {
    /// What it does, in sentences. Names of parameters stand between backticks.
    pub fn purpose(&self) -> String {
        self.comment.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What a text must be to be a value.
    pub(super) fn wanted(&self) -> &'static str {
        self.want.or(self.range.map(|range| range.words)).unwrap_or("a value")
    }
}

impl Range {
    /// Whether `x` lies in it.
    pub fn contains(&self, x: f64) -> bool {
        (self.least..=self.most).contains(&x) && !(self.is_open && x == self.least)
    }
}

impl ParameterGroup {
    /// All groups, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Learning, Self::Search, Self::Size, Self::Sirus, Self::Running];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Learning => "Learning",
            Self::Search => "Search",
            Self::Size => "Size",
            Self::Sirus => "Preset sirus",
            Self::Running => "Running",
        }
    }
}

/// A type that a parameter may have.
#[doc(hidden)]
pub trait Typed {
    /// What a setter takes: the value itself where the field may be left open.
    type Given;
    const KIND: ParameterKind;
    /// What a text must be to be a value of this type, unless the range says it.
    const WANT: Option<&'static str>;

    fn of(given: Self::Given) -> Self;
}

/// Types that are given as they are.
macro_rules! given_as_they_are {
    ($type:ty) => {
        type Given = $type;

        fn of(given: $type) -> Self {
            given
        }
    };
}
pub(super) use given_as_they_are;

/// The value of a parameter, of whatever type.
pub(super) trait Value {
    /// The value as text, unless it is left open.
    fn text(&self) -> Option<String>;
    /// Takes the value that a text spells; `None` if it spells none.
    fn read(&mut self, text: &str) -> Option<()>;
    /// The value as a number, if it is one.
    fn number(&self) -> Option<f64>;
}

/// What has a text reads it as any other value does.
pub(super) fn read_into<T: FromStr>(value: &mut T, text: &str) -> Option<()> {
    *value = text.parse().ok()?;
    Some(())
}

macro_rules! number_types {
    ($($type:ty = $kind:expr),+) => { $(
        impl Typed for $type {
            const KIND: ParameterKind = $kind;
            const WANT: Option<&'static str> = Some("a number");
            given_as_they_are! { $type }
        }
        impl Value for $type {
            fn text(&self) -> Option<String> {
                Some(self.to_string())
            }
            fn read(&mut self, text: &str) -> Option<()> {
                read_into(self, text)
            }
            fn number(&self) -> Option<f64> {
                Some(*self as f64)
            }
        }
    )+ };
}
number_types!(usize = ParameterKind::Whole, u64 = ParameterKind::Whole, f64 = ParameterKind::Number);

/// `None` is a value that is left open.
impl<T: Typed> Typed for Option<T> {
    type Given = T;
    const KIND: ParameterKind = T::KIND;
    const WANT: Option<&'static str> = T::WANT;

    fn of(given: T) -> Self {
        Some(given)
    }
}

impl<T: Value + FromStr> Value for Option<T> {
    fn text(&self) -> Option<String> {
        self.as_ref().and_then(Value::text)
    }

    fn read(&mut self, text: &str) -> Option<()> {
        *self = Some(text.parse().ok()?);
        Some(())
    }

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(Value::number)
    }
}

impl Typed for BTreeMap<String, Vec<f64>> {
    const KIND: ParameterKind = ParameterKind::NumbersByColumn;
    const WANT: Option<&'static str> = Some("given column by column");
    given_as_they_are! { Self }
}

impl Typed for BTreeMap<String, f64> {
    const KIND: ParameterKind = ParameterKind::NumberByColumn;
    const WANT: Option<&'static str> = Some("a number for each column");
    given_as_they_are! { Self }
}

impl Typed for BTreeMap<String, crate::data::schema::Monotone> {
    const KIND: ParameterKind = ParameterKind::DirectionByColumn;
    const WANT: Option<&'static str> = Some("given column by column");
    given_as_they_are! { Self }
}

impl Typed for Vec<String> {
    const KIND: ParameterKind = ParameterKind::Texts;
    const WANT: Option<&'static str> = Some("a JSON list of texts");
    given_as_they_are! { Self }
}

/// As a list in JSON.
impl Value for Vec<String> {
    fn text(&self) -> Option<String> {
        if self.is_empty() { None } else { serde_json::to_string(self).ok() }
    }

    fn read(&mut self, text: &str) -> Option<()> {
        *self = serde_json::from_str(text).ok()?;
        Some(())
    }

    fn number(&self) -> Option<f64> {
        None
    }
}

/// Front ends insert columns themselves.
macro_rules! inserted_by_column {
    ($($type:ty),+) => { $(
        impl Value for BTreeMap<String, $type> {
            fn text(&self) -> Option<String> {
                None
            }

            fn read(&mut self, _: &str) -> Option<()> {
                None
            }

            fn number(&self) -> Option<f64> {
                None
            }
        }
    )+ };
}
inserted_by_column!(Vec<f64>, crate::data::schema::Monotone);

/// As an object in JSON.
impl Value for BTreeMap<String, f64> {
    fn text(&self) -> Option<String> {
        if self.is_empty() { None } else { serde_json::to_string(self).ok() }
    }

    fn read(&mut self, text: &str) -> Option<()> {
        *self = serde_json::from_str(text).ok()?;
        Some(())
    }

    fn number(&self) -> Option<f64> {
        None
    }
}

/// A [`Range`]: `1 or more`, `1 to 9`, `number 0 to 9` or `number above 0 to 9`, and what its words end with.
macro_rules! range {
    (@words $least:literal or more $(, $rest:literal)?) => { concat!("at least ", $least $(, $rest)?) };
    (@words $least:literal to $most:literal $(, $rest:literal)?) => {
        concat!("from ", $least, " to ", $most $(, $rest)?)
    };
    (@words number above $least:literal to $most:literal) => {
        concat!("a number above ", $least, ", at most ", $most)
    };
    (@words number $least:literal to $most:literal $(, $rest:literal)?) => {
        concat!("a number from ", $least, " to ", $most $(, $rest)?)
    };
    (@limits $least:literal or more $(, $rest:literal)?) => { ($least as f64, false, f64::INFINITY) };
    (@limits $least:literal to $most:literal $(, $rest:literal)?) => { ($least as f64, false, $most as f64) };
    (@limits number above $least:literal to $most:literal) => { ($least as f64, true, $most as f64) };
    (@limits number $($limits:tt)+) => { range!(@limits $($limits)+) };
    ($($range:tt)+) => {{
        let (least, is_open, most) = range!(@limits $($range)+);
        let words = range!(@words $($range)+);
        Range { least, is_open, most, words }
    }};
}

/// The struct `Params`, its defaults, the list of its parameters and setters for a builder. For each of them the
/// declaration holds:
///
/// - a doc comment: what it does, in sentences, with names of parameters between backticks;
/// - `#[flag(group, value)]`: where it is listed, and what stands for its value in help;
/// - `#[range(…)]`, if it takes numbers: see [`range!`];
/// - `#[open(words)]`, if its default depends on the fit: what it is then. The values are in `complete.rs`;
/// - its name, its type and its default.
macro_rules! parameters {
    // A default in words, or else as code.
    (@default [$open:literal] $default:expr) => { $open };
    (@default [] $default:expr) => { concat!("`", stringify!($default), "`") };
    // A range in words, or else a type.
    (@values [$($range:tt)+] $type:ty) => { range!(@words $($range)+) };
    (@values [] $type:ty) => { concat!("`", stringify!($type), "`") };
    (@some [$($given:tt)+]) => { Some($($given)+) };
    (@some []) => { None };
    (
        $(#[$about:meta])*
        pub struct Params { $(
            $(#[doc = $comment:literal])+
            #[flag($group:ident, $value_name:literal)]
            $(#[range($($range:tt)+)])?
            $(#[open($open:literal)])?
            $name:ident: $type:ty = $default:expr,
        )+ }
    ) => {
        $(#[$about])*
        ///
        /// | parameter | default | values | purpose |
        /// |---|---|---|---|
        $(
            #[doc = concat!(
                "| `", stringify!($name), "` | ", parameters!(@default [$($open)?] $default),
                " | ", parameters!(@values [$($($range)+)?] $type), " |", $($comment,)+ " |"
            )]
        )+
        #[derive(Debug, Clone, PartialEq)]
        pub struct Params { $(
            $(#[doc = $comment])+
            pub $name: $type,
        )+ }

        impl Default for Params {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Parameter {
            /// Every parameter of a fit.
            pub const ALL: &[Self] = &[$(
                Self {
                    name: stringify!($name),
                    kind: <$type as Typed>::KIND,
                    range: parameters!(@some [$(range!($($range)+))?]),
                    group: ParameterGroup::$group,
                    value_name: $value_name,
                    comment: concat!($($comment, "\n"),+),
                    open: parameters!(@some [$($open)?]),
                    want: <$type as Typed>::WANT,
                },
            )+];
        }

        /// A setter for each parameter, where `self.params` holds them.
        macro_rules! setters {
            () => { $(
                $(#[doc = $comment])+
                #[must_use]
                pub fn $name(mut self, value: <$type as Typed>::Given) -> Self {
                    self.params.$name = <$type as Typed>::of(value);
                    self
                }
            )+ };
        }
        pub(crate) use setters;

        impl Params {
            /// The values, in the order of [`Parameter::ALL`].
            fn values(&self) -> [&dyn Value; Parameter::ALL.len()] {
                [$(&self.$name),+]
            }

            fn values_mut(&mut self) -> [&mut dyn Value; Parameter::ALL.len()] {
                [$(&mut self.$name),+]
            }
        }
    };
}

pub(super) use {parameters, range};
