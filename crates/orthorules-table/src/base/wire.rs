//! Values as bytes, for machines that work on one fit together.
//!
//! Whole numbers take as many bytes as they need, seven bits in each; numbers with a fraction take eight. Reading never
//! trusts what it reads: a length that the bytes cannot hold is an error.

use crate::base::error::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::Arc;

/// What can be written to bytes and read back.
pub trait Wire: Sized {
    /// Appends the bytes of the value.
    fn put(&self, to: &mut Vec<u8>);
    /// Reads a value, and leaves what comes after it.
    fn take(from: &mut ByteReader) -> Result<Self>;

    /// Puts some, one after the other.
    fn put_all(all: &[Self], to: &mut Vec<u8>) {
        all.iter().for_each(|value| value.put(to));
    }

    /// Takes this many, which there are bytes for if each has one.
    fn take_all(count: usize, from: &mut ByteReader) -> Result<Vec<Self>> {
        // As much as the bytes can hold, not as much as a damaged length says.
        let mut all = Vec::with_capacity(count.min(from.left.len() / size_of::<Self>().max(1)));
        for _ in 0..count {
            all.push(Self::take(from)?);
        }
        Ok(all)
    }

    /// All of it as bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        bytes
    }

    /// From bytes that hold nothing else.
    fn of_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = ByteReader { left: bytes };
        let value = Self::take(&mut reader)?;
        if reader.left.is_empty() { Ok(value) } else { Err(damaged()) }
    }
}

/// Bytes that are still to be read.
pub struct ByteReader<'b> {
    left: &'b [u8],
}

impl<'b> ByteReader<'b> {
    #[inline]
    fn some(&mut self, count: usize) -> Result<&'b [u8]> {
        let (some, left) = self.left.split_at_checked(count).ok_or_else(damaged)?;
        self.left = left;
        Ok(some)
    }
}

/// That bytes are none of these messages.
pub fn damaged() -> Error {
    Error::Message
}

impl Wire for u8 {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(*self);
    }

    #[inline]
    fn take(from: &mut ByteReader) -> Result<Self> {
        Ok(from.some(1)?[0])
    }

    fn put_all(all: &[Self], to: &mut Vec<u8>) {
        to.extend_from_slice(all);
    }

    fn take_all(count: usize, from: &mut ByteReader) -> Result<Vec<Self>> {
        Ok(from.some(count)?.to_vec())
    }
}

impl Wire for bool {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        match u8::take(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged()),
        }
    }
}

impl Wire for u128 {
    fn put(&self, to: &mut Vec<u8>) {
        let mut left = *self;
        while left >= 0x80 {
            to.push(left as u8 | 0x80);
            left >>= 7;
        }
        to.push(left as u8);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let (mut value, mut shift) = (0u128, 0);
        loop {
            let byte = u8::take(from)?;
            let part = u128::from(byte & 0x7f);
            if shift >= 128 || (part << shift) >> shift != part {
                return Err(damaged());
            }
            value |= part << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }
}

/// Numbers that are written or read at once where each takes one byte, as most counts do.
const AT_ONCE: usize = 8;
/// The bits that say of this many bytes that a number goes on in the next one.
const GOES_ON: u64 = u64::from_le_bytes([0x80; AT_ONCE]);

macro_rules! whole {
    ($($kind:ty),*) => {
        $(impl Wire for $kind {
            #[inline]
            fn put(&self, to: &mut Vec<u8>) {
                let mut left = *self as u64;
                while left >= 0x80 {
                    to.push(left as u8 | 0x80);
                    left >>= 7;
                }
                to.push(left as u8);
            }

            #[inline]
            fn take(from: &mut ByteReader) -> Result<Self> {
                match from.left {
                    [short, left @ ..] if *short < 0x80 => {
                        from.left = left;
                        Ok(Self::from(*short))
                    }
                    _ => Self::try_from(u128::take(from)?).map_err(|_| damaged()),
                }
            }

            fn put_all(all: &[Self], to: &mut Vec<u8>) {
                to.reserve(all.len());
                let (eights, others) = all.as_chunks::<AT_ONCE>();
                for some in eights {
                    if some.iter().fold(0, |any, &value| any | value) < 0x80 {
                        to.extend_from_slice(&some.map(|value| value as u8));
                    } else {
                        some.iter().for_each(|value| value.put(to));
                    }
                }
                others.iter().for_each(|value| value.put(to));
            }

            fn take_all(count: usize, from: &mut ByteReader) -> Result<Vec<Self>> {
                // Each number takes a byte, and there are this many.
                let mut all = Vec::with_capacity(count.min(from.left.len()));
                while count - all.len() >= AT_ONCE {
                    match from.left.split_first_chunk::<AT_ONCE>() {
                        Some((some, left)) if u64::from_le_bytes(*some) & GOES_ON == 0 => {
                            all.extend_from_slice(&some.map(Self::from));
                            from.left = left;
                        }
                        _ => {
                            for _ in 0..AT_ONCE {
                                all.push(Self::take(from)?);
                            }
                        }
                    }
                }
                while all.len() < count {
                    all.push(Self::take(from)?);
                }
                Ok(all)
            }
        })*
    };
}
whole!(u32, u64, usize);

impl Wire for i128 {
    fn put(&self, to: &mut Vec<u8>) {
        // The sign goes to the lowest bit, so that small numbers are short.
        ((self << 1) ^ (self >> 127)).cast_unsigned().put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let folded = u128::take(from)?;
        Ok((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }
}

impl Wire for i64 {
    fn put(&self, to: &mut Vec<u8>) {
        i128::from(*self).put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        Self::try_from(i128::take(from)?).map_err(|_| damaged())
    }
}

impl Wire for f64 {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend(self.to_bits().to_le_bytes());
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(from.some(8)?);
        Ok(Self::from_bits(u64::from_le_bytes(bytes)))
    }
}

impl Wire for String {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        to.extend(self.as_bytes());
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let length = usize::take(from)?;
        Self::from_utf8(from.some(length)?.to_vec()).map_err(|_| damaged())
    }
}

/// Every value takes a byte at least, so that a length beyond what is left is found before memory is asked for.
impl<T: Wire> Wire for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        T::put_all(self, to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let length = usize::take(from)?;
        if length > from.left.len() {
            return Err(damaged());
        }
        T::take_all(length, from)
    }
}

impl<T: Wire> Wire for Arc<T> {
    fn put(&self, to: &mut Vec<u8>) {
        (**self).put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        T::take(from).map(Self::new)
    }
}

impl<T: Wire> Wire for Arc<[T]> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        T::put_all(self, to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        Ok(Vec::take(from)?.into())
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        bool::take(from)?.then(|| T::take(from)).transpose()
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        Ok((A::take(from)?, B::take(from)?))
    }
}

impl<T: Wire, const K: usize> Wire for [T; K] {
    fn put(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        let values: Vec<T> = (0..K).map(|_| T::take(from)).collect::<Result<_>>()?;
        Self::try_from(values).map_err(|_| damaged())
    }
}

impl<K: Wire + Ord, V: Wire> Wire for BTreeMap<K, V> {
    fn put(&self, to: &mut Vec<u8>) {
        self.len().put(to);
        self.iter().for_each(|(key, value)| {
            key.put(to);
            value.put(to);
        });
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        Ok(Vec::<(K, V)>::take(from)?.into_iter().collect())
    }
}

/// In the order of keys, so that equal maps have equal bytes.
impl<S: BuildHasher + Default> Wire for HashMap<String, u32, S> {
    fn put(&self, to: &mut Vec<u8>) {
        let sorted: BTreeMap<String, u32> = self.iter().map(|(key, &value)| (key.clone(), value)).collect();
        sorted.put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        Ok(BTreeMap::take(from)?.into_iter().collect())
    }
}

/// In order, so that equal sets have equal bytes.
impl<S: BuildHasher + Default> Wire for HashSet<String, S> {
    fn put(&self, to: &mut Vec<u8>) {
        let mut sorted: Vec<String> = self.iter().cloned().collect();
        sorted.sort_unstable();
        sorted.put(to);
    }

    fn take(from: &mut ByteReader) -> Result<Self> {
        Ok(Vec::take(from)?.into_iter().collect())
    }
}

/// A structure as its fields, one after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! wire {
    ($kind:ty { $($field:ident),* $(,)? }) => {
        impl $crate::base::wire::Wire for $kind {
            fn put(&self, to: &mut Vec<u8>) {
                $($crate::base::wire::Wire::put(&self.$field, to);)*
            }

            fn take(from: &mut $crate::base::wire::ByteReader) -> $crate::base::error::Result<Self> {
                Ok(Self { $($field: $crate::base::wire::Wire::take(from)?),* })
            }
        }
    };
}
pub use crate::wire;

/// One of several forms: its number, then what it holds.
#[doc(hidden)]
#[macro_export]
macro_rules! wire_enum {
    ($kind:ty { $($number:literal => $form:ident $(($($field:ident),*))?),* $(,)? }) => {
        impl $crate::base::wire::Wire for $kind {
            fn put(&self, to: &mut Vec<u8>) {
                match self {
                    $(Self::$form $(($($field),*))? => {
                        to.push($number);
                        $($($crate::base::wire::Wire::put($field, to);)*)?
                    })*
                }
            }

            fn take(from: &mut $crate::base::wire::ByteReader) -> $crate::base::error::Result<Self> {
                match <u8 as $crate::base::wire::Wire>::take(from)? {
                    $($number => {
                        $($(let $field = $crate::base::wire::Wire::take(from)?;)*)?
                        Ok(Self::$form $(($($field),*))?)
                    })*
                    _ => Err($crate::base::wire::damaged()),
                }
            }
        }
    };
}
pub use crate::wire_enum;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Everything = (Vec<(i128, u64)>, (Option<String>, (Vec<Vec<u32>>, ([f64; 2], (Vec<u8>, Vec<u64>)))));

    /// Runs of numbers of one byte, and others between.
    fn mostly_short() -> impl Strategy<Value = u32> {
        prop_oneof![20 => 0u32..0x80, 1 => any::<u32>()]
    }

    proptest! {
        /// What was written is read, and no shorter message is one.
        #[test]
        fn values_come_back(
            pairs in prop::collection::vec((any::<i128>(), any::<u64>()), 0..9),
            text in prop::option::of(".{0,9}"),
            lists in prop::collection::vec(prop::collection::vec(mostly_short(), 0..30), 0..5),
            numbers in prop::array::uniform2(-1e300..1e300f64),
            raw in prop::collection::vec(any::<u8>(), 0..20),
            long in prop::collection::vec(any::<u64>(), 0..12),
        ) {
            let value: Everything = (pairs, (text, (lists, (numbers, (raw, long)))));
            let bytes = value.bytes();
            prop_assert_eq!(&Everything::of_bytes(&bytes).unwrap(), &value);
            for end in 0..bytes.len() {
                prop_assert!(Everything::of_bytes(&bytes[..end]).is_err());
            }
        }

        /// Bytes of any kind are a value or an error.
        #[test]
        fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Everything::of_bytes(&bytes);
            let _ = Vec::<Vec<f64>>::of_bytes(&bytes);
        }
    }

    #[test]
    fn short_numbers_are_short() {
        let lengths = [0i128, -1, 63, -64, 64].map(|x| x.bytes().len());
        assert_eq!((lengths, 127u32.bytes().len(), 128u32.bytes().len()), ([1, 1, 1, 1, 2], 1, 2));
        assert!(Vec::<u32>::of_bytes(&u64::MAX.bytes()).is_err());
    }
}
