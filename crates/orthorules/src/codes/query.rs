//! Conjunctions over codes, kept in a canonical form.

use crate::codes::selection::Atom;

/// A conjunction of atoms, sorted, without atoms that others imply.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Query {
    pub(crate) atoms: Vec<Atom>,
}

impl Query {
    /// This query and `atom`: bounds on one column are merged, implied atoms go.
    pub(crate) fn with(&self, atom: Atom) -> Self {
        let mut atoms: Vec<Atom> = self.atoms.iter().copied().filter(|&old| !implies(atom, old)).collect();
        atoms.push(atom);
        atoms.sort_unstable();
        Self { atoms }
    }

    /// Length of [`Self::with`] without building it.
    #[inline]
    pub(crate) fn length_with(&self, atom: Atom) -> usize {
        1 + self.atoms.iter().filter(|&&old| !implies(atom, old)).count()
    }

    /// This query without its `i`-th atom.
    pub(crate) fn without(&self, i: usize) -> Self {
        let mut atoms = self.atoms.clone();
        atoms.remove(i);
        Self { atoms }
    }

    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }
}

/// Whether every row that satisfies `new` satisfies `old`, given that `new` tightens a query that contains `old`.
#[inline]
fn implies(new: Atom, old: Atom) -> bool {
    new.column == old.column && new.selection.implies(old.selection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::selection::Selection;
    use proptest::prelude::*;

    proptest! {
        /// A query without what another of its conditions implies selects the same codes.
        #[test]
        fn implied_conditions_may_go(
            bins in 1usize..20,
            picks in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
        ) {
            let all: Vec<Selection> = Selection::all(bins).collect();
            let given: Vec<Selection> = picks.iter().map(|pick| *pick.get(&all)).collect();
            let atoms = given.iter().map(|&selection| Atom { column: 0, selection });
            let kept = atoms.fold(Query::default(), |query, atom| query.with(atom));
            for code in 0..=bins {
                let of_given = given.iter().all(|&selection| selection.codes(bins).contains(code));
                prop_assert_eq!(kept.atoms.iter().all(|atom| atom.selection.codes(bins).contains(code)), of_given);
            }
        }
    }
}
