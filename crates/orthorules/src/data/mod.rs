//! Tables and learning problems: columns, their roles, tasks and losses, checked once.

pub(crate) mod columns;
pub(crate) mod dates;
pub mod generate;
pub mod loss;
pub(crate) mod offset;
pub(crate) mod outline;
pub mod problem;
pub(crate) mod roles;
pub(crate) mod row_facts;
pub(crate) mod schema;
pub mod table;
pub(crate) mod task;
pub mod warning;
