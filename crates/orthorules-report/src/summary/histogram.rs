//! The columns of the rows that were drawn: how many rows in each bin, and their mean target.

use super::sample::{Reservoir, SampleCell, SampleRow};
use super::short;
use orthorules_model::{Model, SpecialCode};
use orthorules_table::table::Kind;
use serde::Serialize;
use std::collections::HashSet;

/// Bins of a column of numbers.
const BINS: usize = 24;
/// Levels that have a bar of their own, beside those that rules name.
const LEVELS: usize = 12;
/// With more scores than this, bins do not say how often each class is.
const MOST_SCORES: usize = 12;

/// A column as it is drawn.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ColumnPicture {
    name: String,
    /// Where bins of numbers end: one more than there are bins. Each bin holds its upper end; the first and the last
    /// also hold what lies beyond.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edges: Vec<f64>,
    /// Single numbers in place of bins, where there are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    numbers: Vec<f64>,
    /// Levels, the most frequent first, or in their order where they have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<String>,
    /// How many further levels share the last bin before that of missing values.
    others: usize,
    /// The names of special codes of a column of numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    special: Vec<String>,
    least: Option<f64>,
    most: Option<f64>,
    median: Option<f64>,
    /// One for each bin, number or level; then, if there are any, the other levels; then the special codes; last the
    /// missing values.
    bins: Vec<HistogramBin>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct HistogramBin {
    rows: u64,
    /// The mean target, one for each score.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    means: Vec<Option<f64>>,
}

/// Sums of a bin.
#[derive(Clone, Default)]
struct BinSums {
    rows: u64,
    mass: f64,
    targets: Vec<f64>,
}

pub(super) fn columns(model: &Model, sample: &Reservoir, used: &[&str], labelled: bool) -> Vec<ColumnPicture> {
    let scores = model.lists_of_scores().len();
    let scores = if labelled && scores <= MOST_SCORES { scores } else { 0 };
    (0..used.len()).map(|c| column(model, sample, c, used[c], scores)).collect()
}

fn column(model: &Model, sample: &Reservoir, c: usize, name: &str, scores: usize) -> ColumnPicture {
    let spec = model.columns.iter().find(|column| column.name == name);
    let codes: Vec<SpecialCode> = spec.map(|spec| spec.special.clone()).unwrap_or_default();
    let code = |cell: SampleCell| number(cell).and_then(|x| SpecialCode::place(&codes, x));
    let cells = sample.rows.iter().map(|row| row.cells[c]);
    let mut numbers: Vec<f64> = cells.filter(|&cell| code(cell).is_none()).filter_map(number).collect();
    numbers.sort_unstable_by(f64::total_cmp);
    let (least, most) = (numbers.first().copied(), numbers.last().copied());
    let median = numbers.get(numbers.len() / 2).copied();
    let mut distinct = numbers.clone();
    distinct.dedup();
    let mut summary = ColumnPicture {
        name: name.to_owned(),
        edges: Vec::new(),
        numbers: Vec::new(),
        levels: Vec::new(),
        others: 0,
        special: codes.iter().map(|code| code.name.clone()).collect(),
        least: least.map(short),
        most: most.map(short),
        median: median.map(short),
        bins: Vec::new(),
    };
    let place: Box<dyn Fn(SampleCell) -> usize>;
    let count;
    if !sample.levels[c].is_empty() {
        let (order, others) = shown_levels(model, sample, c, name);
        summary.others = others;
        summary.levels = order.iter().map(|&l| sample.levels[c][l].clone()).collect();
        count = order.len() + usize::from(summary.others > 0);
        let mut places = vec![order.len(); sample.levels[c].len()];
        order.iter().enumerate().for_each(|(place, &level)| places[level] = place);
        place = Box::new(move |cell| if let SampleCell::Level(l) = cell { places[l as usize] } else { count });
    } else if distinct.len() <= BINS {
        summary.numbers.clone_from(&distinct);
        count = distinct.len();
        place = Box::new(move |cell| number(cell).map_or(count, |x| distinct.partition_point(|d| *d < x)));
    } else {
        let edges = edges(&numbers);
        summary.edges.clone_from(&edges);
        count = edges.len() - 1;
        let inner = edges[1..count].to_vec();
        place = Box::new(move |cell| number(cell).map_or(count, |x| inner.partition_point(|e| *e < x)));
    }
    let place = |cell: SampleCell| match (code(cell), cell) {
        (Some(special), _) => count + special,
        (None, SampleCell::Missing) => count + codes.len(),
        (None, _) => place(cell),
    };
    summary.bins = bins(&sample.rows, c, count + codes.len() + 1, scores, &place);
    summary
}

fn number(cell: SampleCell) -> Option<f64> {
    if let SampleCell::Number(x) = cell { Some(x) } else { None }
}

fn bins(
    rows: &[SampleRow],
    c: usize,
    count: usize,
    scores: usize,
    place: &dyn Fn(SampleCell) -> usize,
) -> Vec<HistogramBin> {
    let mut sums = vec![BinSums { targets: vec![0.0; scores], ..BinSums::default() }; count];
    for row in rows {
        let bin = &mut sums[place(row.cells[c])];
        bin.rows += 1;
        bin.mass += row.weight * row.exposure;
        for (s, sum) in bin.targets.iter_mut().enumerate() {
            let target = if scores > 1 { f64::from(row.class as usize == s) } else { row.y };
            *sum += row.weight * target;
        }
    }
    let bin = |sums: BinSums| {
        let mean = |target: f64| Some(target / sums.mass).filter(|m| m.is_finite()).map(short);
        HistogramBin { rows: sums.rows, means: sums.targets.iter().map(|&t| mean(t)).collect() }
    };
    sums.into_iter().map(bin).collect()
}

/// Equal bins between the 1st and the 99th percentile: what lies far out does not squeeze the rest into one bar.
fn edges(sorted: &[f64]) -> Vec<f64> {
    let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part).round() as usize];
    let finite = |x: f64| x.clamp(-f64::MAX / 4.0, f64::MAX / 4.0);
    let (mut low, mut high) = (finite(at(0.01)), finite(at(0.99)));
    if low >= high {
        (low, high) = (finite(sorted[0]), finite(sorted[sorted.len() - 1]));
    }
    (0..=BINS).map(|i| short(low + (high - low) * i as f64 / BINS as f64)).collect()
}

/// The levels with a bar of their own, and how many others there are: the most frequent first, or in the column's
/// order.
fn shown_levels(model: &Model, sample: &Reservoir, c: usize, name: &str) -> (Vec<usize>, usize) {
    let mut rows = vec![0u64; sample.levels[c].len()];
    for row in &sample.rows {
        if let SampleCell::Level(level) = row.cells[c] {
            rows[level as usize] += 1;
        }
    }
    let conditions = model.all_rules().flat_map(|rule| &rule.conditions);
    let named: HashSet<&str> = conditions
        .filter(|condition| condition.column == name)
        .flat_map(orthorules_model::rule::Condition::levels)
        .map(String::as_str)
        .collect();
    let mut order: Vec<usize> = (0..rows.len()).filter(|&level| rows[level] > 0).collect();
    order.sort_by(|&a, &b| rows[b].cmp(&rows[a]).then_with(|| sample.levels[c][a].cmp(&sample.levels[c][b])));
    let (all, mut place) = (order.len(), 0);
    order.retain(|&level| {
        place += 1;
        place <= LEVELS || named.contains(sample.levels[c][level].as_str())
    });
    let others = all - order.len();
    if let Some(column) = model.columns.iter().find(|c| c.name == name && c.kind == Kind::Ordered) {
        let rank = |level: &usize| column.levels.iter().position(|l| *l == sample.levels[c][*level]);
        order.sort_by_key(|level| rank(level).unwrap_or(usize::MAX));
    }
    (order, others)
}
