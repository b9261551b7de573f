//! From columns to small integer codes: cuts, encoding, and where codes are kept.

pub(crate) mod binning;
pub(crate) mod code;
pub(crate) mod code_like;
pub(crate) mod coded;
pub(crate) mod column;
pub(crate) mod encoder;
// What edits rules by hand stands on this.
#[allow(dead_code)]
pub(crate) mod from_condition;
pub(crate) mod packed;
pub(crate) mod quantiles;
pub(crate) mod query;
pub(crate) mod repeats;
pub(crate) mod scale;
pub(crate) mod selection;
#[cfg(feature = "files")]
pub(crate) mod spill;
pub(crate) mod storage;
#[cfg(feature = "files")]
pub(crate) mod stream;
pub(crate) mod wanted;
