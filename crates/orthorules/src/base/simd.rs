//! Kernels compiled twice: for any processor, and for those with AVX2, chosen when they run.
//!
//! Both are the same source and give the same bits: no operation is fused or reordered.

/// Defines a function whose body is compiled with and without wide instructions.
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            #[allow(clippy::inline_always)]
            fn portable($($arg: $type),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
                fn wide($($arg: $type),*) $(-> $ret)? {
                    portable($($arg),*)
                }
                if $crate::base::simd::is_wide() {
                    // SAFETY: the processor has these instructions.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($arg),*) };
                }
            }
            portable($($arg),*)
        }
    };
}
pub(crate) use vectorised;

/// Whether this processor has AVX2 and counts bits.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_wide() -> bool {
    use std::arch::is_x86_feature_detected as has;
    #[cfg(test)]
    if tests::is_forbidden() {
        return false;
    }
    has!("avx2") && has!("popcnt") && has!("bmi1") && has!("bmi2")
}

#[cfg(test)]
mod tests {
    use crate::base::random::SplitMix64;
    use crate::data::generate::{friedman1, tic_tac_toe};
    use crate::params::{Objective, PathKind, Preset, Search};
    use crate::{Column, Params, Predictions, Problem, Roles, Silent, Table, Task, Values};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Whether wide instructions are not to be used, and how often that was so. Other tests may run at the same time:
    /// they get the same bits.
    static FORBIDDEN: AtomicBool = AtomicBool::new(false);
    static REFUSED: AtomicUsize = AtomicUsize::new(0);

    #[cfg(target_arch = "x86_64")]
    pub(super) fn is_forbidden() -> bool {
        let forbidden = FORBIDDEN.load(Ordering::Relaxed);
        REFUSED.fetch_add(usize::from(forbidden), Ordering::Relaxed);
        forbidden
    }

    /// What `work` gives with wide instructions and without.
    fn both<T>(work: impl Fn() -> T) -> [T; 2] {
        let wide = work();
        FORBIDDEN.store(true, Ordering::Relaxed);
        let before = REFUSED.load(Ordering::Relaxed);
        let portable = work();
        let refused = REFUSED.load(Ordering::Relaxed) - before;
        FORBIDDEN.store(false, Ordering::Relaxed);
        assert!(refused > 0, "the portable kernels did not run");
        [wide, portable]
    }

    /// Numbers with gaps, levels, weights and exposures.
    fn claims(rows: usize) -> Table {
        let mut random = SplitMix64::new(8);
        let mut number = || Values::numbers((0..rows).map(|_| random.uniform()).collect::<Vec<_>>());
        let columns = [("a", number()), ("b", number()), ("years", number()), ("weight", number())];
        let gaps = (0..rows).map(|r| if r % 7 == 0 { f64::NAN } else { (r * 37 % 101) as f64 });
        let level = |r: usize| Some(["north", "east", "south", "west"][r * r % 4]);
        let counts = (0..rows).map(|r| ((r * 13 % 17) / 5 + usize::from(r * 37 % 101 > 60)) as f64);
        let more = [
            ("c", Values::numbers(gaps.collect::<Vec<_>>())),
            ("region", Values::text((0..rows).map(level).collect::<Vec<_>>())),
            ("claims", Values::numbers(counts.collect::<Vec<_>>())),
        ];
        let column = |(name, values): (&str, Values)| Column::new(name, values);
        Table::new(columns.into_iter().chain(more).map(column).collect()).unwrap()
    }

    /// The model of a fit as text, and the bits of its predictions.
    fn learned(table: &Table, roles: &Roles, params: &Params) -> (String, Vec<u64>) {
        let problem = Problem::new(table.clone(), roles).unwrap();
        let model = crate::fit(&problem, &Params { threads: Some(2), ..params.clone() }, &Silent).unwrap().model;
        let numbers = match model.predict(table).unwrap() {
            Predictions::Numbers(numbers) => numbers,
            Predictions::Classes { probabilities, .. } => probabilities,
        };
        (model.to_json(), numbers.into_iter().map(f64::to_bits).collect())
    }

    /// Every kernel serves some of these fits: histograms by cells and by vectors, lanes, sums by bins, counted bits,
    /// bounds and relaxations, the bits of predictions.
    #[test]
    fn both_sets_of_kernels_give_the_same_bits() {
        #[cfg(target_arch = "x86_64")]
        let wide = super::is_wide();
        #[cfg(not(target_arch = "x86_64"))]
        let wide = false;
        if !wide {
            eprintln!("SKIPPED: this processor has no AVX2, so that there is only one set of kernels");
            return;
        }
        let of = |target: &str| Roles { target: target.into(), ..Roles::default() };
        let (weight, exposure) = (Some("weight".to_owned()), Some("years".to_owned()));
        let poisson = Roles { weight, exposure, task: Some(Task::Poisson), ..of("claims") };
        let tables = [(friedman1(700, 3), of("y")), (tic_tac_toe(), of("x_wins")), (claims(600), poisson)];
        let nested = Params { max_rules: Some(12), path: Some(PathKind::Nested), ..Params::default() };
        let exact = Params { search: Search::Exact, node_limit: Some(400), max_rules: Some(3), ..Params::default() };
        let counted =
            Params { search: Search::Exact, node_limit: Some(4000), max_rules: Some(3), ..Preset::Cob.params() };
        let mut all = vec![Params::default(), exact, counted, Params { max_rules: Some(40), ..nested.clone() }];
        let objectives = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb];
        all.extend(objectives.map(|objective| Params { objective, search: Search::Beam, ..nested.clone() }));
        for (table, roles) in &tables {
            for params in &all {
                let [wide, portable] = both(|| learned(table, roles, params));
                assert_eq!(wide, portable, "{roles:?} {params:?}");
            }
        }
    }
}
