//! Kernels are compiled with wide instructions and without, and give the same bits.

use orthorules::generate::{SplitMix64, friedman1, tic_tac_toe};
use orthorules::params::{Objective, PathKind, Preset, Search};
use orthorules::{Column, Params, Problem, Roles, Silent, Table, Task, Values, fit};
use orthorules_table::base::simd::{is_wide, without_wide};

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
    let model = fit(&problem, &Params { threads: Some(2), ..params.clone() }, &Silent).unwrap().model;
    let numbers = model.predict(table).unwrap().values().to_vec();
    (model.to_json(), numbers.into_iter().map(f64::to_bits).collect())
}

/// Every kernel serves some of these fits: histograms by cells and by vectors, lanes, sums by bins, counted bits,
/// bounds and relaxations, the bits of predictions.
#[test]
fn both_sets_of_kernels_give_the_same_bits() {
    if !is_wide() {
        eprintln!("SKIPPED: this processor has no AVX2, so that there is only one set of kernels");
        return;
    }
    let of = |target: &str| Roles { target: target.into(), ..Roles::default() };
    let (weight, exposure) = (Some("weight".to_owned()), Some("years".to_owned()));
    let poisson = Roles { weight, exposure, task: Some(Task::Poisson), ..of("claims") };
    let tables = [(friedman1(700, 3), of("y")), (tic_tac_toe(), of("x_wins")), (claims(600), poisson)];
    let nested = Params { max_rules: Some(12), path: Some(PathKind::Nested), ..Params::default() };
    let exact = Params { search: Search::Exact, node_limit: Some(400), max_rules: Some(3), ..Params::default() };
    let counted = Params { search: Search::Exact, node_limit: Some(4000), max_rules: Some(3), ..Preset::Cob.params() };
    let mut all = vec![Params::default(), exact, counted, Params { max_rules: Some(40), ..nested.clone() }];
    let objectives = [Objective::Gs, Objective::Gb, Objective::Xgb, Objective::Ogb];
    all.extend(objectives.map(|objective| Params { objective, search: Search::Beam, ..nested.clone() }));
    for (table, roles) in &tables {
        for params in &all {
            let wide = learned(table, roles, params);
            let (portable, calls) = without_wide(|| learned(table, roles, params));
            assert!(calls > 0, "the portable kernels did not run");
            assert_eq!(wide, portable, "{roles:?} {params:?}");
        }
    }
}
