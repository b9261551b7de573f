//! Bytes that are read one after the other, and numbers of as many bytes as they need.

/// A place in some bytes. Every read returns nothing where they end too early.
pub(super) struct ByteCursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> ByteCursor<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(length)?;
        let bytes = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    /// A number of seven bits to a byte, the lowest first.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Such a number with its sign in the last bit.
    pub(super) fn number(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_bytes_as_they_need() {
        let mut cursor = ByteCursor::new(&[0x7f, 0x80, 0x01, 3, 4, 0xff]);
        assert_eq!((cursor.varint(), cursor.varint()), (Some(127), Some(128)));
        assert_eq!((cursor.number(), cursor.number()), (Some(-2), Some(2)));
        assert_eq!((cursor.varint(), cursor.byte(), cursor.take(1)), (None, None, None));
        assert_eq!(ByteCursor::new(&[0xff; 9]).take(usize::MAX), None);
        assert_eq!(ByteCursor::new(&[0x80; 20]).varint(), None);
    }
}
