//! Cells: groups of rows that satisfy the same chosen rules.
//!
//! Rows of a cell share their score and their row of the orthogonal basis, so everything but the histograms themselves
//! is computed once for each cell. Adding a rule splits the cells that it covers in part.

use crate::response::{PerRow, Response};
use rayon::prelude::*;

/// The partition of the rows by the rules chosen so far, with its sums.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// Cell of each row; where targets are counted, twice its cell, and 1 more if its target is 1.
    pub(crate) keys: Vec<u32>,
    /// Whether targets are counted.
    counted: bool,
    /// The rules that each cell lies in, ascending.
    rules_of: Vec<Vec<u32>>,
    /// A: sum of masses.
    pub(crate) mass: Vec<f64>,
    /// B: sum of weighted targets.
    pub(crate) b: Vec<f64>,
    /// W: sum of the first-order norm's weights; equal to A / factor without exposure.
    pub(crate) norm: Vec<f64>,
    /// Number of rows.
    size: Vec<u32>,
    /// Σ b²/a, for the squares of gradients.
    pub(crate) square: Vec<f64>,
    rules: usize,
}

/// Sums over rows are taken in blocks of this size, whose results are added in order: the same on any number of threads.
const BLOCK: usize = 1 << 16;

impl Cells {
    /// One cell with all rows.
    pub(crate) fn new(response: &Response) -> Self {
        let counted = response.counted;
        let mut cells = Self {
            keys: if counted { response.b.iter().map(|&b| b as u32).collect() } else { vec![0; response.rows()] },
            counted,
            rules_of: vec![Vec::new()],
            mass: Vec::new(),
            b: Vec::new(),
            norm: Vec::new(),
            size: vec![response.rows() as u32],
            square: Vec::new(),
            rules: 0,
        };
        if counted {
            let ones = response.b.iter().sum();
            cells.follow_counts(&[[response.rows() as f64 - ones, ones]], response);
        } else {
            cells.sum(None, response);
        }
        cells
    }

    /// The cell of a row.
    pub(crate) fn of(&self, row: usize) -> usize {
        self.cell_of(self.keys[row])
    }

    /// The cell that a key stands for.
    pub(crate) fn cell_of(&self, key: u32) -> usize {
        (key >> u32::from(self.counted)) as usize
    }

    /// Whether keys tell the target of a row.
    pub(crate) fn are_counted(&self) -> bool {
        self.counted
    }

    /// How many rows a cell has.
    pub(crate) fn rows(&self, cell: usize) -> u32 {
        self.size[cell]
    }

    /// p, the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.rules_of.len()
    }

    /// How many keys there are.
    pub(crate) fn keys_in_use(&self) -> usize {
        self.len() << u32::from(self.counted)
    }

    /// t, the number of rules.
    pub(crate) fn rules(&self) -> usize {
        self.rules
    }

    /// The rules that `cell` lies in, ascending.
    pub(crate) fn rules_of(&self, cell: usize) -> &[u32] {
        &self.rules_of[cell]
    }

    /// Whether `cell` lies in rule `k`.
    pub(crate) fn in_rule(&self, cell: usize, k: usize) -> bool {
        self.rules_of[cell].binary_search(&(k as u32)).is_ok()
    }

    /// Adds a rule that covers `rows`, ascending: covered rows of a partly covered cell move to a new cell. Says where the covered
    /// rows of each cell are now.
    pub(crate) fn split(&mut self, rows: &[u32], response: &Response) -> Vec<u32> {
        self.split_with(&self.count(rows), rows, response)
    }

    /// How many of `rows` have each key.
    fn count(&self, rows: &[u32]) -> Vec<u32> {
        let keys = self.keys_in_use();
        let count = |rows: &[u32]| {
            let mut covered = vec![0u32; keys];
            rows.iter().for_each(|&r| covered[self.keys[r as usize] as usize] += 1);
            covered
        };
        let mut covered = vec![0u32; keys];
        for part in rows.par_chunks(BLOCK).map(count).collect::<Vec<_>>() {
            covered.iter_mut().zip(part).for_each(|(c, n)| *c += n);
        }
        covered
    }

    /// [`Self::split`] where it may be known already how many of the rows each cell has.
    pub(crate) fn split_known(&mut self, rows: &[u32], covered: Option<Vec<u32>>, response: &Response) -> Vec<u32> {
        match covered.filter(|_| !self.counted) {
            Some(covered) => self.split_with(&covered, rows, response),
            None => self.split(rows, response),
        }
    }

    /// [`Self::split`] where so many of the rows have each key.
    fn split_with(&mut self, covered: &[u32], rows: &[u32], response: &Response) -> Vec<u32> {
        let (old, shift, newest) = (self.len(), u32::from(self.counted), self.rules as u32);
        let mut moved_to: Vec<u32> = (0..old as u32).collect();
        for cell in 0..old {
            let covered: u32 = covered[cell << shift..(cell + 1) << shift].iter().sum();
            let whole = covered == self.size[cell];
            if covered > 0 && !whole {
                moved_to[cell] = self.rules_of.len() as u32;
                self.size[cell] -= covered;
                self.size.push(covered);
                let rules = self.rules_of[cell].iter().copied().chain([newest]).collect();
                self.rules_of.push(rules);
            } else if covered > 0 {
                self.rules_of[cell].push(newest);
            }
        }
        let to_key: Vec<u32> =
            (0..(old << shift) as u32).map(|k| (moved_to[(k >> shift) as usize] << shift) | (k & shift)).collect();
        let new = self.len();
        let plain = self.inverse_mass(response);
        let moved = |(number, keys): (usize, &mut [u32])| {
            let start = number * BLOCK;
            let place = |row: usize| rows.partition_point(|&r| (r as usize) < row);
            for &r in &rows[place(start)..place(start + keys.len())] {
                let key = &mut keys[r as usize - start];
                *key = to_key[*key as usize];
            }
            plain.map_or(Vec::new(), |inverse| block_sums(new, keys, values(&response.b[start..], inverse)))
        };
        let sums: Vec<Vec<[f64; 2]>> = self.keys.par_chunks_mut(BLOCK).enumerate().map(moved).collect();
        self.rules += 1;
        if self.counted {
            let mut counts: Vec<[f64; 2]> = self.b.iter().zip(&self.mass).map(|(b, rows)| [rows - b, *b]).collect();
            counts.resize(self.len(), [0.0; 2]);
            for (cell, &to) in moved_to.iter().enumerate().filter(|&(cell, &to)| to as usize != cell) {
                for y in 0..2 {
                    let moved = f64::from(covered[2 * cell + y]);
                    counts[cell][y] -= moved;
                    counts[to as usize][y] += moved;
                }
            }
            self.follow_counts(&counts, response);
        } else {
            self.sum(plain.is_some().then(|| added(new, &sums)), response);
        }
        moved_to
    }

    /// The sums of cells with so many rows of target 0 and of target 1. All are whole numbers, so these are the bits that adding up
    /// rows would give.
    fn follow_counts(&mut self, counts: &[[f64; 2]], response: &Response) {
        self.mass = counts.iter().map(|c| c[0] + c[1]).collect();
        self.norm = self.mass.iter().map(|a| a / response.loss.factor()).collect();
        self.b = counts.iter().map(|c| c[1]).collect();
        self.square.clone_from(&self.b);
    }

    /// 1/a where rows are not counted and all have the same mass: 1 or 2, whose inverse is exact.
    fn inverse_mass(&self, response: &Response) -> Option<f64> {
        match response.mass {
            PerRow::Same(mass) if !self.counted => Some(1.0 / mass),
            _ => None,
        }
    }

    /// Sums in the order of the rows, so that the result does not depend on the history of splits. `sums` are those of
    /// [`values`] if they are there already.
    fn sum(&mut self, sums: Option<Vec<[f64; 2]>>, response: &Response) {
        let b = &response.b;
        let sums = sums.unwrap_or_else(|| match (self.inverse_mass(response), &response.mass) {
            (Some(inverse), _) => self.total(|r| square(b[r], inverse)),
            (None, mass) => self.total(|r| [b[r], b[r] * (b[r] / mass.at(r))]),
        });
        self.b = sums.iter().map(|s| s[0]).collect();
        self.square = sums.iter().map(|s| s[1]).collect();
        let each = |values: &PerRow, this: &Self| match values {
            PerRow::Same(x) => this.size.iter().map(|&n| x * f64::from(n)).collect(),
            PerRow::Each(v) => this.total(|r| [v[r]]).iter().map(|s| s[0]).collect(),
        };
        self.mass = each(&response.mass, self);
        self.norm = match &response.norm {
            Some(norm) => each(norm, self),
            None => self.mass.iter().map(|a| a / response.loss.factor()).collect(),
        };
    }

    /// The sums of `value` over the rows of each cell.
    fn total<const K: usize>(&self, value: impl Fn(usize) -> [f64; K] + Sync) -> Vec<[f64; K]> {
        let block = |(number, keys): (usize, &[u32])| block_sums(self.len(), keys, (number * BLOCK..).map(&value));
        let blocks: Vec<_> = self.keys.par_chunks(BLOCK).enumerate().map(block).collect();
        added(self.len(), &blocks)
    }
}

/// b and b²/a of rows with these b and one mass, the inverse of a.
fn values(b: &[f64], inverse: f64) -> impl Iterator<Item = [f64; 2]> {
    b.iter().map(move |&b| square(b, inverse))
}

/// b and b²/a.
fn square(b: f64, inverse: f64) -> [f64; 2] {
    [b, b * (b * inverse)]
}

/// The sums of `values` over the rows of each cell, of rows whose keys are cells.
fn block_sums<const K: usize>(cells: usize, keys: &[u32], values: impl Iterator<Item = [f64; K]>) -> Vec<[f64; K]> {
    // Neighbouring rows are often of one cell: in one table each addition would wait for the last.
    let (mut even, mut odd) = (vec![[0.0; K]; cells], vec![[0.0; K]; cells]);
    let mut rows = keys.iter().zip(values);
    while let Some((&cell, value)) = rows.next() {
        (0..K).for_each(|k| even[cell as usize][k] += value[k]);
        if let Some((&cell, value)) = rows.next() {
            (0..K).for_each(|k| odd[cell as usize][k] += value[k]);
        }
    }
    added(cells, &[even, odd])
}

/// The sums of all blocks.
fn added<const K: usize>(cells: usize, blocks: &[Vec<[f64; K]>]) -> Vec<[f64; K]> {
    let mut total = vec![[0.0; K]; cells];
    for sums in blocks {
        total.iter_mut().zip(sums).for_each(|(t, s)| (0..K).for_each(|k| t[k] += s[k]));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{Case, selected};
    use crate::problem::Task;
    use crate::table::{Column, Values};

    /// Rows of several blocks, counted, of one mass and of many: every row is in the cell of its rules, and every sum is
    /// that of its rows.
    #[test]
    fn cells_of_many_rows_are_those_of_their_rules() {
        let n = 5 * BLOCK / 2;
        for (task, weighted) in
            [Task::Regression, Task::Classification, Task::Poisson].map(|t| [(t, false), (t, true)]).concat()
        {
            let case = Case {
                columns: vec![Column::new("x", Values::Numeric(vec![1.0; n].into()))],
                task,
                target: (0..n).map(|r| (r % 7 % 2) as f64).collect(),
                weight: weighted.then(|| (0..n).map(|r| (r % 3 + 1) as f64).collect()),
                exposure: None,
                rules: [2, 3, 5].map(|k| (0..n).map(|r| r % k == 0 || r > 2 * BLOCK).collect()).to_vec(),
                query: Vec::new(),
            };
            let response = case.response();
            let mut cells = Cells::new(&response);
            case.rules.iter().for_each(|rule| drop(cells.split(&selected(rule), &response)));
            let mut sums = vec![[0.0; 3]; cells.len()];
            for r in 0..n {
                let cell = cells.of(r);
                assert!(case.rules.iter().enumerate().all(|(k, rule)| cells.in_rule(cell, k) == rule[r]), "{task} {r}");
                let more = [1.0, response.mass.at(r), response.b[r]];
                (0..3).for_each(|k| sums[cell][k] += more[k]);
            }
            for (cell, [rows, mass, b]) in sums.into_iter().enumerate() {
                assert_eq!(f64::from(cells.size[cell]), rows, "{task}");
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
                assert!(close(cells.mass[cell], mass) && close(cells.b[cell], b), "{task} {cell}");
            }
        }
    }
}
