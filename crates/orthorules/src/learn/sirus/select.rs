//! From frequent paths to rules: each must add something to the more frequent ones.

use super::{Data, UnweightedRule};
use crate::codes::query::Query;
use crate::params::Checked;

/// A path is in the span of others when this part of its squared length, or less, is left outside it.
const DEPENDENT: f64 = 1e-9;

/// The paths in the order of their frequency, above p₀, without those that are linear combinations of the constant and
/// of paths before them, up to the limits of size.
pub(super) fn independent(data: &Data, paths: Vec<(Query, f64)>, params: &Checked) -> Vec<UnweightedRule> {
    let root = |r: usize| data.weight[r].sqrt();
    let constant = Span::unit((0..data.rows()).map(root).collect());
    let mut span = Span { basis: constant.into_iter().collect() };
    let mut kept: Vec<UnweightedRule> = Vec::new();
    let mut complexity = 0;
    for (query, frequency) in paths {
        if frequency <= params.p0 || kept.len() >= params.max_rules {
            break;
        }
        let larger = complexity + 1 + query.len();
        if larger > params.max_complexity {
            break;
        }
        let mut rows: Vec<u32> = (0..data.rows() as u32).collect();
        for &atom in &query.atoms {
            rows = data.columns[atom.column as usize].select(atom.selection, &rows);
        }
        if rows.len() < params.min_coverage {
            continue;
        }
        let mut vector = vec![0.0; data.rows()];
        rows.iter().for_each(|&r| vector[r as usize] = root(r as usize));
        if span.add(vector) {
            complexity = larger;
            kept.push(UnweightedRule { query, frequency, rows });
        }
    }
    kept
}

/// An orthonormal basis.
struct Span {
    basis: Vec<Vec<f64>>,
}

impl Span {
    fn unit(vector: Vec<f64>) -> Option<Vec<f64>> {
        let length = dot(&vector, &vector).sqrt();
        (length > 0.0).then(|| vector.into_iter().map(|x| x / length).collect())
    }

    /// Adds `vector` to the span; false when it lies in it already.
    fn add(&mut self, vector: Vec<f64>) -> bool {
        let whole = dot(&vector, &vector);
        let mut rest = vector;
        // Twice, for accuracy.
        for done in self.basis.iter().chain(&self.basis) {
            let along = dot(&rest, done);
            rest.iter_mut().zip(done).for_each(|(x, d)| *x -= along * d);
        }
        let new = dot(&rest, &rest) > DEPENDENT * whole;
        if new {
            self.basis.extend(Self::unit(rest));
        }
        new
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
