//! The integers that are codes, and numbers that are kept as these are.

/// Numbers that memory of a file may be read as.
pub(crate) trait Stored: Copy + Send + Sync + PartialEq + sealed::PlainNumber + 'static {}

/// A code type of the kernels.
pub(crate) trait Code: Stored {
    fn index(self) -> usize;
}

/// Only the numbers below: every pattern of bytes is one of them.
mod sealed {
    pub(crate) trait PlainNumber {}
    impl PlainNumber for u8 {}
    impl PlainNumber for u16 {}
    impl PlainNumber for u32 {}
    impl PlainNumber for f64 {}
}

impl Stored for u8 {}
impl Stored for u16 {}
impl Stored for u32 {}
impl Stored for f64 {}

impl Code for u8 {
    fn index(self) -> usize {
        self as usize
    }
}

impl Code for u16 {
    fn index(self) -> usize {
        self as usize
    }
}

impl Code for u32 {
    fn index(self) -> usize {
        self as usize
    }
}
