//! One HTML page on which a model can be read, tried and argued over.
//!
//! The page holds the whole model, every size of it, and what there is to say of its rows. It computes by itself: it
//! needs neither a network nor a program beside the browser.
//!
//! | part | file |
//! |---|---|
//! | what is kept of a table, in one pass over its rows | `summary/` |
//! | the sizes that the page's slider goes through | `sizes.rs` |
//! | the page: data, style and script in one file | `page.rs` |
//! | digests of files and tables, and of the script for the browser's policy | `digest.rs` |
//! | style and script | `assets/` |
//!
//! ```
//! use orthorules::{Params, Problem, Roles, Silent, fit, generate};
//! use orthorules_report::{Report, Summarizer, page};
//!
//! let table = generate::friedman1(200, 1);
//! let roles = Roles { target: "y".into(), ..Roles::default() };
//! let model = fit(&Problem::new(table.clone(), &roles)?, &Params::default(), &Silent)?.model;
//!
//! let mut rows = Summarizer::new(&model);
//! rows.add(&table)?;
//! let html = page(&[Report { table: Some(rows.finish()), ..Report::new(&model) }]);
//! assert!(html.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), orthorules::Error>(())
//! ```

mod date;
mod digest;
mod page;
mod sizes;
mod summary;

pub use digest::{Sha256, hex};
pub use page::page;
pub use summary::{Summarizer, Summary};

use orthorules_model::Model;

/// A model and what the page is to tell of it.
#[derive(Debug)]
pub struct Report<'m> {
    /// The model.
    pub model: &'m Model,
    /// For each list, the place in it of the size that is shown first; the chosen size where there are none.
    pub start: Option<Vec<usize>>,
    /// A title in place of the model's subject.
    pub title: Option<String>,
    /// What the data are about.
    pub story: Option<String>,
    /// The rows that the model learned from, or others.
    pub table: Option<Summary>,
    /// Rows that it has not seen.
    pub test: Option<Summary>,
}

impl<'m> Report<'m> {
    /// What the model alone can tell.
    pub fn new(model: &'m Model) -> Self {
        Self { model, start: None, title: None, story: None, table: None, test: None }
    }
}
