//! A Scorecard: one characteristic a rule, each with its reason code. That of a trend computes what it adds. Several
//! classes are a chain of Scorecards (`chain.rs`).

mod chain;
mod xml;

use crate::header::Blanks;
use crate::plan::{Growth, Holds, Mean, Plan, PlanTest, Score, spellings};
use crate::text::number;
use orthorules_model::{Kind, Result};
use xml::Xml;

/// A document in the making, and names in it that no column has.
struct PmmlDocument<'p> {
    plan: &'p Plan<'p>,
    xml: Xml,
    /// In front of every name that is not a column's.
    prefix: String,
}

/// The document.
pub(crate) fn write(plan: &Plan) -> Result<String> {
    let mut prefix = String::new();
    let own = [
        "rule_",
        "trend_",
        "text_",
        "score",
        "prediction",
        "probability_",
        "reason_",
        "sum_",
        "mean_",
        "share_",
        "offset_",
    ];
    while plan.columns.iter().any(|c| own.iter().any(|name| c.name.starts_with(&format!("{prefix}{name}")))) {
        prefix.push('_');
    }
    let mut document = PmmlDocument { plan, xml: Xml::new(), prefix };
    document.header();
    document.fields();
    if plan.has_several() {
        document.chain();
    } else {
        document.scorecard(0);
    }
    document.xml.finish()
}

impl PmmlDocument<'_> {
    fn header(&mut self) {
        let (xml, plan) = (&mut self.xml, self.plan);
        let lines = plan.header("absent", Blanks::TakenOff);
        lines.iter().for_each(|line| xml.comment(line));
        xml.open("PMML", &[("version", "4.4"), ("xmlns", "http://www.dmg.org/PMML-4_4")]);
        xml.open("Header", &[("description", &plan.model.subject())]);
        xml.empty("Application", &[("name", "orthorules"), ("version", env!("CARGO_PKG_VERSION"))]);
        xml.text(
            "Annotation",
            &[],
            &format!("Fingerprint of the model (SHA-256 of its file): {}", plan.model.fingerprint()),
        );
        xml.close();
    }

    /// The columns, what is made of text, what trends are, and a field of 0 or 1 for each rule.
    fn fields(&mut self) {
        let plan = self.plan;
        self.xml.open("DataDictionary", &[("numberOfFields", &plan.columns.len().to_string())]);
        for column in &plan.columns {
            let (optype, kind) =
                if column.kind == Kind::Numeric { ("continuous", "double") } else { ("categorical", "string") };
            self.xml.empty("DataField", &[("name", column.name), ("optype", optype), ("dataType", kind)]);
        }
        self.xml.close();
        if plan.rules.is_empty() {
            return;
        }
        self.xml.open("TransformationDictionary", &[]);
        for (place, column) in plan.columns.iter().enumerate().filter(|(_, column)| column.kind != Kind::Numeric) {
            let name = self.text_name(place);
            self.xml.open("DerivedField", &[("name", &name), ("optype", "categorical"), ("dataType", "string")]);
            // Never missing, so that every comparison has an answer; and never empty, which some take for missing.
            self.apply("if", |d| {
                d.apply("isMissing", |d| d.xml.empty("FieldRef", &[("field", column.name)]));
                d.xml.text("Constant", &[("dataType", "string")], "=");
                d.apply("concat", |d| {
                    d.xml.text("Constant", &[("dataType", "string")], "=");
                    d.trimmed(column.name, column.kind);
                });
            });
            self.xml.close();
        }
        for (place, rule) in plan.rules.iter().enumerate() {
            if let Some(growth) = rule.growth {
                self.trend(place, growth, &rule.exceptions());
            }
        }
        for (place, rule) in plan.rules.iter().enumerate() {
            let name = self.rule_name(place);
            let field = [("name", name.as_str()), ("displayName", rule.text.as_str())];
            self.xml.open("DerivedField", &[field[0], field[1], ("optype", "categorical"), ("dataType", "integer")]);
            self.apply("if", |d| {
                match rule.tests.as_slice() {
                    _ if rule.growth.is_some() => d.apply("notEqual", |d| {
                        let trend = d.trend_name(place);
                        d.xml.empty("FieldRef", &[("field", &trend)]);
                        d.constant(0.0);
                    }),
                    [] => d.truth(true),
                    [test] => d.condition(test),
                    several => d.apply("and", |d| several.iter().for_each(|test| d.condition(test))),
                }
                d.xml.text("Constant", &[("dataType", "integer")], "1");
                d.xml.text("Constant", &[("dataType", "integer")], "0");
            });
            self.xml.close();
        }
        self.xml.close();
    }

    /// What a trend is: 0 where its column is missing, or has one of the exceptions.
    fn trend(&mut self, rule: usize, Growth { column, from, to, zero, per }: Growth, exceptions: &[&PlanTest]) {
        let (name, column) = (self.trend_name(rule), self.plan.columns[column].name);
        self.xml.open("DerivedField", &[("name", &name), ("optype", "continuous"), ("dataType", "double")]);
        let value = |d: &mut Self| d.xml.empty("FieldRef", &[("field", column)]);
        let end = |d: &mut Self, function: &str, end: f64, other: &dyn Fn(&mut Self)| {
            d.apply("if", |d| {
                d.apply(function, |d| {
                    value(d);
                    d.constant(end);
                });
                d.constant(end);
                other(d);
            });
        };
        self.apply("if", |d| {
            match exceptions {
                [] => d.apply("isMissing", value),
                [test] => d.apply("not", |d| d.condition(test)),
                several => d.apply("not", |d| d.apply("and", |d| several.iter().for_each(|test| d.condition(test)))),
            }
            d.constant(0.0);
            d.apply("/", |d| {
                d.apply("-", |d| {
                    end(d, "lessThan", from, &|d| end(d, "greaterThan", to, &value));
                    d.constant(zero);
                });
                d.constant(per);
            });
        });
        self.xml.close();
    }

    fn trend_name(&self, rule: usize) -> String {
        format!("{}trend_{}", self.prefix, rule + 1)
    }

    fn rule_name(&self, rule: usize) -> String {
        format!("{}rule_{}", self.prefix, rule + 1)
    }

    fn text_name(&self, column: usize) -> String {
        format!("{}text_{}", self.prefix, column + 1)
    }

    fn score_name(&self, score: &Score) -> String {
        let class = score.class.map_or(String::new(), |class| format!("_{class}"));
        format!("{}score{class}", self.prefix)
    }

    fn apply(&mut self, function: &str, parts: impl FnOnce(&mut Self)) {
        self.xml.open("Apply", &[("function", function)]);
        parts(self);
        self.xml.close();
    }

    /// Text without blanks around it; truth values in small letters.
    fn trimmed(&mut self, name: &str, kind: Kind) {
        let trim = |d: &mut Self| d.apply("trimBlanks", |d| d.xml.empty("FieldRef", &[("field", name)]));
        if kind == Kind::Boolean { self.apply("lowercase", trim) } else { trim(self) }
    }

    fn truth(&mut self, truth: bool) {
        self.xml.text("Constant", &[("dataType", "boolean")], if truth { "true" } else { "false" });
    }

    /// When a condition holds. It is never missing, since evaluators do not agree on what follows from that.
    fn condition(&mut self, test: &PlanTest) {
        let column = self.plan.columns[test.column];
        let field = self.text_name(test.column);
        let compare = |d: &mut Self, function: &str, t: f64| {
            d.apply("if", |d| {
                d.apply("isMissing", |d| d.xml.empty("FieldRef", &[("field", column.name)]));
                d.truth(false);
                d.apply(function, |d| {
                    d.xml.empty("FieldRef", &[("field", column.name)]);
                    d.xml.text("Constant", &[("dataType", "double")], &number(t));
                });
            });
        };
        let is = |d: &mut Self, level: &str| {
            // The level is an attribute: some readers lose what follows an entity in an element's text.
            d.apply("equal", |d| {
                d.xml.empty("NormDiscrete", &[("field", &field), ("value", &format!("={level}"))]);
                d.constant(1.0);
            });
        };
        let among = |d: &mut Self, levels: &[&str]| match levels {
            [] => d.truth(false),
            [level] => is(d, level),
            several => d.apply("or", |d| several.iter().for_each(|level| is(d, level))),
        };
        match &test.holds {
            Holds::AtMost(t) => compare(self, "lessOrEqual", *t),
            Holds::AtLeast(t) => compare(self, "greaterOrEqual", *t),
            Holds::Not(x) => compare(self, "notEqual", *x),
            Holds::In(levels) => among(self, &spellings(column.kind, levels)),
            Holds::NotIn(levels) => {
                let levels: Vec<&str> = spellings(column.kind, levels).into_iter().chain([""]).collect();
                self.apply("not", |d| among(d, &levels));
            }
            Holds::Missing if column.kind == Kind::Numeric => {
                self.apply("isMissing", |d| d.xml.empty("FieldRef", &[("field", column.name)]));
            }
            Holds::Present if column.kind == Kind::Numeric => {
                self.apply("isNotMissing", |d| d.xml.empty("FieldRef", &[("field", column.name)]));
            }
            Holds::Missing => is(self, ""),
            Holds::Present => self.apply("not", |d| is(d, "")),
        }
    }

    fn schema(&mut self) {
        self.xml.open("MiningSchema", &[]);
        for column in &self.plan.columns {
            self.xml.empty("MiningField", &[("name", column.name), ("invalidValueTreatment", "asIs")]);
        }
        self.xml.close();
    }

    /// One score and, where it is the only one, everything that follows from it.
    fn scorecard(&mut self, place: usize) {
        let plan = self.plan;
        let score = &plan.scores[place];
        let start = number(score.intercept);
        let class = score.class.map_or(plan.model.target.clone(), |class| format!("{} = {class}", plan.model.target));
        self.xml.open(
            "Scorecard",
            &[
                ("modelName", &class),
                ("functionName", "regression"),
                ("initialScore", &start),
                ("useReasonCodes", "true"),
                ("reasonCodeAlgorithm", "pointsAbove"),
                ("baselineScore", "0"),
            ],
        );
        self.schema();
        self.xml.open("Output", &[]);
        let name = if plan.has_several() { self.sum_name(place) } else { self.score_name(score) };
        self.field(&name, &[("feature", "predictedValue")]);
        if plan.mean == Mean::Softmax {
            // Exponentials wait until the highest score is known.
        } else if plan.has_several() {
            let mean = self.mean_name(place);
            self.computed(&mean, |d| d.mean(&name));
        } else {
            self.reasons(score);
            self.rules();
            self.prediction(&name);
        }
        self.xml.close();
        self.xml.open("Characteristics", &[]);
        if score.terms.is_empty() {
            self.characteristic("constant", None);
        }
        for &(rule, weight) in &score.terms {
            let name = self.rule_name(rule);
            self.characteristic(&name, Some((rule, weight)));
        }
        if let Some(place) = plan.offset {
            self.offset(plan.columns[place].name);
        }
        self.xml.close();
        self.xml.close();
    }

    fn field(&mut self, name: &str, attributes: xml::Attributes) {
        let mut all = vec![("name", name), ("optype", "continuous"), ("dataType", "double")];
        all.extend_from_slice(attributes);
        self.xml.empty("OutputField", &all);
    }

    /// The codes of the rules that hold and raise the score, those that raise it most first.
    fn reasons(&mut self, score: &Score) {
        let raises = |&&(rule, weight): &&(usize, f64)| weight > 0.0 || self.plan.rules[rule].growth.is_some();
        let raising = score.terms.iter().filter(raises).count();
        for rank in 1..=raising {
            let (name, rank) = (format!("{}reason_{rank}", self.prefix), rank.to_string());
            self.xml.empty(
                "OutputField",
                &[
                    ("name", &name),
                    ("optype", "categorical"),
                    ("dataType", "string"),
                    ("feature", "reasonCode"),
                    ("rank", &rank),
                ],
            );
        }
    }

    /// Whether each rule holds.
    fn rules(&mut self) {
        for rule in 0..self.plan.rules.len() {
            let name = self.rule_name(rule);
            let shown = format!("{name}_holds");
            self.xml.open(
                "OutputField",
                &[
                    ("name", &shown),
                    ("optype", "categorical"),
                    ("dataType", "integer"),
                    ("feature", "transformedValue"),
                ],
            );
            // A reference alone would do, but not every evaluator follows one to a derived field.
            self.apply("if", |d| {
                d.apply("equal", |d| {
                    d.xml.empty("FieldRef", &[("field", &name)]);
                    d.xml.text("Constant", &[("dataType", "integer")], "1");
                });
                d.xml.text("Constant", &[("dataType", "integer")], "1");
                d.xml.text("Constant", &[("dataType", "integer")], "0");
            });
            self.xml.close();
        }
    }

    fn characteristic(&mut self, name: &str, term: Option<(usize, f64)>) {
        self.xml.open("Characteristic", &[("name", name), ("baselineScore", "0")]);
        if let Some((rule, weight)) = term {
            let (text, grows) = (&self.plan.rules[rule].text, self.plan.rules[rule].growth.is_some());
            let holds = [("field", name), ("operator", "equal"), ("value", "1")];
            if grows {
                self.xml.open("Attribute", &[("reasonCode", text)]);
                self.xml.empty("SimplePredicate", &holds);
                self.xml.open("ComplexPartialScore", &[]);
                self.apply("*", |d| {
                    let trend = d.trend_name(rule);
                    d.constant(weight);
                    d.xml.empty("FieldRef", &[("field", &trend)]);
                });
                self.xml.close();
            } else {
                self.xml.open("Attribute", &[("reasonCode", text), ("partialScore", &number(weight))]);
                self.xml.empty("SimplePredicate", &holds);
            }
            self.xml.close();
        }
        self.xml.open("Attribute", &[("reasonCode", "none"), ("partialScore", "0")]);
        self.xml.empty("True", &[]);
        self.xml.close();
        self.xml.close();
    }

    /// The offset as a characteristic. Its baseline is so high that its code comes after those of all rules.
    fn offset(&mut self, column: &str) {
        let name = format!("{}offset_", self.prefix);
        self.xml.open("Characteristic", &[("name", &name), ("baselineScore", "1e300")]);
        self.xml.open("Attribute", &[("reasonCode", "offset")]);
        self.xml.empty("True", &[]);
        self.xml.open("ComplexPartialScore", &[]);
        self.xml.empty("FieldRef", &[("field", column)]);
        for _ in 0..3 {
            self.xml.close();
        }
    }

    /// An output that is computed.
    fn computed(&mut self, name: &str, parts: impl FnOnce(&mut Self)) {
        self.xml.open(
            "OutputField",
            &[("name", name), ("optype", "continuous"), ("dataType", "double"), ("feature", "transformedValue")],
        );
        parts(self);
        self.xml.close();
    }

    fn constant(&mut self, x: f64) {
        self.xml.text("Constant", &[("dataType", "double")], &number(x));
    }

    /// The mean of the score with this name.
    fn mean(&mut self, score: &str) {
        let field = |d: &mut Self| d.xml.empty("FieldRef", &[("field", score)]);
        match self.plan.mean {
            Mean::Score => field(self),
            Mean::Exp | Mean::Softmax => self.apply("exp", field),
            Mean::Logistic => self.apply("/", |d| {
                d.constant(1.0);
                d.apply("+", |d| {
                    d.constant(1.0);
                    d.apply("exp", |d| {
                        d.apply("*", |d| {
                            d.constant(-1.0);
                            field(d);
                        });
                    });
                });
            }),
            Mean::Cut => self.apply("min", |d| {
                d.constant(1.0);
                d.apply("max", |d| {
                    d.constant(0.0);
                    field(d);
                });
            }),
        }
    }

    fn prediction(&mut self, score: &str) {
        let name = format!("{}prediction", self.prefix);
        let exposure = self.plan.exposure.map(|place| self.plan.columns[place].name);
        self.computed(&name, |d| match exposure {
            None => d.mean(score),
            Some(exposure) => d.apply("*", |d| {
                d.apply("if", |d| {
                    d.apply("isMissing", |d| d.xml.empty("FieldRef", &[("field", exposure)]));
                    d.constant(1.0);
                    d.xml.empty("FieldRef", &[("field", exposure)]);
                });
                d.mean(score);
            }),
        });
    }
}
