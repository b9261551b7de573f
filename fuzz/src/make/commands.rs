//! Command lines, and the files that they name.

use super::sheet::plain;
use super::{odd, params};
use crate::case::{Case, Format};
use crate::mutate::text;
use crate::rng::Rng;
use std::sync::LazyLock;

/// Seed of the damaged files: they are the same in every run.
const SEED: u64 = 7;

static FILES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for which in 0..4 {
        let rng = &mut Rng::of_case(SEED, 99, which as u64);
        let sheet = plain(which);
        let (_, bytes) = text::written(&mut Rng::of_case(2, 0, 0), &text::rows(&sheet));
        files.push((format!("t{which}.csv"), bytes));
        if let Ok(batches) = super::typed::batches(rng, &sheet) {
            files.push((format!("t{which}.parquet"), super::typed::parquet(rng, &batches, false).unwrap_or_default()));
            files.push((format!("t{which}.arrow"), super::typed::arrow(rng, &batches).unwrap_or_default().1));
        }
    }
    let long = "n".repeat(70_000);
    let level = |i: usize| if i.is_multiple_of(2) { long.as_str() } else { "b" };
    let lines = |head: &str, row: &dyn Fn(usize) -> String| {
        std::iter::once(head.to_owned()).chain((0..30).map(row)).collect::<Vec<_>>().join("\n").into_bytes()
    };
    files.push(("level.csv".into(), lines("x,y", &|i| format!("{},{}", level(i), i % 2 * 3))));
    files.push(("class.csv".into(), lines("x,y", &|i| format!("{i},{}", level(i)))));
    files.push(("name.csv".into(), lines(&format!("{long},y"), &|i| format!("{i},{}", i / 15))));
    files.push(("inf.csv".into(), lines("x,z,y", &|i| format!("{},-inf,{}.5", ["inf", "-inf", "1"][i % 3], i % 3))));
    files.push(("alone.csv".into(), lines("y", &|i| i.to_string())));
    files.push(("constant.csv".into(), lines("x,y", &|i| format!("7,{i}"))));
    files.push(("marks.csv".into(), lines("\"a\nb\",\u{1b}[2J,y", &|i| format!("{i},\u{202e}{},{}", i % 3, i % 4))));
    files.push(("header.csv".into(), b"x,y\n".to_vec()));
    files.push(("empty.csv".into(), Vec::new()));
    for (format, ending, count) in [
        (Format::Csv, "csv", 12),
        (Format::Gz, "csv.gz", 4),
        (Format::Zst, "csv.zst", 4),
        (Format::Parquet, "parquet", 6),
        (Format::Arrow, "arrow", 6),
        (Format::Model, "json", 12),
    ] {
        for i in 0..count {
            let bytes = Case::make(format, SEED, i).map(|case| case.bytes).unwrap_or_default();
            files.push((format!("bad{i}.{ending}"), bytes));
        }
    }
    let rng = &mut Rng::of_case(SEED, 98, 0);
    files.extend((0..9).map(|i| (format!("m{i}.json"), super::models::any(rng).to_string().into_bytes())));
    files
});

/// The bytes of the file called `name`, if there is one.
pub(crate) fn file(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(n, _)| n == name).map(|(_, bytes)| bytes.as_slice())
}

/// A command line.
pub(crate) fn line(rng: &mut Rng) -> Vec<String> {
    let mut args = match rng.below(12) {
        0..=5 => fit(rng),
        6 => vec!["show".into(), model(rng)],
        7 | 8 => vec!["predict".into(), model(rng), table(rng)],
        9 => vec!["evaluate".into(), model(rng), table(rng)],
        _ => {
            let mut args = vec!["explain".into(), model(rng), table(rng)];
            if rng.once_in(2) {
                args.extend(["--row".into(), odd::whole(rng)]);
            }
            args
        }
    };
    if args[0] != "fit" && rng.once_in(4) {
        args.extend(["--rules".into(), odd::whole(rng)]);
    }
    if rng.once_in(3) {
        args.push("--json".into());
    }
    if rng.once_in(4) {
        let output = *rng.pick(&["out.json", "out.csv", "folder", "absent/out", "t0.csv", "", "."]);
        args.extend(["-o".into(), output.into()]);
    }
    if rng.once_in(15) {
        let at = rng.below(args.len() + 1);
        args.insert(at, stray(rng));
    }
    if rng.once_in(25) {
        args.remove(rng.below(args.len()));
    }
    // A null byte cannot be passed on.
    args.iter_mut().for_each(|arg| arg.retain(|c| c != '\0'));
    args
}

fn fit(rng: &mut Rng) -> Vec<String> {
    let mut args = vec!["fit".into(), table(rng)];
    if !rng.once_in(30) {
        args.extend(["--target".into(), if rng.once_in(15) { odd::name(rng) } else { "y".into() }]);
    }
    let settings = if rng.once_in(3) {
        params::extreme(rng)
    } else {
        let mut settings = crate::settings::Settings::default();
        params::modest(rng, &["a".into(), "x".into(), "y".into()], &mut settings);
        settings
    };
    for (name, value) in settings.0 {
        let flag = match name.as_str() {
            "table" | "learner" => continue,
            "groups" => "cv-groups".into(),
            _ => name.replace('_', "-"),
        };
        if rng.once_in(2) {
            args.push(format!("--{flag}={value}"));
        } else {
            args.extend([format!("--{flag}"), value]);
        }
    }
    if rng.once_in(6) {
        args.push((*rng.pick(&["-q", "-v", "--quiet", "--verbose"])).into());
    }
    args
}

fn any_file(rng: &mut Rng, endings: &[&str]) -> String {
    let names: Vec<&String> = FILES.iter().map(|(n, _)| n).filter(|n| endings.iter().any(|e| n.ends_with(e))).collect();
    (*rng.pick(&names)).clone()
}

fn table(rng: &mut Rng) -> String {
    match rng.below(20) {
        0 => (*rng.pick(&["absent.csv", "folder", "/dev/null", "", ".", "m0.json"])).into(),
        1..=5 => any_file(rng, &[""]),
        _ => any_file(rng, &["t0.csv", "t1.csv", "t2.csv", "t3.csv", "t0.parquet", "t2.arrow", ".csv"]),
    }
}

fn model(rng: &mut Rng) -> String {
    match rng.below(20) {
        0 => (*rng.pick(&["absent.json", "folder", "/dev/null", "/dev/zero", "", "t0.csv", "t0.parquet"])).into(),
        1..=5 => any_file(rng, &["bad0.json", "bad1.json", "bad2.json", "bad3.json", ".json"]),
        _ => {
            let which = rng.below(9);
            format!("m{which}.json")
        }
    }
}

fn stray(rng: &mut Rng) -> String {
    match rng.below(4) {
        0 => odd::token(rng),
        1 => format!("--{}", odd::name(rng)),
        _ => (*rng.pick(&["--", "-", "--help", "-h", "--version", "-V", "-x", "--json=1", "--target", "@file"])).into(),
    }
}
