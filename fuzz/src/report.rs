//! What is printed of a run.

use crate::Cli;
use crate::case::Format;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A case in which something is wrong.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) index: u64,
    pub(crate) what: String,
}

/// What came of the cases of a format.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) format: Format,
    pub(crate) run: u64,
    /// Inputs that were used to the end, not refused.
    pub(crate) used: u64,
    pub(crate) seconds: f64,
    /// Bytes that the largest worker held.
    pub(crate) peak: u64,
    pub(crate) findings: Vec<Finding>,
}

impl Tally {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, run: 0, used: 0, seconds: 0.0, peak: 0, findings: Vec::new() }
    }
}

/// Findings by what they have in common: their words without numbers and quotations.
pub(crate) fn kinds(findings: &[Finding]) -> BTreeMap<String, Vec<Finding>> {
    let mut kinds: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        let place = finding.what.strip_prefix("panic at ").and_then(|rest| rest.split_once(": "));
        let kind = place.map_or_else(|| words(&finding.what), |(place, _)| format!("panic at {place}"));
        kinds.entry(kind).or_default().push(finding.clone());
    }
    kinds
}

fn words(text: &str) -> String {
    let plain = |word: &&str| word.chars().all(|c| c.is_alphabetic() || ",:;.".contains(c));
    text.split_whitespace().filter(plain).take(12).collect::<Vec<_>>().join(" ")
}

/// One line about a format.
pub(crate) fn line(tally: &Tally) -> String {
    let Tally { format, run, used, seconds, peak, findings } = tally;
    let (name, peak, findings) = (format.name(), peak >> 20, findings.len());
    format!("{name}: {run} cases, {used} used, {findings} findings, {seconds:.1} s, at most {peak} MB")
}

/// A table for a record.
pub(crate) fn record(cli: &Cli, tallies: &[Tally]) -> String {
    let mut text =
        String::from("\n| format | cases | used to the end | seed | seconds | peak memory, MB | findings |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    let mut row = |name: &str, run: u64, used: u64, seconds: f64, peak: u64, findings: usize| {
        let _ =
            writeln!(text, "| {name} | {run} | {used} | {} | {seconds:.0} | {} | {findings} |", cli.seed, peak >> 20);
    };
    for t in tallies {
        row(&t.format.name(), t.run, t.used, t.seconds, t.peak, t.findings.len());
    }
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let seconds = tallies.iter().map(|t| t.seconds).sum();
    let peak = tallies.iter().map(|t| t.peak).max().unwrap_or(0);
    let findings = tallies.iter().map(|t| t.findings.len()).sum();
    row("all", sum(|t| t.run), sum(|t| t.used), seconds, peak, findings);
    let _ = writeln!(
        text,
        "\nOverflow checks and debug assertions were on. A finding is a panic, more than {} s, more than {} MB, or a \
         wrong answer.",
        cli.seconds, cli.megabytes
    );
    for tally in tallies {
        for (kind, findings) in kinds(&tally.findings) {
            let _ = writeln!(text, "- {}: {} × {kind}", tally.format.name(), findings.len());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_one_kind_are_counted_together() {
        let finding = |what: &str| Finding { index: 0, what: what.into() };
        let findings = [
            finding("panic at orthorules/src/a.rs:7: index 5 of 4"),
            finding("panic at orthorules/src/a.rs:7: index 9 of 2"),
            finding("grew to 2100 MB"),
            finding("grew to 3100 MB"),
            finding("ran for more than 20 s"),
        ];
        let counts: Vec<usize> = kinds(&findings).values().map(Vec::len).collect();
        assert_eq!(counts, [2, 2, 1]);
    }
}
