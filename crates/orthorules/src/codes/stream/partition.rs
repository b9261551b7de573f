//! The two passes over a table in partitions: what each partition tells, and how that is put together.
//!
//! What comes out is what reading the partitions one after the other as one table would give, to the last bit.

pub(crate) use super::feature::CodedFacts;
use super::feature::{ColumnSummary, FeatureEncoder, Sampling};
use super::{BatchRows, Deciding, Known, numbers};
use crate::base::decimal;
use crate::base::error::{Error, Result};
use crate::base::wire::{Reader, Wire, damaged, wire};
use crate::codes::column::BinnedColumn;
use crate::codes::packed::CodeBuilder;
use crate::codes::quantiles::Sketch;
use crate::data::columns::Target;
use crate::data::problem::{Problem, Roles};
use crate::data::table::{
    Builder, CHANGED, Column, ColumnPart, Complaint, Head, Kind, Notation, ReadOptions, Scan, Source, Table,
    as_boolean, nothing_left,
};
use crate::data::warning::Warning;
use crate::params::{Checked, Cutting};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// What a partition is asked before there are codes.
#[derive(Clone)]
pub(crate) struct SurveyRequest {
    pub(crate) roles: Roles,
    pub(crate) known: Known,
    pub(crate) cutting: Cutting,
    /// The features whose values are wanted, each with one value in so many, and how many there are before each partition. Without
    /// them values are counted.
    pub(crate) places: Option<Vec<Place>>,
}
wire!(SurveyRequest { roles, known, cutting, places });

/// Where the values of a feature are in the whole.
#[derive(Clone)]
pub(crate) struct Place {
    name: String,
    stride: usize,
    /// By the number of the partition.
    before: Vec<usize>,
}
wire!(Place { name, stride, before });

/// Of what is known, remarks stay where they are.
impl Wire for Known {
    fn put(&self, to: &mut Vec<u8>) {
        self.as_text.put(to);
        let mut numeric: Vec<String> = self.numeric.keys().cloned().collect();
        numeric.sort_unstable();
        numeric.put(to);
        self.text_target.put(to);
        self.dates.put(to);
    }

    fn take(from: &mut Reader) -> Result<Self> {
        let (as_text, numeric) = (Wire::take(from)?, Vec::<String>::take(from)?);
        let numeric = numeric.into_iter().map(|name| (name, Vec::new())).collect();
        Ok(Self { as_text, numeric, text_target: bool::take(from)?, dates: Wire::take(from)?, ambiguous: Vec::new() })
    }
}

/// One partition, as far as others need to know it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PartitionFacts {
    pub(crate) number: usize,
    /// What its source looked like.
    pub(crate) stamp: String,
    /// Its rows, and those that count.
    rows: usize,
    kept: usize,
    /// How many values each feature has.
    values: Vec<Option<usize>>,
}
wire!(PartitionFacts { number, stamp, rows, kept, values });

/// What partitions tell before there are codes.
pub(crate) struct Survey {
    parts: Vec<PartitionFacts>,
    features: Vec<(Head, ColumnSummary)>,
    /// The columns that are not features, in parts.
    others: Vec<(Head, Vec<ColumnPart>)>,
    /// Names of columns that are not used, and why.
    notes: Vec<String>,
}
wire!(Survey { parts, features, others, notes });

/// How to make codes of all partitions.
pub(crate) struct Plan {
    roles: Roles,
    known: Known,
    features: Vec<(Head, FeatureEncoder)>,
    classes: Vec<String>,
    target_kind: Kind,
    parts: Vec<PartitionFacts>,
}
wire!(Plan { roles, known, features, classes, target_kind, parts });

/// What is known of the rows of a partition beside their codes: targets, weights and exposures.
pub(crate) type RoleValues = (Target, Option<Vec<f64>>, Option<Vec<f64>>);

impl SurveyRequest {
    fn options(&self) -> ReadOptions {
        let mut options = self.roles.read_options();
        options.dates.known.extend(self.known.dates.clone());
        if let Some(places) = &self.places {
            options.only = Some(places.iter().map(|place| place.name.clone()).chain(self.roles.deciding()).collect());
        }
        options
    }

    /// What the partition with this number tells.
    pub(crate) fn answer(&self, source: &Arc<Source>, number: usize, stamp: &str) -> Result<Survey> {
        let error = |what: Complaint| source.error(what);
        let (options, roles) = (self.options(), &self.roles);
        let mut scan = Scan::new(source, &options, &self.known.as_text).map_err(error)?;
        let heads = scan.heads.clone();
        let sampling = |head: &Head| match &self.places {
            None => Some(Sampling::Count),
            Some(places) => {
                let place = places.iter().find(|place| place.name == head.name)?;
                Some(Sampling::Part(place.before.get(number).copied()?, place.stride))
            }
        };
        let feature = |head: &Head| {
            let numeric = self.known.numeric.contains_key(&head.name);
            let summary = || ColumnSummary::new(head, self.cutting, numeric);
            roles.is_feature(&head.name).then(|| sampling(head).map(|sampling| summary().sampled(sampling))).flatten()
        };
        let mut summaries: Vec<Option<ColumnSummary>> = heads.iter().map(feature).collect();
        let mut others: Vec<Vec<ColumnPart>> = heads.iter().map(|_| Vec::new()).collect();
        let deciding = Deciding::new(&heads, roles, self.known.text_target);
        let (mut rows, mut kept) = (0, 0);
        while let Some(parts) = scan.next().map_err(error)? {
            let count = parts.first().map_or(0, ColumnPart::rows);
            let counting = deciding.rows(&parts, &options.notation);
            rows += count;
            kept += counting.count(count);
            summaries.par_iter_mut().zip(&parts).for_each(|(summary, part)| {
                if let Some(summary) = summary {
                    summary.add(part, &counting);
                }
            });
            for ((head, part), others) in heads.iter().zip(parts).zip(&mut others) {
                if roles.is_singled_out(&head.name) && self.places.is_none() {
                    others.push(part);
                }
            }
        }
        let is_other = |head: &Head| roles.is_singled_out(&head.name);
        let notes = scan.left_out.iter().map(|(_, why)| why.to_string()).collect();
        let others = heads.iter().cloned().zip(others).filter(|(head, _)| is_other(head)).collect();
        let features: Vec<(Head, ColumnSummary)> =
            heads.into_iter().zip(summaries).filter_map(|(head, summary)| Some((head, summary?))).collect();
        let values = features.iter().map(|(_, summary)| summary.values()).collect();
        let facts = PartitionFacts { number, stamp: stamp.to_owned(), rows, kept, values };
        Ok(Survey { parts: vec![facts], features, others, notes })
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
        for ((head, summary), (other, more)) in self.features.iter_mut().zip(next.features) {
            // A partition without a value does not know what kind of column it is.
            if summary.is_missing() && !more.is_missing() {
                *head = other;
            }
            summary.append(more);
        }
        for ((head, parts), (other, more)) in self.others.iter_mut().zip(next.others) {
            if parts.iter().all(|part| matches!(part, ColumnPart::Missing(_)) || part.rows() == 0) {
                *head = other;
            }
            parts.extend(more);
        }
        self.parts.extend(next.parts);
        Ok(())
    }

    /// Adds to what is known of the columns. If nothing is new, it is known.
    pub(crate) fn teach(&self, known: &mut Known, roles: &Roles) -> Result<()> {
        self.features.iter().for_each(|(head, summary)| known.learn(head, summary, !roles.without_dates));
        if roles.drop_missing_target
            && let Some((head, parts)) = self.others.iter().find(|(head, _)| head.name == roles.target)
        {
            let column = built(head, parts)?;
            known.text_target |= column.is_some_and(|(column, _)| column.values.kind() != Kind::Numeric);
        }
        Ok(())
    }

    /// Which values of which features decide their bins.
    pub(crate) fn places(&self, exact: bool) -> Vec<Place> {
        let place = |(index, (head, summary)): (usize, &(Head, ColumnSummary))| {
            let stride = Sketch::stride_of(summary.values().filter(|_| !exact)?);
            let most = self.parts.iter().map(|part| part.number).max().unwrap_or_default();
            let mut before = vec![0; most + 1];
            let mut sum = 0;
            for part in &self.parts {
                before[part.number] = sum;
                sum += part.values.get(index).copied().flatten().unwrap_or_default();
            }
            Some(Place { name: head.name.clone(), stride, before })
        };
        self.features.iter().enumerate().filter_map(place).collect()
    }

    /// The problem without features, how to make codes of these, and what there is to say. `sample` has the values that were asked for.
    pub(crate) fn plan(
        self,
        sample: Option<Self>,
        known: Known,
        roles: &Roles,
        params: &Checked,
    ) -> Result<(Problem, Plan, Vec<Warning>, Vec<String>)> {
        if self.parts.iter().map(|part| part.rows).sum::<usize>() >= u32::MAX as usize {
            return Err(Error::Table("the table has more than the 4,294,967,294 rows that one may have".into()));
        }
        let heads: Vec<Head> = self.features.iter().map(|(head, _)| head.clone()).collect();
        let mut remarks = known.remarks(&heads);
        let mut sampled: HashMap<String, ColumnSummary> =
            sample.into_iter().flat_map(|sample| sample.features).map(|(head, s)| (head.name, s)).collect();
        let (mut names, mut features) = (Vec::new(), Vec::new());
        for (head, summary) in self.features {
            let (remark, is_left_out) = summary.remark(&head);
            remarks.extend(remark.map(|remark| (head.place, remark)));
            if !is_left_out {
                names.push(head.name.clone());
                let summary = sampled.remove(&head.name).unwrap_or(summary);
                features.push((head, summary));
            }
        }
        let mut columns = Vec::new();
        for (head, parts) in &self.others {
            if let Some((column, more)) = built(head, parts)? {
                names.push(column.name.clone());
                columns.push(column);
                remarks.extend(more.into_iter().map(|remark| (head.place, remark)));
            }
        }
        remarks.sort_by_key(|(place, _)| *place);
        let warnings: Vec<Warning> = remarks.into_iter().map(|(_, why)| why).collect();
        if names.is_empty() {
            return Err(Error::Table(nothing_left(&warnings)));
        }
        roles.check(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        if columns.first().is_none_or(|column| column.values.is_empty()) {
            return Err(Error::Table("the table has no rows: nothing can be learned from it".into()));
        }
        let mut problem = Problem::with_roles(Table::new(columns)?, roles)?;
        let encoder = |(head, summary): (Head, ColumnSummary)| {
            if summary.is_mixed() {
                return Err(mixed(&head.name));
            }
            let encoder = summary.encoder(&head, params)?;
            Ok((head, encoder))
        };
        let features: Vec<(Head, FeatureEncoder)> = features.into_par_iter().map(encoder).collect::<Result<_>>()?;
        problem.coded = Some(features.iter().map(|(head, encoder)| encoder.spec(&head.name)).collect());
        let (classes, target_kind) = (problem.classes.clone(), problem.target_kind);
        let plan = Plan { roles: roles.clone(), known, features, classes, target_kind, parts: self.parts };
        Ok((problem, plan, warnings, self.notes))
    }
}

/// A column from its parts, with what there is to say of it.
fn built(head: &Head, parts: &[ColumnPart]) -> Result<Option<(Column, Vec<Warning>)>> {
    let mut builder = Builder::new(head);
    for part in parts {
        builder.push(ColumnPart::of_bytes(&part.bytes())?).map_err(|_| mixed(&head.name))?;
    }
    Ok(builder.finish().map_err(Error::Table)?.kept())
}

fn mixed(column: &str) -> Error {
    let what = "some partitions have numbers here and others text: make it one kind everywhere";
    Error::Column { role: "feature", column: column.to_owned(), row: None, what: what.into() }
}

impl Plan {
    /// The partition with this number must be what it was.
    fn facts(&self, number: usize, stamp: &str) -> Result<&PartitionFacts> {
        let facts = self.parts.iter().find(|part| part.number == number).ok_or_else(damaged)?;
        if facts.stamp == stamp { Ok(facts) } else { Err(changed(number)) }
    }

    /// The codes of a partition, and what else is known of its rows.
    pub(crate) fn encode(
        &self,
        source: &Arc<Source>,
        number: usize,
        stamp: &str,
    ) -> Result<(Vec<BinnedColumn>, RoleValues)> {
        let facts = self.facts(number, stamp)?;
        let error = |what: Complaint| source.error(what);
        let (roles, notation) = (&self.roles, &self.roles.notation);
        let mut options = roles.read_options();
        options.dates.known.extend(self.known.dates.clone());
        let singled = [Some(&roles.target), roles.weight.as_ref(), roles.exposure.as_ref()];
        let names = self.features.iter().map(|(head, _)| &head.name).chain(singled.into_iter().flatten());
        options.only = Some(names.cloned().collect());
        let mut features: Vec<FeatureEncoder> = Vec::<(Head, FeatureEncoder)>::of_bytes(&self.features.bytes())?
            .into_iter()
            .map(|(_, encoder)| encoder)
            .collect();
        let as_text =
            self.features.iter().filter(|(_, encoder)| encoder.is_text()).map(|(head, _)| head.name.clone()).collect();
        let mut scan = Scan::new(source, &options, &as_text).map_err(error)?;
        let deciding = Deciding::new(&scan.heads, roles, self.known.text_target);
        let place_of = |name: &str| scan.heads.iter().position(|head| head.name == *name);
        let places: Vec<Option<usize>> = self.features.iter().map(|(head, _)| place_of(&head.name)).collect();
        let target = place_of(&roles.target).ok_or_else(|| changed(number))?;
        let [weight, exposure] = [&roles.weight, &roles.exposure].map(|name| name.as_deref().and_then(place_of));
        let mut codes: Vec<CodeBuilder> = features.iter().map(|f| CodeBuilder::new(f.bins(), facts.kept)).collect();
        let mut values: RoleValues = (
            if self.classes.is_empty() { Target::Numbers(Vec::new()) } else { Target::Classes(Vec::new()) },
            weight.map(|_| Vec::new()),
            exposure.map(|_| Vec::new()),
        );
        let mut rows = 0;
        while let Some(parts) = scan.next().map_err(error)? {
            rows += parts.first().map_or(0, ColumnPart::rows);
            let kept = deciding.rows(&parts, notation);
            let whole = (&mut features, &mut codes, &places)
                .into_par_iter()
                .all(|(feature, codes, place)| place.is_some_and(|place| feature.encode(&parts[place], &kept, codes)));
            let told = self.tell(&parts[target], &kept, &mut values.0);
            let told = told && add(weight.map(|w| &parts[w]), notation, &kept, &mut values.1);
            if !whole || !told || !add(exposure.map(|e| &parts[e]), notation, &kept, &mut values.2) {
                return Err(changed(number));
            }
        }
        if rows != facts.rows {
            return Err(changed(number));
        }
        let columns = features.into_iter().zip(codes).map(|(feature, codes)| feature.finish(codes.finish())).collect();
        Ok((columns, values))
    }

    /// Adds the targets of a batch; false if one of them is not among those that are known.
    fn tell(&self, part: &ColumnPart, kept: &BatchRows, to: &mut Target) -> bool {
        let notation = &self.roles.notation;
        match to {
            Target::Numbers(to) => {
                let Some(values) = numbers(part, notation) else { return false };
                to.extend(kept.of_values(&values).iter());
                true
            }
            Target::Classes(to) => {
                let class = |label: &str| self.classes.iter().position(|known| known == label).map(|c| c as u32);
                let labels: Vec<Option<u32>> = match part {
                    ColumnPart::Missing(rows) => vec![None; *rows],
                    ColumnPart::Booleans(values) => {
                        let both = [false, true].map(|value| class(&value.to_string()));
                        values.iter().map(|value| value.and_then(|value| both[usize::from(value)])).collect()
                    }
                    ColumnPart::Text(cells) if self.target_kind != Kind::Numeric => {
                        let label = |name: &String| match (self.target_kind, as_boolean(name)) {
                            (Kind::Boolean, Some(value)) => class(&value.to_string()),
                            _ => class(name),
                        };
                        let known: Vec<Option<u32>> = cells.names.iter().map(label).collect();
                        cells.codes.iter().map(|&code| known.get(code as usize).copied().flatten()).collect()
                    }
                    part => {
                        let mut known: HashMap<u64, Option<u32>> = HashMap::new();
                        let Some(values) = numbers(part, notation) else { return false };
                        let mut label = |x: f64| *known.entry(x.to_bits()).or_insert_with(|| class(&decimal::plain(x)));
                        values.iter().map(|x| label(x + 0.0)).collect()
                    }
                };
                let before = to.len();
                let labels = kept.of_values(&labels);
                to.extend(labels.iter().flatten());
                to.len() - before == labels.len()
            }
        }
    }

    /// The columns whose codes lie elsewhere.
    pub(crate) fn columns(&self, facts: Vec<CodedFacts>) -> Result<Vec<BinnedColumn>> {
        let features = Vec::<(Head, FeatureEncoder)>::of_bytes(&self.features.bytes())?;
        if features.len() != facts.len() {
            return Err(damaged());
        }
        Ok(features.into_iter().zip(facts).map(|((_, encoder), facts)| encoder.finish_elsewhere(facts)).collect())
    }
}

/// Adds the numbers of a batch, if they are wanted; false if they are none.
fn add(part: Option<&ColumnPart>, notation: &Notation, kept: &BatchRows, to: &mut Option<Vec<f64>>) -> bool {
    let (Some(part), Some(to)) = (part, to) else { return true };
    let Some(values) = numbers(part, notation) else { return false };
    to.extend(kept.of_values(&values).iter());
    true
}

fn changed(number: usize) -> Error {
    Error::Table(format!("partition {number} {CHANGED}"))
}
