//! `orthorules demo`: the whole job on data that need no file.

use crate::args::{DemoArgs, Order};
use crate::console::{Notes, Output, expect_interrupt};
use crate::fit::{FitDocument, FitRequest, FittedTable};
use crate::input::{self, Failure};
use crate::text::{self, BOLD};
use orthorules::model::write_whole;
use orthorules::params::Search;
use orthorules::{Params, Problem, Roles, Table, generate};
use orthorules_report::{Report, Summarizer, Summary, page};
use serde::Serialize;
use std::fmt::Write;

/// Training and fresh rows of Friedman's function.
const ROWS: usize = 1000;

/// One of the data sets, what was learned from it, and how that does on rows it has not seen.
struct Showcase {
    title: &'static str,
    story: &'static str,
    fitted: FittedTable,
    /// Risk of every size on fresh rows.
    fresh: Option<Vec<f64>>,
    /// What the page keeps of the rows that were learned from, and of the fresh ones.
    table: Summary,
    test: Option<Summary>,
}

/// `demo --json`.
#[derive(Serialize)]
struct Overview<'s> {
    page: String,
    fits: Vec<ShowcaseDocument<'s>>,
}

#[derive(Serialize)]
struct ShowcaseDocument<'s> {
    title: &'s str,
    #[serde(flatten)]
    fit: FitDocument<'s>,
}

/// Runs the command.
pub(crate) fn run(args: &DemoArgs) -> Result<Output, Failure> {
    input::check_output(&args.output, [])?;
    expect_interrupt();
    let notes = Notes { quiet: args.quiet, verbose: false };
    let showcases = [
        Showcase::new(
            "Tic-tac-toe",
            "All 958 positions in which a game can end when x moves first. Did x win? What decides it is who holds one \
             of eight lines of three squares.",
            (generate::tic_tac_toe(), "x_wins"),
            None,
            // Single squares say little: a wide beam keeps enough of them to find whole lines.
            &Params { search: Search::Beam, beam_width: Some(50), ..Params::default() },
            notes,
        )?,
        Showcase::new(
            "Friedman's function",
            "A thousand noisy points of y = 10 sin(π x1 x2) + 20 (x3 − ½)² + 10 x4 + 5 x5, with five columns that do \
             not matter. The fresh RMSE is that on another thousand points; the noise alone has an RMSE of 1.",
            (generate::friedman1(ROWS, 1), "y"),
            Some(&generate::friedman1(ROWS, 2)),
            &Params::default(),
            notes,
        )?,
    ];
    let reports: Vec<Report> = showcases.iter().map(Showcase::report).collect();
    write_whole(&args.output, page(&reports).as_bytes())?;
    let page = args.output.display().to_string();
    if args.json {
        let fits = showcases.iter().map(|s| ShowcaseDocument { title: s.title, fit: s.fitted.document() }).collect();
        return Ok(Output::json(&Overview { page, fits }));
    }
    let mut text = String::new();
    for showcase in &showcases {
        showcase.describe(&mut text);
    }
    let _ = writeln!(
        text,
        "The page {} shows the same in pictures, to try and to print. Your own table:",
        text::clean(&page)
    );
    text.push_str("  orthorules fit TABLE --target COLUMN -o model.json\n");
    text.push_str("  orthorules report model.json TABLE -o report.html\n");
    Ok(Output::Text(text))
}

impl Showcase {
    fn new(
        title: &'static str,
        story: &'static str,
        (table, target): (Table, &str),
        fresh: Option<&Table>,
        params: &Params,
        notes: Notes,
    ) -> Result<Self, Failure> {
        let roles = Roles { target: target.into(), ..Roles::default() };
        let rows = Problem::new(table.clone(), &roles)?.into();
        let asked = FitRequest { roles: &roles, params, from: None };
        let fitted = FittedTable::new(&rows, table.warnings().to_vec(), asked, notes, 0.0)?;
        let summary = |mut rows: Summarizer, table: &Table| rows.add(table).map(|()| rows.finish());
        let test = fresh.map(|table| summary(Summarizer::judging(&fitted.model), table)).transpose()?;
        let table = summary(Summarizer::new(&fitted.model), &table)?;
        let fresh = fresh.map(|table| fitted.model.evaluate(table)).transpose()?;
        let fresh = fresh.map(|evaluations| evaluations.into_iter().map(|e| e.risk).collect());
        Ok(Self { title, story, fitted, fresh, table, test })
    }

    fn report(&self) -> Report<'_> {
        let (title, story) = (Some(self.title.to_owned()), Some(self.story.to_owned()));
        let (table, test) = (Some(self.table.clone()), self.test.clone());
        Report { title, story, table, test, ..Report::new(&self.fitted.model) }
    }

    fn describe(&self, text: &mut String) {
        let model = &self.fitted.model;
        let _ = writeln!(text, "{}\n{}\n", text::styled(BOLD, self.title), self.story);
        let _ = writeln!(text, "{}", self.fitted.path_table(self.fresh.clone(), Some("--json lists all")));
        let _ = writeln!(text, "{}", text::rules(model, model.chosen(), Order::Importance));
        let _ = writeln!(text, "{}\n", text::meaning(model));
    }
}
