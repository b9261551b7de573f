//! Nodes of tables with many columns and few rows: columns that cannot have the best child are left out.
//!
//! A [`Sketch`] tells for eight columns at a time which of them may have a child that is worth as much as the best so
//! far. Only these are counted as others are. No child that might be taken is lost, so only the time depends on it.

use super::candidate::{BestChildren, Candidate, Floor, order, price};
use super::{AT_ONCE, BeamNode, Searcher};
use crate::base::scratch;
use crate::engine::count::by_row::{ByRow, COLUMNS_IN_A_BLOCK};
use crate::engine::count::group::Group;
use crate::engine::count::histogram::NodeCounter;
use crate::engine::count::sketch::Sketch;
use crate::params::Intercept;
use rayon::prelude::*;

/// What is known already: a candidate is of no use unless its score is above `score`, or its value above `value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    pub(super) score: f64,
    pub(super) value: f64,
}

/// A node of a beam whose columns are screened.
struct ScreenedNode<'s> {
    node: &'s BeamNode,
    number: usize,
    counter: &'s NodeCounter<'s>,
    sketch: Option<&'s Sketch<'s>>,
}

/// What columns are screened by.
struct Screen<'s> {
    by_row: &'s ByRow,
    floor: &'s Floor,
    /// The square of the value, and the score times its price, that are of interest.
    least: (f64, f64),
}

impl Searcher<'_> {
    /// The codes row by row, where columns are to be left out: a beam of one has a floor, tables are not wanted, and
    /// there is one score. A sketch knows nothing of sets of levels.
    pub(super) fn screening(&self) -> Option<&ByRow> {
        let single = self.params.beam_width == 1
            && self.params.set_levels == 1
            && self.classes.is_none()
            && self.trends.is_none();
        self.by_row.filter(|_| self.root.is_none() && single)
    }

    /// The candidates of all nodes of the beam that may be the best one; without it, where it is not above the `bar`.
    pub(super) fn screened(&self, beam: &[BeamNode], by_row: &ByRow, bar: Bar) -> Vec<Candidate> {
        let shortest = beam.iter().map(|node| node.query.len()).min().unwrap_or_default();
        let price = price(shortest + 1, self.params.length_penalty);
        // A score is at most the square of the value over the price, and less where it is a mean.
        let least = f64::min(bar.score * price, bar.value * bar.value);
        let candidates = self.reaching(beam, by_row, (least, 0.0));
        match candidates.iter().min_by(|a, b| order(a, b)) {
            // It is worth more than its score says: others of less value may come before it.
            Some(best) if best.value > bar.value && best.score * price < least => {
                self.reaching(beam, by_row, (0.0, best.score * price))
            }
            _ => candidates,
        }
    }

    /// The candidates that may be the best one. One that is longer than its node may be missing unless the square of
    /// its value and its score times its price are at `least` these.
    fn reaching(&self, beam: &[BeamNode], by_row: &ByRow, least: (f64, f64)) -> Vec<Candidate> {
        let counters: Vec<NodeCounter> = beam.iter().map(|node| self.gathered(node, &[])).collect();
        let fewest = self.params.min_coverage as f64;
        let most =
            if self.params.intercept == Intercept::Corrected { self.response.rows_total - fewest } else { f64::MAX };
        // Where signs are given, not every threshold takes part in the mean of the others.
        let reach = if self.directions.is_empty() { self.params.smoothing } else { 0.0 };
        let sketches: Vec<Option<Sketch>> =
            counters.iter().map(|counter| Sketch::new(counter, self.scorer, (fewest, most), reach)).collect();
        let floor = Floor::new(self.params.beam_width);
        let nodes: Vec<ScreenedNode> = (0..beam.len())
            .map(|number| {
                let (node, counter, sketch) = (&beam[number], &counters[number], sketches[number].as_ref());
                ScreenedNode { node, number, counter, sketch }
            })
            .collect();
        let screen = Screen { by_row, floor: &floor, least };
        let block = |(n, block): (usize, usize)| self.block_candidates(&nodes[n], block, &screen);
        let tasks: Vec<(usize, usize)> =
            (0..beam.len()).flat_map(|n| (0..by_row.blocks()).map(move |b| (n, b))).collect();
        let at_once = beam.iter().map(|n| n.rows.len()).sum::<usize>() * self.columns.len() <= AT_ONCE;
        let candidates = if at_once {
            tasks.into_iter().flat_map(block).collect()
        } else {
            tasks.into_par_iter().flat_map_iter(block).collect()
        };
        sketches.into_iter().flatten().for_each(Sketch::give);
        // Keeps their memory.
        counters.into_iter().for_each(|counter| drop(counter.into_tables()));
        candidates
    }

    /// The best children of a node along the columns of a block that may have one.
    fn block_candidates(
        &self,
        &ScreenedNode { node, number: n, counter, sketch }: &ScreenedNode,
        block: usize,
        &Screen { by_row, floor, least }: &Screen,
    ) -> Vec<Candidate> {
        if self.observer.stop() {
            return Vec::new();
        }
        // A column that the query has already may not make it longer.
        let length = node.query.len() + 1;
        let least = (least.0, least.1.max(floor.get() * price(length, self.params.length_penalty)));
        let may = match sketch {
            _ if length > self.max_length => [false; COLUMNS_IN_A_BLOCK],
            Some(sketch) => sketch.may_reach((by_row, block), self.columns, least),
            None => [true; COLUMNS_IN_A_BLOCK],
        };
        let mut best = Vec::new();
        for (c, may) in by_row.columns(block).zip(may) {
            if may || node.query.atoms.iter().any(|atom| atom.column as usize == c) {
                let stats = counter.statistics(0, &Group::new(c..c + 1, self.columns), self.columns);
                let kept = BestChildren::new(&mut best, self.params.beam_width, floor);
                self.column_candidates((node, None), &stats, (n, c), kept);
                scratch::give(stats);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SplitMix64;
    use crate::data::table::{Column, Values};
    use crate::engine::cases::{Case, cases};
    use crate::engine::cells::Cells;
    use crate::engine::row_list::RowList;
    use crate::engine::rows::{Rows, Selected};
    use crate::engine::score::Scorer;
    use crate::engine::search::Found;
    use crate::engine::search::directions::Directions;
    use crate::engine::targets::response::Response;
    use crate::model::observer::Silent;
    use crate::params::Objective;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::ops::Range;

    /// Columns of random numbers, some of few values, some with gaps.
    fn wide(case: &Case, columns: usize, seed: u64) -> Vec<Column> {
        let mut random = SplitMix64::new(seed);
        let column = |c: usize| {
            let mut number = || match (random.bits() % 1000, c % 3) {
                (x, 1) => (x / 150) as f64,
                (x, 2) if x < 80 => f64::NAN,
                (x, _) => x as f64,
            };
            Column::new(format!("x{c}"), Values::Numeric((0..case.rows()).map(|_| number()).collect::<Vec<_>>().into()))
        };
        (0..columns).map(column).collect()
    }

    /// The cells of the rules of `case`, whose rows are divided into `parts`.
    fn cells_of_parts(case: &Case, divided: &Rows, response: &Response, parts: &[Range<usize>; 4]) -> Cells {
        let mut cells = Cells::new(divided, response);
        for rule in &case.rules {
            let covered = |part: &Range<usize>| {
                RowList::Some(part.clone().filter(|&r| rule[r]).map(|r| (r - part.start) as u32).collect())
            };
            cells.split(&Selected::Here(parts.iter().map(covered).collect()), divided, response);
        }
        cells
    }

    proptest! {
        /// The search finds the same rules, worth the same, whether columns are left out or not, and however the rows
        /// are divided.
        #[test]
        fn nothing_else_is_found(
            case in cases(6),
            columns in 1usize..40,
            seed in any::<u64>(),
            objective in 0usize..5,
            smoothing in prop_oneof![Just(0.0), Just(6.0)],
            gamma in 0usize..3,
            min_coverage in 1usize..4,
            max_length in 1usize..5,
        ) {
            let objective = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb, Objective::Onb][objective];
            let case = Case { columns: wide(&case, columns, seed), ..case };
            let (response, columns) = (case.response(), case.binned());
            let mut params = case.checked(objective, Intercept::Corrected, 0.7);
            (params.smoothing, params.min_coverage) = (smoothing, min_coverage);
            params.length_penalty = [0.0, 0.5, 1.0][gamma];
            let (cells, weights) = case.fitted(&response, &params);
            let whole = Rows::whole(&columns, &response);
            let scorer = Scorer::new(&response, &cells, &weights, &params);
            let directions = Directions::new(&columns, &BTreeMap::new());
            let name_rank: Vec<u32> = (0..columns.len() as u32).collect();
            let found = |rows: &Rows, cells: &Cells, by_row: Option<&ByRow>| -> Vec<Found> {
                let searcher = Searcher {
                    columns: &columns,
                    rows,
                    response: &response,
                    cells,
                    scorer: &scorer,
                    classes: None,
                    covered: cells.coverage(),
                    name_rank: &name_rank,
                    directions: &directions,
                    params: &params,
                    max_length,
                    units: None,
                    trends: None,
                    root: None,
                    by_row,
                    deadline: None,
                    observer: &Silent,
                };
                searcher.best_of_each_length().into_iter().chain(searcher.best_query()).collect()
            };
            let all = found(&whole, &cells, None);
            let end = case.rows() / 3;
            let divided = Rows::divided(&columns, &response, &[0, end, end + 1]);
            let parts = [0..0, 0..end, end..end + 1, end + 1..case.rows()];
            let in_parts = cells_of_parts(&case, &divided, &response, &parts);
            for (rows, cells) in [(&whole, &cells), (&divided, &in_parts)] {
                let some = found(rows, cells, Some(&ByRow::new(rows)));
                prop_assert_eq!(all.len(), some.len());
                for (a, b) in all.iter().zip(&some) {
                    prop_assert_eq!((&a.query, a.value, a.bound), (&b.query, b.value, b.bound));
                    prop_assert_eq!(a.rows.len(), b.rows.len());
                }
            }
        }
    }
}
