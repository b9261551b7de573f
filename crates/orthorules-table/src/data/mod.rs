//! Tables and learning problems: columns, their roles, tasks and losses, checked once.

pub mod columns;
pub mod dates;
pub mod generate;
pub mod kind;
pub mod loss;
pub mod offset;
pub mod outline;
pub mod problem;
pub mod roles;
pub mod row_content;
pub mod row_facts;
pub mod schema;
pub mod special;
pub mod table;
pub mod task;
pub mod warning;
