//! What a module of the library may use, and a crate. The source is read as text: imports, and paths that start at a
//! crate or above.

mod form;
mod graph;
mod manifest;
mod map;
mod scan;
mod tree;

use graph::{Graph, Sources};
use manifest::Manifest;
use std::path::{Path, PathBuf};

/// Every module may use those before it, and no other.
const ORDER: [&str; 9] = ["base", "data", "model", "params", "codes", "engine", "learn", "remote", "study"];

/// The crates that make up the library, each with what lies at the top of its source; of models that is one module.
const CRATES: [(&str, Option<&[&str]>); 3] = [
    ("orthorules-table", Some(&["base", "data", "lib.rs"])),
    ("orthorules-model", None),
    ("orthorules", Some(&["base", "codes", "engine", "learn", "lib.rs", "params", "remote", "study"])),
];

/// Which of our crates each crate may depend on. Only tables are read from files, and only with that feature.
const ALLOWED: [(&str, &[&str]); 5] = [
    ("orthorules-table", &[]),
    ("orthorules-model", &["orthorules-table"]),
    ("orthorules", &["orthorules-model", "orthorules-table"]),
    ("orthorules-export", &["orthorules-model"]),
    ("orthorules-report", &["orthorules-model", "orthorules-table"]),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn library() -> Sources {
    Sources::read(&crates(), &CRATES.map(|(name, _)| name))
}

/// A graph of made-up files of one crate.
fn made_up(files: &[(&str, &str)]) -> Graph {
    let files: Vec<(&str, &str, &str)> = files.iter().map(|(path, text)| ("orthorules", *path, *text)).collect();
    made_up_crates(&files)
}

/// A graph of made-up files, each with its crate.
fn made_up_crates(files: &[(&str, &str, &str)]) -> Graph {
    let owned = files.iter().map(|(of, path, text)| (((*of).to_owned(), (*path).to_owned()), (*text).to_owned()));
    Sources::new(owned.collect()).graph()
}

#[test]
fn dependencies_point_one_way() {
    let graph = library().graph();
    for edge in graph.upward(&ORDER, true) {
        println!("only in tests: {edge}");
    }
    let upward: Vec<String> = graph.upward(&ORDER, false).iter().map(ToString::to_string).collect();
    assert!(upward.is_empty(), "a module uses one above it:\n{}", upward.join("\n"));
    // The scanner sees the library at all, within crates and across them.
    for module in &ORDER[1..] {
        assert!(graph.uses(module, "base"), "{module} uses nothing of base");
    }
    for (from, to) in
        [("learn", "engine"), ("engine", "codes"), ("engine", "data"), ("learn", "model"), ("model", "data")]
    {
        assert!(graph.uses(from, to), "{from} uses nothing of {to}");
    }
}

#[test]
fn no_neighbours_need_each_other() {
    let cycles = library().graph().cycles();
    assert!(cycles.is_empty(), "modules that need each other:\n{}", cycles.join("\n"));
}

#[test]
fn the_top_of_the_source_is_the_modules() {
    let library = library();
    for (name, expected) in CRATES {
        let top = library.top(&name.replace('-', "_"));
        assert!(top.iter().any(|entry| entry == "lib.rs"), "{name}: {top:?}");
        if let Some(expected) = expected {
            assert_eq!(top, expected, "{name}");
        }
    }
}

#[test]
fn crates_depend_on_those_below_them() {
    for (name, allowed) in ALLOWED {
        let text = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let manifest = Manifest::new(&text);
        assert_eq!(manifest.ours(), allowed, "crates of ours that {name} depends on");
        // Readers of files are switched on by a feature of the crate, never for good.
        let needed = manifest.needs_readers();
        assert!(needed.is_empty(), "{name} always brings the readers of files: {needed:?}");
        assert_eq!(manifest.names_readers(), name == "orthorules-table", "{name} names the readers of files itself");
    }
    let shared = Manifest::new(&std::fs::read_to_string(crates().join("../Cargo.toml")).unwrap());
    let needed: Vec<String> =
        shared.needs_readers().into_iter().filter(|name| name.starts_with("orthorules")).collect();
    assert!(needed.is_empty(), "the workspace always brings the readers of files: {needed:?}");
}

#[test]
fn a_dependency_that_is_too_much_is_found() {
    let ours = |text: &str| Manifest::new(text).ours();
    let one = "[dependencies]\northorules-model.workspace = true\nserde = \"1\"\n";
    assert_eq!(ours(one), ["orthorules-model"]);
    for more in [
        "orthorules.workspace = true",
        "orthorules = { path = \"../orthorules\" }",
        "engine = { package = \"orthorules\", path = \"../orthorules\" }",
        "[dependencies.orthorules]\npath = \"../orthorules\"",
        "[target.'cfg(unix)'.dependencies]\northorules.workspace = true",
        "[build-dependencies]\northorules.workspace = true",
    ] {
        assert_eq!(ours(&format!("{one}{more}\n")), ["orthorules", "orthorules-model"], "{more}");
    }
    for tests in ["[dev-dependencies]\northorules.workspace = true", "[features]\northorules = []", "# orthorules = 1"]
    {
        assert_eq!(ours(&format!("{one}{tests}\n")), ["orthorules-model"], "{tests}");
    }
    for (line, readers) in [
        ("arrow-array.workspace = true", true),
        ("parquet = \"59\"", true),
        ("p = { package = \"parquet\" }", true),
        ("orthorules-table = { workspace = true, features = [\"files\"] }", true),
        ("arrow-array = { workspace = true, optional = true }", false),
        ("orthorules-table = { workspace = true, features = [\"other\"] }", false),
    ] {
        let manifest = Manifest::new(&format!("[dependencies]\nserde = \"1\"\n{line}\n"));
        assert_eq!(!manifest.needs_readers().is_empty(), readers, "{line}");
        assert_eq!(manifest.names_readers(), !line.starts_with("orthorules"), "{line}");
    }
}

#[test]
fn whatever_is_written_an_upward_edge_is_found() {
    for text in [
        "use crate::learn::Fit;",
        "use crate::{base::Error, learn::{cv::Folds, Fit}};",
        "pub(crate) use crate::learn::Fit;",
        "use super::super::learn::Fit;",
        "fn f() { crate::learn::fit(); }",
        "fn f() { let s = '\"'; crate::learn::fit(); let t = '\"'; }",
        "fn f<'a>(x: &'a str) -> &'a str { super::super::learn::fit(x) }",
        "macro_rules! m { () => { $crate::learn::fit() }; }",
        "mod inner { use super::super::super::learn::Fit; }",
        "use crate::Fit;",
        "use crate::engine::Fit;",
        "#[cfg(feature = \"test\")]\nuse crate::learn::Fit;",
        "#[cfg(test)]\nuse crate::base::Error;\nuse crate::learn::Fit;",
        "#[cfg(any(test, feature = \"study\"))]\nuse crate::learn::Fit;",
    ] {
        let graph = made_up(&[
            ("lib.rs", "mod base; mod data; mod engine; mod learn; pub use learn::Fit;"),
            ("base/mod.rs", "pub struct Error;"),
            ("data/mod.rs", "mod table;"),
            ("data/table.rs", text),
            ("engine/mod.rs", "pub use crate::learn::Fit;"),
            ("learn/mod.rs", "pub struct Fit; mod cv;"),
            ("learn/cv.rs", "pub struct Folds;"),
        ]);
        let from_data = |e: &&graph::Edge| e.from == ["data", "table"];
        let upward = graph.upward(&ORDER, false);
        assert_eq!(upward.iter().filter(|e| e.to[0] == "learn").filter(from_data).count().min(1), 1, "{text}");
    }
}

#[test]
fn what_is_no_edge_is_not_found() {
    for text in [
        "// use crate::learn::Fit;\n/* use crate::learn::Fit; */",
        "const S: &str = \"use crate::learn::Fit;\"; const R: &str = r#\"\" crate::learn::Fit\"#;",
        "#[cfg(test)]\nmod tests { use crate::learn::Fit; fn f() { crate::learn::fit(); } }",
        "#[cfg(test)]\nuse crate::learn::Fit;",
        "use std::learn::Fit; use rayon::prelude::*;",
        "use crate::base::Error; fn learn(learn: u32) -> Learn { self.learn(learn) }",
    ] {
        let graph = made_up(&[
            ("lib.rs", "mod base; mod data; mod learn;"),
            ("base/mod.rs", "pub struct Error;"),
            ("data/mod.rs", text),
            ("learn/mod.rs", "pub struct Fit;"),
        ]);
        assert_eq!(graph.upward(&ORDER, false).len(), 0, "{text}");
    }
}

#[test]
fn edges_of_tests_are_listed_apart() {
    let graph = made_up(&[
        ("lib.rs", "mod data; mod learn;"),
        ("data/mod.rs", "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more { use crate::learn::Fit; }"),
        ("data/tests.rs", "use crate::learn::Fit;"),
        ("learn/mod.rs", "pub struct Fit;"),
    ]);
    assert_eq!((graph.upward(&ORDER, false).len(), graph.upward(&ORDER, true).len()), (0, 2));
}

#[test]
fn cycles_are_found_at_every_depth() {
    let cycles = |files: &[(&str, &str)]| made_up(files).cycles();
    let two = [
        ("lib.rs", "mod data;"),
        ("data/mod.rs", "mod table; mod loss;"),
        ("data/loss.rs", "use super::table::read::Part;"),
        ("data/table/mod.rs", "pub mod read;"),
        ("data/table/read.rs", "fn f() { crate::data::loss::psi() }"),
    ];
    assert_eq!(cycles(&two), ["data: loss → table → loss"]);
    let three = [
        ("lib.rs", "mod data;"),
        ("data/mod.rs", "mod a; mod b; mod c; pub use b::B;"),
        ("data/a.rs", "use super::B;"),
        ("data/b.rs", "use super::c::C;"),
        ("data/c.rs", "use super::a::A;"),
    ];
    assert_eq!(cycles(&three), ["data: a → b → c → a"]);
    let top = [
        ("lib.rs", "mod base; mod data;"),
        ("base/mod.rs", "use crate::data::Table;"),
        ("data/mod.rs", "use crate::base::Error;"),
    ];
    assert_eq!(cycles(&top), ["the library: base → data → base"]);
    // Shared below, told on by the parent, and used by both: no cycle.
    let none = [
        ("lib.rs", "mod data;"),
        ("data/mod.rs", "mod a; mod b; pub use a::A; pub struct Here;"),
        ("data/a.rs", "use super::Here;"),
        ("data/b.rs", "use super::{A, Here};"),
    ];
    assert_eq!(cycles(&none), [""; 0]);
}

#[test]
fn edges_between_crates_are_found() {
    for (upward, text) in [
        (true, "use orthorules_model::Model;"),
        (true, "use orthorules_model::rule::Rule;"),
        (true, "fn f() { orthorules_model::rule::rule() }"),
        (false, "use crate::base::Error;"),
        (false, "use crate::Error;"),
    ] {
        let graph = made_up_crates(&[
            ("orthorules_table", "lib.rs", "pub mod base; pub mod data; pub use base::Error;"),
            ("orthorules_table", "base/mod.rs", "pub struct Error;"),
            ("orthorules_table", "data/mod.rs", text),
            ("orthorules_model", "lib.rs", "use crate as model; use orthorules_table::{base, data}; pub struct Model;"),
            ("orthorules_model", "rule.rs", "use crate::base::Error; use crate::model::Model; pub struct Rule;"),
        ]);
        assert_eq!(graph.upward(&ORDER, false).len(), usize::from(upward), "{text}");
        assert!(graph.uses("model", "base"), "{text}");
    }
}

#[test]
fn modules_keep_their_paths_where_they_are_imported() {
    for (from, text) in [
        ("codes", "use crate::model::rule::Rule;"),
        ("codes", "use crate::Rule;"),
        ("codes", "use crate::base::Error; use crate::data::Table; use crate::learn::Fit;"),
    ] {
        let graph = made_up_crates(&[
            ("orthorules_table", "lib.rs", "pub mod base; pub mod data;"),
            ("orthorules_table", "base/mod.rs", "pub struct Error;"),
            ("orthorules_table", "data/mod.rs", "pub struct Table;"),
            ("orthorules_model", "lib.rs", "pub mod rule; pub use rule::Rule;"),
            ("orthorules_model", "rule.rs", "pub struct Rule;"),
            (
                "orthorules",
                "lib.rs",
                "mod base; mod codes; mod learn; pub use orthorules_model as model; pub use orthorules_model::Rule;\
                 use orthorules_table::data;",
            ),
            ("orthorules", "base/mod.rs", "mod linalg; pub(crate) use orthorules_table::base::Error;"),
            ("orthorules", "codes/mod.rs", text),
            ("orthorules", "learn/mod.rs", "pub struct Fit;"),
        ]);
        let uses = |to| graph.uses(from, to);
        assert_eq!(
            [uses("model"), uses("base") && uses("data")],
            [text.contains("Rule"), text.contains("Table")],
            "{text}"
        );
        assert_eq!(graph.upward(&ORDER, false).len(), usize::from(text.contains("Fit")), "{text}");
    }
}

#[test]
fn the_map_has_every_file() {
    let root = crates().parent().unwrap().to_owned();
    let placed = map::placed(&std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap());
    let sources: Vec<String> = ALLOWED.map(|(name, _)| format!("crates/{name}/src/")).into();
    for source in sources.iter().chain([&"crates/orthorules-cli/src/".to_owned()]) {
        let files = map::source_files(&root.join(source), "");
        assert!(files.len() > 5, "{source}: {files:?}");
        let rows = placed.get(source).unwrap_or_else(|| panic!("ARCHITECTURE.md has no table for {source}"));
        let mistakes = map::mistakes(rows, &files);
        assert!(mistakes.is_empty(), "the map of {source} in ARCHITECTURE.md:\n{}", mistakes.join("\n"));
    }
}

#[test]
fn a_map_with_mistakes_is_noticed() {
    let page = "### `src/`, the engine\n| folder | what | files |\n|---|---|---|\n| `.` | top | lib, gone |\n\
                | `a/` | one | b, c/d |\n";
    let rows = &map::placed(page)["src/"];
    let files = ["lib", "a/b", "a/c/d", "a/e", "f/g"].map(ToOwned::to_owned);
    let mistakes = map::mistakes(rows, &files);
    let expected = ["e is missing in the row of \"a\"", "f/g is missing in the row of \"\"", "\"\" has no gone"];
    assert_eq!(mistakes, expected);
}
