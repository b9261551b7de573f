//! A Scorecard: one characteristic a rule, each with its reason code. Several classes are a chain of Scorecards.

mod xml;

use crate::header::Blanks;
use crate::plan::{Holds, Mean, Plan, Score, Test};
use crate::text::number;
use orthorules::{Kind, Result};
use xml::Xml;

/// A document in the making, and names in it that no column has.
struct Document<'p> {
    plan: &'p Plan<'p>,
    xml: Xml,
    /// In front of every name that is not a column's.
    prefix: String,
}

/// The document.
pub(crate) fn write(plan: &Plan) -> Result<String> {
    let mut prefix = String::new();
    let own = ["rule_", "text_", "score", "prediction", "probability_", "reason_", "mean_", "total", "constant"];
    while plan.columns.iter().any(|c| own.iter().any(|name| c.name.starts_with(&format!("{prefix}{name}")))) {
        prefix.push('_');
    }
    let mut document = Document { plan, xml: Xml::new(), prefix };
    document.header();
    document.fields();
    if plan.has_several() {
        document.chain();
    } else {
        document.scorecard(0);
    }
    document.xml.finish()
}

impl Document<'_> {
    fn header(&mut self) {
        let (xml, plan) = (&mut self.xml, self.plan);
        let lines = plan.header("absent", Blanks::TakenOff);
        lines.iter().for_each(|line| xml.comment(line));
        xml.open("PMML", &[("version", "4.4"), ("xmlns", "http://www.dmg.org/PMML-4_4")]);
        xml.open("Header", &[("description", &plan.model.subject())]);
        xml.empty("Application", &[("name", "orthorules"), ("version", env!("CARGO_PKG_VERSION"))]);
        xml.text("Annotation", &[], &format!("Fingerprint of the model (SHA-256 of its file): {}", plan.model.fingerprint()));
        xml.close();
    }

    /// The columns, what is made of text, and a field of 0 or 1 for each rule.
    fn fields(&mut self) {
        let plan = self.plan;
        self.xml.open("DataDictionary", &[("numberOfFields", &plan.columns.len().to_string())]);
        for column in &plan.columns {
            let (optype, kind) = if column.kind == Kind::Numeric { ("continuous", "double") } else { ("categorical", "string") };
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
            // Without a third part the result is missing where the condition is false: empty text is missing.
            self.apply("if", |d| {
                d.apply("notEqual", |d| {
                    d.trimmed(column.name, column.kind);
                    d.xml.text("Constant", &[("dataType", "string")], "");
                });
                d.trimmed(column.name, column.kind);
            });
            self.xml.close();
        }
        for (place, rule) in plan.rules.iter().enumerate() {
            let name = self.rule_name(place);
            let field = [("name", name.as_str()), ("displayName", rule.text.as_str())];
            self.xml.open("DerivedField", &[field[0], field[1], ("optype", "categorical"), ("dataType", "integer")]);
            self.apply("if", |d| {
                match rule.tests.as_slice() {
                    [] => d.always(true),
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

    fn always(&mut self, truth: bool) {
        self.apply("equal", |d| {
            d.xml.text("Constant", &[("dataType", "integer")], "1");
            d.xml.text("Constant", &[("dataType", "integer")], if truth { "1" } else { "0" });
        });
    }

    /// When a condition holds. Where a value is missing so is the result, and the rule is then 0.
    fn condition(&mut self, test: &Test) {
        let column = self.plan.columns[test.column];
        let text = self.text_name(test.column);
        let field = if column.kind == Kind::Numeric { column.name } else { &text };
        let compare = |d: &mut Self, function: &str, t: f64| {
            d.apply(function, |d| {
                d.xml.empty("FieldRef", &[("field", field)]);
                d.xml.text("Constant", &[("dataType", "double")], &number(t));
            });
        };
        let among = |d: &mut Self, levels: &[&str]| {
            let levels: Vec<&str> = levels.iter().flat_map(|level| spellings(column.kind, level)).collect();
            let one = |d: &mut Self, level: &str| {
                d.apply("equal", |d| {
                    d.xml.empty("FieldRef", &[("field", field)]);
                    d.xml.text("Constant", &[("dataType", "string")], level);
                });
            };
            match levels.as_slice() {
                [level] => one(d, level),
                several => d.apply("or", |d| several.iter().for_each(|level| one(d, level))),
            }
        };
        match &test.holds {
            Holds::AtMost(t) => compare(self, "lessOrEqual", *t),
            Holds::AtLeast(t) => compare(self, "greaterOrEqual", *t),
            Holds::In(levels) if levels.is_empty() => self.always(false),
            Holds::In(levels) => among(self, levels),
            Holds::NotIn(levels) if !levels.is_empty() => self.apply("not", |d| among(d, levels)),
            Holds::Missing => self.apply("isMissing", |d| d.xml.empty("FieldRef", &[("field", field)])),
            Holds::NotIn(_) | Holds::Present => {
                self.apply("isNotMissing", |d| d.xml.empty("FieldRef", &[("field", field)]));
            }
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
        let name = self.score_name(score);
        self.field(&name, &[("feature", "predictedValue")]);
        if !plan.has_several() {
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
        let raising = score.terms.iter().filter(|term| term.1 > 0.0).count();
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
                &[("name", &shown), ("optype", "categorical"), ("dataType", "integer"), ("feature", "transformedValue")],
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
            let (text, weight) = (&self.plan.rules[rule].text, number(weight));
            self.xml.open("Attribute", &[("reasonCode", text), ("partialScore", &weight)]);
            self.xml.empty("SimplePredicate", &[("field", name), ("operator", "equal"), ("value", "1")]);
            self.xml.close();
        }
        self.xml.open("Attribute", &[("reasonCode", "none"), ("partialScore", "0")]);
        self.xml.empty("True", &[]);
        self.xml.close();
        self.xml.close();
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
            Mean::Exp => self.apply("exp", field),
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
                d.xml.empty("FieldRef", &[("field", exposure), ("mapMissingTo", "1")]);
                d.mean(score);
            }),
        });
    }

    /// Several classes: their scores, one after the other, and probabilities from all of them.
    fn chain(&mut self) {
        let plan = self.plan;
        self.xml.open("MiningModel", &[("functionName", "regression")]);
        self.schema();
        let names: Vec<String> = plan.scores.iter().map(|score| self.score_name(score)).collect();
        self.xml.open("Output", &[]);
        for (place, name) in names.iter().enumerate() {
            let segment = (place + 1).to_string();
            self.field(name, &[("feature", "predictedValue"), ("segmentId", &segment)]);
        }
        self.rules();
        for (name, score) in names.iter().zip(&plan.scores) {
            let own = format!("{}mean_{}", self.prefix, score.class.unwrap_or_default());
            self.computed(&own, |d| d.mean(name));
        }
        let means: Vec<String> =
            plan.scores.iter().map(|score| format!("{}mean_{}", self.prefix, score.class.unwrap_or_default())).collect();
        let total = format!("{}total", self.prefix);
        self.computed(&total, |d| {
            d.apply("sum", |d| means.iter().for_each(|mean| d.xml.empty("FieldRef", &[("field", mean)])));
        });
        for (mean, score) in means.iter().zip(&plan.scores) {
            let name = format!("{}probability_{}", self.prefix, score.class.unwrap_or_default());
            self.computed(&name, |d| {
                d.apply("if", |d| {
                    d.apply("greaterThan", |d| {
                        d.xml.empty("FieldRef", &[("field", &total)]);
                        d.constant(0.0);
                    });
                    d.apply("/", |d| {
                        d.xml.empty("FieldRef", &[("field", mean)]);
                        d.xml.empty("FieldRef", &[("field", &total)]);
                    });
                    d.constant(1.0 / means.len() as f64);
                });
            });
        }
        self.xml.close();
        self.xml.open("Segmentation", &[("multipleModelMethod", "modelChain")]);
        for place in 0..plan.scores.len() {
            let id = (place + 1).to_string();
            self.xml.open("Segment", &[("id", &id)]);
            self.xml.empty("True", &[]);
            self.scorecard(place);
            self.xml.close();
        }
        self.xml.close();
        self.xml.close();
    }
}

/// The ways in which true and false are written, in small letters.
fn spellings<'l>(kind: Kind, level: &'l str) -> Vec<&'l str> {
    match (kind, level) {
        (Kind::Boolean, "true") => vec!["true", "1", "1.0"],
        (Kind::Boolean, "false") => vec!["false", "0", "0.0"],
        _ => vec![level],
    }
}
