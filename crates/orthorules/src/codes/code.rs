//! The integers that are codes.

/// A code type of the kernels.
pub(crate) trait Code: Copy + Send + Sync + PartialEq + sealed::Unsigned + 'static {
    fn index(self) -> usize;
}

/// Only the integers below are codes: memory of a file may be read as them.
mod sealed {
    pub(crate) trait Unsigned {}
    impl Unsigned for u8 {}
    impl Unsigned for u16 {}
    impl Unsigned for u32 {}
}

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
