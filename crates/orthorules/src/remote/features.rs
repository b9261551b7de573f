//! What a partition tells of a feature, and how the next partition adds to it.

use crate::base::wire::{wire, wire_enum};
use crate::codes::column::BinnedColumn;
use crate::codes::packed::CodeBuilder;
use crate::codes::scale::Scale;
use crate::codes::stream::feature::{CellReading, ColumnContent, ColumnSummary, FeatureEncoder, Sampling};
use crate::data::table::Occurrences;

wire_enum!(Sampling { 0 => All, 1 => Count, 2 => Part(before, stride) });
wire_enum!(ColumnContent {
    0 => Missing,
    1 => Numbers(sketch),
    2 => Distinct(sketch),
    3 => Booleans,
    4 => Text(levels, tally),
});
wire!(ColumnSummary { seen, cutting, sampling, categorical, numeric, notation, mixed, rows, order, unlisted, special });
wire_enum!(CellReading { 0 => Numbers(notation), 1 => Distinct(values), 2 => Booleans, 3 => Text(codes) });
wire!(FeatureEncoder { coder, kind, levels, date, ranks, way });

impl ColumnSummary {
    /// This summary, which keeps the values that `sampling` says.
    pub(crate) fn sampled(self, sampling: Sampling) -> Self {
        Self { sampling, ..self }
    }

    /// How many values of a column of numbers there are whose sample decides its bins.
    pub(crate) fn values(&self) -> Option<usize> {
        match &self.seen {
            ColumnContent::Numbers(sketch) => Some(sketch.seen()),
            _ => None,
        }
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.seen, ColumnContent::Missing)
    }

    /// Adds what was seen of the next rows.
    pub(crate) fn append(&mut self, next: Self) {
        if self.unlisted.is_none() {
            self.unlisted = next.unlisted.map(|(row, level)| (self.rows + row, level));
        }
        match (&mut self.seen, next.seen) {
            (_, ColumnContent::Missing) | (ColumnContent::Booleans, ColumnContent::Booleans) => {}
            (seen @ ColumnContent::Missing, ColumnContent::Text(levels, tally)) => {
                let later = |x: Occurrences| Occurrences { first: self.rows + x.first, ..x };
                *seen = ColumnContent::Text(levels, tally.into_iter().map(later).collect());
            }
            (seen @ ColumnContent::Missing, other) => *seen = other,
            (ColumnContent::Numbers(all), ColumnContent::Numbers(more))
            | (ColumnContent::Distinct(all), ColumnContent::Distinct(more)) => all.append(more),
            (ColumnContent::Text(all, tally), ColumnContent::Text(more, counts)) => {
                all.learn_counted(&more, &counts, tally, self.rows);
            }
            _ => self.mixed = true,
        }
        self.mixed |= next.mixed;
        self.rows += next.rows;
    }
}

/// What is known of the codes of a partition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CodedFacts {
    /// The smallest number of each bin.
    lowest: Vec<f64>,
    range: Option<(f64, f64)>,
    /// What its numbers are, in any order.
    content: u64,
    /// How many rows each code has.
    counts: Vec<u64>,
}
wire!(CodedFacts { lowest, range, content, counts });

impl CodedFacts {
    pub(crate) fn of(column: &BinnedColumn) -> Self {
        let lowest = match &column.scale {
            Scale::Ordered { lowest, .. } => lowest.clone(),
            _ => Vec::new(),
        };
        Self { lowest, range: column.range, content: column.content, counts: column.counts() }
    }

    /// Adds those of the next rows; false if they are of another column.
    pub(crate) fn append(&mut self, next: &Self) -> bool {
        self.lowest.iter_mut().zip(&next.lowest).for_each(|(low, &x)| *low = if x < *low { x } else { *low });
        self.range = match (self.range, next.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.content = self.content.wrapping_add(next.content);
        self.counts.iter_mut().zip(&next.counts).for_each(|(all, more)| *all += more);
        (self.lowest.len(), self.counts.len()) == (next.lowest.len(), next.counts.len())
    }
}

impl FeatureEncoder {
    /// The column without codes, which are with the partitions.
    pub(crate) fn finish_remote(self, facts: CodedFacts) -> BinnedColumn {
        let codes = CodeBuilder::new(self.bins(), 0).finish();
        let mut column = self.finish(codes);
        if let Scale::Ordered { lowest, .. } = &mut column.scale
            && lowest.len() == facts.lowest.len()
        {
            *lowest = facts.lowest;
        }
        column.range = facts.range;
        column.content = facts.content;
        column.remote_counts = Some(facts.counts);
        column
    }
}
