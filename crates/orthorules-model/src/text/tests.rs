//! Rules that are printed and read back, and texts that are no rules.

use crate::base::random::SplitMix64;
use crate::data::schema::ColumnSpec;
use crate::data::special::SpecialCode;
use crate::data::table::Kind;
use crate::model::condition::{Condition, Op, Operand};
use crate::model::rule::Rule;
use crate::model::trend::Trend;

/// Parts of names and levels; most of them mean something in a rule.
const PARTS: [&str; 44] = [
    "a",
    "b c",
    " & ",
    "&",
    "<=",
    ">=",
    "=",
    "!=",
    "<",
    ">",
    " in ",
    "in",
    "{",
    "}",
    ",",
    ", ",
    "\"",
    "\\",
    " is ",
    "is",
    "missing",
    "present",
    "known",
    "not",
    " not in ",
    "\n",
    "\t",
    "\u{0}",
    "é",
    "日本",
    "17",
    "nan",
    "if ",
    "unless ",
    "per ",
    " of ",
    ", from ",
    " that ",
    " is above ",
    "(0 at ",
    "\u{200b}",
    "\u{301}",
    "≤",
    " ",
];

struct Random(SplitMix64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0.below(count)
    }

    fn text(&mut self) -> String {
        (0..=self.below(4)).map(|_| PARTS[self.below(PARTS.len())]).collect()
    }

    /// Distinct texts.
    fn texts(&mut self, count: usize) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        while texts.len() < count {
            let text = self.text();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    fn number(&mut self) -> f64 {
        let size = [1.0, 0.1, 1e-7, 1e20, 1000.0][self.below(5)];
        let x = (self.below(2001) as f64 - 1000.0) * size;
        if self.below(4) == 0 { x / 3.0 } else { x }
    }

    fn columns(&mut self) -> Vec<ColumnSpec> {
        let kinds = [Kind::Numeric, Kind::Categorical, Kind::Ordered, Kind::Boolean];
        let names = self.texts(6);
        let column = |name: String| {
            let kind = kinds[self.below(4)];
            let count = 3 + self.below(3);
            let levels = match kind {
                Kind::Numeric => Vec::new(),
                Kind::Boolean => vec!["false".into(), "true".into()],
                Kind::Categorical | Kind::Ordered => self.texts(count),
            };
            let flag = kind == Kind::Numeric && self.below(3) == 0;
            let mut column = ColumnSpec::new(name, kind, levels);
            column.flag = flag;
            if kind == Kind::Numeric && self.below(2) == 0 {
                let names = self.texts(3);
                let codes: Vec<SpecialCode> =
                    names.into_iter().zip([-9.0, 1.0, 99.5]).map(|(name, x)| SpecialCode::new(x, name)).collect();
                let good = codes.into_iter().filter(|code| SpecialCode::check(std::slice::from_ref(code)).is_ok());
                column.special = good.collect();
            }
            column
        };
        names.into_iter().map(column).collect()
    }

    /// What may be asked of a column, as the search would list it.
    fn conditions(&mut self, column: &ColumnSpec) -> Vec<Condition> {
        let condition = |op, value| Condition::new(&column.name, op, value).known(column.flag, &column.special);
        if self.below(6) == 0 {
            return vec![condition([Op::Missing, Op::Present][self.below(2)], None)];
        }
        match column.kind {
            Kind::Numeric if !column.special.is_empty() && self.below(2) == 0 => {
                let name = column.special[self.below(column.special.len())].name.clone();
                vec![condition([Op::Is, Op::IsNot][self.below(2)], Some(Operand::Text(name)))]
            }
            Kind::Numeric if column.flag => {
                let (op, bit) = [(Op::Ge, 1.0), (Op::Le, 0.0), (Op::Ge, 2.5)][self.below(3)];
                vec![condition(op, Some(Operand::Number(bit)))]
            }
            Kind::Numeric | Kind::Ordered => {
                let mut ends = match column.kind {
                    Kind::Numeric => [self.number(), self.number()].map(Operand::Number),
                    _ => [0, 0].map(|_| Operand::Text(column.levels[self.below(column.levels.len())].clone())),
                };
                if matches!(&ends, [Operand::Number(a), Operand::Number(b)] if a > b) {
                    ends.swap(0, 1);
                }
                let [low, high] = ends.map(Some);
                match self.below(3) {
                    0 => vec![condition(Op::Le, high), condition(Op::Ge, low)],
                    1 => vec![condition(Op::Le, high)],
                    _ => vec![condition(Op::Ge, low)],
                }
            }
            Kind::Categorical | Kind::Boolean => {
                let count = 1 + self.below(column.levels.len());
                let set = Some(Operand::Levels(column.levels[..count].to_vec()));
                let level = Some(Operand::Text(column.levels[self.below(column.levels.len())].clone()));
                let op = [Op::Eq, Op::Ne, Op::In, Op::NotIn][self.below(4)];
                vec![condition(op, if matches!(op, Op::In | Op::NotIn) { set } else { level })]
            }
        }
    }

    fn trend(&mut self, column: &ColumnSpec) -> Trend {
        let mut ends = [self.number(), self.number(), self.number()];
        ends.sort_by(f64::total_cmp);
        let [from, middle, to] = ends;
        let (zero, per) = [(middle, 2.5), (from, 1.0), (to, -0.125), (to, 3.0)][self.below(4)];
        Trend { column: column.name.clone(), from, to, zero, per }
    }

    fn rule(&mut self, columns: &[ColumnSpec]) -> Rule {
        let numbers: Vec<&ColumnSpec> = columns.iter().filter(|column| column.kind == Kind::Numeric).collect();
        if !numbers.is_empty() && self.below(5) == 0 {
            let place = self.below(numbers.len());
            let trend = self.trend(numbers[place]);
            if trend.is_valid() {
                return Rule::of(Vec::new(), Some(trend));
            }
        }
        let first = self.below(columns.len());
        let several = columns.iter().cycle().skip(first).take(1 + self.below(3));
        Rule::of(several.flat_map(|column| self.conditions(column)).collect(), None)
    }
}

#[test]
fn what_is_printed_is_read_back() {
    let mut random = Random(SplitMix64::new(11));
    for _ in 0..2_000 {
        let columns = random.columns();
        for _ in 0..5 {
            let rule = random.rule(&columns);
            let text = rule.to_string();
            match Rule::parse(&text, &columns) {
                Ok(read) => assert!(read.is_same_term(&rule), "{text:?}: {read:?} is not {rule:?}"),
                Err(error) => panic!("{error}"),
            }
            assert!(!text.contains('\n'), "{text:?}");
        }
    }
}

/// No text makes it panic, whatever is cut off or put in.
#[test]
fn any_text_is_read_or_refused() {
    let mut random = Random(SplitMix64::new(12));
    for _ in 0..3_000 {
        let columns = random.columns();
        let mut text: Vec<char> = random.rule(&columns).to_string().chars().collect();
        for _ in 0..=random.below(3) {
            let place = random.below(text.len() + 1);
            let part: Vec<char> = PARTS[random.below(PARTS.len())].chars().collect();
            let end = (place + random.below(4)).min(text.len());
            text.splice(place..end, part);
        }
        let text: String = text.into_iter().collect();
        if let Err(error) = Rule::parse(&text, &columns) {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}

fn columns() -> Vec<ColumnSpec> {
    let column = |name: &str, kind, levels: &[&str]| {
        ColumnSpec::new(name, kind, levels.iter().map(ToString::to_string).collect())
    };
    let mut flag = column("flag", Kind::Numeric, &[]);
    flag.flag = true;
    vec![
        column("age", Kind::Numeric, &[]),
        column("mean radius", Kind::Numeric, &[]),
        column("in stock", Kind::Categorical, &["yes", "no"]),
        column("state", Kind::Categorical, &["AZ", "CA", "NY"]),
        column("size", Kind::Ordered, &["small", "medium", "large"]),
        flag,
    ]
}

#[test]
fn people_may_write_it_in_several_ways() {
    for (text, meant) in [
        ("age>=65", "age >= 65"),
        ("  if age >= 65  &  mean radius <= 12.5 ", "age >= 65 & mean radius <= 12.5"),
        ("65 <= age", "age >= 65"),
        ("19 >= age >= 17", "17 <= age <= 19"),
        ("17≤age≤19", "17 <= age <= 19"),
        ("age = 17", "age = 17"),
        ("\"in stock\" = yes", "\"in stock\" = yes"),
        ("in stock = yes", "\"in stock\" = yes"),
        ("unless state = CA", "state != CA"),
        ("state not in {NY,AZ}", "state not in {AZ, NY}"),
        ("age is missing & state is present", "age missing & state present"),
        ("age is not missing", "age present"),
        ("small <= size <= medium", "small <= size <= medium"),
        ("size = medium", "size = medium"),
        ("flag = 0 & state == NY", "flag = 0 & state = NY"),
        ("flag != 0", "flag = 1"),
    ] {
        let rule = Rule::parse(text, &columns()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rule.to_string(), meant, "{text:?}");
    }
}

#[test]
fn what_is_no_rule_is_told_where_it_goes_wrong() {
    for (text, told) in [
        ("", "rule \"\", character 1: a condition is missing"),
        (
            "age >= sixty",
            "rule \"age >= sixty\", character 8: \"sixty\" is not a number, and column \"age\" holds numbers",
        ),
        ("age > 6", "rule \"age > 6\", character 5: thresholds are compared with <= or >="),
        ("aeg >= 6", "rule \"aeg >= 6\", character 1: there is no column \"aeg\"; did you mean \"age\"?"),
        ("age >= 6 & ", "rule \"age >= 6 & \", character 12: a column is missing"),
        (
            "age >= 6 age <= 7",
            "rule \"age >= 6 age <= 7\", character 8: a range has its column in the middle, and conditions are \
             joined by \" & \"",
        ),
        ("state = TX", "rule \"state = TX\", character 9: column \"state\" has no level \"TX\""),
        (
            "state >= CA",
            "rule \"state >= CA\", character 10: the levels of column \"state\" have no order: compare them with = or \
             !=",
        ),
        ("state in {CA, NY", "rule \"state in {CA, NY\", character 10: the brace that begins here has no end"),
        ("state in {CA, CA}", "rule \"state in {CA, CA}\", character 15: the level \"CA\" is named twice"),
        ("state in {}", "rule \"state in {}\", character 10: the set has no level"),
        ("state = \"CA", "rule \"state = \\\"CA\", character 9: the double quote that begins here has no end"),
        (
            "age >= 6 & age >= 7",
            "rule \"age >= 6 & age >= 7\", character 12: \"age >= 6\" and \"age >= 7\" bound the same side: keep one \
             of them",
        ),
        (
            "age",
            "rule \"age\", character 4: a comparison is missing: one of <=, >=, =, !=, in, not in, is missing, is \
             present",
        ),
        (
            "unless age >= 6",
            "rule \"unless age >= 6\", character 1: \"unless\" stands before levels, as in \"unless state = CA\"",
        ),
        (
            "for each 1 that age is above 4, up to 3",
            "rule \"for each 1 that age is above 4, up to 3\", character 40: the numbers make no trend: from must be \
             below to, and 0 must be between them",
        ),
        (
            "per 10 of state, from 1 to 2 (0 at 1)",
            "rule \"per 10 of state, from 1 to 2 (0 at 1)\", character 11: column \"state\" does not hold numbers, so \
             that it has no trend",
        ),
    ] {
        assert_eq!(Rule::parse(text, &columns()).unwrap_err().to_string(), told);
    }
}
