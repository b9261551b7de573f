//! Reading files: text in all its shapes, Parquet and Arrow types, and what is said about files that are no tables.
#![cfg(feature = "files")]

mod batches;
mod changes;
mod columns;
mod damage;
mod delta;
mod faults;
mod files;
mod several;
mod text;
mod typed;
