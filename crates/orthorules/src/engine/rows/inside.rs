//! What the conditions of two nodes tell of their rows, without a look at any.

use super::question::Node;
use crate::codes::column::BinnedColumn;

impl Node {
    /// Whether the clauses of both tell that all rows of this node are in `other`, or that none is. If not, it may be
    /// so nevertheless.
    pub(crate) fn surely_lies(&self, inside: bool, other: &Self, columns: &[BinnedColumn]) -> bool {
        if self.outside {
            return false;
        }
        let meet = |column: u32| self.codes_of(column, columns).zip(other.codes_of(column, columns));
        let mut used = other.clauses.iter().map(|clause| clause.column);
        if inside == other.outside {
            // None is in both: a column has no code that both want.
            used.any(|column| !meet(column).any(|(here, there)| here && there))
        } else {
            used.all(|column| meet(column).all(|(here, there)| there || !here))
        }
    }

    /// Of each code of a column that some row has, whether all clauses about that column are satisfied.
    fn codes_of<'n>(&'n self, column: u32, columns: &'n [BinnedColumn]) -> impl Iterator<Item = bool> + 'n {
        let about = columns.get(column as usize);
        let has_rows =
            move |code: &usize| about.and_then(|c| c.remote_counts.as_ref()).is_none_or(|rows| rows[*code] > 0);
        let codes = (0..about.map_or(0, |column| column.bins + 1)).filter(has_rows);
        let clauses = move || self.clauses.iter().filter(move |clause| clause.column == column);
        codes.map(move |code| clauses().all(|clause| clause.wanted.has(code) == clause.holds))
    }
}

#[cfg(test)]
mod tests {
    use crate::codes::column::{BinnedColumn, Code, Scale, with_codes};
    use crate::codes::packed::Codes;
    use crate::codes::wanted::WantedCodes;
    use crate::engine::cases::cases;
    use crate::engine::rows::question::{Clause, Node};
    use proptest::prelude::*;

    /// A node by its clauses: column, first code, width, whether it holds.
    fn node(clauses: &[(usize, usize, usize, bool)], bins: &[usize], outside: bool) -> Node {
        let clause = |&(column, first, width, holds): &(usize, usize, usize, bool)| {
            let column = column % bins.len();
            let wanted = (0..=bins[column]).map(|code| (first..first + width).contains(&code)).collect();
            Clause { column: column as u32, wanted: WantedCodes::Table(wanted), holds }
        };
        Node { clauses: clauses.iter().map(clause).collect(), outside }
    }

    proptest! {
        /// What is sure is so for every row; and a node surely lies in itself, and not outside.
        #[test]
        fn what_is_sure_holds(
            case in cases(3),
            some in prop::collection::vec((0usize..3, 0usize..6, 1usize..6, any::<bool>()), 0..4),
            others in prop::collection::vec((0usize..3, 0usize..6, 1usize..6, any::<bool>()), 1..4),
            inside in any::<bool>(),
            outside in any::<bool>(),
        ) {
            let columns = case.binned();
            let bins: Vec<usize> = columns.iter().map(|column| column.bins).collect();
            let (here, there) = (node(&some, &bins, false), node(&others, &bins, outside));
            let is_in = |node: &Node, row: usize| {
                let holds = |clause: &Clause| {
                    let codes = &columns[clause.column as usize].codes;
                    clause.wanted.has(with_codes!(codes, codes => codes[row].index())) == clause.holds
                };
                node.clauses.iter().all(holds) != node.outside
            };
            if here.surely_lies(inside, &there, &columns) {
                for row in (0..case.rows()).filter(|&row| is_in(&here, row)) {
                    prop_assert_eq!(is_in(&there, row), inside);
                }
            }
            prop_assert!(here.clauses.is_empty() || here.surely_lies(true, &here, &columns));
        }
    }

    #[test]
    fn narrower_conditions_lie_inside_and_others_apart() {
        let column = |rows: Vec<u64>| BinnedColumn {
            name: "x".into(),
            scale: Scale::Nominal { levels: (0..9).map(|level| level.to_string()).collect() },
            bins: 9,
            codes: Codes::U8(Vec::new().into()),
            range: None,
            content: 0,
            remote_counts: Some(rows),
            repeats: None,
            code_like: Vec::new(),
            coarse: None,
            special: Vec::new(),
        };
        let columns = [column(vec![1; 10])];
        let of = |clauses: &[(usize, usize)]| {
            let clauses: Vec<_> = clauses.iter().map(|&(first, width)| (0, first, width, true)).collect();
            node(&clauses, &[9], false)
        };
        let rule = of(&[(0, 4)]);
        assert!(of(&[(0, 7), (1, 3)]).surely_lies(true, &rule, &columns));
        assert!(of(&[(4, 3)]).surely_lies(false, &rule, &columns));
        assert!(!of(&[(2, 3)]).surely_lies(true, &rule, &columns));
        assert!(!of(&[(2, 3)]).surely_lies(false, &rule, &columns));
        // No row has the code that is not in the rule.
        let columns = [column(vec![1, 1, 1, 1, 0, 1, 1, 1, 1, 1])];
        assert!(of(&[(2, 3)]).surely_lies(true, &rule, &columns));
    }
}
