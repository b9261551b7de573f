//! How often rows are dealt out to folds, and whether halves of the deals choose alike.
//!
//! What one deal of a small table chooses is mostly chance: on 40 rows five seeds found sizes from 5 to 42. The mean
//! over deals comes to rest, and how far it still is from that, halves of the deals tell: they differ as much as two
//! means of all deals with other seeds would.

use super::curve::{HeldOutFold, SizeCandidate};
use crate::data::problem::Problem;
use crate::params::{Checked, Learner};

/// Rows of a small table are dealt out to folds again until all deals have so many rows together, but not oftener than
/// this.
const USUAL_ROWS: usize = 1500;
const USUAL_DEALS: usize = 6;
/// Up to so many rows are few. They are dealt out again until halves of the deals choose alike.
const FEW_ROWS: usize = 200;
const FIRST_DEALS: usize = 8;
const MORE_DEALS: usize = 4;
const MOST_DEALS: usize = 24;
/// So many of the deals choose between kinds of terms, if their number is fixed.
const DEALS_FOR_TERMS: usize = 2;
/// How far the sizes that halves choose may be apart.
const ALIKE: f64 = 1.4;
const QUARTERS: usize = 4;
/// The quarters of the deals that the halves are made of.
const HALVES: [[usize; 2]; 6] = [[0, 1], [2, 3], [0, 2], [1, 3], [0, 3], [1, 2]];

/// How often rows are dealt out to folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deals {
    /// With all kinds of terms.
    pub(super) first: usize,
    pub(super) usual: usize,
    /// Where the choice has not come to rest before.
    pub(super) most: usize,
}

impl Deals {
    pub(super) const ONCE: Self = Self { first: 1, usual: 1, most: 1 };

    /// So often that chance decides little. Groups are dealt out once, and rows that are held out one by one.
    pub(super) fn of(problem: &Problem, folds: usize, params: &Checked) -> Self {
        if problem.groups.is_some() || folds >= problem.rows {
            return Self::ONCE;
        }
        let rows = problem.rows.max(1);
        // Proofs and forests take long enough.
        let is_quick = !params.exact && params.learner == Learner::Boosting;
        if rows <= FEW_ROWS && is_quick {
            return Self { first: FIRST_DEALS, usual: FIRST_DEALS, most: MOST_DEALS };
        }
        let usual = USUAL_ROWS.div_ceil(rows).min(USUAL_DEALS);
        Self { first: usual.min(DEALS_FOR_TERMS), usual, most: usual }
    }

    /// Whether their number is known before.
    pub(super) fn is_fixed(&self) -> bool {
        self.most == self.usual
    }

    /// How many there are after the next step.
    pub(super) fn after(&self, deals: usize) -> usize {
        if deals < self.usual { self.usual } else { (deals + MORE_DEALS).min(self.most) }
    }
}

/// What halves of the deals would choose, and all of them: the trial and its complexity. Nothing is no disagreement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Halves(pub(super) Vec<(usize, usize)>);

impl Halves {
    /// Whether all choose the same trial.
    pub(super) fn terms_agree(&self) -> bool {
        self.0.iter().all(|(trial, _)| *trial == self.0[0].0)
    }

    /// Whether all sizes are near each other.
    pub(super) fn sizes_agree(&self) -> bool {
        let sizes = || self.0.iter().map(|(_, complexity)| (*complexity).max(1));
        let (least, most) = (sizes().min().unwrap_or(1), sizes().max().unwrap_or(1));
        most as f64 <= ALIKE * least as f64
    }
}

/// The sums of losses by deal, of each candidate.
pub(super) struct ByDeal {
    sums: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl ByDeal {
    /// Of the folds of so many deals, one deal after the other.
    pub(super) fn new(folds: &mut [HeldOutFold], deals: usize, candidates: &[SizeCandidate]) -> Self {
        let count = (folds.len() / deals).max(1);
        let mut of_deals = Self { sums: Vec::new(), weights: Vec::new() };
        for of_deal in folds.chunks_mut(count).take(deals) {
            let mut sums = vec![0.0; candidates.len()];
            let weight = of_deal.iter().map(|fold| fold.truth.weight.iter().sum::<f64>()).sum();
            for fold in of_deal {
                let all = fold.sums_of_losses(candidates[0].trial, candidates.iter().map(|c| c.complexity));
                sums.iter_mut().zip(all).for_each(|(sum, of_fold)| *sum += of_fold);
            }
            of_deals.sums.push(sums);
            of_deals.weights.push(weight);
        }
        of_deals
    }

    /// The candidates with the risks that each half of the deals tells; none of a single deal.
    pub(super) fn halves(&self, candidates: &[SizeCandidate]) -> Vec<Vec<SizeCandidate>> {
        let deals = self.sums.len();
        if deals < QUARTERS {
            return Vec::new();
        }
        let of_half = |quarters: [usize; 2]| {
            let own = || (0..deals).filter(|deal| quarters.contains(&(deal % QUARTERS)));
            let weight: f64 = own().map(|deal| self.weights[deal]).sum();
            let risk = |i: usize| own().map(|deal| self.sums[deal][i]).sum::<f64>() / weight;
            let known = candidates.iter().enumerate();
            known.map(|(i, candidate)| SizeCandidate { risk: risk(i), ..*candidate }).collect()
        };
        HALVES.map(of_half).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_are_dealt_out_until_halves_agree() {
        let steps = |deals: Deals| {
            let mut all = vec![deals.first];
            while all.last() != Some(&deals.most) {
                all.push(deals.after(all[all.len() - 1]));
            }
            all
        };
        assert_eq!(steps(Deals::ONCE), [1]);
        assert_eq!(steps(Deals { first: 2, usual: 4, most: 4 }), [2, 4]);
        assert_eq!(steps(Deals { first: 8, usual: 8, most: 18 }), [8, 12, 16, 18]);
        assert!(Deals { first: 2, usual: 4, most: 4 }.is_fixed() && !Deals { first: 8, usual: 8, most: 18 }.is_fixed());
    }

    #[test]
    fn halves_agree_on_one_trial_and_on_sizes_near_each_other() {
        let agree = |chosen: &[(usize, usize)]| {
            let halves = Halves(chosen.to_vec());
            (halves.terms_agree(), halves.sizes_agree())
        };
        assert_eq!(agree(&[]), (true, true));
        assert_eq!(agree(&[(0, 10), (0, 14), (0, 12)]), (true, true));
        assert_eq!(agree(&[(0, 10), (1, 10), (0, 10)]), (false, true));
        assert_eq!(agree(&[(0, 10), (0, 15)]), (true, false));
        assert_eq!(agree(&[(0, 0), (0, 1)]), (true, true));
        assert_eq!(agree(&[(0, 0), (0, 2)]), (true, false));
    }

    /// Every half has half of the quarters, every quarter lies in half of the halves, and no two halves are the same.
    #[test]
    fn halves_are_balanced() {
        for quarter in 0..QUARTERS {
            assert_eq!(HALVES.iter().filter(|half| half.contains(&quarter)).count(), HALVES.len() / 2);
        }
        assert!(HALVES.iter().all(|half| half[0] < half[1]));
        let mut distinct = HALVES.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), HALVES.len());
    }

    #[test]
    fn risks_of_halves_are_means_over_their_deals() {
        let sums = (0..8u32).map(|deal| vec![f64::from(deal), 2.0 * f64::from(deal)]).collect();
        let by_deal = ByDeal { sums, weights: vec![2.0; 8] };
        let candidates = [SizeCandidate::new(0, 0, 0), SizeCandidate::new(0, 1, 2)];
        let halves = by_deal.halves(&candidates);
        // The first half has the deals 0, 1, 4, 5.
        let risks: Vec<f64> = halves[0].iter().map(|candidate| candidate.risk).collect();
        assert_eq!((halves.len(), risks), (6, vec![10.0 / 8.0, 20.0 / 8.0]));
        let one = ByDeal { sums: vec![vec![1.0, 2.0]], weights: vec![1.0] };
        assert!(one.halves(&candidates).is_empty());
    }
}
