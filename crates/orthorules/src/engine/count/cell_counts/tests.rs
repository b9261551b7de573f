//! Kernels against a plain loop.

use super::*;
use crate::codes::column::Scale;
use crate::codes::packed::Codes;
use proptest::prelude::*;

/// What is known of a row: its cell, target, mass, and how many rows it stands for.
type Row = (u32, i64, u64, u32);

/// A plain loop over the bins of some rows.
fn naive(bins: usize, rows: &[(usize, Row)], units: bool) -> CellCounts {
    let (mut counts, mut sums, mut each) = (vec![0u64; 3 * bins], vec![0; bins], vec![0; bins]);
    for &(bin, (cell, b, mass, stands_for)) in rows {
        counts[cell as usize * bins + bin] += if units { mass } else { 1 };
        sums[bin] += i128::from(b);
        each[bin] += u64::from(stands_for);
    }
    let narrow = || counts.iter().map(|&n| n as u32).collect();
    let (counts, rows) = if units { (Counts::Units(counts), each) } else { (Counts::Rows(narrow()), Vec::new()) };
    CellCounts { counts, norms: None, rows, sums, classes: None, trends: Vec::new() }
}

proptest! {
    /// Grouped or not, of few rows or many, targets counted or added, of any mass: every column gets what a plain loop
    /// gives.
    #[test]
    fn columns_do_not_feel_their_neighbours(
        table in prop::collection::vec((prop::array::uniform4(0u8..5), 0u32..3, -9i64 << 58..9 << 58), 0..80),
        columns in 1usize..=4,
        some in any::<bool>(),
        kind in 0..3,
        full in any::<bool>(),
        many in any::<bool>(),
    ) {
        let table = if many { table.repeat(160) } else { table };
        let ids: Vec<u32> = (0..table.len()).filter(|i| !some || i % 3 != 1).map(|i| i as u32).collect();
        let row = |&i: &u32| -> Row {
            let (_, cell, x) = table[i as usize];
            (cell, if kind == 0 { i64::from(x > 0) } else { x }, 1 + x.unsigned_abs() / 4, i % 4)
        };
        let all: Vec<Row> = ids.iter().map(row).collect();
        let key = |r: &Row| if kind == 0 { 2 * r.0 + r.1 as u32 } else { r.0 };
        let keys: Vec<u32> = all.iter().map(key).collect();
        let b: Vec<i64> = all.iter().map(|r| r.1).collect();
        // Few enough units for their sums.
        let mass: Vec<u64> = all.iter().map(|r| r.2 >> 16).collect();
        let all: Vec<Row> = all.iter().zip(&mass).map(|(r, &mass)| (r.0, r.1, mass, r.3)).collect();
        let each = PerRow::Each(all.iter().map(|r| r.3).collect());
        let what = match kind {
            0 => Counting::RowsByTarget,
            1 => Counting::Rows(&b),
            _ => Counting::Units(&mass, &b, &each),
        };
        let rows = if some { RowList::Some(ids.clone()) } else { RowList::All(table.len()) };
        let node = NodeRows { rows: &rows, keys: &keys, cells: 3 };
        let bins = |k: usize| if full { FULL } else { 5 + k };
        let code = |k: usize, r: u32| table[r as usize].0[k];
        let column = |k: usize, codes: Codes| BinnedColumn {
            name: String::new(),
            scale: Scale::Given { thresholds: Vec::new() },
            bins: bins(k) - 1,
            codes,
            range: None,
            content: 0,
            remote_counts: None,
            repeats: None,
            code_like: Vec::new(),
            coarse: None,
            special: Vec::new(),
        };
        let of = |k: usize| (0..table.len() as u32).map(move |r| code(k, r));
        let narrow: Vec<BinnedColumn> =
            (0..columns).map(|k| column(k, Codes::U8(of(k).collect::<Vec<u8>>().into()))).collect();
        let group = Group::new(0..columns, &narrow);
        let placed = |k: usize, first: usize| {
            ids.iter().zip(&all).map(move |(&r, &row)| (first + code(k, r) as usize, row)).collect::<Vec<_>>()
        };
        let together: Vec<(usize, Row)> =
            group.of(&narrow).enumerate().flat_map(|(k, (_, first))| placed(k, first)).collect();
        prop_assert_eq!(count(node, what, None, (&group, &narrow)), naive(group.bins(), &together, kind == 2));
        for k in 0..columns {
            let wide = [column(k, Codes::U16(of(k).map(u16::from).collect::<Vec<_>>().into()))];
            let alone = naive(bins(k), &placed(k, 0), kind == 2);
            prop_assert_eq!(count(node, what, None, (&Group::new(0..1, &wide), &wide)), alone);
        }
    }
}

#[test]
fn groups_fit_the_cache() {
    assert_eq!(together([256; 9].into_iter(), 4), COLUMNS_IN_A_PASS);
    assert_eq!(together([256; 9].into_iter(), 400), 2);
    assert_eq!(together([256; 9].into_iter(), 4000), 1);
    assert_eq!(together([6; 2].into_iter(), 40), 2);
}
