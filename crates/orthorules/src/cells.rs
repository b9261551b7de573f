//! Cells: groups of rows that satisfy the same chosen rules.
//!
//! Rows of a cell share their score and their row of the orthogonal basis, so everything but the histograms themselves
//! is computed once for each cell. Adding a rule splits the cells that it covers in part.

use crate::response::{PerRow, Response};
use rayon::prelude::*;

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
        let mut cells = Self {
            of_row: vec![0; response.rows()],
            member: vec![Vec::new()],
            mass: Vec::new(),
            b: Vec::new(),
            norm: Vec::new(),
            size: Vec::new(),
            square: Vec::new(),
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

    /// Adds a rule that covers `rows`, ascending: covered rows of a partly covered cell move to a new cell. Says where the covered
    /// rows of each cell are now.
    pub(crate) fn split(&mut self, rows: &[u32], response: &Response) -> Vec<u32> {
        let old = self.len();
        let count = |rows: &[u32]| {
            let mut covered = vec![0u32; old];
            rows.iter().for_each(|&r| covered[self.of_row[r as usize] as usize] += 1);
            covered
        };
        let mut covered = vec![0u32; old];
        for part in rows.par_chunks(BLOCK).map(count).collect::<Vec<_>>() {
            covered.iter_mut().zip(part).for_each(|(c, n)| *c += n);
        }
        let mut moved_to: Vec<u32> = (0..old as u32).collect();
        for cell in 0..old {
            let whole = covered[cell] == self.size[cell];
            if covered[cell] > 0 && !whole {
                moved_to[cell] = self.member.len() as u32;
                let mut member = self.member[cell].clone();
                member.push(true);
                self.member.push(member);
            }
            self.member[cell].push(whole && covered[cell] > 0);
        }
        self.of_row.par_chunks_mut(BLOCK).enumerate().for_each(|(number, cells)| {
            let start = (number * BLOCK) as u32;
            let place = |row: u32| rows.partition_point(|&r| r < row);
            for &r in &rows[place(start)..place(start + cells.len() as u32)] {
                let cell = &mut cells[(r - start) as usize];
                *cell = moved_to[*cell as usize];
            }
        });
        self.rules += 1;
        self.sum(response);
        moved_to
    }

    /// Sums in the order of the rows, so that the result does not depend on the history of splits.
    fn sum(&mut self, response: &Response) {
        let sums = self.total(|r| [1.0, response.b[r], response.b[r] * (response.b[r] / response.mass.at(r))]);
        self.size = sums.iter().map(|s| s[0] as u32).collect();
        self.b = sums.iter().map(|s| s[1]).collect();
        self.square = sums.iter().map(|s| s[2]).collect();
        let each = |values: &PerRow, this: &Self| match values {
            PerRow::Same(x) => sums.iter().map(|s| x * s[0]).collect(),
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
        let block = |(number, cells): (usize, &[u32])| {
            let mut sums = vec![[0.0; K]; self.len()];
            for (row, &cell) in (number * BLOCK..).zip(cells) {
                let (sum, value) = (&mut sums[cell as usize], value(row));
                (0..K).for_each(|k| sum[k] += value[k]);
            }
            sums
        };
        let blocks: Vec<Vec<[f64; K]>> = self.of_row.par_chunks(BLOCK).enumerate().map(block).collect();
        let mut total = vec![[0.0; K]; self.len()];
        for sums in &blocks {
            total.iter_mut().zip(sums).for_each(|(t, s)| (0..K).for_each(|k| t[k] += s[k]));
        }
        total
    }
}
