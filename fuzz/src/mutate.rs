//! From valid inputs to damaged, odd and hostile ones.

pub(crate) mod bytes;
pub(crate) mod json;
pub(crate) mod packed;
pub(crate) mod text;
mod thrift;
pub(crate) mod typed;
