//! The rows that weights are fitted to: what the loss needs of each, and the cells that rules cut them into.

use crate::base::decimal::at_most_finite;
use crate::data::loss::Loss;
use crate::model::evaluate::Truth;
use crate::model::predict::Activations;

/// What one list of rules is fitted to: mass and target of each row in each score, as the loss counts them.
///
/// The loss of a row is `a ψ(f) − b f` up to a constant (`data/loss.rs`). Targets of squared loss are counted from
/// their mean, in units of a power of two.
pub(super) struct ListTargets {
    pub(super) loss: Loss,
    /// Whether the scores of several classes become probabilities together.
    pub(super) is_softmax: bool,
    /// The mass of each row.
    pub(super) mass: Vec<f64>,
    /// For each score, the weighted target of each row.
    pub(super) b: Vec<Vec<f64>>,
    /// What scores are counted from.
    pub(super) center: f64,
    /// Their unit.
    pub(super) unit: f64,
    /// The sum of weights, and of what losses have that no score changes.
    pub(super) weight: f64,
    pub(super) saturated: f64,
}

impl ListTargets {
    /// One score: the class `class` against the others, or the numbers.
    pub(super) fn of_score(loss: Loss, truth: &Truth, class: Option<u32>) -> Self {
        let rows = truth.weight.len();
        let offset = |r: usize| truth.offset.as_ref().map_or(0.0, |offset| offset[r]);
        let weight: f64 = truth.weight.iter().sum();
        let y = |r: usize| class.map_or(truth.y[r], |class| f64::from(u8::from(truth.class[r] == class)));
        let exposure = |r: usize| truth.exposure[r] * offset(r).exp();
        let mut targets = Self {
            loss,
            is_softmax: false,
            mass: truth.weight.clone(),
            b: Vec::new(),
            center: 0.0,
            unit: 1.0,
            weight,
            saturated: 0.0,
        };
        let w = &truth.weight;
        let b: Vec<f64> = match loss {
            Loss::Squared => {
                let largest = (0..rows).map(|r| (y(r) - offset(r)).abs()).fold(0.0, f64::max);
                targets.center = (0..rows).map(|r| w[r] / weight * (y(r) - offset(r))).sum();
                targets.unit = if largest > 0.0 { at_most_finite(largest.log2().ceil().exp2()) } else { 1.0 };
                let (center, unit) = (targets.center, targets.unit);
                let centred = |r: usize| (y(r) - offset(r)) / unit - center / unit;
                targets.saturated = (0..rows).map(|r| w[r] * centred(r) * centred(r)).sum();
                targets.mass.iter_mut().for_each(|mass| *mass *= 2.0);
                (0..rows).map(|r| 2.0 * w[r] * centred(r)).collect()
            }
            Loss::Logistic => (0..rows).map(|r| w[r] * y(r)).collect(),
            Loss::Poisson => {
                (0..rows).for_each(|r| targets.mass[r] = w[r] * exposure(r));
                targets.saturated = (0..rows).map(|r| w[r] * loss.saturated(y(r), exposure(r))).sum();
                (0..rows).map(|r| w[r] * y(r)).collect()
            }
            Loss::Gamma => {
                (0..rows).for_each(|r| targets.mass[r] = w[r] * y(r) / exposure(r));
                targets.saturated = (0..rows).map(|r| w[r] * loss.saturated(y(r), exposure(r))).sum();
                w.iter().map(|w| -w).collect()
            }
        };
        targets.b = vec![b];
        targets
    }

    /// One score for each of several classes.
    pub(super) fn of_classes(truth: &Truth, classes: usize) -> Self {
        let of_class = |class: u32| {
            let of_row = |(w, own): (&f64, &u32)| if *own == class { *w } else { 0.0 };
            truth.weight.iter().zip(&truth.class).map(of_row).collect()
        };
        Self {
            loss: Loss::Logistic,
            is_softmax: true,
            mass: truth.weight.clone(),
            b: (0..classes as u32).map(of_class).collect(),
            center: 0.0,
            unit: 1.0,
            weight: truth.weight.iter().sum(),
            saturated: 0.0,
        }
    }

    /// The mean target of a row, of at least half an event in all: λ of counts, where none is given.
    pub(super) fn mean_target(&self) -> f64 {
        self.b[0].iter().sum::<f64>().max(0.5) / self.weight
    }

    /// A loss of all rows as the mean of these, in the units of the target.
    pub(super) fn mean_loss(&self, sum: f64) -> f64 {
        let square = if self.loss == Loss::Squared { self.unit * self.unit } else { 1.0 };
        at_most_finite(((sum + self.saturated) / self.weight).max(0.0) * square)
    }
}

/// Groups of rows that satisfy the same rules.
pub(super) struct RowCells {
    /// The cell of each row.
    pub(super) of_row: Vec<u32>,
    /// For each cell, whether it satisfies each rule.
    pub(super) holds: Vec<Vec<bool>>,
}

impl RowCells {
    /// The cells of the rules of list `list` that are no trends.
    pub(super) fn new(activations: &Activations, list: usize, is_rule: &[bool], rows: usize) -> Self {
        let mut of_row = vec![0u32; rows];
        let mut holds: Vec<Vec<bool>> = vec![Vec::new()];
        for (k, _) in is_rule.iter().enumerate() {
            let fires = |row: usize| is_rule[k] && activations.fires(list, k, row);
            // Where the rows of each cell go that satisfy the rule, and the others.
            let mut places = vec![[u32::MAX; 2]; holds.len()];
            let mut split: Vec<Vec<bool>> = Vec::with_capacity(holds.len());
            for (row, cell) in of_row.iter_mut().enumerate() {
                let fired = fires(row);
                let place = &mut places[*cell as usize][usize::from(fired)];
                if *place == u32::MAX {
                    *place = split.len() as u32;
                    let mut now = holds[*cell as usize].clone();
                    now.push(fired);
                    split.push(now);
                }
                *cell = *place;
            }
            holds = split;
        }
        Self { of_row, holds }
    }
}

/// Mass and targets of the rows of each cell.
pub(super) struct CellTotals {
    /// Of each cell.
    pub(super) mass: Vec<f64>,
    /// Of each cell and score.
    pub(super) b: Vec<f64>,
    /// The rows that do not count.
    left_out: Option<Vec<bool>>,
}

impl CellTotals {
    /// The sums over all rows but those that are `left_out`.
    pub(super) fn new(targets: &ListTargets, cells: &RowCells, left_out: Option<Vec<bool>>) -> Self {
        let scores = targets.b.len();
        let mut sums = Self { mass: vec![0.0; cells.holds.len()], b: vec![0.0; cells.holds.len() * scores], left_out };
        for (row, &cell) in cells.of_row.iter().enumerate() {
            if sums.counts(row) {
                sums.mass[cell as usize] += targets.mass[row];
                let of_cell = &mut sums.b[cell as usize * scores..];
                of_cell.iter_mut().zip(&targets.b).for_each(|(sum, b)| *sum += b[row]);
            }
        }
        sums
    }

    /// Whether a row counts.
    pub(super) fn counts(&self, row: usize) -> bool {
        self.left_out.as_ref().is_none_or(|left_out| !left_out[row])
    }
}

/// The cells of some of the rules.
pub(super) struct MergedCells {
    /// For each cell of all rules, the cell that it is part of.
    pub(super) part_of: Vec<u32>,
    /// For each cell, the places of the rules that hold.
    pub(super) rules: Vec<Vec<usize>>,
}

impl RowCells {
    /// The cells that the rules `members` alone cut rows into.
    pub(super) fn merged(&self, members: &[usize]) -> MergedCells {
        let mut known = std::collections::HashMap::new();
        let mut rules: Vec<Vec<usize>> = Vec::new();
        let part_of = self.holds.iter().map(|holds| {
            let own: Vec<usize> = (0..members.len()).filter(|&place| holds[members[place]]).collect();
            *known.entry(own).or_insert_with_key(|own| {
                rules.push(own.clone());
                rules.len() as u32 - 1
            })
        });
        let part_of = part_of.collect();
        MergedCells { part_of, rules }
    }
}
