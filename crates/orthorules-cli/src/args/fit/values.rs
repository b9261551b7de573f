//! Values of flags that are more than a number or a name.

use orthorules::SpecialCode;
use orthorules::params::{Cv, Monotone};

/// `auto`, `none` or a number.
pub(super) fn folds(text: &str) -> Result<Option<Cv>, String> {
    match text {
        "none" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| "must be auto, none or a number of folds".into()),
    }
}

/// The items of a list: blanks around commas do not count. What stands in double quotes at the start of an item is
/// taken as it is, two of them for one; so a name may hold a comma. A text without commas that does not start with a
/// quote is a single item.
pub(crate) fn items(text: &str) -> Result<Vec<String>, String> {
    if !text.contains(',') && !text.trim_start().starts_with('"') {
        return Ok(vec![text.to_owned()]);
    }
    let (mut items, mut rest) = (Vec::new(), text);
    loop {
        let (quoted, tail) = unquoted(rest.trim_start())?;
        let (plain, more) = tail.split_once(',').map_or((tail, None), |(plain, more)| (plain, Some(more)));
        let plain = if quoted.is_some() { plain.trim_end() } else { plain.trim() };
        items.push(quoted.unwrap_or_default() + plain);
        match more {
            Some(more) => rest = more,
            None => return Ok(items),
        }
    }
}

/// What stands in double quotes at the start of a text, if it starts with one, and the rest.
fn unquoted(text: &str) -> Result<(Option<String>, &str), String> {
    let Some(mut rest) = text.strip_prefix('"') else { return Ok((None, text)) };
    let mut inside = String::new();
    loop {
        let (before, after) = rest.split_once('"').ok_or("a quote is opened and not closed")?;
        inside.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                inside.push('"');
                rest = more;
            }
            None => return Ok((Some(inside), after)),
        }
    }
}

/// `COL=low<mid<high`: blanks around levels do not count. A name in double quotes may hold `=`.
pub(super) fn ordered(text: &str) -> Result<(String, Vec<String>), String> {
    let (quoted, rest) = unquoted(text)?;
    let (name, levels) = rest.split_once('=').ok_or("must be COL=LOW<…<HIGH, as size=small<medium<large")?;
    let name = quoted.unwrap_or_default() + name;
    let levels: Vec<String> = levels.split('<').map(|level| level.trim().to_owned()).collect();
    if name.is_empty() || levels.len() < 2 || levels.iter().any(String::is_empty) {
        return Err("must be COL=LOW<…<HIGH with at least two levels, as size=small<medium<large".into());
    }
    let mut known = std::collections::HashSet::new();
    match levels.iter().find(|level| !known.insert(level.as_str())) {
        Some(level) => Err(format!("lists {level:?} twice")),
        None => Ok((name, levels)),
    }
}

/// Special codes of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CodeList(pub(crate) Vec<SpecialCode>);

/// `COL=VALUE:NAME|…`. A name in double quotes may hold `=`.
pub(super) fn special(text: &str) -> Result<(String, CodeList), String> {
    let (quoted, rest) = unquoted(text)?;
    let (name, codes) = rest.split_once('=').ok_or("must be COL=VALUE:NAME|…, as income=-9:refused|-8:unknown")?;
    let name = quoted.unwrap_or_default() + name;
    if name.is_empty() {
        return Err("must be COL=VALUE:NAME|…, as income=-9:refused|-8:unknown".into());
    }
    Ok((name, CodeList(SpecialCode::list(codes)?)))
}

/// Names from one `COL,…`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NameList(pub(crate) Vec<String>);

/// `COL,…` as [`items`] reads it.
pub(crate) fn names(text: &str) -> Result<NameList, String> {
    items(text).map(NameList)
}

/// `COL=T,T,…`: the name may hold commas and `=` itself, so the last `=` counts.
pub(super) fn cuts(text: &str) -> Result<(String, Vec<f64>), String> {
    let (quoted, rest) = unquoted(text)?;
    let (name, list) = rest.rsplit_once('=').ok_or("must be COL=T,T,…")?;
    let number = |t: &str| t.trim().parse::<f64>().map_err(|_| format!("{t:?} is not a number"));
    Ok((quoted.unwrap_or_default() + name, list.split(',').map(number).collect::<Result<_, _>>()?))
}

/// Directions from one `COL=+1,…`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DirectionList(pub(super) Vec<(String, Monotone)>);

/// `COL=+1,COL=-1,…` as [`items`] reads it: the last `=` of each counts.
pub(super) fn monotone(text: &str) -> Result<DirectionList, String> {
    let direction = |item: &String| {
        let (name, direction) = item.rsplit_once('=').ok_or("must be COL=+1 or COL=-1")?;
        // Blanks in quotes count.
        let name = if text.contains('"') { name } else { name.trim_start() };
        Ok((name.to_owned(), direction.trim().parse().map_err(|e: orthorules::Error| e.to_string())?))
    };
    items(text)?.iter().map(direction).collect::<Result<_, String>>().map(DirectionList)
}

/// Costs from one `COL=COST,…`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CostList(pub(super) Vec<(String, f64)>);

/// `COL=COST,COL=COST,…` as [`items`] reads it: the last `=` of each counts.
pub(super) fn costs(text: &str) -> Result<CostList, String> {
    let cost = |item: &String| {
        let (name, cost) = item.rsplit_once('=').ok_or("must be COL=COST, as mri=20")?;
        let number = cost.trim().parse().map_err(|_| format!("{:?} is not a number", cost.trim()))?;
        Ok((name.trim_start().to_owned(), number))
    };
    items(text)?.iter().map(cost).collect::<Result<_, String>>().map(CostList)
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
    use orthorules::model::provenance::item;
    use proptest::prelude::*;

    #[test]
    fn blanks_around_commas_do_not_count() {
        let list = |text| names(text).unwrap().0;
        assert_eq!(list("a, b c ,d"), ["a", "b c", "d"]);
        assert_eq!(list(" a "), [" a "]);
        assert_eq!(list("a,,b,"), ["a", "", "b", ""]);
        assert_eq!(monotone(" pay=-1"), Ok(DirectionList(vec![("pay".into(), Monotone::Falling)])));
    }

    #[test]
    fn names_in_quotes_may_hold_commas() {
        let list = |text| names(text).map(|names| names.0);
        let ok = |names: &[&str]| Ok(names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(list(r#""a,b",c"#), ok(&["a,b", "c"]));
        assert_eq!(list(r#"c, "a ""x"", b" "#), ok(&["c", r#"a "x", b"#]));
        assert_eq!(list(r#"say "x""#), ok(&[r#"say "x""#]), "a quote inside is one like any other");
        assert!(list(r#""a,b"#).is_err());
        let (rising, falling) = (Monotone::Rising, Monotone::Falling);
        let found = monotone(r#""a,b"=+1, c=d=-1"#).unwrap().0;
        assert_eq!(found, [("a,b".to_owned(), rising), ("c=d".to_owned(), falling)]);
        assert_eq!(costs(r#""a,b"=20, c=0.5"#), Ok(CostList(vec![("a,b".into(), 20.0), ("c".into(), 0.5)])));
        assert!(costs("a").is_err() && costs("a=").is_err() && costs("a=1,").is_err());
        assert_eq!(cuts("a,b=1,2"), Ok(("a,b".into(), vec![1.0, 2.0])));
        assert_eq!(cuts(r#""a,b"=1"#), Ok(("a,b".into(), vec![1.0])));
        assert_eq!(ordered(r#""a=b"=lo<hi"#), Ok(("a=b".into(), vec!["lo".into(), "hi".into()])));
    }

    proptest! {
        /// Whatever names are, a list of them is read as it was meant.
        #[test]
        fn lists_of_names_come_back(given in prop::collection::vec("[a,\"= '<é]{1,4}", 1..4)) {
            let list = given.iter().map(|name| item(name)).collect::<Vec<_>>().join(",");
            prop_assert_eq!(items(&list).unwrap(), given);
        }
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
