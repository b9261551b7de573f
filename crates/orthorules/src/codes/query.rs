//! Conjunctions over codes, kept in a canonical form.

use crate::codes::column::Atom;
use crate::model::rule::Op;

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
fn implies(new: Atom, old: Atom) -> bool {
    if new.column != old.column {
        return false;
    }
    match (new.op, old.op) {
        (Op::Le, Op::Le) => new.bin <= old.bin,
        (Op::Ge, Op::Ge) => new.bin >= old.bin,
        (Op::Eq, Op::Ne) => new.bin != old.bin,
        (Op::Eq, Op::Eq) | (Op::Ne, Op::Ne) => new.bin == old.bin,
        (Op::Missing, Op::Missing) => true,
        (op, Op::Present) => op != Op::Missing,
        _ => false,
    }
}
