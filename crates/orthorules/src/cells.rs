//! Cells: groups of rows that satisfy the same chosen rules.
//!
//! Rows of a cell share their score and their row of the orthogonal basis, so everything but the histograms themselves
//! is computed once for each cell. Adding a rule splits the cells that it covers in part.

use crate::response::{PerRow, Response};

/// The partition of the rows by the rules chosen so far, with its sums.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// Cell of each row.
    pub(crate) of_row: Vec<u32>,
    /// For each cell, whether it lies in rule k: `member[cell][k]`.
    member: Vec<Vec<bool>>,
    /// A: sum of masses.
    pub(crate) mass: Vec<f64>,
    /// B: sum of weighted targets.
    pub(crate) b: Vec<f64>,
    /// W: sum of the first-order norm's weights; equal to A / factor without exposure.
    pub(crate) norm: Vec<f64>,
    rules: usize,
}

impl Cells {
    /// One cell with all rows.
    pub(crate) fn new(response: &Response) -> Self {
        let mut cells = Self {
            of_row: vec![0; response.rows()],
            member: vec![Vec::new()],
            mass: Vec::new(),
            b: Vec::new(),
            norm: Vec::new(),
            rules: 0,
        };
        cells.sum(response);
        cells
    }

    /// p, the number of cells.
    pub(crate) fn len(&self) -> usize {
        self.member.len()
    }

    /// t, the number of rules.
    pub(crate) fn rules(&self) -> usize {
        self.rules
    }

    /// Whether `cell` lies in rule `k`.
    pub(crate) fn in_rule(&self, cell: usize, k: usize) -> bool {
        self.member[cell][k]
    }

    /// Adds a rule that covers `rows`: covered rows of a partly covered cell move to a new cell.
    pub(crate) fn split(&mut self, rows: &[u32], response: &Response) {
        let old = self.len();
        let mut covered = vec![0u32; old];
        let mut total = vec![0u32; old];
        rows.iter().for_each(|&r| covered[self.of_row[r as usize] as usize] += 1);
        self.of_row.iter().for_each(|&c| total[c as usize] += 1);
        let mut moved_to: Vec<u32> = (0..old as u32).collect();
        for cell in 0..old {
            let whole = covered[cell] == total[cell];
            if covered[cell] > 0 && !whole {
                moved_to[cell] = self.member.len() as u32;
                let mut member = self.member[cell].clone();
                member.push(true);
                self.member.push(member);
            }
            self.member[cell].push(whole && covered[cell] > 0);
        }
        for &r in rows {
            let cell = &mut self.of_row[r as usize];
            *cell = moved_to[*cell as usize];
        }
        self.rules += 1;
        self.sum(response);
    }

    /// Sums in the order of the rows, so that the result does not depend on the history of splits.
    fn sum(&mut self, response: &Response) {
        let p = self.len();
        self.b = self.total(|r| response.b[r]);
        let each = |values: &PerRow, this: &Self| match values {
            PerRow::Same(x) => {
                let mut counts = vec![0u64; p];
                this.of_row.iter().for_each(|&c| counts[c as usize] += 1);
                counts.into_iter().map(|count| x * count as f64).collect()
            }
            PerRow::Each(v) => this.total(|r| v[r]),
        };
        self.mass = each(&response.mass, self);
        self.norm = match &response.norm {
            Some(norm) => each(norm, self),
            None => self.mass.iter().map(|a| a / response.loss.factor()).collect(),
        };
    }

    fn total(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        for (row, &cell) in self.of_row.iter().enumerate() {
            sums[cell as usize] += value(row);
        }
        sums
    }
}
