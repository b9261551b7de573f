//! Several classes: a Scorecard for each, and a last model that makes probabilities of their means.

use super::PmmlDocument;
use crate::plan::Mean;

impl PmmlDocument<'_> {
    /// The score of a class inside the chain; outside it has its proper name.
    pub(super) fn sum_name(&self, score: usize) -> String {
        format!("{}sum_{}", self.prefix, score + 1)
    }

    pub(super) fn mean_name(&self, score: usize) -> String {
        format!("{}mean_{}", self.prefix, score + 1)
    }

    /// Several classes: their scores, one after the other, and a last model that divides their means by the sum.
    pub(super) fn chain(&mut self) {
        let plan = self.plan;
        let target = [("functionName", "classification"), ("modelName", plan.model.target.as_str())];
        self.xml.open("MiningModel", &target);
        self.schema();
        self.xml.open("Segmentation", &[("multipleModelMethod", "modelChain")]);
        for place in 0..=plan.scores.len() {
            self.xml.open("Segment", &[("id", &(place + 1).to_string())]);
            self.xml.empty("True", &[]);
            if place < plan.scores.len() {
                self.scorecard(place);
            } else {
                self.shares();
            }
            self.xml.close();
        }
        self.xml.close();
        self.xml.close();
    }

    /// The last model of the chain.
    fn shares(&mut self) {
        let plan = self.plan;
        let names: Vec<String> = (0..plan.scores.len()).map(|place| self.sum_name(place)).collect();
        let means: Vec<String> = (0..plan.scores.len()).map(|place| self.mean_name(place)).collect();
        let shares: Vec<String> = (1..=means.len()).map(|k| format!("{}share_{k}", self.prefix)).collect();
        self.xml.open("RegressionModel", &[("functionName", "classification"), ("normalizationMethod", "simplemax")]);
        self.xml.open("MiningSchema", &[]);
        let given = if plan.mean == Mean::Softmax { &[] } else { means.as_slice() };
        for name in names.iter().chain(given) {
            self.xml.empty("MiningField", &[("name", name)]);
        }
        for column in &plan.columns {
            self.xml.empty("MiningField", &[("name", column.name), ("invalidValueTreatment", "asIs")]);
        }
        self.xml.close();
        self.xml.open("Output", &[]);
        for (name, score) in names.iter().zip(&plan.scores) {
            let class = score.class.unwrap_or_default();
            let shown = self.score_name(score);
            self.computed(&shown, |d| d.xml.empty("FieldRef", &[("field", name)]));
            let probability = format!("{}probability_{class}", self.prefix);
            self.field(&probability, &[("feature", "probability"), ("value", class)]);
        }
        self.rules();
        self.xml.close();
        self.xml.open("LocalTransformations", &[]);
        if plan.mean == Mean::Softmax {
            self.shares_of_scores(&shares, &names);
        } else {
            self.shares_of_means(&shares, &means);
        }
        self.xml.close();
        for (share, score) in shares.iter().zip(&plan.scores) {
            let class = score.class.unwrap_or_default();
            self.xml.open("RegressionTable", &[("intercept", "0"), ("targetCategory", class)]);
            self.xml.empty("NumericPredictor", &[("name", share), ("coefficient", "1")]);
            self.xml.close();
        }
        self.xml.close();
    }

    /// A field for each share: the exponential of its score, in parts of the highest.
    fn shares_of_scores(&mut self, shares: &[String], scores: &[String]) {
        for (share, own) in shares.iter().zip(scores) {
            let field = [("name", share.as_str()), ("optype", "continuous"), ("dataType", "double")];
            self.xml.open("DerivedField", &field);
            // The highest of them is 1: none is too large, and not all are too small.
            self.apply("exp", |d| {
                d.apply("-", |d| {
                    d.xml.empty("FieldRef", &[("field", own)]);
                    d.apply("max", |d| scores.iter().for_each(|name| d.xml.empty("FieldRef", &[("field", name)])));
                });
            });
            self.xml.close();
        }
    }

    /// A field for each share: its mean, or 1 where all means are 0 and no class is likelier than another.
    fn shares_of_means(&mut self, shares: &[String], means: &[String]) {
        for (share, mean) in shares.iter().zip(means) {
            let field = [("name", share.as_str()), ("optype", "continuous"), ("dataType", "double")];
            self.xml.open("DerivedField", &field);
            self.apply("if", |d| {
                d.apply("greaterThan", |d| {
                    d.apply("sum", |d| means.iter().for_each(|mean| d.xml.empty("FieldRef", &[("field", mean)])));
                    d.constant(0.0);
                });
                d.xml.empty("FieldRef", &[("field", mean)]);
                d.constant(1.0);
            });
            self.xml.close();
        }
    }
}
