//! What the engine warns of, in the words of Python: a remedy is a parameter or a method, not a flag.

use orthorules::Warning;

/// A warning with the remedy that Python has for it.
pub(crate) fn in_python(warning: &Warning) -> String {
    match warning {
        Warning::LeftOut { column, reason } if reason.is_overruled() => {
            format!("{warning} with categorical_features=[{}]", quoted(column))
        }
        Warning::DecimalCommas { column, .. } => {
            let column = quoted(column);
            format!("{warning}; if they are, convert them: X[{column}].str.replace(',', '.').astype(float)")
        }
        Warning::NamesGroups { column, .. } => {
            let column = quoted(column);
            warning
                .to_string()
                .replace("in folds", &format!("in folds with fit(…, groups=X[{column}])"))
                .replace("leave it out", &format!("leave it out with X.drop(columns={column})"))
        }
        Warning::ManyLevels { column, .. } | Warning::CountsRows { column } | Warning::NamesRows { column } => {
            let remedy = format!("leave it out with X.drop(columns={})", quoted(column));
            warning.to_string().replace("leave it out", &remedy)
        }
        Warning::CodeLike { column, codes } => {
            let named = |(i, (code, _)): (usize, &(f64, usize))| {
                let number = if i == 0 { String::new() } else { (i + 1).to_string() };
                format!("{}: 'NAME{number}'", orthorules::decimal::plain(*code))
            };
            let codes: Vec<String> = codes.iter().enumerate().map(named).collect();
            let remedy = format!(": special={{{}: {{{}}}}}", quoted(column), codes.join(", "));
            warning.to_string().replace(", give it a name", &remedy)
        }
        Warning::Unbounded { .. } => warning.to_string().replace("a larger penalty", "a larger reg_lambda"),
        other => other.to_string(),
    }
}

/// A name as Python writes it.
fn quoted(name: &str) -> String {
    let quote = if name.contains('\'') && !name.contains('"') { '"' } else { '\'' };
    let escaped = name.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
    let escaped = escaped.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    format!("{quote}{escaped}{quote}")
}
