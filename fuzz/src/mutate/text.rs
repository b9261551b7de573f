//! Tables as text: how they are written, and mutations that know of cells, rows and quotes.

use crate::make::odd;
use crate::make::sheet::Sheet;
use crate::rng::Rng;

/// The rows of a text file, header first.
pub(crate) type Rows = Vec<Vec<String>>;

/// Header and cells of a sheet.
pub(crate) fn rows(sheet: &Sheet) -> Rows {
    let header = sheet.columns.iter().map(|(name, _)| name.clone()).collect();
    let cells: Vec<Vec<String>> = sheet.columns.iter().map(|(_, data)| data.cells()).collect();
    let row = |r: usize| cells.iter().map(|column| column[r].clone()).collect();
    std::iter::once(header).chain((0..sheet.rows).map(row)).collect()
}

/// Changes cells, rows and columns.
pub(crate) fn cells(rng: &mut Rng, rows: &mut Rows) {
    for _ in 0..rng.few(&[1, 2, 5]) {
        let r = rng.below(rows.len());
        let other = rng.below(rows.len());
        let width = rows[r].len();
        if width == 0 {
            continue;
        }
        let c = rng.below(width);
        match rng.below(12) {
            0..=3 => rows[r][c] = odd::token(rng),
            4 => {
                if let Some(name) = rows[0].get_mut(c) {
                    *name = odd::name(rng);
                }
            }
            5 => drop(rows[r].remove(c)),
            6 => rows[r].insert(c, odd::token(rng)),
            7 => {
                let copy = rows[r].clone();
                rows.insert(other, copy);
            }
            8 if rows.len() > 1 => drop(rows.remove(r)),
            9 => rows.insert(r, vec![String::new()]),
            10 => {
                let token = odd::token(rng);
                rows.iter_mut().skip(1).filter_map(|row| row.get_mut(c)).for_each(|cell| cell.clone_from(&token));
            }
            _ => rows.swap(r, other),
        }
    }
}

/// The rows as a file, in one of the ways that programs write them, and a name that suits it or nearly does.
pub(crate) fn written(rng: &mut Rng, rows: &Rows) -> (&'static str, Vec<u8>) {
    let (name, separator) = *rng.pick(&[
        ("a.csv", ","),
        ("a.csv", ","),
        ("a.csv", ","),
        ("a.csv", ";"),
        ("a.csv", "\t"),
        ("a.tsv", "\t"),
        ("a.tab", "\t"),
        ("a.tsv", ","),
        ("a.CSV", ","),
        ("a", ","),
        ("a.txt", ";"),
    ]);
    let end = *rng.pick(&["\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n"]);
    let always = rng.once_in(6);
    let never = rng.once_in(15);
    let mut text = String::new();
    if rng.once_in(20) {
        text.push('\u{feff}');
    }
    for row in rows {
        for (c, cell) in row.iter().enumerate() {
            if c > 0 {
                text.push_str(separator);
            }
            let special = cell.contains(['"', '\n', '\r', ',', ';', '\t']) || cell.starts_with(' ');
            if (special && !never) || always {
                text.push('"');
                text.push_str(&cell.replace('"', "\"\""));
                text.push('"');
            } else {
                text.push_str(cell);
            }
        }
        text.push_str(end);
    }
    if rng.once_in(5) {
        text.truncate(text.trim_end().len());
    }
    (name, text.into_bytes())
}
