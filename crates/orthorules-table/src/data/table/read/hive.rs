//! Folders that say something of the rows below them: `year=2024/month=03`.

/// A column by the name of a folder, with the value that it has in all rows of a file; nothing where it is missing.
pub(super) type FolderColumn = (String, Option<String>);

/// How Hive and Spark write that a value is missing.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns that the folders on the way to a file give. An error says what is wrong with one of them.
pub(super) fn columns<'f>(folders: impl Iterator<Item = &'f str>) -> Result<Vec<FolderColumn>, String> {
    let mut columns: Vec<FolderColumn> = Vec::new();
    for folder in folders {
        let Some((name, value)) = folder.split_once('=') else { continue };
        let odd = |why: &str| format!("the folder {folder:?} {why}: rename it");
        let decode = |text| decoded(text).ok_or_else(|| odd("is not UTF-8 text once its %-signs are decoded"));
        let (name, value) = (decode(name)?.trim().to_owned(), decode(value)?);
        if name.is_empty() {
            return Err(odd("names no column before its ="));
        }
        if columns.iter().any(|(other, _)| *other == name) {
            return Err(format!("two folders above it name the column {name:?}: rename one of them"));
        }
        columns.push((name, Some(value).filter(|value| !value.is_empty() && value != MISSING)));
    }
    Ok(columns)
}

/// Text with `%20` and the like in place of some bytes; nothing if these make no text. What only looks like it stays.
fn decoded(text: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        rest = after;
        let code = match after {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match code {
            Some((high, low)) => {
                bytes.push(16 * high + low);
                rest = &after[2..];
            }
            None => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> String {
        match columns(path.split('/')) {
            Ok(columns) => columns
                .iter()
                .map(|(n, v)| format!("{n}:{}", v.as_deref().unwrap_or("-")))
                .collect::<Vec<_>>()
                .join(" "),
            Err(what) => what,
        }
    }

    #[test]
    fn folders_name_columns_and_values() {
        assert_eq!(shown("data/year=2024/month=03"), "year:2024 month:03");
        assert_eq!(shown("a=x%20y/b%3Dc=1=2/d=__HIVE_DEFAULT_PARTITION__/e="), "a:x y b=c:1=2 d:- e:-");
        assert_eq!(shown("a=100%/b=%zz/c=%4/d=%C3%A9/e=%25"), "a:100% b:%zz c:%4 d:é e:%");
        assert_eq!(shown("plain/2024"), "");
    }

    #[test]
    fn odd_folders_are_refused() {
        assert_eq!(shown("=5"), "the folder \"=5\" names no column before its =: rename it");
        assert_eq!(shown("%20=5"), "the folder \"%20=5\" names no column before its =: rename it");
        assert!(shown("a=%ff").contains("is not UTF-8 text"));
        assert_eq!(shown("a=1/b=2/a=3"), "two folders above it name the column \"a\": rename one of them");
    }
}
