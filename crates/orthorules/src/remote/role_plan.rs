//! Targets, weights, exposures and offsets of a partition, once it is known what they are.

use crate::base::decimal;
use crate::base::error::{Error, Result};
use crate::base::wire::{ByteReader, Wire, damaged, wire};
use crate::codes::stream::{BatchRows, ColumnFindings, Deciding, numbers};
use crate::data::columns::Target;
use crate::data::offset::fold;
use crate::data::problem::Roles;
use crate::data::table::{CHANGED, ColumnPart, Complaint, Kind, Notation, ReadOptions, Scan, Source, as_boolean};
use crate::data::task::Task;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Of what is known, remarks stay where they are.
impl Wire for ColumnFindings {
    fn put(&self, to: &mut Vec<u8>) {
        self.as_text.put(to);
        let mut numeric: Vec<String> = self.numeric.keys().cloned().collect();
        numeric.sort_unstable();
        numeric.put(to);
        self.text_target.put(to);
        self.dates.put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
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
    pub(crate) rows: usize,
    pub(crate) kept: usize,
    /// How many values each feature has.
    pub(crate) values: Vec<Option<usize>>,
}
wire!(PartitionFacts { number, stamp, rows, kept, values });

/// How to read targets, weights, exposures and offsets.
#[derive(Clone)]
pub(crate) struct RolePlan {
    pub(crate) roles: Roles,
    pub(crate) known: ColumnFindings,
    pub(crate) classes: Vec<String>,
    pub(crate) target_kind: Kind,
    pub(crate) parts: Vec<PartitionFacts>,
}
wire!(RolePlan { roles, known, classes, target_kind, parts });

/// What is known of the rows of a partition beside their codes.
pub(crate) struct RoleValues {
    pub(crate) target: Target,
    pub(crate) weight: Option<Vec<f64>>,
    pub(crate) exposure: Option<Vec<f64>>,
    pub(crate) offset: Option<Vec<f64>>,
}

impl RoleValues {
    /// These values with offsets folded into targets or exposures.
    fn folded(mut self, task: Option<Task>) -> Self {
        if let (Target::Numbers(y), Some(offset)) = (&mut self.target, self.offset.take()) {
            fold(task, y, &mut self.exposure, offset);
        }
        self
    }
}

impl RolePlan {
    /// The partition with this number must be what it was.
    pub(crate) fn facts(&self, number: usize, stamp: &str) -> Result<&PartitionFacts> {
        let facts = self.parts.iter().find(|part| part.number == number).ok_or_else(damaged)?;
        if facts.stamp == stamp { Ok(facts) } else { Err(changed(number)) }
    }

    pub(crate) fn options(&self) -> ReadOptions {
        let mut options = self.roles.read_options();
        options.dates.known.extend(self.known.dates.clone());
        options
    }

    /// The targets, weights and exposures that a fit counts with, into which offsets are folded.
    pub(crate) fn read_folded(&self, source: &Arc<Source>, number: usize, stamp: &str) -> Result<RoleValues> {
        Ok(self.read(source, number, stamp)?.folded(self.roles.task))
    }

    /// The targets, weights, exposures and offsets of a partition.
    pub(crate) fn read(&self, source: &Arc<Source>, number: usize, stamp: &str) -> Result<RoleValues> {
        let facts = self.facts(number, stamp)?;
        let error = |what: Complaint| source.error(what);
        let (roles, notation, mut options) = (&self.roles, &self.roles.notation, self.options());
        let singled = [Some(&roles.target), roles.weight.as_ref(), roles.exposure.as_ref(), roles.offset.as_ref()];
        options.only = Some(singled.into_iter().flatten().cloned().collect());
        let mut scan = Scan::new(source, &options, &HashSet::new()).map_err(error)?;
        let deciding = Deciding::new(&scan.heads, roles, self.known.text_target);
        let place_of = |name: &str| scan.heads.iter().position(|head| head.name == *name);
        let target = place_of(&roles.target).ok_or_else(|| changed(number))?;
        let [weight, exposure, offset] =
            [&roles.weight, &roles.exposure, &roles.offset].map(|name| name.as_deref().and_then(place_of));
        let room = || Vec::with_capacity(facts.kept);
        let mut values = RoleValues {
            target: if self.classes.is_empty() {
                Target::Numbers(room())
            } else {
                Target::Classes(Vec::with_capacity(facts.kept))
            },
            weight: weight.map(|_| room()),
            exposure: exposure.map(|_| room()),
            offset: offset.map(|_| room()),
        };
        let mut rows = 0;
        while let Some(parts) = scan.next().map_err(error)? {
            rows += parts.first().map_or(0, ColumnPart::rows);
            let kept = deciding.rows(&parts, notation);
            let told = self.tell(&parts[target], &kept, &mut values.target);
            let add = |place: Option<usize>, to| add(place.map(|place| &parts[place]), notation, &kept, to);
            let told = told && add(weight, &mut values.weight) && add(exposure, &mut values.exposure);
            if !told || !add(offset, &mut values.offset) {
                return Err(changed(number));
            }
        }
        if rows == facts.rows { Ok(values) } else { Err(changed(number)) }
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
}

/// Adds the numbers of a batch, if they are wanted; false if they are none.
fn add(part: Option<&ColumnPart>, notation: &Notation, kept: &BatchRows, to: &mut Option<Vec<f64>>) -> bool {
    let (Some(part), Some(to)) = (part, to) else { return true };
    let Some(values) = numbers(part, notation) else { return false };
    to.extend(kept.of_values(&values).iter());
    true
}

pub(crate) fn changed(number: usize) -> Error {
    Error::Table(format!("partition {number} {CHANGED}"))
}
