//! Sums along trends: what every row adds, d·v, by bin.

use super::{NodeCounter, PartitionReads};
use crate::base::simd::vectorised;
use crate::codes::column::{Code, with_codes};
use crate::codes::packed::Codes;
use crate::engine::count::group::Group;
use crate::engine::row_list::RowList;
use crate::engine::score::statistics::StatisticsMut;

impl NodeCounter<'_> {
    /// Σ d·v of every bin of a group and every trend, over the rows of a part; nothing where there are no trends.
    pub(super) fn count_trends(&self, part: &PartitionReads, group: &Group) -> Vec<f64> {
        let Some(trends) = &self.scorer.trends else { return Vec::new() };
        let (count, values) = (trends.count(), trends.of_part(part.number));
        let mut sums = vec![0.0; group.bins() * count];
        for (column, first) in group.of(part.columns) {
            add_values(part.rows, &column.codes, values, count, &mut sums[first * count..]);
        }
        sums
    }

    /// Adds what the i-th row of a part has along trends to the sums of its bin.
    #[inline]
    pub(super) fn add_trends_of(&self, part: &PartitionReads, i: usize, sums: &mut StatisticsMut) {
        let Some(trends) = &self.scorer.trends else { return };
        let row = match part.rows {
            RowList::All(_) => i,
            RowList::Some(rows) => rows[i] as usize,
        };
        let values = &trends.of_part(part.number)[row * trends.count()..];
        for (&place, value) in trends.places.iter().zip(values) {
            if let Some(place) = self.scorer.basis.place(place) {
                sums.along[place] += value;
            }
        }
    }
}

vectorised! {
    /// Adds the values of every row, `count` of them, to its bin.
    fn add_values(rows: &RowList, codes: &Codes, values: &[f64], count: usize, sums: &mut [f64]) {
        let mut add = |bin: usize, row: &[f64]| {
            sums[bin * count..][..count].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        };
        with_codes!(codes, codes => match rows {
            RowList::All(_) => {
                codes.iter().zip(values.chunks_exact(count)).for_each(|(code, row)| add(code.index(), row));
            }
            RowList::Some(rows) => rows.iter().for_each(|&r| {
                let r = r as usize;
                add(codes[r].index(), &values[r * count..(r + 1) * count]);
            }),
        });
    }
}
