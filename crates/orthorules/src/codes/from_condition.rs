//! From conditions back to codes: the way in, where [`BinnedColumn::condition_among`] is the way out.
//!
//! A condition has a selection if some codes hold exactly the rows that satisfy it. A threshold therefore has one only
//! if a bin ends there. Where none does, [`cut_where_asked`] cuts a column in memory again, with the thresholds of
//! given conditions among its cuts. The parameter `cuts` does so for a whole fit, in memory or streamed: it replaces
//! all cuts of a column by those that it lists.

use crate::base::error::{ConditionProblem, Error, Result};
use crate::codes::column::{BinnedColumn, Scale};
use crate::codes::encoder::Coder;
use crate::codes::packed::CodeBuilder;
use crate::codes::query::Query;
use crate::codes::selection::{Atom, Bins, Selection};
use crate::codes::wanted::LevelSets;
use crate::data::special::SpecialCode;
use crate::model::condition::{Condition, Op, Operand};
use std::collections::HashSet;

/// A threshold of a column of numbers, from the side that its condition looks at it.
#[derive(Debug, Clone, Copy)]
enum ThresholdSide {
    AtMost(f64),
    AtLeast(f64),
}

impl ThresholdSide {
    fn of(condition: &Condition) -> Option<Self> {
        match (condition.op, &condition.value) {
            (Op::Le, Some(Operand::Number(t))) if t.is_finite() => Some(Self::AtMost(*t)),
            (Op::Ge, Some(Operand::Number(t))) if t.is_finite() => Some(Self::AtLeast(*t)),
            _ => None,
        }
    }

    fn threshold(self) -> f64 {
        let (Self::AtMost(t) | Self::AtLeast(t)) = self;
        t
    }

    /// Whether a number lies below the cut that this asks for.
    fn is_above(self, x: f64) -> bool {
        match self {
            Self::AtMost(t) => x <= t,
            Self::AtLeast(t) => x < t,
        }
    }

    /// The selection of its side of a cut before the bin `first_above`, in a column of these bins. All numbers are all
    /// values only where there is no special code.
    fn side(self, first_above: usize, bins: Bins) -> Result<Selection, ConditionProblem> {
        let numbers = bins.all - bins.special;
        match (self, first_above) {
            (Self::AtMost(_), 0) => Err(ConditionProblem::NoRow),
            (Self::AtMost(_), all) if all == numbers && bins.special == 0 => Ok(Selection::Present),
            (Self::AtMost(_), above) => Ok(Selection::AtMost(above as u32 - 1)),
            (Self::AtLeast(_), 0) if bins.special == 0 => Ok(Selection::Present),
            (Self::AtLeast(_), all) if all == numbers => Err(ConditionProblem::NoRow),
            (Self::AtLeast(_), above) => Ok(Selection::AtLeast(above as u32)),
        }
    }
}

impl BinnedColumn {
    /// The selection of the rows that satisfy `condition`, which names this column.
    pub(crate) fn selection(&self, condition: &Condition, sets: &LevelSets) -> Result<Selection> {
        self.selected_by(condition, sets).map_err(|why| Error::Condition { condition: condition.to_string(), why })
    }

    fn selected_by(&self, condition: &Condition, sets: &LevelSets) -> Result<Selection, ConditionProblem> {
        match condition.op {
            Op::Missing => return Ok(Selection::Missing),
            Op::Present => return Ok(Selection::Present),
            Op::Is | Op::IsNot => return self.special_code(condition),
            _ => {}
        }
        let has_bounds = matches!(self.scale, Scale::Ordered { .. } | Scale::Given { .. });
        if self.ordinary() == 0 || has_bounds && self.range.is_none() {
            return Err(ConditionProblem::NoRow);
        }
        match (&self.scale, ThresholdSide::of(condition)) {
            (Scale::Ordered { lowest, highest }, Some(bound)) => self.ordered(lowest, highest, bound),
            (Scale::Given { thresholds }, Some(bound)) => self.given(thresholds, bound),
            (Scale::Ranked { levels } | Scale::Nominal { levels }, None) => {
                among_levels(condition, levels, matches!(self.scale, Scale::Ranked { .. }), sets)
            }
            _ => Err(ConditionProblem::WrongKind),
        }
    }

    /// The bin of a special code, or all others.
    fn special_code(&self, condition: &Condition) -> Result<Selection, ConditionProblem> {
        let named = condition.levels().first();
        let place = self.special.iter().position(|special| Some(&special.name) == named);
        let place = place.ok_or(ConditionProblem::WrongKind)? as u32;
        Ok(if condition.op == Op::Is { Selection::Special(place) } else { Selection::NotSpecial(place) })
    }

    /// The bins on one side of a bound, if one of them ends there.
    fn ordered(&self, lowest: &[f64], highest: &[f64], bound: ThresholdSide) -> Result<Selection, ConditionProblem> {
        let end = |bin: usize| match self.range {
            // The last bin may hold numbers beyond its end.
            Some((_, high)) if bin + 1 == self.ordinary() => highest[bin].max(high),
            _ => highest[bin],
        };
        let first_above = (0..self.ordinary()).collect::<Vec<_>>().partition_point(|&bin| bound.is_above(end(bin)));
        let is_torn = first_above < self.ordinary() && bound.is_above(lowest[first_above]);
        if is_torn { Err(ConditionProblem::NoCut) } else { bound.side(first_above, self.all_bins()) }
    }

    /// The bins on one side of a bound, where bins lie around thresholds that were given.
    fn given(&self, thresholds: &[f64], bound: ThresholdSide) -> Result<Selection, ConditionProblem> {
        let threshold = bound.threshold();
        let place = thresholds.partition_point(|&t| t < threshold);
        if thresholds.get(place) == Some(&threshold) {
            let bin = 2 * place as u32 + 1;
            return Ok(match bound {
                ThresholdSide::AtMost(_) => Selection::AtMost(bin),
                ThresholdSide::AtLeast(_) => Selection::AtLeast(bin),
            });
        }
        match self.range {
            Some((low, _)) if !bound.is_above(low) => bound.side(0, self.all_bins()),
            Some((_, high)) if bound.is_above(high) => bound.side(self.ordinary(), self.all_bins()),
            _ => Err(ConditionProblem::NoCut),
        }
    }
}

/// What a condition on levels selects. Levels that the column does not have are those of no row.
fn among_levels(
    condition: &Condition,
    levels: &[String],
    is_ranked: bool,
    sets: &LevelSets,
) -> Result<Selection, ConditionProblem> {
    let wanted: HashSet<&String> = condition.levels().iter().collect();
    let named: Vec<u32> = (0..).zip(levels).filter(|(_, level)| wanted.contains(level)).map(|(code, _)| code).collect();
    let last = levels.len() as u32 - 1;
    Ok(match (condition.op, named.as_slice()) {
        (Op::Le | Op::Ge, _) if !is_ranked => return Err(ConditionProblem::WrongKind),
        (Op::Le | Op::Ge | Op::Eq | Op::In, []) => return Err(ConditionProblem::NoRow),
        (Op::NotIn, named) if named.len() == levels.len() => return Err(ConditionProblem::NoRow),
        (Op::Ne, [_]) if last == 0 => return Err(ConditionProblem::NoRow),
        (Op::Ne | Op::NotIn, []) | (Op::Ge, [0]) => Selection::Present,
        (Op::In, named) if named.len() == levels.len() => Selection::Present,
        (Op::Le, [level]) if *level == last => Selection::Present,
        (Op::Le, [level]) => Selection::AtMost(*level),
        (Op::Ge, [level]) => Selection::AtLeast(*level),
        (Op::Eq | Op::In, [level]) => Selection::Is(*level),
        (Op::Ne | Op::NotIn, [level]) => Selection::IsNot(*level),
        (Op::In, _) => Selection::In(sets.number(named)),
        (Op::NotIn, _) => Selection::NotIn(sets.number(named)),
        _ => return Err(ConditionProblem::WrongKind),
    })
}

/// The query of the rows that satisfy all `conditions`, in its canonical form: bounds of one column are merged, and
/// what another condition implies goes.
pub(crate) fn query(conditions: &[Condition], columns: &[BinnedColumn], sets: &LevelSets) -> Result<Query> {
    let mut atoms: Vec<(Atom, Vec<bool>)> = Vec::new();
    for condition in conditions {
        let names = || columns.iter().map(|column| column.name.as_str());
        let Some(place) = columns.iter().position(|column| column.name == condition.column) else {
            return Err(Error::no_column("condition", &condition.column, names()));
        };
        let column = &columns[place];
        let selection = column.selection(condition, sets)?;
        let wanted = sets.wanted(selection, column.all_bins());
        let codes: Vec<bool> = (0..=column.bins).map(|code| wanted.has(code)).collect();
        let of_column = |(atom, _): &&(Atom, Vec<bool>)| atom.column == place as u32;
        let holds = |code: usize| codes[code] && atoms.iter().filter(of_column).all(|(_, codes)| codes[code]);
        if !(0..codes.len()).any(holds) {
            return Err(Error::Condition { condition: condition.to_string(), why: ConditionProblem::Contradiction });
        }
        atoms.push((Atom { column: place as u32, selection }, codes));
    }
    let is_implied = |i: usize| {
        let part = |j: usize| {
            let ((a, narrow), (b, wide)) = (&atoms[j], &atoms[i]);
            a.column == b.column && narrow.iter().zip(wide).all(|(narrow, wide)| !narrow || *wide)
        };
        // Of equals the one that is shown as the fewest words stays: the first in the order of selections.
        let before = |j: usize| (atoms[j].0, j) < (atoms[i].0, i);
        (0..atoms.len()).any(|j| j != i && part(j) && (atoms[i].1 != atoms[j].1 || before(j)))
    };
    let mut left: Vec<Atom> = (0..atoms.len()).filter(|&i| !is_implied(i)).map(|i| atoms[i].0).collect();
    left.sort_unstable();
    Ok(Query { atoms: left })
}

/// A column of numbers with cuts at the thresholds of those `conditions` that name it, beside the cuts that it has;
/// nothing where it has them all. `values` are its numbers and special codes, row by row.
pub(crate) fn cut_where_asked(
    column: &BinnedColumn,
    values: &[f64],
    conditions: &[Condition],
    sets: &LevelSets,
) -> Option<BinnedColumn> {
    let of_column = conditions.iter().filter(|condition| condition.column == column.name);
    let lacks = |c: &&Condition| matches!(column.selected_by(c, sets), Err(ConditionProblem::NoCut));
    let bounds: Vec<ThresholdSide> = of_column.filter(lacks).filter_map(ThresholdSide::of).collect();
    if bounds.is_empty() {
        return None;
    }
    let numbers = SpecialCode::masked(&column.special, values);
    let coder = match &column.scale {
        Scale::Ordered { highest, .. } => {
            // A bin ends at a value of the data: the largest below the cut.
            let below = |bound: &ThresholdSide| numbers.iter().copied().filter(|x| bound.is_above(*x)).reduce(f64::max);
            let high = column.range.map(|(_, high)| high);
            let ends = highest.iter().copied().chain(bounds.iter().filter_map(below)).chain(high);
            Coder::ordered(&column.name, ascending(ends))
        }
        Scale::Given { thresholds } => {
            let added = bounds.iter().map(|bound| bound.threshold());
            Coder::given(&column.name, &ascending(thresholds.iter().copied().chain(added)))
        }
        Scale::Ranked { .. } | Scale::Nominal { .. } => return None,
    };
    let mut coder = coder.with_special(column.special.clone());
    let mut codes = CodeBuilder::new(coder.bins(), values.len());
    coder.numbers(values, &mut codes);
    let (repeats, code_like) = (column.repeats, column.code_like.clone());
    Some(BinnedColumn { repeats, code_like, ..coder.finish(codes.finish()) })
}

/// These numbers in order, each once.
fn ascending(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.map(|x| x + 0.0).collect();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::binning;
    use crate::data::table::{Column, Kind, Values};
    use crate::params::{Cutting, MaxBins, Thresholds};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const LEVELS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            8 => (-20i32..20).prop_map(|x| f64::from(x) / 2.0),
            2 => -9.0..9.0f64,
            1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]),
        ]
    }

    /// Special codes of the column of numbers, where it has some.
    const SPECIAL: [(f64, &str); 3] = [(-2.0, "refused"), (3.5, "unknown"), (40.0, "never there")];

    /// Conditions that can be asked of these columns, knowing the special codes.
    fn asked(conditions: Vec<Condition>, drawn: &Drawn) -> Vec<Condition> {
        let special = &drawn.0[0].special;
        let can_be = |condition: &Condition| !matches!(condition.op, Op::Is | Op::IsNot) || !special.is_empty();
        let known = |condition: Condition| match condition.column.as_str() {
            "x" => condition.known(false, special),
            _ => condition,
        };
        conditions.into_iter().filter(can_be).map(known).collect()
    }

    /// A column of numbers, one of names and one of levels in order; bins for the first; thresholds for it, or none.
    type Drawn = (Vec<Column>, MaxBins, Vec<f64>);

    fn columns() -> impl Strategy<Value = Drawn> {
        let rows = prop::collection::vec((number(), prop::option::weighted(0.9, 0usize..6), 0u32..4), 1..60);
        let max_bins = prop_oneof![(2u32..9).prop_map(MaxBins::AtMost), Just(MaxBins::Exact)];
        let given = prop::collection::vec(-9.0..9.0f64, 0..4);
        (rows, max_bins, given, any::<bool>()).prop_map(|(rows, max_bins, given, special)| {
            let names = Values::text(rows.iter().map(|(_, level, _)| level.map(|l| LEVELS[l])));
            let ranks = Values::Categorical {
                codes: rows.iter().map(|(.., rank)| *rank).collect(),
                levels: LEVELS[..4].iter().map(ToString::to_string).collect(),
                kind: Kind::Ordered,
            };
            let numbers = Column::new("x", Values::numbers(rows.iter().map(|(x, ..)| *x)));
            let codes = if special { &SPECIAL[..] } else { &[] };
            let codes: Vec<SpecialCode> = codes.iter().map(|&(x, name)| SpecialCode::new(x, name)).collect();
            let numbers = numbers.with_special(&codes).unwrap();
            let columns = vec![numbers, Column::new("name", names), Column::new("rank", ranks)];
            (columns, max_bins, ascending(given.into_iter()))
        })
    }

    fn binned((columns, max_bins, given): &Drawn) -> Vec<BinnedColumn> {
        let given = (!given.is_empty()).then(|| ("x".to_owned(), given.clone()));
        let cutting = Cutting { max_bins: *max_bins, thresholds: Thresholds::Round };
        binning::bin(columns, None, cutting, &given.into_iter().collect::<BTreeMap<_, _>>())
    }

    /// The definition: the rows whose values satisfy all conditions.
    fn naive(columns: &[Column], conditions: &[Condition]) -> Vec<u32> {
        let mut selected = vec![true; columns[0].values.len()];
        for condition in conditions {
            let column = columns.iter().find(|column| column.name == condition.column).unwrap();
            condition.narrow(&column.values, &mut selected);
        }
        (0..).zip(selected).filter(|(_, holds)| *holds).map(|(row, _)| row).collect()
    }

    fn selected(columns: &[BinnedColumn], atoms: &[Atom], rows: usize, sets: &LevelSets) -> Vec<u32> {
        let narrower = |rows: Vec<u32>, atom: &Atom| {
            let column = &columns[atom.column as usize];
            column.select_where(&sets.wanted(atom.selection, column.all_bins()), &rows, true, Vec::new())
        };
        atoms.iter().fold((0..rows as u32).collect(), narrower)
    }

    /// Every selection that a search may list in a column, and some sets.
    fn listed(column: &BinnedColumn, sets: &LevelSets) -> Vec<Selection> {
        let bins = column.ordinary();
        let has_levels = matches!(column.scale, Scale::Nominal { .. });
        // Where there is no number, no threshold is listed.
        let has_numbers = matches!(column.scale, Scale::Ranked { .. }) || column.range.is_some();
        let plain = Selection::all(column.all_bins()).filter(|selection| match *selection {
            Selection::AtMost(bin) => has_numbers && (bin as usize) + 1 < bins && column.scale.ends_at(bin as usize),
            Selection::AtLeast(bin) => has_numbers && bin > 0 && column.scale.ends_at(bin as usize),
            Selection::Is(_) | Selection::IsNot(_) => has_levels && bins > 2,
            _ => true,
        });
        let pairs = (0..bins as u32).flat_map(|a| (0..a).map(move |b| vec![b, a]));
        let pairs: Vec<Vec<u32>> = pairs.filter(|_| has_levels && bins > 3).collect();
        let of_pair = |pair: Vec<u32>| [Selection::In(sets.number(pair.clone())), Selection::NotIn(sets.number(pair))];
        plain.chain(pairs.into_iter().flat_map(of_pair)).collect()
    }

    fn any_condition() -> impl Strategy<Value = Condition> {
        let bound = (prop::sample::select(vec![Op::Le, Op::Ge]), -12.0..12.0f64, any::<bool>());
        let bound =
            bound.prop_map(|(op, t, half)| ("x", op, Some(Operand::Number(if half { t.round() / 2.0 } else { t }))));
        let levels = prop::sample::subsequence(LEVELS.to_vec(), 1..=6);
        let set = (prop::sample::select(vec![Op::In, Op::NotIn]), levels).prop_map(|(op, levels)| {
            ("name", op, Some(Operand::Levels(levels.into_iter().map(str::to_owned).collect())))
        });
        let level = (prop::sample::select(vec![Op::Eq, Op::Ne]), 0usize..6);
        let level = level.prop_map(|(op, level)| ("name", op, Some(Operand::Text(LEVELS[level].into()))));
        let rank = (prop::sample::select(vec![Op::Le, Op::Ge, Op::Eq, Op::Ne]), 0usize..5);
        let rank = rank.prop_map(|(op, level)| ("rank", op, Some(Operand::Text(LEVELS[level].into()))));
        let presence = (prop::sample::select(vec!["x", "name"]), any::<bool>());
        let presence = presence.prop_map(|(name, is)| (name, if is { Op::Missing } else { Op::Present }, None));
        let code = (prop::sample::select(vec![Op::Is, Op::IsNot]), prop::sample::select(&SPECIAL[..]));
        let code = code.prop_map(|(op, (_, name))| ("x", op, Some(Operand::Text(name.into()))));
        prop_oneof![4 => bound, 2 => set, 2 => level, 2 => rank, 2 => code, 1 => presence]
            .prop_map(|(column, op, value)| Condition::new(column, op, value))
    }

    proptest! {
        /// The way out and back: every selection that a search may list has a condition, whose selection it is.
        #[test]
        fn selections_come_back(drawn in columns()) {
            let (columns, sets) = (binned(&drawn), LevelSets::default());
            for (place, column) in (0u32..).zip(&columns) {
                for selection in listed(column, &sets) {
                    let condition = column.condition_among(selection, &sets);
                    prop_assert!(condition.is_valid(), "{:?} {}", selection, condition);
                    let back = column.selection(&condition, &sets);
                    let is_same = matches!(back, Ok(back) if back == selection);
                    prop_assert!(is_same, "{:?} {} {:?}", selection, condition, back);
                    let atom = Atom { column: place, selection };
                    let rows = selected(&columns, &[atom], drawn.0[0].values.len(), &sets);
                    prop_assert_eq!(rows, naive(&drawn.0, &[condition]));
                }
            }
        }

        /// Whatever the conditions: the query selects the rows that satisfy them, or the error says truly why there is
        /// none.
        #[test]
        fn queries_select_what_conditions_say(
            drawn in columns(),
            conditions in prop::collection::vec(any_condition(), 0..5),
        ) {
            let conditions = asked(conditions, &drawn);
            let (columns, sets) = (binned(&drawn), LevelSets::default());
            let rows = drawn.0[0].values.len();
            let expected = naive(&drawn.0, &conditions);
            match query(&conditions, &columns, &sets) {
                Ok(query) => {
                    prop_assert_eq!(selected(&columns, &query.atoms, rows, &sets), expected);
                    // It is canonical: no condition can go, and it says the same when it is read once more.
                    let texts: Vec<Condition> = query.atoms.iter()
                        .map(|a| columns[a.column as usize].condition_among(a.selection, &sets)).collect();
                    prop_assert_eq!(super::query(&texts, &columns, &sets).unwrap(), query);
                }
                Err(Error::Condition { why: ConditionProblem::NoRow | ConditionProblem::Contradiction, .. }) => {
                    prop_assert_eq!(expected, Vec::<u32>::new());
                }
                Err(Error::Condition { why: ConditionProblem::NoCut, condition }) => {
                    let torn = conditions.iter().find(|c| c.to_string() == condition).unwrap();
                    let own = naive(&drawn.0, std::slice::from_ref(torn));
                    for selection in listed(&columns[0], &sets) {
                        let rows = selected(&columns, &[Atom { column: 0, selection }], rows, &sets);
                        let is_bound = selection.op() == torn.op;
                        // Given thresholds may select the same rows by chance.
                        let differs = !is_bound || !drawn.2.is_empty() || rows != own;
                        prop_assert!(differs, "{:?} is {}", selection, condition);
                    }
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }

        /// A column that is cut where conditions ask for it knows them all, and what it knew before.
        #[test]
        fn cuts_that_are_asked_for_are_there(
            drawn in columns(),
            conditions in prop::collection::vec(any_condition(), 1..5),
        ) {
            let conditions = asked(conditions, &drawn);
            let (mut columns, sets) = (binned(&drawn), LevelSets::default());
            let Values::Numeric(numbers) = &drawn.0[0].values else { panic!("numbers") };
            let known: Vec<Condition> =
                listed(&columns[0], &sets).into_iter().map(|s| columns[0].condition_among(s, &sets)).collect();
            let Some(cut) = cut_where_asked(&columns[0], numbers, &conditions, &sets) else {
                let lacks = |c: &Condition| matches!(columns[0].selected_by(c, &sets), Err(ConditionProblem::NoCut));
                prop_assert!(!conditions.iter().any(|c| c.column == "x" && lacks(c)));
                return Ok(());
            };
            prop_assert_eq!((cut.range, &cut.name), (columns[0].range, &columns[0].name));
            columns[0] = cut;
            for condition in known.iter().chain(conditions.iter().filter(|c| c.column == "x")) {
                let expected = naive(&drawn.0, std::slice::from_ref(condition));
                match columns[0].selection(condition, &sets) {
                    Ok(selection) => {
                        let atom = Atom { column: 0, selection };
                        prop_assert_eq!(selected(&columns, &[atom], numbers.len(), &sets), expected);
                    }
                    Err(error) => prop_assert!(expected.is_empty(), "{}", error),
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_asked_is_told() {
        let columns = vec![
            Column::new("age", Values::numbers((0..200).map(f64::from))),
            Column::new("sex", Values::text((0..200).map(|i| Some(if i % 2 == 0 { "f" } else { "m" })))),
        ];
        let drawn = (columns, MaxBins::AtMost(4), Vec::new());
        let (columns, sets) = (binned(&drawn), LevelSets::default());
        let told = |column: &str, op, value| {
            let condition = Condition::new(column, op, value);
            query(&[condition], &columns, &sets).unwrap_err().to_string()
        };
        let number = |t| Some(Operand::Number(t));
        assert_eq!(
            told("age", Op::Ge, number(65.0)),
            "condition age >= 65: the column has no cut at this threshold; list it in cuts"
        );
        assert_eq!(told("age", Op::Ge, number(200.0)), "condition age >= 200: no row satisfies it");
        assert_eq!(told("sex", Op::Ge, number(2.0)), "condition sex >= 2: it cannot be asked of this kind of column");
        assert!(
            told("agee", Op::Ge, number(2.0)).starts_with("condition \"agee\": no such column; did you mean `age`?")
        );
    }
}
