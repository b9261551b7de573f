//! Protocol buffers, as far as ONNX files need them.

/// The bytes of a message.
#[derive(Debug, Clone, Default)]
pub(super) struct MessageBytes(Vec<u8>);

impl MessageBytes {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Adds a whole number.
    #[must_use]
    pub(super) fn int(mut self, field: u32, number: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(number as u64);
        self
    }

    /// Adds bytes.
    #[must_use]
    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds text.
    #[must_use]
    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    #[must_use]
    pub(super) fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// The bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own documentation.
    #[test]
    fn messages_are_as_documented() {
        assert_eq!(MessageBytes::default().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = MessageBytes::default().text(2, "testing");
        assert_eq!(text.into_bytes(), [&[0x12, 0x07][..], b"testing"].concat());
        let inner = MessageBytes::default().int(1, 150);
        assert_eq!(MessageBytes::default().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(MessageBytes::default().int(1, -1).into_bytes().len(), 11);
    }
}
