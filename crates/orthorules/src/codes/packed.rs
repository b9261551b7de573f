//! Codes of the rows of a column, in the narrowest integers that hold them.

use crate::codes::storage::Store;

/// Codes in the narrowest type that holds them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Codes {
    U8(Store<u8>),
    U16(Store<u16>),
    U32(Store<u32>),
}

impl Codes {
    /// Those that are bytes.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::U8(codes) => Some(codes),
            _ => None,
        }
    }
}
/// Runs a generic body on codes of whatever width they have.
macro_rules! with_codes {
    ($codes:expr, $name:ident => $body:expr) => {
        match $codes {
            $crate::codes::packed::Codes::U8(codes) => {
                let $name: &[u8] = codes;
                $body
            }
            $crate::codes::packed::Codes::U16(codes) => {
                let $name: &[u16] = codes;
                $body
            }
            $crate::codes::packed::Codes::U32(codes) => {
                let $name: &[u32] = codes;
                $body
            }
        }
    };
}
pub(crate) use with_codes;

/// Codes while they are made.
#[derive(Debug, Clone)]
pub(crate) enum CodeBuilder {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl CodeBuilder {
    /// Room for `rows` codes up to `largest`.
    pub(crate) fn new(largest: usize, rows: usize) -> Self {
        match bytes_each(largest) {
            1 => Self::U8(Vec::with_capacity(rows)),
            2 => Self::U16(Vec::with_capacity(rows)),
            _ => Self::U32(Vec::with_capacity(rows)),
        }
    }

    /// Adds codes, none of them above the largest.
    pub(crate) fn add(&mut self, some: impl Iterator<Item = u32>) {
        match self {
            Self::U8(codes) => codes.extend(some.map(|code| code as u8)),
            Self::U16(codes) => codes.extend(some.map(|code| code as u16)),
            Self::U32(codes) => codes.extend(some),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::U8(codes) => codes.len(),
            Self::U16(codes) => codes.len(),
            Self::U32(codes) => codes.len(),
        }
    }

    /// Replaces one that is there already.
    pub(crate) fn set(&mut self, place: usize, code: usize) {
        match self {
            Self::U8(codes) => codes[place] = code as u8,
            Self::U16(codes) => codes[place] = code as u16,
            Self::U32(codes) => codes[place] = code as u32,
        }
    }

    pub(crate) fn finish(self) -> Codes {
        match self {
            Self::U8(codes) => Codes::U8(codes.into()),
            Self::U16(codes) => Codes::U16(codes.into()),
            Self::U32(codes) => Codes::U32(codes.into()),
        }
    }
}

/// Bytes of the narrowest integer that holds codes up to `largest`.
pub(crate) fn bytes_each(largest: usize) -> usize {
    if u8::try_from(largest).is_ok() {
        1
    } else if u16::try_from(largest).is_ok() {
        2
    } else {
        4
    }
}
