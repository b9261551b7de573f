//! What an export may be, and how users spell it.

use orthorules_model::{Error, Result};

/// Into what a model is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExportTarget {
    /// A module that imports nothing but `math`.
    Python,
    /// An ES module.
    JavaScript,
    /// One C99 file.
    C,
    /// A query or a view.
    Sql,
    /// A workbook with live formulas.
    Excel,
    /// A Scorecard with reason codes.
    Pmml,
    /// A graph in double precision.
    Onnx,
}

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// SQLite 3.35 or newer, with its mathematical functions.
    #[default]
    Sqlite,
    /// DuckDB.
    DuckDb,
    /// PostgreSQL.
    PostgreSql,
    /// Spark SQL 3.1 or newer.
    Spark,
}

/// What is made of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Form {
    /// The query itself.
    #[default]
    Select,
    /// A view of that query.
    View,
}

/// What an export is to be. There may be more to say later, so start from [`Options::new`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Into what the model is turned.
    pub target: ExportTarget,
    /// Whose SQL it is.
    pub dialect: Dialect,
    /// The table that SQL reads. A point separates the schema from the table, unless it stands in double quotes.
    pub table: String,
    /// What is made of the query.
    pub form: Form,
    /// How many rows of a workbook have formulas.
    pub cases: usize,
}

impl Options {
    /// The table that SQL reads where no other is named.
    pub const TABLE: &'static str = "data";
    /// The rows of a workbook that have formulas where no number is given.
    pub const CASES: usize = 200;
    /// More rows than this do not fit on a sheet beside its headings.
    pub const MOST_CASES: usize = 1_000_000;

    /// The usual settings for `target`.
    pub fn new(target: ExportTarget) -> Self {
        let (dialect, form) = (Dialect::default(), Form::default());
        Self { target, dialect, table: Self::TABLE.into(), form, cases: Self::CASES }
    }

    /// The settings with these names. What is not given has its usual value; what does not go with the target is
    /// refused.
    pub fn named(
        target: &str,
        dialect: Option<&str>,
        table: Option<&str>,
        form: Option<&str>,
        cases: Option<usize>,
    ) -> Result<Self> {
        let target: ExportTarget = target.parse()?;
        let goes = |given: bool, name: &'static str, with: ExportTarget| {
            let what = format!("{name} goes with the target {with} alone, not with {target}");
            let text = || Error::Excluded { name, what };
            if given && target != with { Err(text()) } else { Ok(()) }
        };
        goes(dialect.is_some(), "dialect", ExportTarget::Sql)?;
        goes(table.is_some(), "table", ExportTarget::Sql)?;
        goes(form.is_some(), "as", ExportTarget::Sql)?;
        goes(cases.is_some(), "cases", ExportTarget::Excel)?;
        let cases = cases.unwrap_or(Self::CASES);
        if !(1..=Self::MOST_CASES).contains(&cases) {
            return Err(Error::Param { name: "cases", want: "from 1 to 1000000", got: cases.to_string() });
        }
        Ok(Self {
            target,
            dialect: dialect.map(str::parse).transpose()?.unwrap_or_default(),
            table: table.unwrap_or(Self::TABLE).to_owned(),
            form: form.map(str::parse).transpose()?.unwrap_or_default(),
            cases,
        })
    }
}

/// Names of the variants of an enum, both ways, and the error that lists them.
macro_rules! named {
    ($kind:ident, $parameter:literal, $want:literal, $($variant:ident = $name:literal),+) => {
        impl $kind {
            /// Every name, in the order of the variants.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Its name on the command line and in Python.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::str::FromStr for $kind {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                match name {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(Error::Param { name: $parameter, want: $want, got: format!("{name:?}") }),
                }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named!(
    ExportTarget,
    "to",
    "python, javascript, c, sql, excel, pmml or onnx",
    Python = "python",
    JavaScript = "javascript",
    C = "c",
    Sql = "sql",
    Excel = "excel",
    Pmml = "pmml",
    Onnx = "onnx"
);
named!(
    Dialect,
    "dialect",
    "sqlite, duckdb, postgresql or spark",
    Sqlite = "sqlite",
    DuckDb = "duckdb",
    PostgreSql = "postgresql",
    Spark = "spark"
);
named!(Form, "as", "select or view", Select = "select", View = "view");

impl ExportTarget {
    /// Whether the export is bytes for a file rather than text for people.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Excel | Self::Onnx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_what_they_name() {
        for name in ExportTarget::NAMES {
            assert_eq!(name.parse::<ExportTarget>().unwrap().name(), *name);
        }
        for name in Dialect::NAMES {
            assert_eq!(name.parse::<Dialect>().unwrap().name(), *name);
        }
        for name in Form::NAMES {
            assert_eq!(name.parse::<Form>().unwrap().name(), *name);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_in_one_line() {
        let refused = |options: Result<Options>| options.unwrap_err().to_string();
        let cases = [
            (refused(Options::named("cobol", None, None, None, None)), "to must be python, javascript"),
            (refused(Options::named("sql", Some("oracle"), None, None, None)), "dialect must be sqlite"),
            (refused(Options::named("sql", None, None, Some("table"), None)), "as must be select or view"),
            (refused(Options::named("c", Some("duckdb"), None, None, None)), "dialect goes with the target sql"),
            (refused(Options::named("c", None, Some("t"), None, None)), "table goes with the target sql"),
            (refused(Options::named("pmml", None, None, None, Some(7))), "cases goes with the target excel"),
            (refused(Options::named("excel", None, None, None, Some(0))), "cases must be from 1"),
        ];
        for (message, part) in cases {
            assert!(message.contains(part) && !message.contains('\n'), "{message}");
        }
    }
}
