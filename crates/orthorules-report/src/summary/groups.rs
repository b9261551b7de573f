//! Rows that satisfy the same rules have the same prediction at every size: one group each says all that there is to
//! say of calibration, ranking and classes, whatever size is shown.

use super::rows::ValidRows;
use super::short;
use crate::digest::hex;
use orthorules_model::Model;
use orthorules_model::predict::Activations;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::collections::BTreeMap;

/// With more groups than this the page takes its sample of rows instead.
const MOST_GROUPS: usize = 3000;
/// And with more bytes of bits and numbers than this, with many rules or classes.
const MOST_BYTES: usize = 100_000;

/// The groups by the rules that their rows satisfy: one bit for each list and rule, lowest first.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    rules: Vec<usize>,
    classes: usize,
    by_rules: BTreeMap<Vec<u8>, GroupSums>,
}

/// What is kept of the rows of a group.
#[derive(Debug, Clone, Default)]
struct GroupSums {
    rows: u64,
    weight: f64,
    /// Weight × exposure.
    mass: f64,
    target: f64,
    /// With classes: the weight of each.
    classes: Vec<f64>,
}

impl Groups {
    pub(super) fn new(model: &Model) -> Self {
        let rules = model.lists.iter().map(|list| list.rules.len()).collect();
        Self { rules, classes: model.classes.len(), by_rules: BTreeMap::new() }
    }

    /// Adds rows; whether the groups are still few.
    pub(super) fn add(&mut self, rows: &ValidRows, activations: &Activations) -> bool {
        let Some(truth) = &rows.truth else { return false };
        let bits: usize = self.rules.iter().sum();
        let mut key = vec![0u8; bits.div_ceil(8)];
        for row in 0..rows.table.rows() {
            key.fill(0);
            let places = self.rules.iter().enumerate().flat_map(|(l, &count)| (0..count).map(move |k| (l, k)));
            for (bit, (l, k)) in places.enumerate() {
                key[bit / 8] |= u8::from(activations.fires(l, k, row)) << (bit % 8);
            }
            if !self.by_rules.contains_key(&key) {
                let groups = self.by_rules.len() + 1;
                if groups > MOST_GROUPS || groups * (2 * key.len() + 4 * self.classes.max(3)) > MOST_BYTES {
                    return false;
                }
                self.by_rules
                    .insert(key.clone(), GroupSums { classes: vec![0.0; self.classes], ..GroupSums::default() });
            }
            let Some(sums) = self.by_rules.get_mut(&key) else { return false };
            let weight = truth.weight[row];
            sums.rows += 1;
            sums.weight += weight;
            sums.mass += weight * truth.exposure[row];
            sums.target += weight * truth.y[row];
            if let Some(class) = sums.classes.get_mut(truth.class[row] as usize) {
                *class += weight;
            }
        }
        true
    }
}

/// One list for each quantity, which takes less room than a record for each group.
impl Serialize for Groups {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let list = |of: fn(&GroupSums) -> f64| self.by_rules.values().map(|sums| short(of(sums))).collect::<Vec<f64>>();
        let mut groups = serializer.serialize_struct("groups", 6)?;
        groups.serialize_field("bits", &self.by_rules.keys().map(|key| hex(key)).collect::<Vec<_>>())?;
        groups.serialize_field("rows", &self.by_rules.values().map(|s| s.rows).collect::<Vec<_>>())?;
        groups.serialize_field("weight", &list(|s| s.weight))?;
        groups.serialize_field("mass", &list(|s| s.mass))?;
        groups.serialize_field("target", &list(|s| s.target))?;
        if self.classes > 0 {
            let classes = |s: &GroupSums| s.classes.iter().map(|&w| short(w)).collect::<Vec<f64>>();
            groups.serialize_field("classes", &self.by_rules.values().map(classes).collect::<Vec<_>>())?;
        }
        groups.end()
    }
}
