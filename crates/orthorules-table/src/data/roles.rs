//! Which column plays which part.

use crate::base::error::{Error, Result};
use crate::base::wire::wire;
use crate::data::problem::Task;
use crate::data::special::SpecialCode;
use crate::data::table::Notation;
use std::collections::BTreeMap;

/// Which column plays which part. There may be more parts later, so end a list of fields with `..Roles::default()`.
///
/// ```
/// # use orthorules_table as orthorules;
/// use orthorules::{Roles, Task};
///
/// let roles = Roles {
///     target: "claims".into(),
///     task: Some(Task::Poisson),
///     exposure: Some("years".into()),
///     ignore: vec!["policy".into()],
///     ..Roles::default()
/// };
/// assert!(roles.weight.is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Roles {
    /// The column to predict.
    pub target: String,
    /// What kind of target it is; `None` decides by its values.
    pub task: Option<Task>,
    /// The class whose score is positive; by default the last in order.
    pub positive: Option<String>,
    /// Column of row weights.
    pub weight: Option<String>,
    /// Column of exposures, for Poisson and gamma.
    pub exposure: Option<String>,
    /// Column of offsets, for numbers: what is known of the score of each row before any rule.
    pub offset: Option<String>,
    /// Column of groups: rows of one group stay together when rows are split or resampled.
    pub groups: Option<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Columns to read as categories, whatever they look like.
    pub categorical: Vec<String>,
    /// Columns of text that are categories by their type, so that what looks like a number is none. Unlike
    /// `categorical` they are left out where they hold dates or tell rows apart.
    pub by_type: Vec<String>,
    /// Columns to read as categories whose levels are in this order.
    pub ordered: BTreeMap<String, Vec<String>>,
    /// Special codes of columns of numbers.
    pub special: BTreeMap<String, Vec<SpecialCode>>,
    /// Whether columns of dates are left out, instead of read as year, month, weekday and hour.
    pub without_dates: bool,
    /// Whether rows without a target, or without a positive exposure, are left out instead of refused.
    pub drop_missing_target: bool,
    /// How text spells numbers and missing values, where a file is read.
    pub notation: Notation,
}
wire!(Roles {
    target,
    task,
    positive,
    weight,
    exposure,
    offset,
    groups,
    ignore,
    categorical,
    by_type,
    ordered,
    special,
    without_dates,
    drop_missing_target,
    notation,
});

impl Roles {
    /// The columns are there, and no column has two parts to play.
    #[doc(hidden)]
    pub fn check(&self, names: &[&str]) -> Result<()> {
        let roles = self;
        let require = |role: &'static str, name: &str| is_there(role, name, names);
        require("target", &roles.target)?;
        let single = [
            ("weight", &roles.weight),
            ("exposure", &roles.exposure),
            ("offset", &roles.offset),
            ("groups", &roles.groups),
        ];
        for (role, name) in single {
            if let Some(name) = name {
                require(role, name)?;
                if *name == roles.target {
                    return refused(name, format!("column {name:?} cannot be both target and {role}"));
                }
            }
        }
        for (i, (role, name)) in single[..3].iter().enumerate() {
            let Some(name) = name else { continue };
            if let Some((other, _)) = single[i + 1..3].iter().find(|(_, other)| other.as_ref() == Some(name)) {
                return refused(name, format!("column {name:?} cannot be both {role} and {other}"));
            }
            if roles.groups.as_ref() == Some(name) {
                let held = if *role == "offset" { "offsets" } else { "weights or exposures" };
                return refused(name, format!("column {name:?} cannot hold groups and also {held}"));
            }
        }
        self.check_ordered(names)?;
        self.check_special(names)?;
        for (role, names) in [("ignore", &roles.ignore), ("categorical", &roles.categorical)] {
            for name in names {
                require(role, name)?;
            }
        }
        for (role, name) in &single[..3] {
            if let Some(name) = name.as_ref().filter(|name| roles.categorical.contains(name)) {
                return refused(name, format!("column {name:?} cannot be both {role} and categorical"));
            }
        }
        if roles.ignore.contains(&roles.target) {
            return refused(&roles.target, format!("the target {:?} cannot be ignored", roles.target));
        }
        Ok(())
    }

    /// Columns whose levels are in order are there, and each level once.
    fn check_ordered(&self, names: &[&str]) -> Result<()> {
        let roles = self;
        for (name, levels) in &roles.ordered {
            is_there("ordered", name, names)?;
            if roles.is_singled_out(name) {
                return refused(name, format!("column {name:?} cannot be ordered: rules do not use it"));
            }
            let mut known = std::collections::HashSet::new();
            if let Some(level) = levels.iter().find(|level| !known.insert(level.as_str())) {
                return refused(name, format!("ordered {name:?} lists {level:?} twice"));
            }
            if levels.len() < 2 {
                return refused(name, format!("ordered {name:?} needs at least two levels"));
            }
        }
        Ok(())
    }

    /// Columns with special codes are there, and can have these.
    fn check_special(&self, names: &[&str]) -> Result<()> {
        let roles = self;
        for (name, codes) in &roles.special {
            is_there("special", name, names)?;
            if roles.is_singled_out(name) {
                return refused(name, format!("column {name:?} cannot have special codes: rules do not use it"));
            }
            if roles.categorical.contains(name) || roles.ordered.contains_key(name) {
                return refused(name, format!("column {name:?} cannot have special codes: it holds categories"));
            }
            SpecialCode::check(codes).or_else(|what| refused(name, format!("special codes of {name:?}: {what}")))?;
        }
        Ok(())
    }

    /// The columns that are more than features.
    fn singled_out(&self) -> impl Iterator<Item = &String> {
        let numbers = self.weight.iter().chain(&self.exposure).chain(&self.offset);
        std::iter::once(&self.target).chain(numbers).chain(&self.groups)
    }

    /// The columns that decide which rows count.
    #[doc(hidden)]
    #[cfg(feature = "files")]
    pub fn deciding(&self) -> impl Iterator<Item = String> {
        let dropping = self.drop_missing_target.then(|| std::iter::once(&self.target).chain(&self.exposure));
        self.weight.iter().chain(dropping.into_iter().flatten()).cloned()
    }

    /// Whether the column called `name` is the target, or weighs, exposes, offsets or groups rows. It may be ignored as
    /// well: rules do not use it in any case.
    #[doc(hidden)]
    pub fn is_singled_out(&self, name: &str) -> bool {
        self.singled_out().any(|column| column == name)
    }

    /// Whether rules may use the column called `name`.
    #[doc(hidden)]
    pub fn is_feature(&self, name: &str) -> bool {
        !self.is_singled_out(name) && !self.ignore.iter().any(|i| i == name)
    }

    /// How to read a table for these roles: what has a part to play is not left out.
    #[cfg(feature = "files")]
    pub fn read_options(&self) -> crate::data::table::ReadOptions {
        let kept = self.singled_out().chain(&self.ignore).chain(&self.categorical);
        let kept = kept.chain(self.ordered.keys()).chain(self.special.keys());
        let ordered: BTreeMap<String, Vec<String>> =
            self.ordered.clone().into_iter().filter(|(name, _)| !self.is_singled_out(name)).collect();
        crate::data::table::ReadOptions {
            categorical: self.categorical.iter().chain(&self.by_type).chain(ordered.keys()).cloned().collect(),
            by_type: self.by_type.clone(),
            ordered,
            special: self.special.clone(),
            dates: crate::data::table::Dates { recognised: !self.without_dates, ..Default::default() },
            keep: kept.cloned().collect(),
            ignored: self.ignore.iter().filter(|name| !self.is_singled_out(name)).cloned().collect(),
            notation: self.notation.clone(),
            ..crate::data::table::ReadOptions::default()
        }
    }
}

/// An error unless the column called `name` is one of `names`.
fn is_there(role: &'static str, name: &str, names: &[&str]) -> Result<()> {
    let known = names.contains(&name);
    known.then_some(()).ok_or_else(|| Error::no_column(role, name, names.iter().copied()))
}

/// A column cannot have its roles.
fn refused(column: &str, what: String) -> Result<()> {
    Err(Error::Role { column: column.to_owned(), what })
}
