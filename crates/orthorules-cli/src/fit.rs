//! `orthorules fit`: learn rules from a table.

mod columns;
mod document;
mod quality;

pub(crate) use document::{Entry, FitDocument, SizeLabel};

use crate::args::{FitArgs, Order};
use crate::console::{Notes, Output, Progress, expect_interrupt, in_shell, keep_rules_on_interrupt};
use crate::edit::moved_weights;
use crate::input::{self, Failure, in_table};
use crate::sizes::{self, RiskScale};
use crate::text;
use document::{HeldOut, Timings, entries};
use orthorules::error::ColumnProblem;
use orthorules::evaluate::Evaluation;
use orthorules::model::Reading;
use orthorules::model::edit::{MovedWeight, moved};
use orthorules::params::{Cv, Intercept, RegLambda};
use orthorules::table::Notation;
use orthorules::{Error, Model, Params, PreparedFit, Roles, TrainingRows, Warning, decimal, on_threads};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &FitArgs) -> Result<Output, Failure> {
    let (roles, params) = (args.columns.roles(), args.learning.params());
    let notes = Notes { quiet: args.output.quiet, verbose: args.output.verbose };
    let source = input::TableInput::new(&args.table)?;
    if let Some(path) = &args.output.model {
        input::check_output(path, source.files.iter().chain(&args.from))?;
    }
    let from = args.from.as_deref().map(input::model).transpose()?;
    let lambda_by_folds = params.reg_lambda == Some(RegLambda::Cv);
    if roles.groups.is_some() && params.cv.is_none() && params.bootstrap.is_none() && !lambda_by_folds {
        let what =
            "--cv-groups needs --cv, --bootstrap or --reg-lambda cv: groups are kept together in folds and draws";
        return Err(Failure::Input(what.into()));
    }
    check_columns_of_flags(args)?;
    expect_interrupt();
    let start = Instant::now();
    // Codes are made in two passes, and risks in a third: a pipe is kept in a file until the end.
    let spooled = (!source.is_lasting() && args.learning.memory_limit.is_some())
        .then(|| input::spooled(&source.path))
        .transpose()?;
    let readable = spooled.as_ref().map_or(source.path.clone(), |file| file.path().to_owned());
    let mut fitted = on_threads(params.threads, || {
        let in_table = |error| {
            let error = match error {
                Error::File { path, what } if path == readable => Error::File { path: source.path.clone(), what },
                other => other,
            };
            with_remedy(error, &source, (&roles.target, &roles.notation))
        };
        let limit = args.learning.memory_limit;
        let read = match &from {
            Some(_) if limit.is_none() => TrainingRows::held(&readable, &roles),
            _ => TrainingRows::read(&readable, &roles, &params, limit),
        };
        let (rows, read_with) = read.map_err(&in_table)?;
        let seconds = start.elapsed().as_secs_f64();
        let asked = FitRequest { roles: &roles, params: &params, from: from.as_ref() };
        FittedTable::new(&rows, read_with, asked, notes, seconds).map_err(&in_table)
    })??;
    fitted.model.reading = Reading::of(&roles);
    if let Some(path) = &args.output.model {
        fitted.model.save(path)?;
    }
    if args.output.json {
        let weights = from.as_ref().map(|before| moved(before, &fitted.model)).unwrap_or_default();
        return Ok(Output::json(&GrownDocument { document: fitted.document(), weights }));
    }
    let mut text = fitted.describe(args.output.order.order, args.output.verbose);
    if let Some(before) = &from {
        let _ = write!(text, "\n{}", moved_weights(before, &fitted.model));
    }
    if let Some(path) = &args.output.model {
        let _ = writeln!(text, "\nThe model is in {}.", text::clean(&path.display().to_string()));
    }
    Ok(Output::Text(text))
}

/// `fit --json`, with how weights moved from the model that the fit went on from.
#[derive(Serialize)]
struct GrownDocument<'f> {
    #[serde(flatten)]
    document: FitDocument<'f>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    weights: Vec<MovedWeight>,
}

/// What the flags ask of a fit.
#[derive(Clone, Copy)]
pub(crate) struct FitRequest<'a> {
    pub(crate) roles: &'a Roles,
    pub(crate) params: &'a Params,
    /// The model that it goes on from.
    pub(crate) from: Option<&'a Model>,
}

impl FitRequest<'_> {
    /// The fit, if it suits the rows.
    fn prepared<'p>(&self, rows: &'p TrainingRows) -> orthorules::Result<PreparedFit<'p>> {
        match self.from {
            Some(model) => rows.prepare_from(self.params, model),
            None => rows.prepare(self.params),
        }
    }
}

/// Flags that say two things of one column.
fn check_columns_of_flags(args: &FitArgs) -> Result<(), Failure> {
    if let Some(name) = args.learning.torn_column() {
        return Err(Failure::Input(format!("--monotone gives both +1 and -1 for column {name:?}: keep one of them")));
    }
    if let Some(name) = args.learning.twice_cut_column() {
        return Err(Failure::Input(format!(
            "--cuts names column {name:?} twice: list all its thresholds in one of them"
        )));
    }
    if let Some(name) = args.learning.twice_priced_column() {
        return Err(Failure::Input(format!("--column-cost names column {name:?} twice: give one cost")));
    }
    if let Some(name) = args.columns.twice_ordered_column() {
        return Err(Failure::Input(format!(
            "--ordered names column {name:?} twice: list all its levels in one of them"
        )));
    }
    if let Some(name) = args.columns.twice_special_column() {
        return Err(Failure::Input(format!(
            "--special names column {name:?} twice: list all its codes in one of them, separated by |"
        )));
    }
    Ok(())
}

/// Risk and measures of the chosen size on the rows that were learned from, where that takes little: a file would be
/// read again.
fn evaluated_chosen(rows: &TrainingRows, model: &Model) -> Option<Evaluation> {
    let most = if is_coded(rows) { 100_000 } else { 1_000_000 };
    if rows.rows() > most {
        return None;
    }
    let mut chosen = model.clone();
    for list in &mut chosen.lists {
        list.sizes = vec![list.chosen().clone()];
    }
    // The fit is done: a file that has gone since is no reason to lose it.
    rows.evaluate(&chosen).ok()?.pop()
}

/// Whether codes were made while a file was read.
fn is_coded(rows: &TrainingRows) -> bool {
    matches!(rows, TrainingRows::Codes(_))
}

/// A model with what is known of its making.
pub(crate) struct FittedTable {
    pub(crate) model: Model,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Every size with its training risk.
    pub(crate) path: Vec<Entry>,
    /// How good the chosen size is, in the usual measures.
    quality: Option<String>,
    /// What was learned from, column by column.
    table: Vec<columns::ColumnLine>,
    /// λ, where folds chose it for all complexities.
    reg_lambda: Option<f64>,
    /// How risks are told.
    scale: RiskScale,
    seconds: Timings,
}

impl FittedTable {
    /// Learns from `problem`, which took `read` seconds to read; `read_with` is what there is to say of that.
    pub(crate) fn new(
        problem: &TrainingRows,
        read_with: Vec<Warning>,
        asked: FitRequest,
        notes: Notes,
        read: f64,
    ) -> orthorules::Result<Self> {
        let start = Instant::now();
        let FitRequest { roles, params, .. } = asked;
        let prepared = asked.prepared(problem)?;
        told_before(problem, &read_with, (roles, params), notes);
        let (rows, columns) = (problem.rows(), problem.width());
        notes.detail(&format!(
            "{} and {} read in {}: {}",
            text::count(rows, "row"),
            text::count(columns, "column"),
            milliseconds(read),
            problem.task()
        ));
        keep_rules_on_interrupt();
        let progress = Progress::new(notes, problem.task().loss());
        let orthorules::Fitted { model, seconds: spent, reg_lambda, warnings, .. } = prepared.run(&progress)?;
        let searches = progress.seconds();
        drop(progress);
        for warning in &warnings {
            notes.warn(warning);
        }
        let table = columns::table(&model, &[read_with, warnings].concat());
        // Codes were made while the file was read: what they took is not reading.
        let before = read;
        let read = if is_coded(problem) { read - spent.bin } else { read };
        let mut path = match model.lists.as_slice() {
            [list] => entries(list, &searches),
            _ => problem.evaluate(&model)?.into_iter().map(Entry::from).collect(),
        };
        let quality = quality::told(&model, params, || evaluated_chosen(problem, &model));
        // Beside an offset, the first size is not the mean of the target.
        let scale = RiskScale::of(model.loss, params.intercept != Intercept::None && model.offset.is_none());
        if let Some(cv) = &model.cv {
            for (entry, step) in path.iter_mut().zip(&cv.path) {
                entry.held_out = Some(HeldOut { cv_risk: Some(step.cv_risk), cv_se: Some(step.cv_se) });
            }
        }
        let seconds = Timings {
            read,
            bin: spent.bin,
            search: spent.search,
            refit: spent.refit,
            total: before + start.elapsed().as_secs_f64(),
        };
        notes.detail(&format!(
            "binned in {}, searched in {}, weights fitted in {}, all in {}",
            milliseconds(seconds.bin),
            milliseconds(seconds.search),
            milliseconds(seconds.refit),
            milliseconds(seconds.total)
        ));
        Ok(Self { model, rows, columns, path, quality, table, reg_lambda, scale, seconds })
    }

    /// What it learned from, the path, and last, where eyes are, the rules and what a weight means.
    fn describe(&self, order: Order, all: bool) -> String {
        let (rows, columns) = (text::count(self.rows, "row"), text::count(self.columns, "column"));
        format!(
            "{}, from {rows} and {columns}\n\n{}\n{}\n{}{}{}{}\n{}{}{}\n",
            text::subject(&self.model),
            columns::shown(&self.table, all),
            self.path_table(None, (!all).then_some("-v shows all")),
            self.reg_lambda.map_or(String::new(), |lambda| format!(
                "Folds chose the penalty λ = {} for all complexities.\n\n",
                decimal::readable(lambda, 3)
            )),
            self.model
                .cv
                .as_ref()
                .map_or(String::new(), |cv| format!("{}\n", sizes::cross_validation(&self.model, cv, self.scale))),
            text::rules(&self.model, self.model.chosen(), order),
            text::uncertainty(&self.model, self.model.chosen(), order),
            text::spending(&self.model, self.model.chosen()),
            self.quality.as_ref().map_or(String::new(), |quality| format!("{quality}\n")),
            text::meaning(&self.model)
        )
    }

    /// Sizes with their training risk, and with the risk on fresh rows where there is one; `all` is that of
    /// [`sizes::path_table`].
    pub(crate) fn path_table(&self, fresh: Option<Vec<f64>>, all: Option<&str>) -> String {
        let labels: Vec<(usize, usize)> = self.path.iter().map(|e| (e.size.rules, e.size.complexity)).collect();
        let risks: Vec<f64> = self.path.iter().map(|e| e.train_risk).collect();
        let names = match self.scale {
            RiskScale::Risk => [("train risk", "relative"), ("cv risk", "relative"), ("fresh risk", "relative")],
            RiskScale::Rmse => [("train RMSE", "relative"), ("cv RMSE", "relative"), ("fresh RMSE", "relative")],
            RiskScale::Explained => [("train RMSE", "train R²"), ("cv RMSE", "cv R²"), ("fresh RMSE", "fresh R²")],
        };
        let mut measures = self.scale.measures(names[0], &labels, &risks, None);
        if let Some(cv) = &self.model.cv {
            let risks: Vec<f64> = cv.path.iter().map(|s| s.cv_risk).collect();
            let errors: Vec<f64> = cv.path.iter().map(|s| s.cv_se).collect();
            measures.extend(self.scale.measures(names[1], &labels, &risks, Some(&errors)));
        }
        if let Some(fresh) = fresh {
            measures.extend(self.scale.measures(names[2], &labels, &fresh, None));
        }
        let chosen = SizeLabel::of(&self.model, self.model.chosen());
        sizes::path_table(sizes::terms(&self.model), &labels, measures, chosen, all)
    }
}

/// Tells what a user should know of the table before the fit.
fn told_before(problem: &TrainingRows, read_with: &[Warning], (roles, params): (&Roles, &Params), notes: Notes) {
    // Folds are refused where a class has a single row: that line is enough.
    let said =
        |warning: &&Warning| !matches!(params.cv, Some(Cv::Folds(_))) || !matches!(warning, Warning::SingleRows { .. });
    for warning in read_with.iter().chain(problem.warnings().iter().filter(said)) {
        match warning {
            // Of a column that rules may use, the table of columns tells.
            Warning::MissingWords { column, .. } if *column != roles.target => {}
            Warning::MissingWords { words, .. } => notes.note(&without_target(&roles.target, words)),
            _ => notes.warn(warning),
        }
    }
}

/// What is said of words for missing values in a target whose rows without a value are left out.
fn without_target(target: &str, words: &[(&'static str, u64)]) -> String {
    let named: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let told = orthorules::warning::missing_words(words);
    format!(
        "target {target:?}: {told}, and the rows are left out: --keep-values {} keeps them",
        in_shell(&named.join(","))
    )
}

/// A refusal of rows without a target names the flags that help, and the word in most of them that stands for a missing
/// value.
pub(crate) fn with_remedy(error: Error, source: &input::TableInput, (target, notation): (&str, &Notation)) -> Failure {
    const DROP: &str = "--drop-missing-target drops all such rows";
    let remedy = match &error {
        Error::Column { role: "target", what: ColumnProblem::Missing, .. } => {
            let words = input::missing_words(source, target, notation);
            let kept = |(word, told)| format!("; {told}, and --keep-values {} makes it a value", in_shell(word));
            format!(" ({DROP}{})", words.map_or(String::new(), kept))
        }
        Error::Column { role: "exposure", what: ColumnProblem::Number { got: 0.0, .. }, .. } => format!(" ({DROP})"),
        _ => String::new(),
    };
    match in_table(&source.path)(error) {
        Failure::Input(text) => Failure::Input(text + &remedy),
        other @ Failure::Other(_) => other,
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{} ms", decimal::readable(seconds * 1000.0, 3))
}
