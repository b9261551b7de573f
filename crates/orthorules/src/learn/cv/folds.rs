//! Which row is held out with which fold.
//!
//! Rows are dealt out in random order, class by class, so that folds have nearly the same classes and sizes. Groups are
//! dealt out whole, the largest first, each to the fold that has the least of what the group brings.

use crate::base::error::{Error, Result, listing};
use crate::base::random::SplitMix64;
use crate::data::columns::Target;
use crate::data::problem::Problem;

/// The fold of each row, from 0 to `count` − 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Folds {
    pub(crate) count: usize,
    of_row: Vec<u32>,
}

impl Folds {
    /// `count` folds of the rows of `problem`, decided by `seed`.
    pub(crate) fn new(problem: &Problem, count: usize, seed: u64) -> Result<Self> {
        Self::of_deal(problem, count, seed, 0)
    }

    /// The folds of a further deal of the same rows.
    pub(crate) fn of_deal(problem: &Problem, count: usize, seed: u64, deal: usize) -> Result<Self> {
        check(problem, count)?;
        let class = |row: usize| match &problem.target {
            Target::Classes(c) => c[row] as usize,
            Target::Numbers(_) => 0,
        };
        let classes = problem.classes.len().max(1);
        let seed = if deal == 0 { seed } else { SplitMix64::new(seed ^ SplitMix64::new(deal as u64).bits()).bits() };
        let mut random = SplitMix64::new(seed);
        let of_row = match &problem.groups {
            Some(groups) => deal_groups(groups, class, classes, count, &mut random),
            None => deal_rows(problem.rows, class, classes, count, &mut random),
        };
        let folds = Self { count, of_row };
        folds.check_classes(problem)?;
        Ok(folds)
    }

    /// The rows that are, or are not, held out with `fold`, in order.
    pub(crate) fn rows(&self, fold: usize, held_out: bool) -> Vec<u32> {
        let wanted = |r: &u32| (self.of_row[*r as usize] as usize == fold) == held_out;
        (0..self.of_row.len() as u32).filter(wanted).collect()
    }

    /// The rows of some folds, in order.
    pub(crate) fn rows_of(&self, folds: std::ops::RangeInclusive<usize>) -> Vec<u32> {
        let is_wanted = |row: &u32| folds.contains(&(self.of_row[*row as usize] as usize));
        (0..self.of_row.len() as u32).filter(is_wanted).collect()
    }

    /// Groups may take a whole class into one fold: nothing can be learned of it then.
    fn check_classes(&self, problem: &Problem) -> Result<()> {
        let Target::Classes(class) = &problem.target else { return Ok(()) };
        let groups = |index: usize| {
            let groups = problem.groups.iter().flat_map(|groups| groups.iter().zip(class));
            groups.filter(move |(_, c)| **c as usize == index).map(|(group, _)| *group)
        };
        for (index, name) in problem.classes.iter().enumerate() {
            let mut own = groups(index);
            let first = own.next();
            if first.is_some() && own.all(|group| Some(group) == first) {
                return Err(Error::Table(format!(
                    "all rows of class {name:?} are in one group, and it cannot be learned without them: fit without \
                     folds, use other groups, or join or leave out rare classes"
                )));
            }
            let mut of_class = class.iter().zip(&self.of_row).filter(|(c, _)| **c as usize == index).map(|(_, f)| *f);
            let first = of_class.next();
            if of_class.all(|f| Some(f) == first) {
                return Err(Error::Table(format!(
                    "class {name:?} lies in one fold, and cannot be learned without it: use fewer folds or other groups"
                )));
            }
        }
        Ok(())
    }
}

/// Too few rows, groups or rows of a class for `count` folds.
fn check(problem: &Problem, count: usize) -> Result<()> {
    if let Some(groups) = &problem.groups {
        let distinct = groups.iter().max().map_or(0, |&g| g as usize + 1);
        if distinct < 2 {
            return Err(Error::Table("all rows are in one group, but folds need two: use other groups".into()));
        }
        if distinct < count {
            return Err(Error::Table(format!("{distinct} groups are too few for {count} folds: use fewer folds")));
        }
        return Ok(());
    }
    let mut rows = vec![0u64; problem.classes.len().max(1)];
    match &problem.target {
        Target::Classes(class) => class.iter().for_each(|&c| rows[c as usize] += 1),
        Target::Numbers(_) => rows[0] = problem.rows as u64,
    }
    too_few(&rows, &problem.classes, count)
}

/// Too few rows, or rows of a class, for `count` folds. There are this many of each class, or in all where there are no
/// classes.
pub(super) fn too_few(rows: &[u64], classes: &[String], count: usize) -> Result<()> {
    let all: u64 = rows.iter().sum();
    if all < 2 {
        return Err(Error::Table("there is one row, but folds need two: fit without folds".into()));
    }
    if all < count as u64 {
        return Err(Error::Table(format!("{all} rows are too few for {count} folds: use fewer folds")));
    }
    let small: Vec<&str> =
        classes.iter().zip(rows).filter(|(_, n)| **n < count as u64).map(|(c, _)| c.as_str()).collect();
    if small.is_empty() {
        return Ok(());
    }
    let single: Vec<&str> = classes.iter().zip(rows).filter(|(_, n)| **n < 2).map(|(c, _)| c.as_str()).collect();
    if !single.is_empty() {
        let names = listing(single.into_iter());
        return Err(Error::Table(format!(
            "every class needs a row in each of the {count} folds, but there is one row of {names}: fit without \
             folds, or join or leave out rare classes"
        )));
    }
    let names = listing(small.into_iter());
    Err(Error::Table(format!(
        "every class needs a row in each of the {count} folds, but there are fewer of {names}: use fewer folds"
    )))
}

/// Rows in random order, class after class, to the folds in turn.
fn deal_rows(
    rows: usize,
    class: impl Fn(usize) -> usize,
    classes: usize,
    count: usize,
    random: &mut SplitMix64,
) -> Vec<u32> {
    let mut by_class: Vec<Vec<usize>> = vec![Vec::new(); classes];
    (0..rows).for_each(|r| by_class[class(r)].push(r));
    by_class.iter_mut().for_each(|rows| random.shuffle(rows));
    let mut of_row = vec![0; rows];
    // Whose turn it is goes on from class to class, so that the folds' sizes differ by one at most.
    for (turn, row) in by_class.into_iter().flatten().enumerate() {
        of_row[row] = (turn % count) as u32;
    }
    of_row
}

/// Whole groups: the largest first, each where classes and rows are then the most even.
fn deal_groups(
    groups: &[u32],
    class: impl Fn(usize) -> usize,
    classes: usize,
    count: usize,
    random: &mut SplitMix64,
) -> Vec<u32> {
    let distinct = groups.iter().max().map_or(0, |&g| g as usize + 1);
    // brings[group][class], in parts of the class.
    let mut brings = vec![vec![0.0f64; classes]; distinct];
    let mut total = vec![0.0f64; classes];
    for (row, &group) in groups.iter().enumerate() {
        brings[group as usize][class(row)] += 1.0;
        total[class(row)] += 1.0;
    }
    let rows: Vec<f64> = brings.iter().map(|b| b.iter().sum()).collect();
    let mut order: Vec<usize> = (0..distinct).collect();
    random.shuffle(&mut order);
    order.sort_by(|&i, &j| rows[j].total_cmp(&rows[i]));
    let mut has = vec![vec![0.0f64; classes]; count];
    let mut fold_of = vec![0u32; distinct];
    for group in order {
        // Adding b to h raises Σ (h / total)² by (2 h b + b²) / total²: the least rise is the most even outcome.
        let rise = |fold: &Vec<f64>| -> f64 {
            let part = |c: usize| fold[c] * brings[group][c] / (total[c].max(1.0) * total[c].max(1.0));
            (0..classes).map(part).sum()
        };
        let size = |fold: &Vec<f64>| fold.iter().sum::<f64>();
        let even = |a: &usize, b: &usize| {
            let (x, y) = (&has[*a], &has[*b]);
            rise(x).total_cmp(&rise(y)).then(size(x).total_cmp(&size(y))).then(a.cmp(b))
        };
        let fold = (0..count).min_by(even).unwrap_or(0);
        (0..classes).for_each(|c| has[fold][c] += brings[group][c]);
        fold_of[group] = fold as u32;
    }
    groups.iter().map(|&g| fold_of[g as usize]).collect()
}
