//! Pages of the documentation that show what the program prints.

use crate::Sandbox;
use std::path::Path;

/// Each command of a page, as words, with the output that the page shows.
fn commands(page: &str) -> Vec<(Vec<String>, String)> {
    let blocks = page.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let command = |block: &str| {
        let (line, output) = block.split_once('\n').unwrap();
        let words = line.strip_prefix("$ orthorules ").unwrap().split(' ');
        (words.map(|word| word.trim_matches('\'').to_owned()).collect(), output.to_owned())
    };
    blocks.map(command).collect()
}

#[test]
fn the_messy_table_is_read_as_the_page_says() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("first-table.md")).unwrap();
    let table = std::fs::read_to_string(docs.join("first-table.csv")).unwrap();
    let sandbox = Sandbox::with(&[("first-table.csv", &table)]);
    let all = commands(&page);
    assert!(all.len() >= 5);
    for (words, shown) in all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = sandbox.run(&words);
        let printed = if run.code == 0 { run.stdout } else { run.stderr };
        assert_eq!(printed, shown, "{words:?}");
    }
}
