//! Rules as text: how names and levels are spelled, and the way back from text to a rule.
//!
//! What `show` prints is a language. Conditions are joined by ` & `; a condition compares one column. Names and levels
//! that could be taken for something else stand in double quotes.
//!
//! | text | what it is |
//! |---|---|
//! | `age >= 65`, `hour <= 19`, `17 <= hour <= 19`, `hour = 17` | numbers, and levels that are in order |
//! | `sex = female`, `sex != female` | levels |
//! | `state in {CA, NY}`, `state not in {CA, NY}` | sets of levels |
//! | `age missing` or `age is missing`, `age present` or `age is present` | whether there is a value |
//! | `income is refused`, `income is not refused` | special codes of columns of numbers |
//! | `per 10 of age, from 18 to 65 (0 at 40)`, `for each 1 that km is above 4, up to 37` | trends |
//!
//! [`Rule::parse`](crate::Rule::parse) reads all of it. `if` before a rule says nothing; `unless` before a single
//! condition means the opposite one.

mod columns;
mod cursor;
mod parse;
#[cfg(test)]
mod tests;
