//! What a model predicts for rows.

/// Predictions for the rows of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Predictions {
    /// Means: of the target, or of the count given its exposure.
    Numbers(Vec<f64>),
    /// Probabilities, row by row: `rows × classes`, and the likeliest class of each row.
    Classes {
        /// Class index of each row.
        labels: Vec<u32>,
        /// Probabilities, one row after the other.
        probabilities: Vec<f64>,
    },
}

impl Predictions {
    /// The means; of classes the probabilities, one row after the other.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Classes { probabilities, .. } => probabilities,
        }
    }

    /// The values, without a copy.
    pub fn into_values(self) -> Vec<f64> {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Classes { probabilities, .. } => probabilities,
        }
    }

    /// The class of each row; nothing where numbers are predicted.
    pub fn labels(&self) -> Option<&[u32]> {
        match self {
            Self::Numbers(_) => None,
            Self::Classes { labels, .. } => Some(labels),
        }
    }
}

/// The predictions of all `parts`, which are of one model, in order.
impl FromIterator<Predictions> for Predictions {
    fn from_iter<I: IntoIterator<Item = Self>>(parts: I) -> Self {
        let (mut values, mut all_labels) = (Vec::new(), None);
        for part in parts {
            if let Some(labels) = part.labels() {
                all_labels.get_or_insert_with(Vec::new).extend_from_slice(labels);
            }
            values.append(&mut part.into_values());
        }
        match all_labels {
            Some(labels) => Self::Classes { labels, probabilities: values },
            None => Self::Numbers(values),
        }
    }
}
