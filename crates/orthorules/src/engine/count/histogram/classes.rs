//! Statistics of every bin for each of several classes that share their rules.
//!
//! Rows by bin and cell are counted once for all classes, and rows by bin and class beside them. What a class has of
//! its own, its probability in every cell, is multiplied in afterwards, for all classes side by side.

use super::{CountSource, MOST_COUNTS, NodeCounter, PartitionReads, orthogonalise_each};
use crate::base::scratch;
use crate::codes::column::{BinnedColumn, with_codes};
use crate::engine::count::cell_counts::{self, CellCounts, Counting, NodeRows};
use crate::engine::count::class_statistics::ClassStatistics;
use crate::engine::count::group::Group;
use crate::engine::mass::{PerRow, Rounding};
use crate::engine::score::statistics::StatisticsMut;
use crate::engine::score::{ClassScorers, Scorer};

/// How the statistics of some columns are computed.
enum Way {
    /// From what was counted; the tables, if they were made here.
    Counts(Box<ClassStatistics>, Option<CellCounts>),
    /// Row by row, for each class.
    Rows(Group),
}

impl NodeCounter<'_> {
    /// What is counted of a group in one partition.
    pub(super) fn count_classes(&self, part: &PartitionReads, node: NodeRows, group: &Group) -> CellCounts {
        let of = (group, part.columns);
        let classes = NodeRows { keys: &part.class, cells: self.cells.classes(), ..node };
        let classes = Some(cell_counts::counts_alone(classes, &part.mass, of));
        match &part.mass {
            PerRow::Same(_) => {
                let counts = cell_counts::counts_alone(node, &part.mass, of);
                CellCounts {
                    counts,
                    norms: None,
                    rows: Vec::new(),
                    sums: vec![0; group.bins()],
                    classes,
                    trends: Vec::new(),
                }
            }
            PerRow::Each(mass) => {
                let weighed = Counting::Units(mass, &part.b, &part.stands_for);
                CellCounts { classes, ..cell_counts::count(node, weighed, None, of) }
            }
        }
    }

    /// Calls `visit` with every class and its rows, G, D and N of every bin of a group, whose number is `index`.
    pub(crate) fn each_class(
        &self,
        (index, group): (usize, &Group),
        all: &[BinnedColumn],
        scorers: &ClassScorers,
        mut visit: impl FnMut(usize, &[f64]),
    ) {
        let ways = self.ways((index, group), all, scorers);
        for (class, scorer) in scorers.each.iter().enumerate() {
            let of = |way: &Way| match way {
                Way::Counts(of_bins, _) => of_bins.statistics(class, scorer),
                Way::Rows(group) => self.by_rules_of_class(class, scorer, group),
            };
            let stats = match ways.as_slice() {
                [way] => of(way),
                several => several.iter().flat_map(of).collect(),
            };
            visit(class, &stats);
            scratch::give(stats);
        }
        if let (Some(place), true) = (self.tables.get(index), ways.len() == 1) {
            for way in ways {
                if let Way::Counts(_, Some(cell_counts)) = way {
                    drop(place.set(cell_counts));
                }
            }
        }
    }

    /// How the columns of a group are computed, in order: all in one way, or each in its own.
    fn ways(&self, (index, group): (usize, &Group), all: &[BinnedColumn], scorers: &ClassScorers) -> Vec<Way> {
        let of_bins =
            |cell_counts: &CellCounts| Box::new(ClassStatistics::new(cell_counts, scorers, self.response.mass_unit));
        let counted = |cell_counts: CellCounts| Way::Counts(of_bins(&cell_counts), Some(cell_counts));
        match self.source {
            CountSource::Root(root) => {
                root.own_tables().map(|tables| Way::Counts(of_bins(&tables[index]), None)).into_iter().collect()
            }
            CountSource::AllBut(whole, some) => vec![counted(some[index].clone().left_of(&whole[index]))],
            CountSource::SubtractedFrom(whole) => vec![counted(self.count(group).left_of(&whole[index]))],
            CountSource::Own | CountSource::AllRows | CountSource::LeftOutOf(_) => {
                let fits = |column: &BinnedColumn| self.counts_classes(column);
                let way =
                    |group: Group, counts: bool| if counts { counted(self.count(&group)) } else { Way::Rows(group) };
                let methods: Vec<bool> = group.of(all).map(|(column, _)| fits(column)).collect();
                if methods.iter().all(|&method| method == methods[0]) {
                    return vec![way(group.clone(), methods[0])];
                }
                // Which method a column gets must not depend on who its neighbours are.
                group.columns().zip(methods).map(|(c, counts)| way(Group::new(c..c + 1, all), counts)).collect()
            }
        }
    }

    /// Whether rows are counted by bin and cell.
    pub(super) fn counts_classes(&self, column: &BinnedColumn) -> bool {
        let fits = (column.bins + 1) * self.cells.len() <= MOST_COUNTS as usize;
        if let (false, Some(remote)) = (fits, &self.remote) {
            remote.refuse(format!(
                "column {:?} has too many levels for one list of rules for all classes on several machines: \
                 choose multiclass one-vs-rest, or leave the column out",
                column.name
            ));
        }
        fits || self.remote.is_some()
    }

    /// The statistics of one class, row by row.
    fn by_rules_of_class(&self, class: usize, scorer: &Scorer, group: &Group) -> Vec<f64> {
        let stride = scorer.stride();
        let mut stats = scratch::zeros(group.bins() * stride);
        let mass = self.response.largest[0];
        let [for_g, for_d] = [mass, mass].map(|largest| Rounding::new(self.rows as f64, largest));
        for part in &self.parts {
            let sides: Vec<[f64; 2]> = (0..part.keys.len())
                .map(|i| {
                    let (mass, [mean, curvature]) =
                        (part.mass.at(i) as i64 as f64 * self.response.mass_unit, scorer.cell(self.cell(part, i)));
                    let b = if part.class[i] as usize == class { mass } else { 0.0 };
                    [for_g.round(mass * mean - b), for_d.round(mass * curvature)]
                })
                .collect();
            for (column, first) in group.of(part.columns) {
                let stats = &mut stats[first * stride..];
                with_codes!(&column.codes, codes => part.each(codes, |i, bin| {
                    let sums = StatisticsMut::of(&mut stats[bin * stride..(bin + 1) * stride]);
                    let [g, d] = sides[i];
                    *sums.rows += f64::from(part.stands_for.at(i));
                    *sums.gradient += g;
                    *sums.curvature += d;
                    scorer.basis.of(self.cell(part, i)).iter().for_each(|&k| sums.along[k as usize] += d);
                }));
            }
        }
        orthogonalise_each(scorer, &mut stats);
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::cases::{cases_of_classes, selected};
    use crate::engine::rows::{Rows, Selected};
    use crate::engine::score::of_classes;
    use crate::engine::score::statistics::Statistics;
    use crate::params::{Intercept, Objective};
    use proptest::prelude::*;

    proptest! {
        /// Counted or row by row, weighed or not: every bin of every class has the sums of its rows.
        #[test]
        fn every_class_has_the_sums_of_its_rows(case in cases_of_classes(4), objective in 0usize..5) {
            let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
            let params = case.checked(objective, Intercept::Corrected, 0.7);
            let response = case.shared_response();
            let (cells, weights) = case.fitted_classes(&response, &params);
            let columns = case.binned();
            let rows = Rows::whole(&columns, &response);
            let (joint, scorers) = of_classes(&response, &cells, &weights, &params);
            let some = Selected::single(selected(&case.query));
            let counter = NodeCounter::new(&some, &rows, &response, &cells, &joint);
            let group = Group::new(0..columns.len(), &columns);
            let mut counted = Vec::new();
            counter.each_class((0, &group), &columns, &scorers, |_, stats| counted.push(stats.to_vec()));
            for (class, scorer) in scorers.each.iter().enumerate() {
                let by_rows = counter.by_rules_of_class(class, scorer, &group);
                let stride = scorer.stride();
                let mut expected = vec![0.0; group.bins() * stride];
                for &r in &selected(&case.query) {
                    let r = r as usize;
                    let (mass, [mean, delta]) = (response.mass(r), scorer.cell(cells.of(r)));
                    let b = if case.target[r] as usize == class { mass } else { 0.0 };
                    let along: Vec<f64> = scorer.vector(cells.of(r)).iter().map(|dz| mass * dz).collect();
                    let rows = f64::from(response.targets.stands_for(r));
                    for (column, first) in group.of(&columns) {
                        let code = with_codes!(&column.codes, codes => crate::codes::column::Code::index(codes[r]));
                        let bin = first + code;
                        let sums = StatisticsMut::of(&mut expected[bin * stride..][..stride]);
                        sums.add(rows, mass * mean - b, mass * delta, along.iter().copied());
                    }
                }
                expected.chunks_exact_mut(stride).for_each(|bin| scorer.project(StatisticsMut::of(bin)));
                for found in [&counted[class], &by_rows] {
                    prop_assert_eq!(found.len(), expected.len());
                    for (f, e) in found.iter().zip(&expected) {
                        prop_assert!((f - e).abs() <= 1e-9 * (1.0 + e.abs()), "{} {}", f, e);
                    }
                }
                // What a query of these rows is worth does not depend on how it was added up.
                let whole = |stats: &[f64]| {
                    let bins = &stats[..(columns[0].bins + 1) * stride];
                    let mut sum = vec![0.0; stride];
                    bins.chunks_exact(stride).for_each(|bin| sum.iter_mut().zip(bin).for_each(|(s, x)| *s += x));
                    scorer.value(Statistics::of(&sum))
                };
                let (a, b) = (whole(&counted[class]), whole(&expected));
                prop_assert!((a - b).abs() <= 1e-6 * (1.0 + b), "{} {}", a, b);
                prop_assert!(b <= scorer.ceiling, "{} {}", b, scorer.ceiling);
            }
        }
    }
}
