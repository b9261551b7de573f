//! From a file to codes without the table in between: the file is read twice, batch by batch.
//!
//! The first pass keeps the target and the other columns that have a part to play, and of each feature what decides its
//! bins: a sketch of its numbers, or its levels. The second pass turns the features into codes. What comes out is what
//! reading the whole table would give, to the last bit.

mod batch;
pub(crate) mod feature;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use crate::base::again::until_nothing_new;
use crate::base::clock::Instant;
use crate::base::error::{Error, Result};
use crate::base::threads::on_threads;
use crate::codes::coded::Coded;
use crate::codes::column::BinnedColumn;
use crate::codes::packed::{CodeBuilder, Codes, bytes_each};
use crate::codes::spill::Spill;
use crate::codes::storage::Store;
use crate::data::loss::Loss;
use crate::data::problem::{Problem, Roles, is_exposed, pick, rows_to_learn_from, weights};
use crate::data::schema::ColumnSpec;
use crate::data::table::{
    self, Builder, CHANGED, Column, ColumnPart, Complaint, Head, Judged, Kind, KnownDates, MISSING, Notation,
    ReadOptions, Scan, Source, Table, nothing_left,
};
use crate::data::warning::Warning;
use crate::model::Model;
use crate::model::evaluate::Evaluation;
use crate::params::{Checked, Cv, Params, RegLambda};
use batch::{Batch, BatchSource, KeptBatches};
use feature::{ColumnSummary, FeatureEncoder};

/// Whether values are needed beside their codes: draws make new bins, and groups are not among the codes.
pub(crate) fn needs_values(params: &Params, roles: &Roles) -> bool {
    let has_folds = params.reg_lambda == Some(RegLambda::Cv) || matches!(params.cv, Some(Cv::Folds(_)));
    params.bootstrap.is_some() || has_folds && roles.groups.is_some()
}

impl Coded {
    /// The problem in the file at `path`, with its features as codes for fits with these `params`, and remarks about
    /// how it was read. The table is never in memory: the file is read twice, a few megabytes at a time. Fits give the
    /// same bytes as with [`Problem::new`] and the table that [`read`](crate::data::table::read()) gives, and what is
    /// wrong is told in the same words. Parameters outside their range are told before the file is read.
    ///
    /// Codes of more than `memory_limit` bytes are kept in a temporary file without a name, mapped into memory. Trends
    /// look at numbers, so these are kept beside the codes, in such a file if both do not keep to the limit.
    ///
    /// The bootstrap makes new bins for other rows, so it needs the table itself. So do folds of whole groups, which
    /// codes do not know. [`Cv::Auto`] does without folds then.
    pub fn read(
        path: &Path,
        roles: &Roles,
        params: &Params,
        memory_limit: Option<u64>,
    ) -> Result<(Self, Vec<Warning>)> {
        if needs_values(params, roles) {
            return Err(Error::NeedsValues);
        }
        let asked = params;
        // Every range is the same for every loss and table.
        let params = params.check(Loss::Squared, 1)?;
        on_threads(Some(params.threads), || coded(path, roles, &params, memory_limit, asked))?
    }

    /// The quality of every size of `model` on the rows that it was learned from. Codes tell which rules hold; only
    /// beside trends are the columns read again.
    pub fn evaluate(&self, model: &Model) -> Result<Vec<Evaluation>> {
        if let Some(columns) = self.decoded(model) {
            return model.evaluate_coded(&self.problem, columns);
        }
        let roles = &self.problem.roles;
        let used = model.used_columns().into_iter().map(str::to_owned);
        let only: Vec<String> = used.chain(roles.deciding()).collect();
        let table =
            table::read(&self.path, &ReadOptions { only: Some(only), dates: model.dates(), ..roles.read_options() })?;
        let weight = roles.weight.as_deref().map(|name| weights(&table, name)).transpose()?;
        let table = match rows_to_learn_from(&table, roles, weight.as_deref())? {
            Some(kept) => table.take(&kept),
            None => table,
        };
        if table.rows() != self.problem.rows {
            return Err(Error::file(&self.path, CHANGED));
        }
        let columns = table.into_columns().into_iter().filter(|c| roles.is_feature(&c.name));
        model.evaluate_coded(&self.problem, columns.collect())
    }

    /// The columns that rules of `model` use, with values that satisfy what those of the rows satisfy; nothing beside
    /// trends.
    fn decoded(&self, model: &Model) -> Option<Vec<Column>> {
        let used = model.used_columns();
        let has_trends = model.lists.iter().flat_map(|list| &list.rules).any(|rule| rule.trend.is_some());
        let columns = self.problem.specs().into_iter().zip(&self.columns);
        let values = |(spec, column): (ColumnSpec, &BinnedColumn)| Column {
            date: spec.date,
            special: spec.special,
            ..Column::new(spec.name, column.decoded(spec.kind))
        };
        (!has_trends).then(|| columns.filter(|(spec, _)| used.contains(&spec.name.as_str())).map(values).collect())
    }
}

fn coded(
    path: &Path,
    roles: &Roles,
    params: &Checked,
    memory_limit: Option<u64>,
    asked: &Params,
) -> Result<(Coded, Vec<Warning>)> {
    let source = &Arc::new(Source::open(path)?);
    let error = |what: Complaint| source.error(what);
    let mut options = roles.read_options();
    let First { scan, table, summaries, text_target, dates, mut remarks, rows, mut seconds, batches } =
        First::pass(source, &options, (roles, params, memory_limit)).map_err(error)?;
    options.dates.known.extend(dates);
    let mut warnings: Vec<Warning> = options
        .unknown(&scan.names, |name| scan.heads.iter().any(|head| head.name == name))
        .map_err(|what| source.error(what))?;
    remarks.extend(scan.left_out.iter().cloned());
    let (mut names, mut features) = (Vec::new(), Vec::new());
    for (head, summary) in scan.heads.iter().zip(summaries) {
        if let Some(summary) = summary {
            let (remark, is_left_out) = summary.remark(head);
            remarks.extend(remark.map(|remark| (head.place, remark)));
            if is_left_out {
                continue;
            }
            features.push((head.clone(), summary));
        }
        names.push(head.name.as_str());
    }
    // After what else there is to say of a column, as in memory.
    remarks.extend(scan.missing_words());
    remarks.sort_by_key(|(place, _)| *place);
    warnings.extend(remarks.into_iter().map(|(_, why)| why));
    if names.is_empty() {
        return Err(error(nothing_left(&warnings).into()));
    }
    roles.check(&names)?;
    let mut problem = Problem::with_roles(table, roles)?;

    // Not before the weights are known to be good.
    let started = Instant::now();
    let encoder = |(head, summary): (Head, ColumnSummary)| {
        let encoder = summary.encoder(&head, params)?;
        Ok((head, encoder))
    };
    let features: Vec<(Head, FeatureEncoder)> = features.into_par_iter().map(encoder).collect::<Result<_>>()?;
    seconds += started.elapsed().as_secs_f64();
    options.only = Some(features.iter().map(|(head, _)| head.name.clone()).chain(roles.deciding()).collect());
    problem.coded = Some(features.iter().map(|(head, encoder)| encoder.spec(&head.name)).collect());
    let keeps_numbers = may_have_trends(&problem, asked)?;
    let mut second = Second { features, roles, text_target, rows, kept: problem.rows, keeps_numbers, seconds };
    let read = batches.all().map(|batches| (scan.heads, batches));
    let (columns, numbers) = second.pass(source, &options, memory_limit, read)?;
    let columns = second.features.into_iter().zip(columns).map(|((_, encoder), codes)| encoder.finish(codes));
    let (params, path) = (asked.clone(), path.to_owned());
    let coded = Coded { problem, columns: columns.collect(), numbers, params, path, seconds: second.seconds };
    Ok((coded, warnings))
}

/// Whether a fit to this problem, or one of its folds, looks at numbers beside codes.
fn may_have_trends(problem: &Problem, params: &Params) -> Result<bool> {
    let counted = problem.counted_rows();
    let checked = params.check(problem.task().loss(), counted)?;
    Ok(checked.for_table(params, &problem.outline(), counted).may_have_trends())
}

/// What the first pass finds.
struct First {
    scan: Scan,
    /// The columns that have a part to play.
    table: Table,
    /// For each column that is read, what was seen of it if it is a feature.
    summaries: Vec<Option<ColumnSummary>>,
    text_target: bool,
    dates: BTreeMap<String, KnownDates>,
    /// What there is to say of columns of numbers that came as text, by their place.
    remarks: Vec<(usize, Warning)>,
    rows: usize,
    seconds: f64,
    /// What was read of the features, if it is little.
    batches: KeptBatches,
}

/// What earlier readings of the file have found out.
#[derive(Default, PartialEq, Clone)]
pub(crate) struct ColumnFindings {
    /// Columns of CSV in which text came after numbers, or numbers after text: to be read as text from their first row.
    pub(crate) as_text: HashSet<String>,
    /// Features whose text spells numbers, with what there is to say of them.
    pub(crate) numeric: HashMap<String, Vec<Warning>>,
    /// Whether the target is text that spells no numbers.
    pub(crate) text_target: bool,
    /// Columns of dates.
    pub(crate) dates: BTreeMap<String, KnownDates>,
    /// What there is to say of them, by their place.
    pub(crate) ambiguous: Vec<(usize, Warning)>,
}

impl ColumnFindings {
    /// Adds what the cells of a feature say.
    pub(crate) fn learn(&mut self, head: &Head, summary: &ColumnSummary, dates: bool) {
        if let Some(found) = summary.dates(head).filter(|_| dates) {
            self.dates.insert(head.name.clone(), KnownDates::of(found.form, found.timed));
            if found.ambiguous {
                let what = Warning::AmbiguousDates { column: head.name.clone(), form: found.form };
                self.ambiguous.push((head.place, what));
            }
        } else if summary.is_mixed() {
            self.as_text.insert(head.name.clone());
        } else if let Some(Judged::Numbers(remarks)) = summary.judged(head) {
            self.as_text.remove(&head.name);
            self.numeric.insert(head.name.clone(), remarks.warnings(&head.name));
        }
    }

    /// What there is to say of columns, by their place.
    pub(crate) fn remarks(&self, heads: &[Head]) -> Vec<(usize, Warning)> {
        let noted = |head: &Head| self.numeric.get(&head.name).cloned().unwrap_or_default().into_iter();
        let remarks = heads.iter().flat_map(|head| noted(head).map(|remark| (head.place, remark)));
        remarks.chain(self.ambiguous.clone()).collect()
    }
}

impl First {
    fn pass(
        source: &Arc<Source>,
        options: &ReadOptions,
        asked: (&Roles, &Checked, Option<u64>),
    ) -> Result<Self, Complaint> {
        until_nothing_new(&mut ColumnFindings::default(), |known| {
            let mut options = options.clone();
            options.dates.known.extend(known.dates.clone());
            Self::attempt(source, &options, asked, known)
        })
    }

    /// One reading of the file, which may add to what is known.
    fn attempt(
        source: &Arc<Source>,
        options: &ReadOptions,
        (roles, params, limit): (&Roles, &Checked, Option<u64>),
        known: &mut ColumnFindings,
    ) -> Result<Self, Complaint> {
        let mut scan = Scan::new(source, options, &known.as_text)?;
        let heads = scan.heads.clone();
        let role = |head: &Head| roles.is_singled_out(&head.name);
        let mut builders: Vec<Option<Builder>> = heads.iter().map(|h| role(h).then(|| Builder::new(h))).collect();
        let feature = |head: &Head| {
            let numeric = known.numeric.contains_key(&head.name);
            roles.is_feature(&head.name).then(|| ColumnSummary::new(head, params.cutting(), numeric))
        };
        let mut summaries: Vec<Option<ColumnSummary>> = heads.iter().map(feature).collect();
        let deciding = Deciding::new(&heads, roles, known.text_target);
        let (mut rows, mut seconds, mut batches) = (0, 0.0, KeptBatches::new(limit));
        while let Some(parts) = scan.next()? {
            let started = Instant::now();
            let count = parts.first().map_or(0, ColumnPart::rows);
            rows += count;
            if rows >= u32::MAX as usize {
                return Err("has more than the 4,294,967,294 rows that one table may have".into());
            }
            let kept = deciding.rows(&parts, &options.notation);
            summaries.par_iter_mut().zip(&parts).for_each(|(summary, part)| {
                if let Some(summary) = summary {
                    summary.add(part, &kept);
                }
            });
            let mut features = Vec::with_capacity(parts.len());
            for ((builder, summary), part) in builders.iter_mut().zip(&summaries).zip(parts) {
                match builder {
                    Some(builder) => {
                        if builder.push(part).is_err() {
                            known.as_text.insert(builder.name().to_owned());
                        }
                        features.push(None);
                    }
                    None => features.push(summary.is_some().then_some(part)),
                }
            }
            batches.keep(Batch { rows: count, kept, parts: features });
            seconds += started.elapsed().as_secs_f64();
        }
        for (head, summary) in heads.iter().zip(&summaries) {
            if let Some(summary) = summary {
                known.learn(head, summary, options.dates.recognised);
            }
        }
        if rows == 0 && !heads.is_empty() {
            return Err("has a header but no rows".into());
        }
        let mut remarks = known.remarks(&heads);
        let mut columns = Vec::new();
        for builder in builders.into_iter().flatten() {
            let place = builder.place();
            if let Some((column, more)) = builder.finish()?.kept() {
                let is_target = roles.drop_missing_target && column.name == roles.target;
                known.text_target |= is_target && column.values.kind() != Kind::Numeric;
                columns.push(column);
                remarks.extend(more.into_iter().map(|remark| (place, remark)));
            }
        }
        let table = Table::new(columns).map_err(|e| e.to_string())?;
        let (text_target, dates) = (known.text_target, known.dates.clone());
        Ok(Self { scan, table, summaries, text_target, dates, remarks, rows, seconds, batches })
    }
}

/// Which rows of a batch count, and how much: rows of weight 0 are not there.
pub(crate) struct BatchRows {
    pub(crate) weights: Option<Vec<f64>>,
    /// Their places, if some are not there.
    pub(crate) kept: Option<Vec<u32>>,
}

/// The columns that decide which rows of a batch count, by their places.
pub(crate) struct Deciding {
    weight: Option<usize>,
    /// Where rows without a target are left out; with whether it is text that spells no numbers.
    target: Option<(usize, bool)>,
    exposure: Option<usize>,
}

impl Deciding {
    pub(crate) fn new(heads: &[Head], roles: &Roles, text_target: bool) -> Self {
        let place = |name: &String| heads.iter().position(|head| head.name == *name);
        let dropping = roles.drop_missing_target;
        Self {
            weight: roles.weight.as_ref().and_then(place),
            target: place(&roles.target).filter(|_| dropping).map(|at| (at, text_target)),
            exposure: roles.exposure.as_ref().and_then(place).filter(|_| dropping),
        }
    }

    /// The rows that count. Bad weights are told when all have been read.
    pub(crate) fn rows(&self, parts: &[ColumnPart], notation: &Notation) -> BatchRows {
        let weights = self.weight.and_then(|at| numbers(&parts[at], notation));
        let exposures = self.exposure.and_then(|at| numbers(&parts[at], notation));
        let target = self.target.map(|(at, text)| present(&parts[at], text, notation));
        let counts = |row: usize| {
            weights.as_ref().is_none_or(|w| w[row] != 0.0)
                && target.as_ref().is_none_or(|there| there[row])
                && exposures.as_ref().is_none_or(|e| is_exposed(e[row]))
        };
        let rows = parts.first().map_or(0, ColumnPart::rows);
        let all = (0..rows).all(counts);
        let kept = (!all).then(|| (0..rows).filter(|&row| counts(row)).map(|row| row as u32).collect::<Vec<u32>>());
        let weights = match &kept {
            Some(kept) => weights.map(|weights| pick(&weights, kept)),
            None => weights.map(Cow::into_owned),
        };
        BatchRows { weights, kept }
    }
}

/// The numbers of a part; none if they are something else.
pub(crate) fn numbers<'p>(part: &'p ColumnPart, notation: &Notation) -> Option<Cow<'p, [f64]>> {
    match part {
        ColumnPart::Numbers(numbers) => Some(Cow::Borrowed(numbers)),
        ColumnPart::Text(cells) => Some(notation.numbers(&cells.names, &cells.codes).into()),
        ColumnPart::Missing(rows) => Some(vec![f64::NAN; *rows].into()),
        ColumnPart::Booleans(_) => None,
    }
}

/// Which rows of a part have a value, where it is text that spells no numbers or else numbers.
fn present(part: &ColumnPart, text: bool, notation: &Notation) -> Vec<bool> {
    match part {
        ColumnPart::Booleans(values) => values.iter().map(Option::is_some).collect(),
        ColumnPart::Text(cells) if text => cells.codes.iter().map(|&code| code != MISSING).collect(),
        other => numbers(other, notation).iter().flat_map(|n| n.iter()).map(|x| !x.is_nan()).collect(),
    }
}

impl BatchRows {
    /// What is left of `values`.
    pub(crate) fn of_values<'v, T: Copy>(&self, values: &'v [T]) -> Cow<'v, [T]> {
        self.kept.as_ref().map_or(Cow::Borrowed(values), |kept| Cow::Owned(pick(values, kept)))
    }

    /// Where the row with this number among those that count is among all.
    pub(crate) fn place(&self, row: usize) -> usize {
        self.kept.as_ref().and_then(|kept| kept.get(row)).map_or(row, |&place| place as usize)
    }

    /// How many are left out of `rows`.
    pub(crate) fn count(&self, rows: usize) -> usize {
        self.kept.as_ref().map_or(rows, Vec::len)
    }
}

/// What the second pass needs.
struct Second<'r> {
    features: Vec<(Head, FeatureEncoder)>,
    roles: &'r Roles,
    text_target: bool,
    /// Rows of the file, and those that count.
    rows: usize,
    kept: usize,
    /// Whether numbers are kept beside the codes.
    keeps_numbers: bool,
    seconds: f64,
}

impl Second<'_> {
    /// The file, to be read once more.
    fn scanned<'o>(
        &self,
        source: &Arc<Source>,
        options: &'o ReadOptions,
    ) -> Result<(Vec<Head>, BatchSource<'o>), Complaint> {
        let as_text = self.features.iter().filter(|(_, f)| f.is_text()).map(|(head, _)| head.name.clone()).collect();
        let scan = Box::new(Scan::new(source, options, &as_text)?);
        let deciding = Deciding::new(&scan.heads, self.roles, self.text_target);
        Ok((scan.heads.clone(), BatchSource::File { scan, deciding, notation: &options.notation }))
    }

    /// The codes of all features, and the numbers that are kept; in temporary files if they take more memory than they
    /// may.
    fn pass(
        &mut self,
        source: &Arc<Source>,
        options: &ReadOptions,
        limit: Option<u64>,
        read: Option<(Vec<Head>, Vec<Batch>)>,
    ) -> Result<(Vec<Codes>, Vec<Store<f64>>)> {
        let bytes: Vec<u64> = self.features.iter().map(|(_, f)| (bytes_each(f.bins()) * self.kept) as u64).collect();
        let keeps = |f: &FeatureEncoder| self.keeps_numbers && f.is_numeric();
        let number_bytes: Vec<u64> =
            self.features.iter().map(|(_, f)| (usize::from(keeps(f)) * self.kept * size_of::<f64>()) as u64).collect();
        let (all, numbers) = (bytes.iter().sum::<u64>(), number_bytes.iter().sum::<u64>());
        let mut spill = limit.filter(|&limit| all > limit).map(|_| Spill::new(bytes.into_iter())).transpose()?;
        let in_memory = if spill.is_some() { 0 } else { all };
        let too_many = |&limit: &u64| numbers > 0 && in_memory.saturating_add(numbers) > limit;
        let mut number_spill = limit.filter(too_many).map(|_| Spill::new(number_bytes.into_iter())).transpose()?;
        let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); self.features.len()];
        let room = if spill.is_some() { 0 } else { self.kept };
        let mut codes: Vec<CodeBuilder> = self.features.iter().map(|(_, f)| CodeBuilder::new(f.bins(), room)).collect();
        let error = |what: Complaint| source.error(what);
        let (heads, mut batches) = match read {
            Some((heads, batches)) => (heads, BatchSource::Kept(batches.into_iter())),
            None => self.scanned(source, options).map_err(error)?,
        };
        let places = batch::places(self.features.iter().map(|(head, _)| head), &heads);
        let mut rows = 0;
        while let Some(Batch { rows: more, kept, parts }) =
            if self.features.is_empty() { None } else { batches.next().map_err(error)? }
        {
            let started = Instant::now();
            rows += more;
            let keeps_numbers = self.keeps_numbers;
            let whole = (&mut self.features, &mut codes, &mut numbers, &places).into_par_iter().all(
                |((_, feature), codes, numbers, place)| {
                    let Some(part) = place.and_then(|place| parts[place].as_ref()) else { return false };
                    if keeps_numbers {
                        feature.append_numbers(part, &kept, numbers);
                    }
                    feature.encode(part, &kept, codes)
                },
            );
            if !whole {
                return Err(error(CHANGED.into()));
            }
            if let Some(spill) = &mut spill {
                spill.append(&mut codes)?;
            }
            if let Some(spill) = &mut number_spill {
                spill.append_numbers(&mut numbers)?;
            }
            self.seconds += started.elapsed().as_secs_f64();
        }
        if rows != self.rows && !self.features.is_empty() {
            return Err(error(CHANGED.into()));
        }
        let codes = match spill {
            Some(spill) => spill.finish(&codes)?,
            None => codes.into_iter().map(CodeBuilder::finish).collect(),
        };
        let numbers = match number_spill {
            Some(spill) => spill.finish_numbers()?,
            None => numbers.into_iter().map(Store::from).collect(),
        };
        Ok((codes, numbers))
    }
}
