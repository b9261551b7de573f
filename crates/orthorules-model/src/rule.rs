//! Rules: their conditions, their text, and what the search knew of them.

pub use crate::model::condition::{Condition, Op, Operand};
use crate::model::trend::Trend;
use serde::{Deserialize, Serialize};

/// A conjunction of conditions, with what the search knew of it.
///
/// ```
/// # mod orthorules {
/// #     pub use orthorules_model::*;
/// #     pub use orthorules_table::{Column, Table, Values};
/// # }
/// # let json = r#"{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
/// #   "classes":[],"columns":[{"name":"age","kind":"numeric"}],
/// #   "rules":[{"conditions":[{"column":"age","op":"<=","value":44.5}]}],
/// #   "path":[{"rules":1,"intercept":2.0,"weights":[0.5],"train_risk":0.1}],"chosen":1}"#;
/// use orthorules::Model;
/// use orthorules::rule::{Op, Operand};
///
/// let model = Model::from_json(json)?;
/// let rule = model.rules()[0].rule;
/// assert_eq!((rule.to_string().as_str(), rule.complexity()), ("age <= 44.5", 2));
/// let condition = &rule.conditions[0];
/// assert_eq!((condition.op, &condition.value), (Op::Le, &Some(Operand::Number(44.5))));
/// # Ok::<(), orthorules::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// All of these must hold.
    pub conditions: Vec<Condition>,
    /// What it grows with, where it is a trend: it has no conditions then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// Training rows that satisfy it.
    #[serde(default)]
    pub covered: u64,
    /// Objective value when it was chosen.
    #[serde(default)]
    pub value: f64,
    /// No query had a higher score than one of this value at this length; absent when nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// Whether it was proven that no query was better.
    #[serde(default)]
    pub proven: bool,
    /// Queries that the search expanded to find it.
    #[serde(default)]
    pub nodes: u64,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.clauses().join(" & "))
    }
}

impl Rule {
    /// The texts that " & " joins to the text of the rule. Two bounds of one column are one text: `17 <= hour <= 19`,
    /// or `hour = 17` where both are the same number. Complexity still counts both.
    pub fn clauses(&self) -> Vec<String> {
        let mut told = vec![false; self.conditions.len()];
        let mut clauses: Vec<String> = self.trend.iter().map(Trend::to_string).collect();
        for (i, condition) in self.conditions.iter().enumerate() {
            if told[i] {
                continue;
            }
            let mut rest = (i + 1..told.len()).filter(|&j| !told[j]);
            let pair = rest.find_map(|j| Some((j, condition.interval(&self.conditions[j])?)));
            clauses.push(match pair {
                Some((j, text)) => {
                    told[j] = true;
                    text
                }
                None => condition.to_string(),
            });
        }
        clauses
    }

    /// The names of its columns, one for each condition.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let trend = self.trend.iter().map(|trend| trend.column.as_str());
        self.conditions.iter().map(|condition| condition.column.as_str()).chain(trend)
    }

    /// Whether it says the same as another.
    #[doc(hidden)]
    pub fn is_same_term(&self, other: &Self) -> bool {
        self.conditions == other.conditions && self.trend == other.trend
    }

    /// 1 + the number of conditions, 2 for a trend: what the rule adds to the complexity of an ensemble.
    pub fn complexity(&self) -> usize {
        1 + self.conditions.len() + usize::from(self.trend.is_some())
    }

    /// How far the value may lie below the best there was, as a part of it: 0 when proven, absent when unknown.
    pub fn gap(&self) -> Option<f64> {
        match (self.proven, self.bound) {
            (true, _) => Some(0.0),
            (false, Some(bound)) if self.value > 0.0 => Some((bound / self.value - 1.0).max(0.0)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_well() {
        let rule: Rule = serde_json::from_str(
            r#"{"conditions":[{"column":"sex","op":"=","value":"male"},{"column":"age","op":">=","value":13.5},
                {"column":"cabin","op":"missing"}]}"#,
        )
        .unwrap();
        assert_eq!(rule.to_string(), "sex = male & age >= 13.5 & cabin missing");
        assert_eq!(rule.complexity(), 4);
    }

    /// Column, comparison and threshold.
    type Bound<'a> = (&'a str, Op, f64);

    fn rule(conditions: &[Bound]) -> Rule {
        let condition = |&(column, op, t): &Bound| Condition::new(column, op, Some(Operand::Number(t)));
        let conditions = conditions.iter().map(condition).collect();
        Rule { conditions, trend: None, covered: 0, value: 0.0, bound: None, proven: false, nodes: 0 }
    }

    #[test]
    fn two_bounds_of_a_column_are_an_interval() {
        use Op::{Ge, Le};
        let cases: [(&[Bound], &str); 7] = [
            (&[("hour", Ge, 17.0), ("hour", Le, 19.0)], "17 <= hour <= 19"),
            (&[("km", Ge, 6.1), ("hour", Le, 19.0), ("hour", Ge, 17.0)], "km >= 6.1 & 17 <= hour <= 19"),
            (&[("hour", Le, 19.0), ("km", Ge, 6.1), ("hour", Ge, -0.5)], "-0.5 <= hour <= 19 & km >= 6.1"),
            (&[("hour", Le, 17.0), ("hour", Ge, 17.0)], "hour = 17"),
            (&[("hour", Le, 19.0), ("hour", Le, 18.0), ("hour", Ge, 3.0)], "3 <= hour <= 19 & hour <= 18"),
            (&[("hour", Le, 17.0), ("hour", Ge, 19.0)], "hour <= 17 & hour >= 19"),
            (&[("a", Le, 17.0), ("b", Ge, 1.0)], "a <= 17 & b >= 1"),
        ];
        for (conditions, text) in cases {
            let rule = rule(conditions);
            assert_eq!(rule.to_string(), text);
            assert_eq!(rule.complexity(), 1 + conditions.len());
        }
    }
}
