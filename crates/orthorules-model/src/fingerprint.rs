//! A name for a model by what is in it.

use crate::model::Model;
use sha2::{Digest, Sha256};
use std::fmt::Write;

impl Model {
    /// SHA-256 of the model's file as [`Model::save`] writes it, in hexadecimal: `sha256sum` gives the same for that
    /// file.
    pub fn fingerprint(&self) -> String {
        Sha256::digest(self.to_json()).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_that_of_the_file_and_of_no_other_model() {
        let text = |weight: &str| {
            format!(
                r#"{{"format":"orthorules-model","version":1,"task":"regression","loss":"squared","target":"y",
                "columns":[],"rules":[],
                "path":[{{"rules":0,"intercept":{weight},"weights":[],"train_risk":1}}],"chosen":0}}"#
            )
        };
        let model = Model::from_json(&text("0.5")).unwrap();
        // `sha256sum` of the saved file.
        assert_eq!(model.fingerprint(), "032cc4488d912aeaa05fde6fd2fe26fca59f1dfd9183b4a230bed07e3c183db3");
        // Blanks and the order of fields do not count, a bit of a weight does.
        let spaced = text("0.5").replace(',', " , ");
        assert_eq!(Model::from_json(&spaced).unwrap().fingerprint(), model.fingerprint());
        let other = Model::from_json(&text("0.5000000000000001")).unwrap();
        assert_ne!(other.fingerprint(), model.fingerprint());
    }
}
