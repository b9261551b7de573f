//! What a room of the library may use. The source is read as text: imports, and paths that start at the crate or above.

mod graph;
mod scan;

use graph::{Graph, Sources};
use std::path::Path;

/// Every room may use those before it, and no other.
const ROOMS: [&str; 8] = ["base", "data", "params", "model", "codes", "engine", "learn", "study"];

fn library() -> Sources {
    Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

/// A graph of made-up files.
fn made_up(files: &[(&str, &str)]) -> Graph {
    let owned = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Sources::new(owned.collect()).graph()
}

#[test]
fn dependencies_point_one_way() {
    let graph = library().graph();
    for edge in graph.upward(&ROOMS, true) {
        println!("only in tests: {edge}");
    }
    let upward: Vec<String> = graph.upward(&ROOMS, false).iter().map(ToString::to_string).collect();
    assert!(upward.is_empty(), "a room uses one above it:\n{}", upward.join("\n"));
    // The scanner sees the house at all.
    for room in &ROOMS[1..] {
        assert!(graph.uses(room, "base"), "{room} uses nothing of base");
    }
    assert!(graph.uses("learn", "engine") && graph.uses("engine", "codes") && graph.uses("model", "data"));
}

#[test]
fn no_neighbours_need_each_other() {
    let cycles = library().graph().cycles();
    assert!(cycles.is_empty(), "modules that need each other:\n{}", cycles.join("\n"));
}

#[test]
fn the_top_of_the_source_is_the_rooms() {
    let mut top = library().top();
    top.retain(|entry| entry != "lib.rs");
    let mut rooms = ROOMS.map(str::to_owned).to_vec();
    rooms.sort();
    assert_eq!(top, rooms);
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
        let upward = graph.upward(&ROOMS, false);
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
        assert_eq!(graph.upward(&ROOMS, false).len(), 0, "{text}");
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
    assert_eq!((graph.upward(&ROOMS, false).len(), graph.upward(&ROOMS, true).len()), (0, 2));
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
    let rooms = [
        ("lib.rs", "mod base; mod data;"),
        ("base/mod.rs", "use crate::data::Table;"),
        ("data/mod.rs", "use crate::base::Error;"),
    ];
    assert_eq!(cycles(&rooms), ["the library: base → data → base"]);
    // Shared below, told on by the parent, and used by both: no cycle.
    let none = [
        ("lib.rs", "mod data;"),
        ("data/mod.rs", "mod a; mod b; pub use a::A; pub struct Here;"),
        ("data/a.rs", "use super::Here;"),
        ("data/b.rs", "use super::{A, Here};"),
    ];
    assert_eq!(cycles(&none), [""; 0]);
}
