//! Where parameters are checked, once: each number against its range, and values that exclude each other.

use super::checked::Checked;
use super::{
    Learner, Multiclass, Objective, Params, PathKind, Polish, RegLambda, Search, Sets, Terms, Thresholds, Update,
};
use crate::base::error::{Error, Result};
use crate::data::loss::Loss;

/// Deeper trees than this have too many paths to count.
const DEEPEST: usize = 16;

impl Params {
    /// Checks every parameter and fills in the defaults that depend on the loss and the number of rows.
    pub fn check(&self, loss: Loss, rows: usize) -> Result<Checked> {
        self.check_ranges()?;
        if self.learner == Learner::Sirus {
            self.check_sirus(loss)?;
        }
        self.check_search()?;
        self.check_multiclass()?;
        let checked = self.completed(loss, rows);
        self.check_polish(checked.path)?;
        self.check_terms()?;
        self.check_lambda()?;
        self.check_columns()?;
        self.check_budget()?;
        Ok(checked)
    }

    /// Trees know neither counts nor thresholds of the user's, keep no column monotone, and split by one level at a
    /// time.
    fn check_sirus(&self, loss: Loss) -> Result<()> {
        let excluded = |name, what: &str| Err(Error::Excluded { name, what: what.into() });
        if !loss.has_trees() {
            return excluded("learner", "sirus is for classes and numbers, not for counts: choose another preset");
        }
        if !self.cuts.is_empty() {
            return excluded("cuts", "sirus takes its thresholds from max_bins: leave out cuts");
        }
        if self.thresholds == Thresholds::Refine {
            return excluded("thresholds", "sirus does not move thresholds: leave out thresholds refine");
        }
        if !self.monotone.is_empty() {
            return excluded("monotone", "sirus cannot keep columns monotone: leave out monotone");
        }
        if self.sets == Some(Sets::On) {
            return excluded("sets", "sirus splits by single levels: leave out sets");
        }
        if self.bootstrap.is_some() {
            return excluded("bootstrap", "bootstrap is for boosting: sirus is made of resampled trees already");
        }
        match self.max_conditions {
            Some(depth) if depth > DEEPEST => {
                let want = "from 1 to 16 with sirus";
                Err(Error::Param { name: "max_conditions", want, got: depth.to_string() })
            }
            _ => Ok(()),
        }
    }

    /// Sizes can only be compared by their risk when all weights are fitted together, and exact search finds one rule.
    /// It goes by values as they are, and there is no bound for all sets of levels.
    fn check_search(&self) -> Result<()> {
        let excluded = |name, what: &str| Err(Error::Excluded { name, what: what.into() });
        if let (Search::Greedy, Some(width @ 2..)) = (self.search, self.beam_width) {
            return excluded("beam_width", &format!("beam_width {width} needs search beam; greedy search has width 1"));
        }
        if self.path == Some(PathKind::Best) && !self.has_comparable_sizes() {
            return excluded("path", "path best needs update corrective and search greedy or beam");
        }
        if self.search == Search::Exact && self.smoothing.is_some_and(|rows| rows > 0.0) {
            return excluded("smoothing", "smoothing is for greedy and beam search: exact search goes by values");
        }
        if self.search == Search::Exact && self.thresholds == Thresholds::Refine {
            return excluded("thresholds", "exact search proves rules as they are found: leave out thresholds refine");
        }
        if self.search == Search::Exact && self.sets == Some(Sets::On) {
            return excluded(
                "sets",
                "exact search cannot prove that a set of levels is the best: leave out sets, or search greedy or beam",
            );
        }
        Ok(())
    }

    /// SIRUS and trends know one score alone.
    fn check_multiclass(&self) -> Result<()> {
        let alone = match (self.learner, self.terms) {
            (Learner::Sirus, _) => "sirus".to_owned(),
            (Learner::Boosting, Terms::Auto | Terms::Rules) => return Ok(()),
            (Learner::Boosting, terms) => format!("a model with terms {terms}"),
        };
        if self.multiclass == Some(Multiclass::Shared) {
            let what = format!("{alone} has a list of rules for each class: leave out multiclass shared");
            return Err(Error::Excluded { name: "multiclass", what });
        }
        Ok(())
    }

    /// A size of a nested path keeps the rules of the one before it.
    fn check_polish(&self, path: PathKind) -> Result<()> {
        let polish = match self.polish {
            None | Some(Polish::Off) => return Ok(()),
            Some(polish) => polish,
        };
        if path != PathKind::Best || self.learner == Learner::Sirus {
            let what = format!("polish {polish} needs path best, without a preset and with search greedy or beam");
            return Err(Error::Excluded { name: "polish", what });
        }
        if self.terms.has_trends() {
            let what = format!("polish {polish} is for rules alone: leave out terms {}", self.terms);
            return Err(Error::Excluded { name: "polish", what });
        }
        Ok(())
    }

    /// Trends are fitted together with the rules, by the second-order objective. There is no bound for them.
    fn check_terms(&self) -> Result<()> {
        let what = match self.terms {
            Terms::Auto | Terms::Rules => return Ok(()),
            terms => format!("terms {terms}"),
        };
        let excluded = |why: &str| Err(Error::Excluded { name: "terms", what: format!("{what} {why}") });
        if self.learner == Learner::Sirus {
            return excluded("cannot be had with sirus, whose rules come from trees: leave out one of them");
        }
        if self.search == Search::Exact {
            return excluded("cannot be had with search exact, which proves rules: search greedy or beam");
        }
        if self.objective != Objective::Onb || self.update != Update::Corrective {
            return excluded("need objective onb and update corrective, which are the defaults");
        }
        Ok(())
    }

    /// Folds that choose λ are whole fits again and again, of rules whose weights depend on λ. Folds that choose a
    /// size are needed for `select`.
    fn check_lambda(&self) -> Result<()> {
        if let (None, Some(select)) = (self.cv, self.select) {
            let what = format!("select {select} needs cross-validation: give the number of folds as cv");
            return Err(Error::Excluded { name: "select", what });
        }
        if self.reg_lambda != Some(RegLambda::Cv) {
            return Ok(());
        }
        let excluded = |why: &str| Err(Error::Excluded { name: "reg_lambda", what: format!("reg_lambda cv {why}") });
        if self.learner == Learner::Sirus {
            return excluded("cannot be had with sirus, whose weights are not fitted: leave out one of them");
        }
        if self.search == Search::Exact {
            return excluded("is for greedy and beam search: give a number, or search otherwise");
        }
        Ok(())
    }

    /// Thresholds are finite numbers.
    fn check_columns(&self) -> Result<()> {
        for (name, values) in &self.cuts {
            if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
                let got = format!("{bad} for {name:?}");
                return Err(Error::Param { name: "cuts", want: "finite numbers", got });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Cv, MaxBins, Select};

    #[test]
    fn paths_of_best_ensembles_need_comparable_risks() {
        let kind = |params: &Params, rows| params.check(Loss::Squared, rows).unwrap().path;
        let ok = Params::default();
        assert_eq!((kind(&ok, 1_000_000), kind(&ok, 10_000_000)), (PathKind::Best, PathKind::Nested));
        assert_eq!(kind(&Params { search: Search::Exact, ..ok.clone() }, 1000), PathKind::Nested);
        assert_eq!(kind(&Params { path: Some(PathKind::Best), ..ok.clone() }, 1_000_000), PathKind::Best);
        let stagewise = Params { path: Some(PathKind::Best), update: Update::Stagewise, ..ok };
        assert!(stagewise.check(Loss::Squared, 1000).is_err());
    }

    #[test]
    fn polish_needs_sizes_that_need_not_be_nested() {
        let light = Params { polish: Some(Polish::Light), ..Params::default() };
        let conflict = |params: Params| params.check(Loss::Squared, 1000).unwrap_err().to_string();
        assert_eq!(light.check(Loss::Squared, 1000).unwrap().polish, Polish::Light);
        for params in [
            Params { path: Some(PathKind::Nested), ..light.clone() },
            Params { search: Search::Exact, ..light.clone() },
            Params { update: Update::Stagewise, ..light.clone() },
            Params { learner: Learner::Sirus, ..light.clone() },
        ] {
            assert!(conflict(params).starts_with("polish light needs path best"));
        }
        let trends = Params { terms: Terms::Linear, ..light.clone() };
        assert_eq!(conflict(trends), "polish light is for rules alone: leave out terms linear");
        let off = Params { polish: Some(Polish::Off), path: Some(PathKind::Nested), ..light };
        assert_eq!(off.check(Loss::Squared, 1000).unwrap().polish, Polish::Off);
    }

    #[test]
    fn bad_parameters_are_named() {
        let ok = Params::default();
        let bad = [
            Params { length_penalty: f64::NAN, ..ok.clone() },
            Params { reg_lambda: Some(RegLambda::Value(-1.0)), ..ok.clone() },
            Params { epsilon: Some(f64::INFINITY), ..ok.clone() },
            Params { beam_width: Some(0), search: Search::Beam, ..ok.clone() },
            Params { beam_width: Some(4), ..ok.clone() },
            Params { max_conditions: Some(0), ..ok.clone() },
            Params { min_coverage: Some(0), ..ok.clone() },
            Params { smoothing: Some(-1.0), ..ok.clone() },
            Params { smoothing: Some(f64::NAN), ..ok.clone() },
            Params { smoothing: Some(3.0), search: Search::Exact, ..ok.clone() },
            Params { max_bins: MaxBins::AtMost(1), ..ok.clone() },
            Params { threads: Some(0), ..ok.clone() },
            Params { cv: Some(Cv::Folds(1)), ..ok.clone() },
            Params { bootstrap: Some(19), ..ok.clone() },
            Params { select: Some(Select::OneSe), ..ok.clone() },
        ];
        for params in bad {
            let message = params.check(Loss::Squared, 1000).unwrap_err().to_string();
            assert!(!message.contains('\n'), "{message}");
        }
        assert!("abc".parse::<Objective>().unwrap_err().to_string().contains("one of gs, gb"));
    }
}
