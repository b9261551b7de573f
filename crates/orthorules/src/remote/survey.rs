//! The two passes over a table in partitions: what each partition tells, and how that is put together.
//!
//! What comes out is what reading the partitions one after the other as one table would give, to the last bit.

use crate::base::error::{Error, Result};
use crate::base::wire::{Wire, damaged, wire};
use crate::codes::column::BinnedColumn;
use crate::codes::packed::CodeBuilder;
use crate::codes::quantiles::QuantileSketch;
use crate::codes::stream::feature::{ColumnSummary, FeatureEncoder, Sampling};
use crate::codes::stream::{BatchRows, ColumnFindings, Deciding, numbers};
use crate::data::columns::refuse_names_of;
use crate::data::offset::{first_bad, fold};
use crate::data::outline::Outline;
use crate::data::problem::{Problem, Roles};
use crate::data::row_content::RowContent;
use crate::data::row_facts::RowFacts;
use crate::data::table::{
    Builder, Column, ColumnPart, Complaint, Head, Judged, Kind, ReadOptions, Scan, Source, Table, nothing_left,
};
use crate::data::task::Task;
use crate::data::warning::Warning;
use crate::params::{Checked, Cutting, MaxBins};
use crate::remote::digest::Digest;
use crate::remote::features::CodedFacts;
use crate::remote::role_plan::{PartitionFacts, RolePlan, changed};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a partition is asked before there are codes.
#[derive(Clone)]
pub(crate) struct SurveyRequest {
    pub(crate) roles: Roles,
    pub(crate) known: ColumnFindings,
    pub(crate) cutting: Cutting,
    /// The features whose values are wanted, each with every k-th value, and how many there are before each partition.
    /// Without them values are counted.
    pub(crate) places: Option<Vec<SamplePlace>>,
}
wire!(SurveyRequest { roles, known, cutting, places });

/// Where the values of a feature are in the whole.
#[derive(Clone)]
pub(crate) struct SamplePlace {
    name: String,
    stride: usize,
    /// By the number of the partition.
    before: Vec<usize>,
}
wire!(SamplePlace { name, stride, before });

/// What partitions tell before there are codes.
pub(crate) struct Survey {
    parts: Vec<PartitionFacts>,
    features: Vec<(Head, ColumnSummary)>,
    /// The columns that are not features, in short.
    others: Vec<(Head, ColumnSummary)>,
    /// What of them tells whether they are good, and of which size their numbers are.
    digest: Digest,
    facts: RowFacts,
    /// What they hold, in any order.
    content: RowContent,
    /// Names of columns that have no part to play.
    ignored: Vec<String>,
    /// Names of columns that are not used, and why.
    notes: Vec<String>,
}
wire!(Survey { parts, features, others, digest, facts, content, ignored, notes });

/// What a survey says of a problem.
pub(crate) struct Subject {
    /// Without the columns that conditions may use.
    pub(crate) outline: Outline,
    pub(crate) plan: RolePlan,
    pub(crate) facts: RowFacts,
    /// What targets, weights and exposures are, in any order.
    pub(crate) content: RowContent,
    /// Rows that are not learned from for want of a target or an exposure.
    pub(crate) dropped: usize,
    /// What there is to say of the columns that are no features, by their place; and the names of these columns.
    remarks: Vec<(usize, Warning)>,
    names: Vec<String>,
}

/// How to make codes of all partitions.
pub(crate) struct CodePlan {
    pub(crate) roles: RolePlan,
    features: Vec<(Head, FeatureEncoder)>,
}
wire!(CodePlan { roles, features });

/// The most rows of all partitions together: sums over that many are exact, whatever is summed.
const MOST_ROWS: u64 = 1 << 48;

impl SurveyRequest {
    fn options(&self) -> ReadOptions {
        let mut options = self.roles.read_options();
        options.dates.known.extend(self.known.dates.clone());
        if let Some(places) = &self.places {
            options.only = Some(places.iter().map(|place| place.name.clone()).chain(self.roles.deciding()).collect());
        }
        options
    }

    /// What is to be seen of a column, if it is a feature whose values are wanted of the partition with this number.
    fn summary(&self, head: &Head, number: usize) -> Option<ColumnSummary> {
        let sampling = match &self.places {
            None => Sampling::Count,
            Some(places) => {
                let place = places.iter().find(|place| place.name == head.name)?;
                Sampling::Part(place.before.get(number).copied()?, place.stride)
            }
        };
        let numeric = self.known.numeric.contains_key(&head.name);
        let feature = self.roles.is_feature(&head.name);
        feature.then(|| ColumnSummary::new(head, self.cutting, numeric).sampled(sampling))
    }

    /// What the partition with this number tells.
    pub(crate) fn answer(&self, source: &Arc<Source>, number: usize, stamp: &str) -> Result<Survey> {
        let error = |what: Complaint| source.error(what);
        let (options, roles) = (self.options(), &self.roles);
        let mut scan = Scan::new(source, &options, &self.known.as_text).map_err(error)?;
        let heads = scan.heads.clone();
        let mut summaries: Vec<Option<ColumnSummary>> = heads.iter().map(|head| self.summary(head, number)).collect();
        let singled: Vec<usize> = (0..heads.len()).filter(|&place| roles.is_singled_out(&heads[place].name)).collect();
        let plain = Cutting { max_bins: MaxBins::AtMost(2), ..self.cutting };
        let other = |&place: &usize| ColumnSummary::new(&heads[place], plain, false).sampled(Sampling::Count);
        let mut others: Vec<ColumnSummary> = singled.iter().map(other).collect();
        let mut digest = Digest::new(&singled.iter().map(|&place| &heads[place]).collect::<Vec<_>>(), roles);
        let (mut facts, mut content) = (RowFacts::default(), RowContent::default());
        let deciding = Deciding::new(&heads, roles, self.known.text_target);
        let role_columns = RoleColumns::new(&heads, roles);
        let (mut rows, mut kept) = (0, 0);
        while let Some(parts) = scan.next().map_err(error)? {
            let count = parts.first().map_or(0, ColumnPart::rows);
            let counting = deciding.rows(&parts, &options.notation);
            rows += count;
            kept += counting.count(count);
            if rows >= u32::MAX as usize {
                let many = "has more than the 4,294,967,294 rows that one may have: divide the table into more";
                return Err(Error::Table(format!("partition {number} {many}")));
            }
            summaries.par_iter_mut().zip(&parts).for_each(|(summary, part)| {
                if let Some(summary) = summary {
                    summary.add(part, &counting);
                }
            });
            if self.places.is_some() {
                continue;
            }
            let chosen: Vec<&ColumnPart> = singled.iter().map(|&place| &parts[place]).collect();
            others.iter_mut().zip(&chosen).for_each(|(summary, part)| summary.add(part, &counting));
            let (more, held, bad) = role_columns.facts(&parts, &counting, roles);
            digest.add(&chosen, &counting, count, bad);
            facts.append(&more);
            content.append(&held);
        }
        let others = singled.iter().map(|&place| heads[place].clone()).zip(others).collect();
        let has_no_part = |head: &&Head| !roles.is_singled_out(&head.name) && !roles.is_feature(&head.name);
        let ignored = heads.iter().filter(has_no_part).map(|head| head.name.clone()).collect();
        let notes = scan.left_out.iter().map(|(_, why)| why.to_string()).collect();
        let features: Vec<(Head, ColumnSummary)> =
            heads.into_iter().zip(summaries).filter_map(|(head, summary)| Some((head, summary?))).collect();
        let values = features.iter().map(|(_, summary)| summary.values()).collect();
        let part = PartitionFacts { number, stamp: stamp.to_owned(), rows, kept, values };
        Ok(Survey { parts: vec![part], features, others, digest, facts, content, ignored, notes })
    }
}

/// Where the columns are that tell what is learned.
struct RoleColumns {
    target: Option<usize>,
    weight: Option<usize>,
    exposure: Option<usize>,
    offset: Option<usize>,
}

impl RoleColumns {
    fn new(heads: &[Head], roles: &Roles) -> Self {
        let place_of = |name: Option<&String>| heads.iter().position(|head| Some(&head.name) == name);
        let [target, weight, exposure, offset] =
            [Some(&roles.target), roles.weight.as_ref(), roles.exposure.as_ref(), roles.offset.as_ref()].map(place_of);
        Self { target, weight, exposure, offset }
    }

    /// Facts of the rows of a batch that count, what they hold, and the first row whose offset does not go together
    /// with its target or exposure.
    fn facts(
        &self,
        parts: &[ColumnPart],
        counting: &BatchRows,
        roles: &Roles,
    ) -> (RowFacts, RowContent, Option<usize>) {
        let of = |place: Option<usize>| place.and_then(|place| numbers(&parts[place], &roles.notation));
        let [mut target, mut exposure, offset] = [self.target, self.exposure, self.offset]
            .map(|place| of(place).map(|all| counting.of_values(&all).into_owned()));
        let mut bad = None;
        if let (Some(y), Some(offset)) = (&mut target, offset) {
            fold(roles.task, y, &mut exposure, offset);
            bad = first_bad(roles.task, y, exposure.as_deref()).map(|row| counting.place(row));
        }
        let rows = counting.count(parts.first().map_or(0, ColumnPart::rows));
        let (y, weight, exposure) = (target.as_deref(), counting.weights.as_deref(), exposure.as_deref());
        let mut facts = RowFacts::of(rows, y, weight, exposure);
        let content = RowContent::of(rows, y, weight, exposure);
        facts.weightless += of(self.weight).map_or(0, |weights| weights.iter().filter(|w| **w == 0.0).count());
        (facts, content, bad)
    }
}

impl Survey {
    /// Adds what the partitions after these tell.
    pub(crate) fn append(&mut self, next: Self) -> Result<()> {
        let names = |survey: &Self| -> Vec<String> {
            survey.features.iter().map(|f| &f.0.name).chain(survey.others.iter().map(|o| &o.0.name)).cloned().collect()
        };
        let (here, there) = (names(self), names(&next));
        if here != there {
            let only = |a: &[String], b: &[String]| a.iter().find(|name| !b.contains(name)).cloned();
            let name = only(&here, &there).or_else(|| only(&there, &here)).unwrap_or_default();
            return Err(Error::Table(format!(
                "partitions {} and {} do not have the same columns in one order: look at {name:?}",
                self.parts.last().map_or(0, |part| part.number),
                next.parts.first().map_or(0, |part| part.number),
            )));
        }
        let columns = self.features.iter_mut().chain(&mut self.others);
        for ((head, summary), (other, more)) in columns.zip(next.features.into_iter().chain(next.others)) {
            // A partition without a value does not know what kind of column it is.
            if summary.is_missing() && !more.is_missing() {
                *head = other;
            }
            summary.append(more);
        }
        self.digest.append(next.digest);
        self.facts.append(&next.facts);
        self.content.append(&next.content);
        self.parts.extend(next.parts);
        Ok(())
    }

    /// Adds to what is known of the columns. If nothing is new, it is known.
    pub(crate) fn teach(&self, known: &mut ColumnFindings, roles: &Roles) {
        self.features.iter().for_each(|(head, summary)| known.learn(head, summary, !roles.without_dates));
        if roles.drop_missing_target
            && let Some((head, summary)) = self.others.iter().find(|(head, _)| head.name == roles.target)
        {
            known.text_target |= summary.kind(head) != Kind::Numeric;
        }
    }

    /// Which values of which features decide their bins.
    pub(crate) fn places(&self, exact: bool) -> Vec<SamplePlace> {
        let place = |(index, (head, summary)): (usize, &(Head, ColumnSummary))| {
            let stride = QuantileSketch::stride_of(summary.values().filter(|_| !exact)?);
            let most = self.parts.iter().map(|part| part.number).max().unwrap_or_default();
            let mut before = vec![0; most + 1];
            let mut sum = 0;
            for part in &self.parts {
                before[part.number] = sum;
                sum += part.values.get(index).copied().flatten().unwrap_or_default();
            }
            Some(SamplePlace { name: head.name.clone(), stride, before })
        };
        self.features.iter().enumerate().filter_map(place).collect()
    }

    /// What is learned, if target, weights and exposures are good.
    pub(crate) fn subject(&self, known: &ColumnFindings, roles: &Roles) -> Result<Subject> {
        let rows = self.parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.rows)).unwrap_or(usize::MAX);
        if rows as u64 >= MOST_ROWS {
            return Err(Error::Table(format!("the table has more than the {} rows that it may have", MOST_ROWS - 1)));
        }
        if self.facts.weights.as_ref().is_some_and(|weights| weights.whole && weights.counted >= 1 << 62) {
            let what = "the weights count more rows than can be counted: divide all of them by a number".into();
            let column = roles.weight.clone().unwrap_or_default();
            return Err(Error::Column { role: "weight", column, row: None, what });
        }
        let left_out = |(head, summary): &&(Head, ColumnSummary)| summary.remark(head).1;
        let features = self.features.iter().filter(|feature| !left_out(feature)).map(|(head, _)| head.name.clone());
        let mut names: Vec<String> = features.chain(self.ignored.clone()).collect();
        let (mut columns, mut remarks) = (Vec::new(), Vec::new());
        for (place, (head, summary)) in self.others.iter().enumerate() {
            names.push(head.name.clone());
            columns.push(self.listed(place)?);
            let more = match summary.judged(head) {
                Some(Judged::Numbers(found)) => found.warnings(&head.name),
                Some(Judged::Text(remark)) => remark.into_iter().collect(),
                None => Vec::new(),
            };
            remarks.extend(more.into_iter().map(|remark| (head.place, remark)));
        }
        if names.is_empty() {
            return Err(Error::Table(nothing_left(&self.warnings(known, remarks))));
        }
        roles.check(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        if rows == 0 {
            return Err(Error::Table("the table has no rows: nothing can be learned from it".into()));
        }
        let problem = self.problem(columns, roles)?;
        let (classes, target_kind) = (problem.classes.clone(), problem.target_kind);
        let outline = Outline { rows: self.facts.rows, ..problem.outline() };
        let (roles, known, parts) = (roles.clone(), known.clone(), self.parts.clone());
        Ok(Subject {
            outline,
            plan: RolePlan { roles, known, classes, target_kind, parts },
            facts: self.facts.clone(),
            content: self.content.clone(),
            dropped: rows - self.facts.rows - self.facts.weightless,
            remarks,
            names,
        })
    }

    /// A column that is no feature, of the rows that are listed.
    fn listed(&self, place: usize) -> Result<Column> {
        let (head, summary) = &self.others[place];
        let part = self.digest.part(place).filter(|_| !summary.is_mixed()).ok_or_else(|| mixed(&head.name))?;
        let mut head = head.clone();
        // What text holds was judged by all rows.
        match summary.kind(&head) {
            Kind::Numeric => head.request.numeric = true,
            Kind::Categorical => head.request.categorical = true,
            Kind::Boolean | Kind::Ordered => {}
        }
        let mut builder = Builder::new(&head);
        builder.push(part).map_err(|_| mixed(&head.name))?;
        let column = builder.finish().map_err(Error::Table)?.kept();
        column.map(|(column, _)| column).ok_or_else(damaged)
    }

    /// The problem of the rows that are listed: what is wrong with all is wrong with these.
    fn problem(&self, columns: Vec<Column>, roles: &Roles) -> Result<Problem> {
        let target = columns.iter().find(|column| column.name == roles.target);
        let is_text = target.is_some_and(|target| target.values.kind() == Kind::Categorical);
        let guessed = if roles.task.is_none() && is_text {
            let (levels, counts) = self.digest.labels();
            refuse_names_of(&roles.target, (&levels, &counts), self.digest.kept(), &roles.notation)?;
            Some(Task::Classification)
        } else {
            roles.task
        };
        let problem = Problem::with_roles(Table::new(columns)?, &Roles { task: guessed, ..roles.clone() });
        let problem = problem.map_err(|error| self.digest.among_all(error))?;
        if self.digest.is_cut() && problem.task().is_classification() {
            let what = "there are more classes than the 1000 supported; is this a number or an identifier?".into();
            return Err(Error::Column { role: "target", column: roles.target.clone(), row: None, what });
        }
        Ok(problem)
    }

    /// What there is to say of all columns, in their order.
    fn warnings(&self, known: &ColumnFindings, more: Vec<(usize, Warning)>) -> Vec<Warning> {
        let heads: Vec<Head> = self.features.iter().map(|(head, _)| head.clone()).collect();
        let mut remarks = known.remarks(&heads);
        for (head, summary) in &self.features {
            remarks.extend(summary.remark(head).0.map(|remark| (head.place, remark)));
        }
        remarks.extend(more);
        remarks.sort_by_key(|(place, _)| *place);
        remarks.into_iter().map(|(_, why)| why).collect()
    }

    /// How to make codes, and what there is to say. `sample` has the values that were asked for. Completes what is
    /// known of the problem.
    pub(crate) fn plan(
        self,
        sample: Option<Self>,
        subject: &mut Subject,
        params: &Checked,
    ) -> Result<(CodePlan, Vec<Warning>, Vec<String>)> {
        let warnings = self.warnings(&subject.plan.known, std::mem::take(&mut subject.remarks));
        let mut sampled: HashMap<String, ColumnSummary> =
            sample.into_iter().flat_map(|sample| sample.features).map(|(head, s)| (head.name, s)).collect();
        let mut features = Vec::new();
        for (head, summary) in self.features {
            if subject.names.contains(&head.name) {
                let summary = sampled.remove(&head.name).unwrap_or(summary);
                features.push((head, summary));
            }
        }
        let encoder = |(head, summary): (Head, ColumnSummary)| {
            if summary.is_mixed() {
                return Err(mixed(&head.name));
            }
            let encoder = summary.encoder(&head, params)?;
            Ok((head, encoder))
        };
        let features: Vec<(Head, FeatureEncoder)> = features.into_par_iter().map(encoder).collect::<Result<_>>()?;
        subject.outline.specs = features.iter().map(|(head, encoder)| encoder.spec(&head.name)).collect();
        Ok((CodePlan { roles: subject.plan.clone(), features }, warnings, self.notes))
    }
}

fn mixed(column: &str) -> Error {
    let what = "some partitions have numbers here and others text: make it one kind everywhere";
    Error::Column { role: "feature", column: column.to_owned(), row: None, what: what.into() }
}

impl CodePlan {
    /// The codes of a partition; and the numbers of its columns of numbers, if they are to be kept.
    pub(crate) fn encode(
        &self,
        source: &Arc<Source>,
        (number, stamp): (usize, &str),
        keeps_numbers: bool,
    ) -> Result<(Vec<BinnedColumn>, Vec<Vec<f64>>)> {
        let facts = self.roles.facts(number, stamp)?;
        let error = |what: Complaint| source.error(what);
        let (mut options, roles) = (self.roles.options(), &self.roles.roles);
        options.only = Some(self.features.iter().map(|(head, _)| head.name.clone()).chain(roles.deciding()).collect());
        let mut features: Vec<FeatureEncoder> = Vec::<(Head, FeatureEncoder)>::of_bytes(&self.features.bytes())?
            .into_iter()
            .map(|(_, encoder)| encoder)
            .collect();
        let as_text =
            self.features.iter().filter(|(_, encoder)| encoder.is_text()).map(|(head, _)| head.name.clone()).collect();
        let mut scan = Scan::new(source, &options, &as_text).map_err(error)?;
        let deciding = Deciding::new(&scan.heads, roles, self.roles.known.text_target);
        let place_of = |name: &str| scan.heads.iter().position(|head| head.name == *name);
        let places: Vec<Option<usize>> = self.features.iter().map(|(head, _)| place_of(&head.name)).collect();
        let mut codes: Vec<CodeBuilder> = features.iter().map(|f| CodeBuilder::new(f.bins(), facts.kept)).collect();
        let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); features.len()];
        let mut rows = 0;
        while let Some(parts) = if features.is_empty() { None } else { scan.next().map_err(error)? } {
            rows += parts.first().map_or(0, ColumnPart::rows);
            let kept = deciding.rows(&parts, &options.notation);
            let whole = (&mut features, &mut codes, &mut numbers, &places).into_par_iter().all(
                |(feature, codes, numbers, place)| {
                    let Some(place) = *place else { return false };
                    if keeps_numbers {
                        feature.append_numbers(&parts[place], &kept, numbers);
                    }
                    feature.encode(&parts[place], &kept, codes)
                },
            );
            if !whole {
                return Err(changed(number));
            }
        }
        if rows != facts.rows && !features.is_empty() {
            return Err(changed(number));
        }
        let columns = features.into_iter().zip(codes).map(|(feature, codes)| feature.finish(codes.finish()));
        Ok((columns.collect(), numbers))
    }

    /// The columns without codes, which are with the partitions.
    pub(crate) fn columns(&self, facts: Vec<CodedFacts>) -> Result<Vec<BinnedColumn>> {
        let features = Vec::<(Head, FeatureEncoder)>::of_bytes(&self.features.bytes())?;
        if features.len() != facts.len() {
            return Err(damaged());
        }
        Ok(features.into_iter().zip(facts).map(|((_, encoder), facts)| encoder.finish_remote(facts)).collect())
    }
}
