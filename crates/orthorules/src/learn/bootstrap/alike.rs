//! Which conditions and rules are alike enough to have been found again.

use super::NEAR;
use crate::data::table::{Column, Values};
use crate::model::condition::{Condition, Operand};
use crate::model::rule::Rule;
use crate::model::trend::Trend;
use std::collections::HashMap;

/// Which conditions and rules are alike.
pub(super) struct RuleMatcher<'a> {
    columns: HashMap<&'a str, &'a Values>,
}

impl<'a> RuleMatcher<'a> {
    pub(super) fn new(features: &'a [Column]) -> Self {
        Self { columns: features.iter().map(|c| (c.name.as_str(), &c.values)).collect() }
    }

    /// The two levels of a column that has no more.
    fn pair(&self, column: &str) -> Option<(&'a str, &'a str)> {
        match self.columns.get(column) {
            Some(Values::Categorical { levels, .. }) => match levels.as_slice() {
                [a, b] => Some((a, b)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Of two levels, not to be one is to be the other: spelled as that.
    fn plain(&self, condition: &Condition) -> Condition {
        self.pair(&condition.column).map_or_else(|| condition.clone(), |levels| condition.among_two(levels))
    }

    /// Whether two conditions are one comparison of one column. Thresholds may have `NEAR` of the values between them,
    /// and sets must share half of the levels that they name together.
    pub(super) fn conditions(&self, a: &Condition, b: &Condition) -> bool {
        let (a, b) = (self.plain(a), self.plain(b));
        a.column == b.column && a.op == b.op && self.operands(&a, &b)
    }

    /// Whether two rules have alike conditions, or are a single condition and its opposite: that is the same split of
    /// the rows, and the intercept takes up the difference.
    pub(super) fn rules(&self, a: &Rule, b: &Rule) -> bool {
        if let (Some(s), Some(t)) = (&a.trend, &b.trend) {
            // A column's trend, whatever its ends are; hinges go the same way.
            let shape = |trend: &Trend| (trend.zero == trend.from, trend.zero == trend.to);
            return s.column == t.column && shape(s) == shape(t);
        }
        let same = a.trend.is_some() == b.trend.is_some()
            && a.conditions.len() == b.conditions.len()
            && a.conditions.iter().all(|c| b.conditions.iter().any(|d| self.conditions(c, d)))
            && b.conditions.iter().all(|d| a.conditions.iter().any(|c| self.conditions(c, d)));
        let turned = match (a.conditions.as_slice(), b.conditions.as_slice()) {
            ([c], [d]) => self.opposite(&self.plain(c), &self.plain(d)),
            _ => false,
        };
        same || turned
    }

    /// Whether one holds where the other does not, up to thresholds.
    fn opposite(&self, a: &Condition, b: &Condition) -> bool {
        let of_two = a.op == b.op && a.value != b.value && self.pair(&a.column).is_some();
        let turned = a.op.opposite() == b.op && self.operands(a, b);
        a.column == b.column && (of_two || turned)
    }

    fn operands(&self, a: &Condition, b: &Condition) -> bool {
        match (&a.value, &b.value) {
            (Some(Operand::Number(s)), Some(Operand::Number(t))) => {
                let Some(Values::Numeric(values)) = self.columns.get(a.column.as_str()) else { return s == t };
                let (low, high) = (s.min(*t), s.max(*t));
                let present = values.iter().filter(|v| !v.is_nan()).count();
                let between = values.iter().filter(|&&v| v > low && v < high).count();
                between as f64 <= NEAR * present as f64
            }
            (Some(Operand::Levels(s)), Some(Operand::Levels(t))) => {
                let shared = s.iter().filter(|level| t.contains(level)).count();
                2 * shared >= s.len() + t.len() - shared
            }
            (x, y) => x == y,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::condition::Op;

    #[test]
    fn alike_means_the_same_comparison_and_a_near_threshold() {
        let features = [Column::new("x", Values::numbers((0..100).map(f64::from)))];
        let alike = RuleMatcher::new(&features);
        let condition = |op, t: f64| Condition::new("x", op, Some(Operand::Number(t)));
        let rule =
            |conditions| Rule { conditions, trend: None, covered: 0, value: 0.0, bound: None, proven: false, nodes: 0 };
        let one = |op, t| rule(vec![condition(op, t)]);
        assert!(alike.rules(&one(Op::Le, 50.5), &one(Op::Le, 60.5)));
        assert!(!alike.rules(&one(Op::Le, 50.5), &one(Op::Le, 61.5)));
        assert!(alike.rules(&one(Op::Le, 50.5), &one(Op::Ge, 51.0)), "the opposite is the same split");
        assert!(!alike.conditions(&condition(Op::Le, 50.5), &condition(Op::Ge, 51.0)));
        let level = |op, level: &str| rule(vec![Condition::new("c", op, Some(Operand::Text(level.into())))]);
        for (names, expected) in [(&["no", "yes"][..], true), (&["no", "yes", "perhaps"], false)] {
            let features = [Column::new("c", Values::text(names.iter().map(|n| Some(*n))))];
            let alike = RuleMatcher::new(&features);
            assert!(alike.rules(&level(Op::Eq, "yes"), &level(Op::Ne, "yes")));
            assert_eq!(alike.rules(&level(Op::Eq, "yes"), &level(Op::Eq, "no")), expected);
            assert_eq!(alike.rules(&level(Op::Eq, "yes"), &level(Op::Ne, "no")), expected);
        }
        let both = || rule(vec![condition(Op::Ge, 20.0), condition(Op::Le, 50.5)]);
        assert!(alike.rules(&both(), &both()) && !alike.rules(&both(), &one(Op::Le, 50.5)));
    }
}
