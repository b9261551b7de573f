//! Tables made by computation, for the demonstration, examples and tests.

pub use crate::base::random::SplitMix64;
use crate::data::table::{Column, Table, Values};
use std::collections::BTreeSet;

/// The names of the nine squares, row by row.
const SQUARES: [&str; 9] = [
    "top_left",
    "top_middle",
    "top_right",
    "middle_left",
    "center",
    "middle_right",
    "bottom_left",
    "bottom_middle",
    "bottom_right",
];

/// The eight lines of three squares.
const LINES: [[usize; 3]; 8] = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

/// What may lie on a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    X,
    O,
    Blank,
}

type Board = [Mark; 9];

/// The 958 positions in which a game of tic-tac-toe can end when x moves first: one column for each square with the
/// values `x`, `o` and `blank`, and the target `x_wins` with the values `no` and `yes`.
///
/// ```
/// # use orthorules_table as orthorules;
/// let table = orthorules::generate::tic_tac_toe();
/// assert_eq!(table.rows(), 958);
/// assert_eq!(table.columns().len(), 10);
/// ```
pub fn tic_tac_toe() -> Table {
    let (mut seen, mut ends) = (BTreeSet::new(), BTreeSet::new());
    play([Mark::Blank; 9], Mark::X, &mut seen, &mut ends);
    let text = |mark| match mark {
        Mark::X => "x",
        Mark::O => "o",
        Mark::Blank => "blank",
    };
    let square = |s: usize| Column::new(SQUARES[s], Values::text(ends.iter().map(|board| Some(text(board[s])))));
    let won = ends.iter().map(|board| Some(if wins(board, Mark::X) { "yes" } else { "no" }));
    table((0..9).map(square).chain([Column::new("x_wins", Values::text(won))]))
}

/// Plays every move from `board` on and collects the positions in which the game is over.
fn play(board: Board, turn: Mark, seen: &mut BTreeSet<Board>, ends: &mut BTreeSet<Board>) {
    if !seen.insert(board) {
        return;
    }
    if wins(&board, Mark::X) || wins(&board, Mark::O) || !board.contains(&Mark::Blank) {
        ends.insert(board);
        return;
    }
    let next = if turn == Mark::X { Mark::O } else { Mark::X };
    for square in (0..9).filter(|&s| board[s] == Mark::Blank) {
        let mut after = board;
        after[square] = turn;
        play(after, next, seen, ends);
    }
}

fn wins(board: &Board, mark: Mark) -> bool {
    LINES.iter().any(|line| line.iter().all(|&s| board[s] == mark))
}

/// Friedman's first function with noise: ten columns `x1` to `x10`, uniform from 0 to 1, of which the target
/// `y = 10 sin(π x1 x2) + 20 (x3 − ½)² + 10 x4 + 5 x5 + normal(0, 1)` uses five.
///
/// ```
/// # use orthorules_table as orthorules;
/// let table = orthorules::generate::friedman1(100, 7);
/// assert_eq!((table.rows(), table.columns().len()), (100, 11));
/// ```
pub fn friedman1(rows: usize, seed: u64) -> Table {
    let mut random = SplitMix64::new(seed);
    let mut columns: [Vec<f64>; 10] = std::array::from_fn(|_| Vec::with_capacity(rows));
    let mut y = Vec::with_capacity(rows);
    for _ in 0..rows {
        let x: [f64; 10] = std::array::from_fn(|_| random.uniform());
        let mean = 10.0 * (std::f64::consts::PI * x[0] * x[1]).sin()
            + 20.0 * (x[2] - 0.5) * (x[2] - 0.5)
            + 10.0 * x[3]
            + 5.0 * x[4];
        y.push(mean + random.normal());
        columns.iter_mut().zip(x).for_each(|(column, value)| column.push(value));
    }
    let features =
        columns.into_iter().enumerate().map(|(i, v)| Column::new(format!("x{}", i + 1), Values::Numeric(v.into())));
    table(features.chain([Column::new("y", Values::Numeric(y.into()))]))
}

/// Columns that are equally long and differently named by construction.
fn table(columns: impl Iterator<Item = Column>) -> Table {
    Table::new(columns.collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(table: &Table, row: usize) -> Vec<String> {
        table.columns().iter().filter_map(|c| c.values.display(row)).collect()
    }

    #[test]
    fn every_end_of_the_game_is_there_once() {
        let table = tic_tac_toe();
        let rows: Vec<Vec<String>> = (0..table.rows()).map(|r| texts(&table, r)).collect();
        let distinct: BTreeSet<_> = rows.iter().collect();
        assert_eq!(distinct.len(), 958);
        let won: Vec<_> = rows.iter().filter(|r| r[9] == "yes").collect();
        assert_eq!(won.len(), 626, "the number of endings that x wins");
        for row in &won {
            assert!(LINES.iter().any(|line| line.iter().all(|&s| row[s] == "x")));
        }
        for row in &rows {
            let count = |mark: &str| row.iter().filter(|cell| *cell == mark).count();
            assert!(count("x") == count("o") || count("x") == count("o") + 1, "x and o take turns, x first");
        }
    }

    #[test]
    fn friedman_is_seeded_and_has_its_moments() {
        assert_eq!(friedman1(50, 1), friedman1(50, 1));
        assert_ne!(friedman1(50, 1), friedman1(50, 2));
        let table = friedman1(20_000, 3);
        let moments = |name: &str| {
            let Some(Values::Numeric(v)) = table.column(name).map(|c| &c.values) else { panic!("{name}") };
            let mean = v.iter().sum::<f64>() / v.len() as f64;
            (mean, v.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / v.len() as f64)
        };
        for (name, mean, variance) in [("x1", 0.5, 1.0 / 12.0), ("x10", 0.5, 1.0 / 12.0), ("y", 14.4, 24.8)] {
            let found = moments(name);
            assert!((found.0 - mean).abs() < 0.02 * mean && (found.1 - variance).abs() < 0.04 * variance, "{found:?}");
        }
    }
}
