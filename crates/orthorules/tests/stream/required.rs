//! Rules that are required of fits whose rows are codes, here or in partitions: they are there, or refused in a line.

use super::partitions::{partitioned, staying};
use super::*;
use orthorules::{Gather, Model, Rule};

/// Roles without the column that tells rows apart in a single file, but not in several.
fn named_roles() -> Roles {
    Roles { ignore: vec!["id".to_owned(), "gone".to_owned()], ..roles() }
}

/// What the codes can express is in every size with room, and models have the same bytes. A threshold that is no cut is
/// refused with its remedy, wherever the rows are; listed in `cuts`, it is one.
#[test]
fn required_rules_are_there_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let all = rows(600, 3);
    let files: Vec<std::path::PathBuf> = (0..3).map(|i| folder.path().join(format!("{i}.parquet"))).collect();
    for (file, part) in files.iter().zip(all.chunks(200)) {
        std::fs::write(file, parquet_of(&batches(part))).unwrap();
    }
    let whole = folder.path().join("whole.parquet");
    std::fs::write(&whole, parquet_of(&batches(&all))).unwrap();
    let level = {
        let table = read(&whole, &named_roles().read_options()).unwrap();
        table.column("name").unwrap().values.display(3).unwrap()
    };
    let levels = Params { require: vec![format!("name = {level}")], max_rules: Some(3), ..staying() };
    // One of these is no cut of the column.
    let above = |t: f64| Params { require: vec![format!("x >= {t}")], max_rules: Some(3), ..staying() };
    let is_torn = |t: &f64| streamed(&whole, &named_roles(), &above(*t), None).is_err();
    let t = [0.123_456_789, 1.03, 2.09, 3.53, 7.78].into_iter().find(is_torn).unwrap();
    let threshold = above(t);
    let cut = Params { cuts: [("x".to_owned(), vec![t, t + 0.5])].into(), ..threshold.clone() };
    for (params, is_refused) in [(&levels, false), (&threshold, true), (&cut, false)] {
        let (streamed, _) = match streamed(&whole, &named_roles(), params, None) {
            Ok(found) => found,
            Err(told) => (told, Vec::new()),
        };
        for gather in [Gather::Never, Gather::WhereSmall] {
            match partitioned(files.clone(), &named_roles(), params, gather) {
                Ok(text) => {
                    assert!(!is_refused, "{gather:?}: a required rule was left out");
                    assert_eq!(text, streamed, "{gather:?}");
                    let model = Model::from_json(&text).unwrap();
                    let pin = Rule::parse(&params.require[0], &model.columns).unwrap();
                    for size in &model.lists[0].sizes[1..] {
                        let has = model.lists[0].members(size).any(|rule| rule.says_same(&pin));
                        assert!(has || size.complexity < pin.complexity(), "{gather:?}: {}", size.complexity);
                    }
                }
                Err(told) => {
                    assert!(is_refused && told == streamed, "{gather:?}: {told}");
                    assert!(
                        told.contains("no cut at this threshold; list it in cuts") && !told.contains('\n'),
                        "{told}"
                    );
                }
            }
        }
    }
}
