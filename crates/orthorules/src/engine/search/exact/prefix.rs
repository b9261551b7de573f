//! Sums over prefixes of units, kept in registers.

use super::bits::{BitSet, split_sums};
use crate::base::simd::vectorised;
use crate::engine::score::Scorer;
use crate::engine::score::statistics::Statistics;
use crate::engine::search::exact::item::Item;

/// G, D and rows, then N, of every unit in chunks of four numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackedUnits {
    values: Vec<[f64; 4]>,
    chunks: usize,
}

/// So many chunks fit into registers; with more, sums are taken chunk by chunk in memory.
const CHUNKS_IN_REGISTERS: usize = 6;

impl PackedUnits {
    /// `vectors` hold `stride` numbers for each unit: statistics with t numbers N, and others.
    pub(crate) fn new(vectors: &[f64], stride: usize, t: usize) -> Self {
        let chunks = 1 + t.div_ceil(4);
        let mut values = Vec::with_capacity(vectors.len() / stride * chunks);
        for vector in vectors.chunks_exact(stride) {
            let sums = Statistics::of(vector);
            values.push([sums.gradient(), sums.curvature(), sums.rows(), 0.0]);
            for part in sums.along()[..t].chunks(4) {
                values.push(std::array::from_fn(|k| part.get(k).copied().unwrap_or(0.0)));
            }
        }
        Self { values, chunks }
    }

    /// Those of the units of `sample`, each as many times as it says.
    pub(super) fn times(&self, sample: &[Item]) -> Self {
        let vector = |u: u32| &self.values[u as usize * self.chunks..][..self.chunks];
        let values =
            sample.iter().flat_map(|&(u, times)| vector(u).iter().map(move |v| v.map(|x| times * x))).collect();
        Self { values, chunks: self.chunks }
    }

    /// Whether sums over units fit into registers.
    pub(super) fn is_short(&self) -> bool {
        self.chunks <= CHUNKS_IN_REGISTERS
    }
}

/// What [`part`] tells of the units of a node that are in a set.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PrefixPart {
    /// Whether their objective's value exceeds the threshold.
    pub(super) above: bool,
    pub(super) rows: f64,
    /// Whether they are all of the node.
    pub(super) all: bool,
}

vectorised! {
    /// Puts the units of `node` that are in `set` into `child` and looks at their value; `words` has what one unit of
    /// each word adds, and [is short](PackedUnits::is_short).
    pub(super) fn part(
        words: &PackedUnits,
        scorer: &Scorer,
        threshold: f64,
        node: &BitSet,
        set: &[u64],
        child: &mut BitSet,
    ) -> PrefixPart {
        match words.chunks {
            1 => part_of::<1>(words, scorer, threshold, node, set, child),
            2 => part_of::<2>(words, scorer, threshold, node, set, child),
            3 => part_of::<3>(words, scorer, threshold, node, set, child),
            4 => part_of::<4>(words, scorer, threshold, node, set, child),
            5 => part_of::<5>(words, scorer, threshold, node, set, child),
            _ => part_of::<CHUNKS_IN_REGISTERS>(words, scorer, threshold, node, set, child),
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn part_of<const K: usize>(
    words: &PackedUnits,
    scorer: &Scorer,
    threshold: f64,
    node: &BitSet,
    set: &[u64],
    child: &mut BitSet,
) -> PrefixPart {
    let (sum, all) = split_sums::<K>(node, set, &words.values, child);
    PrefixPart { above: exceeds(&sum, scorer, threshold), rows: sum[0][2], all }
}

/// Whether the objective's value of all `units` exceeds `threshold`, and how many rows they have.
pub(super) fn whole(packed: &PackedUnits, scorer: &Scorer, units: &[Item], threshold: f64) -> (bool, f64) {
    let mut last = (false, 0.0);
    run(packed, scorer, units, threshold, Mode::Whole, &mut last);
    last
}

/// Whether the value of a prefix of `units`, from either end, exceeds `threshold`; `falling` says which to try first.
pub(super) fn any_prefix(packed: &PackedUnits, scorer: &Scorer, units: &[Item], threshold: f64, falling: bool) -> bool {
    let mut last = (false, 0.0);
    let order = if falling { [Mode::Forward, Mode::Backward] } else { [Mode::Backward, Mode::Forward] };
    order.into_iter().any(|mode| {
        run(packed, scorer, units, threshold, mode, &mut last);
        last.0
    })
}

/// Which sums are looked at.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Whole,
    Forward,
    Backward,
}

vectorised! {
    fn run(packed: &PackedUnits, scorer: &Scorer, units: &[Item], threshold: f64, mode: Mode, last: &mut (bool, f64)) {
        *last = match packed.chunks {
            1 => sums::<1>(packed, scorer, units, threshold, mode),
            2 => sums::<2>(packed, scorer, units, threshold, mode),
            3 => sums::<3>(packed, scorer, units, threshold, mode),
            4 => sums::<4>(packed, scorer, units, threshold, mode),
            5 => sums::<5>(packed, scorer, units, threshold, mode),
            CHUNKS_IN_REGISTERS => sums::<CHUNKS_IN_REGISTERS>(packed, scorer, units, threshold, mode),
            _ => long_sums(packed, scorer, units, threshold, mode),
        };
    }
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn sums<const K: usize>(
    packed: &PackedUnits,
    scorer: &Scorer,
    units: &[Item],
    threshold: f64,
    mode: Mode,
) -> (bool, f64) {
    let mut sum = [[0.0; 4]; K];
    for i in 0..units.len() {
        let (u, times) = units[if mode == Mode::Backward { units.len() - 1 - i } else { i }];
        let vector = &packed.values[u as usize * K..][..K];
        for k in 0..K {
            (0..4).for_each(|j| sum[k][j] += times * vector[k][j]);
        }
        if mode != Mode::Whole && exceeds(&sum, scorer, threshold) {
            return (true, sum[0][2]);
        }
    }
    (mode == Mode::Whole && exceeds(&sum, scorer, threshold), sum[0][2])
}

fn long_sums(packed: &PackedUnits, scorer: &Scorer, units: &[Item], threshold: f64, mode: Mode) -> (bool, f64) {
    let mut sum = vec![[0.0; 4]; packed.chunks];
    for i in 0..units.len() {
        let (u, times) = units[if mode == Mode::Backward { units.len() - 1 - i } else { i }];
        let vector = &packed.values[u as usize * packed.chunks..][..packed.chunks];
        for (s, v) in sum.iter_mut().zip(vector) {
            (0..4).for_each(|j| s[j] += times * v[j]);
        }
        if mode != Mode::Whole && exceeds(&sum, scorer, threshold) {
            return (true, sum[0][2]);
        }
    }
    (mode == Mode::Whole && exceeds(&sum, scorer, threshold), sum[0][2])
}

#[inline(always)]
#[allow(clippy::inline_always)]
fn exceeds(sum: &[[f64; 4]], scorer: &Scorer, threshold: f64) -> bool {
    let mut squares = [0.0; 4];
    for chunk in &sum[1..] {
        (0..4).for_each(|j| squares[j] += chunk[j] * chunk[j]);
    }
    scorer.exceeds(sum[0][0], sum[0][1], (squares[0] + squares[1]) + (squares[2] + squares[3]), threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::score::statistics::StatisticsMut;
    use proptest::prelude::*;

    proptest! {
        /// The answers of the registers are those of the plain definition.
        #[test]
        fn sums_in_registers_are_sums(
            t in 0usize..26,
            raw in prop::collection::vec(-1.0..1.0f64, 30 * 12),
            times in prop::collection::vec(1u8..4, 12),
            threshold in 0.01..3.0f64,
            falling in any::<bool>(),
        ) {
            let scorer = Scorer::bare(t, 0.01);
            let stride = scorer.stride();
            let vectors: Vec<f64> = (0..12).flat_map(|u| {
                let mut vector: Vec<f64> = raw[u * 30..u * 30 + stride].to_vec();
                let sums = StatisticsMut::of(&mut vector);
                (*sums.rows, *sums.curvature) = (1.0, 1.0 + *sums.curvature);
                sums.along.iter_mut().for_each(|n| *n *= 0.2);
                vector
            }).collect();
            let packed = PackedUnits::new(&vectors, stride, t);
            let units: Vec<Item> = times.iter().enumerate().map(|(u, &n)| (u as u32, f64::from(n))).collect();
            let value = |units: &mut dyn Iterator<Item = &Item>| {
                let mut sum = vec![0.0; stride];
                units.for_each(|&(u, n)| (0..stride).for_each(|k| sum[k] += n * vectors[u as usize * stride + k]));
                (scorer.value(Statistics::of(&sum)), Statistics::of(&sum).rows())
            };
            let (own, rows) = value(&mut units.iter());
            let best = (0..12)
                .flat_map(|i| [value(&mut units[..=i].iter()).0, value(&mut units[i..].iter()).0])
                .fold(0.0, f64::max);
            prop_assume!((own - threshold).abs() > 1e-9 && (best - threshold).abs() > 1e-9);
            prop_assert_eq!(whole(&packed, &scorer, &units, threshold), (own > threshold, rows));
            prop_assert_eq!(any_prefix(&packed, &scorer, &units, threshold, falling), best > threshold);
            // The same units as bits, of which a set leaves out the first.
            let bits = BitSet { at: (0..12).collect(), word: times.iter().map(|&n| (1 << n) - 1).collect() };
            let mut child = BitSet::default();
            let words = packed.times(&units.iter().map(|&(u, _)| (u, 1.0)).collect::<Vec<_>>());
            let set: Vec<u64> = (0..12).map(|w| if w == 0 { 0 } else { u64::MAX }).collect();
            if words.is_short() {
                let (own, rows) = value(&mut units[1..].iter());
                prop_assume!((own - threshold).abs() > 1e-9);
                let found = part(&words, &scorer, threshold, &bits, &set, &mut child);
                prop_assert_eq!(found, PrefixPart { above: own > threshold, rows, all: false });
                prop_assert_eq!(&child.at[..], &bits.at[1..]);
                prop_assert_eq!(&child.word[..], &bits.word[1..]);
                prop_assert!(part(&words, &scorer, threshold, &child.clone(), &set, &mut child).all);
            }
        }
    }
}
