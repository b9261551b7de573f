//! `orthorules fit`: learn rules from a table.

mod columns;
mod document;
mod quality;

pub(crate) use document::{Document, Entry, SizeLabel};

use crate::args::{FitArgs, Order};
use crate::console::{Notes, Output, Progress, expect_interrupt, in_shell, keep_rules_on_interrupt};
use crate::input::{self, Failure, in_table};
use crate::sizes::{self, Scale};
use crate::text;
use document::{HeldOut, Timings, entries};
use orthorules::evaluate::Evaluation;
use orthorules::model::Reading;
use orthorules::params::{Cv, Intercept, RegLambda};
use orthorules::table::{Notation, read};
use orthorules::{
    Coded, Error, Loss, Model, Observer, Params, Problem, Roles, Table, Task, Warning, decimal, on_threads,
};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &FitArgs) -> Result<Output, Failure> {
    let (roles, params) = (args.columns.roles(), args.learning.params());
    let notes = Notes { quiet: args.output.quiet, verbose: args.output.verbose };
    let source = input::Source::new(&args.table)?;
    if let Some(path) = &args.output.model {
        input::check_output(path, &source.files)?;
    }
    let lambda_by_folds = params.reg_lambda == Some(RegLambda::Cv);
    if roles.groups.is_some() && params.cv.is_none() && params.bootstrap.is_none() && !lambda_by_folds {
        let what =
            "--cv-groups needs --cv, --bootstrap or --reg-lambda cv: groups are kept together in folds and draws";
        return Err(Failure::Input(what.into()));
    }
    if let Some(name) = args.learning.torn_column() {
        return Err(Failure::Input(format!("--monotone gives both +1 and -1 for column {name:?}: keep one of them")));
    }
    if let Some(name) = args.learning.twice_cut_column() {
        return Err(Failure::Input(format!(
            "--cuts names column {name:?} twice: list all its thresholds in one of them"
        )));
    }
    if let Some(name) = args.columns.twice_ordered_column() {
        return Err(Failure::Input(format!(
            "--ordered names column {name:?} twice: list all its levels in one of them"
        )));
    }
    // Every range is the same for every loss and table: bad parameters are told before a large table is read.
    params.check(Loss::Squared, 1)?;
    // Groups are not among the codes of a table.
    let grouped = lambda_by_folds && roles.groups.is_some();
    let resampled = matches!(params.cv, Some(Cv::Folds(_))) || params.bootstrap.is_some() || grouped;
    if resampled && args.learning.memory_limit.is_some() {
        let what = "--memory-limit cannot be kept with --cv, --bootstrap or groups: they need the table in memory";
        return Err(Failure::Input(what.into()));
    }
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
            with_remedy(in_table(&source.path)(error), &source, &roles.target, &roles.notation)
        };
        // What comes from a pipe can be read only once, and folds need the table in memory.
        // Required rules may need cuts of their own.
        let held =
            (!source.is_lasting() || params.cv.is_some() && is_small(&source.files) || !params.require.is_empty())
                && args.learning.memory_limit.is_none();
        let data = if resampled || held {
            Data::Table(read(&source.path, &roles.read_options()).map_err(&in_table)?)
        } else {
            let limit = args.learning.memory_limit;
            let (coded, warnings) = Coded::read(&readable, &roles, &params, limit).map_err(&in_table)?;
            Data::Codes { coded: Box::new(coded), warnings }
        };
        let seconds = start.elapsed().as_secs_f64();
        Fitted::new(data, &roles, &params, notes, seconds).map_err(&in_table)
    })??;
    fitted.model.reading = Reading::of(&roles);
    if let Some(path) = &args.output.model {
        fitted.model.save(path)?;
    }
    if args.output.json {
        return Ok(Output::json(&fitted.document()));
    }
    let mut text = fitted.describe(args.output.order.order, args.output.verbose);
    if let Some(path) = &args.output.model {
        let _ = writeln!(text, "\nThe model is in {}.", text::clean(&path.display().to_string()));
    }
    Ok(Output::Text(text))
}

/// What is learned from.
pub(crate) enum Data {
    /// All of it, in memory.
    Table(Table),
    /// A problem with features as codes, made while a file was read.
    Codes { coded: Box<Coded>, warnings: Vec<Warning> },
}

/// What a model is learned from, in either form.
enum Learnable {
    Problem(Box<Problem>),
    Coded(Box<Coded>),
}

impl Learnable {
    fn task(&self) -> Task {
        match self {
            Self::Problem(problem) => problem.task(),
            Self::Coded(coded) => coded.task(),
        }
    }

    fn rows(&self) -> usize {
        match self {
            Self::Problem(problem) => problem.rows(),
            Self::Coded(coded) => coded.rows(),
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Problem(problem) => problem.width(),
            Self::Coded(coded) => coded.width(),
        }
    }

    fn warnings(&self) -> Vec<Warning> {
        match self {
            Self::Problem(problem) => problem.warnings(),
            Self::Coded(coded) => coded.warnings(),
        }
    }

    fn fit(&self, params: &Params, observer: &dyn Observer) -> orthorules::Result<orthorules::Fitted> {
        match self {
            Self::Problem(problem) => orthorules::fit(problem, params, observer),
            Self::Coded(coded) => coded.fit(observer),
        }
    }

    /// Risk and measures of every size on the rows that were learned from.
    fn evaluate(&self, model: &Model) -> orthorules::Result<Vec<Evaluation>> {
        match self {
            Self::Problem(problem) => model.evaluate_problem(problem),
            Self::Coded(coded) => coded.evaluate(model),
        }
    }

    /// The same of the chosen size, where that takes little: a file would be read again.
    fn evaluate_chosen(&self, model: &Model) -> Option<Evaluation> {
        let most = match self {
            Self::Problem(_) => 1_000_000,
            Self::Coded(_) => 100_000,
        };
        if self.rows() > most {
            return None;
        }
        let mut chosen = model.clone();
        for list in &mut chosen.lists {
            list.sizes = vec![list.chosen().clone()];
        }
        // The fit is done: a file that has gone since is no reason to lose it.
        self.evaluate(&chosen).ok()?.pop()
    }
}

/// A model with what is known of its making.
pub(crate) struct Fitted {
    pub(crate) model: Model,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Every size with its training risk.
    pub(crate) path: Vec<Entry>,
    /// How good the chosen size is, in the usual measures.
    quality: Option<String>,
    /// What was learned from, column by column.
    table: Vec<columns::Line>,
    /// λ, where folds chose it for all complexities.
    reg_lambda: Option<f64>,
    /// How risks are told.
    scale: Scale,
    seconds: Timings,
}

impl Fitted {
    /// Learns from `data`, which took `read` seconds to read.
    pub(crate) fn new(data: Data, roles: &Roles, params: &Params, notes: Notes, read: f64) -> orthorules::Result<Self> {
        let start = Instant::now();
        let (problem, read_with) = match data {
            Data::Table(table) => {
                let warnings = table.warnings().to_vec();
                (Learnable::Problem(Box::new(Problem::new(table, roles)?)), warnings)
            }
            Data::Codes { coded, warnings } => (Learnable::Coded(coded), warnings),
        };
        params.check(problem.task().loss(), problem.rows())?;
        // Folds are refused where a class has a single row: that line is enough.
        let said = |warning: &&Warning| {
            !matches!(params.cv, Some(Cv::Folds(_))) || !matches!(warning, Warning::SingleRows { .. })
        };
        for warning in read_with.iter().chain(problem.warnings().iter().filter(said)) {
            match warning {
                // Of a column that rules may use, the table of columns tells.
                Warning::MissingWords { column, .. } if *column != roles.target => {}
                Warning::MissingWords { words, .. } => notes.note(&without_target(&roles.target, words)),
                _ => notes.warn(warning),
            }
        }
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
        let orthorules::Fitted { model, seconds: spent, reg_lambda, warnings, .. } = problem.fit(params, &progress)?;
        let searches = progress.seconds();
        drop(progress);
        for warning in &warnings {
            notes.warn(warning);
        }
        let table = columns::table(&model, &[read_with, warnings].concat());
        // Codes were made while the file was read: what they took is not reading.
        let before = read;
        let read = if matches!(problem, Learnable::Coded(_)) { read - spent.bin } else { read };
        let mut path = match model.lists.as_slice() {
            [list] => entries(list, &searches),
            _ => problem.evaluate(&model)?.into_iter().map(Entry::from).collect(),
        };
        let quality = quality::told(&model, params, || problem.evaluate_chosen(&model));
        drop(problem);
        // Beside an offset, the first size is not the mean of the target.
        let scale = Scale::of(model.loss, params.intercept != Intercept::None && model.offset.is_none());
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
            "{}, from {rows} and {columns}\n\n{}\n{}\n{}{}{}{}\n{}{}\n",
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
            Scale::Risk => [("train risk", "relative"), ("cv risk", "relative"), ("fresh risk", "relative")],
            Scale::Rmse => [("train RMSE", "relative"), ("cv RMSE", "relative"), ("fresh RMSE", "relative")],
            Scale::Explained => [("train RMSE", "train R²"), ("cv RMSE", "cv R²"), ("fresh RMSE", "fresh R²")],
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

/// What is said of words for missing values in a target whose rows without a value are left out.
fn without_target(target: &str, words: &[(&'static str, u64)]) -> String {
    let named: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let told = orthorules::warning::missing_words(words);
    format!(
        "target {target:?}: {told}, and the rows are left out: --keep-values {} keeps them",
        in_shell(&named.join(","))
    )
}

/// A refusal of rows without a target names the flags that help, and the word in most of them that stands for a missing value.
pub(crate) fn with_remedy(failure: Failure, source: &input::Source, target: &str, notation: &Notation) -> Failure {
    match failure {
        Failure::Input(text) if text.ends_with("fill it in or drop the row") && text.contains(": target column") => {
            let words = input::missing_words(source, target, notation);
            let kept = |(word, told)| format!("; {told}, and --keep-values {} makes it a value", in_shell(word));
            let words = words.map_or(String::new(), kept);
            Failure::Input(format!("{text} (--drop-missing-target drops all such rows{words})"))
        }
        Failure::Input(text) if text.contains(": exposure column") && text.ends_with("got 0") => {
            Failure::Input(format!("{text} (--drop-missing-target drops all such rows)"))
        }
        other => other,
    }
}

/// Whether files are small enough for folds to be worth a thought. Parquet and Arrow may hold far more than their size.
fn is_small(files: &[PathBuf]) -> bool {
    const MOST: u64 = 512 << 20;
    let weight = |file: &PathBuf| {
        let name = file.to_string_lossy().to_lowercase();
        let is_dense = [".csv", ".tsv", ".txt", ".data"].iter().any(|end| name.ends_with(end));
        let bytes = std::fs::metadata(file).map_or(u64::MAX, |about| about.len());
        bytes.saturating_mul(if is_dense { 1 } else { 8 })
    };
    files.iter().map(weight).fold(0, u64::saturating_add) <= MOST
}

fn milliseconds(seconds: f64) -> String {
    format!("{} ms", decimal::readable(seconds * 1000.0, 3))
}
