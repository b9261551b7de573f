//! Values of flags that are more than a number or a name.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use orthorules::params::{Cv, Monotone};

/// One of the library's named options.
pub(super) fn named<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr<Err = orthorules::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// Folds, or none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FoldsArg(pub(super) Option<Cv>);

/// `auto`, `none` or a number.
pub(super) fn folds(text: &str) -> Result<FoldsArg, String> {
    match text {
        "none" => Ok(FoldsArg(None)),
        _ => text.parse().map(|cv| FoldsArg(Some(cv))).map_err(|_| "must be auto, none or a number of folds".into()),
    }
}

/// `COL=low<mid<high`: blanks around levels do not count.
pub(super) fn ordered(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, levels) = text.split_once('=').ok_or("must be COL=LOW<…<HIGH, as size=small<medium<large")?;
    let levels: Vec<String> = levels.split('<').map(|level| level.trim().to_owned()).collect();
    if name.is_empty() || levels.len() < 2 || levels.iter().any(String::is_empty) {
        return Err("must be COL=LOW<…<HIGH with at least two levels, as size=small<medium<large".into());
    }
    let mut known = std::collections::HashSet::new();
    match levels.iter().find(|level| !known.insert(level.as_str())) {
        Some(level) => Err(format!("lists {level:?} twice")),
        None => Ok((name.to_owned(), levels)),
    }
}

/// Names from one `COL,…`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Names(pub(super) Vec<String>);

/// `COL,…`: blanks around commas do not count. A single name is taken as it is.
#[allow(clippy::unnecessary_wraps, reason = "the form of a value parser")]
pub(super) fn names(text: &str) -> Result<Names, std::convert::Infallible> {
    let is_list = text.contains(',');
    Ok(Names(text.split(',').map(|name| if is_list { name.trim() } else { name }.to_owned()).collect()))
}

/// `COL=T,T,…`: the name may hold `=` itself, so the last one counts.
pub(super) fn cuts(text: &str) -> Result<(String, Vec<f64>), String> {
    let (name, list) = text.rsplit_once('=').ok_or("must be COL=T,T,…")?;
    let number = |t: &str| t.trim().parse::<f64>().map_err(|_| format!("{t:?} is not a number"));
    Ok((name.to_owned(), list.split(',').map(number).collect::<Result<_, _>>()?))
}

/// `COL=+1` or `COL=-1`.
pub(super) fn monotone(text: &str) -> Result<(String, Monotone), String> {
    let (name, direction) = text.rsplit_once('=').ok_or("must be COL=+1 or COL=-1")?;
    // A blank may follow the comma between two columns.
    Ok((name.trim_start().to_owned(), direction.trim().parse().map_err(|e: orthorules::Error| e.to_string())?))
}

/// A number of bytes, with a unit or without.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        _ => return Err("must be a number of bytes, as 500MB or 2GB".into()),
    };
    match digits.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok((number * unit) as u64),
        _ => Err("must be a number of bytes, as 500MB or 2GB".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_commas_do_not_count() {
        let list = |text| names(text).unwrap().0;
        assert_eq!(list("a, b c ,d"), ["a", "b c", "d"]);
        assert_eq!(list(" a "), [" a "]);
        assert_eq!(monotone(" pay=-1"), Ok(("pay".into(), Monotone::Falling)));
    }

    #[test]
    fn orders_have_levels() {
        let levels = |levels: &[&str]| levels.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(ordered("size=S < M<L x"), Ok(("size".into(), levels(&["S", "M", "L x"]))));
        for text in ["size", "size=", "size=S", "size=S<", "=S<M", "size=<S", "size=S<M<S"] {
            assert!(ordered(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (text, size) in [("0", 0), ("12", 12), ("1.5kB", 1500), ("500MB", 500_000_000), ("2 g", 2_000_000_000)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "MB", "-1", "1e400", "5 apples", "1 MiB", "NaN"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
