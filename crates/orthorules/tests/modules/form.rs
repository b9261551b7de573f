//! The form of the sources: the width of lines, the length of functions, and that a type's name stands for one thing.
//!
//! Generated files, specimens of tests and whatever an export wrote are not looked at.

use crate::scan::{Token, is_for_tests, is_sign, is_word, item_length, matching, tokens_with_lines};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Columns of a line, in characters.
const WIDTH: usize = 120;

/// Lines of a function, from its name to its last brace.
const LENGTH: usize = 60;

/// Functions that are longer.
const LONG: &[(&str, &str)] = &[
    ("crates/orthorules-table/src/data/table/read/scan.rs", "new"),
    ("crates/orthorules-table/src/data/warning/mod.rs", "fmt"),
    ("crates/orthorules/src/codes/stream/mod.rs", "attempt"),
    ("crates/orthorules/src/codes/stream/mod.rs", "pass"),
    ("crates/orthorules/src/engine/search/candidate.rs", "children_at"),
    ("crates/orthorules/src/engine/targets/local/tests.rs", "naive"),
    ("python/src/fit.rs", "fit"),
];

/// Folders of what others made, of what was built, and of what programs wrote.
const SKIPPED: [&str; 6] = ["target", "exports", "golden", "regressions", "node_modules", "__pycache__"];

/// Python that `make parameters` writes.
const GENERATED: &str = "python/orthorules/_parameters.py";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of every file below `folder` whose name ends in one of `endings`, by its path from the root.
fn files(folder: &str, endings: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if entry.file_type().unwrap().is_dir() {
                if !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.insert(path, std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    found
}

/// The numbers of lines that are too wide.
fn wide_lines(text: &str) -> Vec<usize> {
    let is_wide = |line: &str| line.chars().count() > WIDTH;
    text.lines().enumerate().filter(|(_, line)| is_wide(line)).map(|(i, _)| i + 1).collect()
}

/// Markdown without what cannot be broken: rows of tables, blocks of code, and pieces of code that are wide themselves.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let has_wide_code = line.split('`').skip(1).step_by(2).any(|code| code.chars().count() > WIDTH / 2);
        let stays = is_code || has_wide_code || line.trim_start().starts_with('|');
        lines.push(if stays { "" } else { line });
    }
    lines.join("\n")
}

/// The name, the first line and the number of lines of every function.
fn rust_functions(text: &str) -> Vec<(String, usize, usize)> {
    let (tokens, lines): (Vec<Token>, Vec<usize>) = tokens_with_lines(text).into_iter().unzip();
    let mut found = Vec::new();
    for (i, pair) in tokens.windows(2).enumerate() {
        let [Token::Word(word), Token::Word(name)] = pair else { continue };
        if word != "fn" {
            continue;
        }
        let mut end = i + 2;
        while end < tokens.len() && !is_sign(tokens.get(end), ';') && !is_sign(tokens.get(end), '{') {
            let opens = is_sign(tokens.get(end), '(') || is_sign(tokens.get(end), '[');
            end = if opens { matching(&tokens, end) } else { end + 1 };
        }
        if is_sign(tokens.get(end), '{') {
            let last = matching(&tokens, end) - 1;
            found.push((name.clone(), lines[i], lines[last] + 1 - lines[i]));
        }
    }
    found
}

/// The functions of a Python file. One ends before the next line that is not indented further than its `def`.
fn python_functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let start = line.trim_start();
        let Some(rest) = start.strip_prefix("async ").unwrap_or(start).strip_prefix("def ") else { continue };
        let name = rest.split('(').next().unwrap_or_default().to_owned();
        let (mut last, mut is_text) = (i, false);
        for (j, next) in lines.iter().enumerate().skip(i + 1) {
            let closes = next.trim_start().starts_with(')');
            if !is_text && !next.trim().is_empty() && indent(next) <= indent(line) && !closes {
                break;
            }
            is_text ^= next.matches("\"\"\"").count() % 2 == 1;
            last = if next.trim().is_empty() { last } else { j };
        }
        found.push((name, i + 1, last + 1 - i));
    }
    found
}

/// The names of types that a file declares outside tests.
fn types(text: &str) -> BTreeSet<String> {
    let tokens: Vec<Token> = tokens_with_lines(text).into_iter().map(|(token, _)| token).collect();
    let (mut found, mut depth, mut i) = (BTreeSet::new(), 0, 0);
    while i < tokens.len() {
        if is_sign(tokens.get(i), '#') && is_sign(tokens.get(i + 1), '[') {
            let end = matching(&tokens, i + 1);
            i = if is_for_tests(&tokens[i..end]) { end + item_length(&tokens[end..]) } else { end };
            continue;
        }
        // What a macro writes is not known here.
        if is_word(tokens.get(i), "macro_rules") && is_sign(tokens.get(i + 1), '!') {
            i = matching(&tokens, i + 3);
            continue;
        }
        match &tokens[i] {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => depth -= 1,
            Token::Word(word) => {
                // A type in a trait or its implementation has the name that the trait gives it.
                let declares = ["struct", "enum", "trait", "union"].contains(&word.as_str())
                    || depth == 0 && is_word(tokens.get(i), "type");
                if let (true, Some(Token::Word(name))) = (declares, tokens.get(i + 1)) {
                    found.insert(name.clone());
                }
            }
            Token::Sign(_) => {}
        }
        i += 1;
    }
    found
}

#[test]
fn lines_are_not_too_wide() {
    let mut sources = files("", &[".rs", ".py", ".pyi", ".js", ".css", ".toml"]);
    // Records are kept as they were written.
    let pages = files("", &[".md"]).into_iter().filter(|(path, _)| !path.starts_with("experiments/records/"));
    sources.extend(pages.map(|(path, text)| (path, prose(&text))));
    assert!(sources.len() > 500 && sources.contains_key("README.md"), "{} files", sources.len());
    let places =
        sources.iter().flat_map(|(path, text)| wide_lines(text).into_iter().map(move |n| format!("{path}:{n}")));
    let places: Vec<String> = places.collect();
    assert!(places.is_empty(), "lines of more than {WIDTH} characters:\n{}", places.join("\n"));
}

#[test]
fn functions_are_not_too_long() {
    let mut long = BTreeMap::new();
    for (path, text) in files("", &[".rs", ".py"]) {
        if path == GENERATED {
            continue;
        }
        let is_rust = Path::new(&path).extension().is_some_and(|ending| ending == "rs");
        let functions = if is_rust { rust_functions(&text) } else { python_functions(&text) };
        for (name, line, length) in functions {
            if length > LENGTH {
                long.insert((path.clone(), name), format!("{path}:{line} has {length} lines"));
            }
        }
    }
    let listed: BTreeSet<(String, String)> =
        LONG.iter().map(|&(path, name)| (path.to_owned(), name.to_owned())).collect();
    let found: BTreeSet<(String, String)> = long.keys().cloned().collect();
    let text: Vec<&str> = long.values().map(String::as_str).collect();
    assert_eq!(found, listed, "functions of more than {LENGTH} lines:\n{}", text.join("\n"));
}

#[test]
fn names_of_types_are_unique() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in files("crates", &[".rs"]) {
        if path.contains("/src/") && !path.contains("/tests/") && !path.ends_with("/tests.rs") {
            for name in types(&text) {
                places.entry(name).or_default().push(path.clone());
            }
        }
    }
    assert!(places.len() > 300, "{} types", places.len());
    places.retain(|_, paths| paths.len() > 1);
    let found: Vec<&str> = places.keys().map(String::as_str).collect();
    assert!(found.is_empty(), "types of the same name in several modules: {places:#?}");
}

#[test]
fn wide_lines_are_found() {
    let narrow = "é".repeat(WIDTH);
    assert_eq!(wide_lines(&format!("{narrow}\n{narrow}é\n\n{narrow}\r\n")), [2]);
    let wide = "a ".repeat(WIDTH);
    let page = format!("{wide}\n| {wide} |\n```\n{wide}\n```\n- {wide}\n`{wide}` a\n");
    assert_eq!(wide_lines(&prose(&page)), [1, 6]);
}

#[test]
fn functions_are_measured() {
    let text = "impl A {\n    /// fn no() {}\n    fn a(x: [u8; 2]) -> B\n    where\n        C: D,\n\
                \x20   {\n        \"}\"\n\
                \x20   }\n}\ntrait E { fn e(); }\nfn f(g: fn(u8)) { '{' }\n";
    let expected = [("a", 3, 6), ("f", 11, 1)];
    assert_eq!(rust_functions(text), expected.map(|(name, line, length)| (name.to_owned(), line, length)));
    let text = "class A:\n    def a(\n        self,\n\
                \x20   ):\n        \"\"\"Text\nwide\n        \"\"\"\n\n        return 1\n\n\
                \x20   async def b(self): pass\n\n\ndef c():\n    def d():\n        pass\n    return d\n";
    let expected = [("a", 2, 8), ("b", 11, 1), ("c", 14, 4), ("d", 15, 2)];
    assert_eq!(python_functions(text), expected.map(|(name, line, length)| (name.to_owned(), line, length)));
}

#[test]
fn types_are_found() {
    let text = "pub struct A<T>(T);\nimpl B for A { type C = u8; }\nenum D { E }\npub(crate) type F = u8;\n\
                #[cfg(test)]\nmod tests { struct G; }\n#[derive(Debug)]\nstruct H { r#type: u8 }\nfn i() { struct J; }";
    assert_eq!(types(text).into_iter().collect::<Vec<_>>(), ["A", "D", "F", "H", "J"]);
}
