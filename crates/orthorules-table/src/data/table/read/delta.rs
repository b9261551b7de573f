//! Delta encoded values of a Parquet page, looked at before they are decoded: the decoder reserves as many lengths as
//! they claim to have, and a text may repeat a long beginning of the one before at no cost.

use parquet::basic::Encoding;

use super::BATCH_ROWS;
use super::cursor::ByteCursor;
use super::pages::trusted;
use crate::data::table::read::failure::{DAMAGED, ReadFailure};

/// The encoded `bytes` of a page of `values` values, nulls among them, hold no more than they can be trusted to.
pub(super) fn check(encoding: Encoding, bytes: &[u8], values: u64) -> Result<(), ReadFailure> {
    match encoding {
        // Some writers leave out values where all are null. What to make of it is left to the reader.
        _ if bytes.is_empty() => Ok(()),
        // The decoder compares lengths with the bytes itself, and decodes only as many numbers as it is asked for.
        Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => Deltas::read(bytes, values).map(|_| ()),
        Encoding::DELTA_BYTE_ARRAY => check_texts(bytes, values),
        _ => Ok(()),
    }
}

/// Texts, of which each begins like the one before: first how long these beginnings are, then the lengths of the rest.
fn check_texts(bytes: &[u8], values: u64) -> Result<(), ReadFailure> {
    let (beginnings, end) = Deltas::read(bytes, values)?.numbers().ok_or(DAMAGED)?;
    let (rests, _) = Deltas::read(&bytes[end..], values)?.numbers().ok_or(DAMAGED)?;
    let (mut length, mut total) = (0, 0);
    for (i, (beginning, rest)) in beginnings.into_iter().zip(rests).enumerate() {
        let (Ok(beginning), Ok(rest)) = (u64::try_from(beginning), u64::try_from(rest)) else {
            return Err(DAMAGED.into());
        };
        if beginning > length {
            return Err(DAMAGED.into());
        }
        length = beginning + rest;
        // So many are in memory at a time.
        total = if i % BATCH_ROWS == 0 { length } else { total + length };
        if !trusted(total, bytes.len() as u64) {
            return Err(format!("a page of {} bytes claims to hold {total} of text: {DAMAGED}", bytes.len()).into());
        }
    }
    Ok(())
}

/// Whole numbers as differences, in blocks of some parts each. A part has its own number of bits for a difference.
struct Deltas<'b> {
    /// The blocks follow.
    cursor: ByteCursor<'b>,
    /// Numbers in all.
    count: usize,
    first: i32,
    /// Parts of a block, and numbers of a part.
    parts: usize,
    size: usize,
}

impl<'b> Deltas<'b> {
    /// What `bytes` start with, unless they claim more numbers than `values` or than they can be trusted to hold.
    fn read(bytes: &'b [u8], values: u64) -> Result<Self, ReadFailure> {
        let mut cursor = ByteCursor::new(bytes);
        let mut varint = || cursor.varint().ok_or(DAMAGED);
        let (block, parts, count) = (varint()?, varint()?, varint()?);
        if count > values {
            return Err(format!("a page of {values} values claims to hold {count}: {DAMAGED}").into());
        }
        // The decoder keeps lengths in four bytes each.
        if !trusted(4 * count, bytes.len() as u64) {
            return Err(format!("a page of {} bytes claims to hold {count} values: {DAMAGED}", bytes.len()).into());
        }
        let first = cursor.number().ok_or(DAMAGED)? as i32;
        let size = block.checked_div(parts).ok_or(DAMAGED)?;
        let (parts, size) = (usize::try_from(parts).map_err(|_| DAMAGED)?, usize::try_from(size).map_err(|_| DAMAGED)?);
        Ok(Self { cursor, count: count as usize, first, parts, size })
    }

    /// The numbers, and of how many bytes they are; nothing where these end too early.
    fn numbers(mut self) -> Option<(Vec<i32>, usize)> {
        let mut last = self.first;
        let mut numbers = Vec::from_iter((self.count > 0).then_some(last));
        while numbers.len() < self.count {
            let least = self.cursor.number()? as i32;
            for &width in self.cursor.take(self.parts)? {
                let width = usize::from(width);
                let wanted = self.size.min(self.count - numbers.len());
                // Parts behind the last number have no bytes, whatever their width.
                if wanted == 0 {
                    break;
                }
                let packed = self.cursor.take(self.size.checked_mul(width)? / 8)?;
                for i in 0..wanted {
                    last = last.wrapping_add(least).wrapping_add(bits(packed, i * width, width)?);
                    numbers.push(last);
                }
            }
        }
        Some((numbers, self.cursor.at()))
    }
}

/// The number of `width` bits from bit `at` on; nothing if it has more than 32 bits.
fn bits(bytes: &[u8], at: usize, width: usize) -> Option<i32> {
    if width > 32 {
        return None;
    }
    let part = bytes.get(at / 8..(at + width).div_ceil(8))?;
    let mut word = [0; 8];
    word[..part.len()].copy_from_slice(part);
    Some((u64::from_le_bytes(word) >> (at % 8) & ((1 << width) - 1)) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn varint(mut number: u64, bytes: &mut Vec<u8>) {
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }

    fn signed(number: i32, bytes: &mut Vec<u8>) {
        let number = i64::from(number);
        varint((number << 1 ^ number >> 63) as u64, bytes);
    }

    /// `numbers` in blocks of `parts` parts of `size` numbers.
    fn encoded(numbers: &[i32], parts: usize, size: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [parts * size, parts, numbers.len()] {
            varint(number as u64, &mut bytes);
        }
        signed(numbers.first().copied().unwrap_or(0), &mut bytes);
        let differences: Vec<i32> = numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        for block in differences.chunks(parts * size) {
            let least = *block.iter().min().unwrap();
            signed(least, &mut bytes);
            let above: Vec<u32> = block.iter().map(|&d| d.wrapping_sub(least) as u32).collect();
            let widths: Vec<u32> =
                above.chunks(size).map(|part| 32 - part.iter().max().unwrap().leading_zeros()).collect();
            bytes.extend(widths.iter().map(|&width| width as u8));
            // The width of a part that is not there may be anything.
            bytes.resize(bytes.len() + parts - widths.len(), 200);
            for (part, width) in above.chunks(size).zip(widths) {
                let mut packed = vec![0; size * width as usize / 8];
                for bit in 0..part.len() * width as usize {
                    let (number, place) = (part[bit / width as usize], bit % width as usize);
                    packed[bit / 8] |= ((number >> place & 1) as u8) << (bit % 8);
                }
                bytes.extend(packed);
            }
        }
        bytes
    }

    /// The lengths of texts, without the texts.
    fn texts(beginnings: &[i32], rests: &[i32]) -> Vec<u8> {
        [encoded(beginnings, 4, 32), encoded(rests, 4, 32)].concat()
    }

    fn refusal(encoding: Encoding, bytes: &[u8], values: u64) -> String {
        check(encoding, bytes, values).unwrap_err().to_string()
    }

    #[test]
    fn counts_must_be_those_of_the_page() {
        let bytes = encoded(&[5, 7, 6], 4, 32);
        for encoding in [Encoding::DELTA_BINARY_PACKED, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
            assert!(check(encoding, &bytes, 3).is_ok());
            assert!(check(encoding, &bytes, 9).is_ok(), "the rest are nulls");
            assert_eq!(refusal(encoding, &bytes, 2), "a page of 2 values claims to hold 3: it is damaged");
        }
        let bytes = texts(&[0, 1, 2], &[3, 2, 1]);
        assert!(check(Encoding::DELTA_BYTE_ARRAY, &bytes, 3).is_ok());
        assert_eq!(
            refusal(Encoding::DELTA_BYTE_ARRAY, &bytes, 2),
            "a page of 2 values claims to hold 3: it is damaged"
        );
        let bytes = texts(&[0, 0], &[3, 2, 1]);
        assert_eq!(
            refusal(Encoding::DELTA_BYTE_ARRAY, &bytes, 2),
            "a page of 2 values claims to hold 3: it is damaged"
        );
        assert!(check(Encoding::PLAIN, &[0xff; 40], 2).is_ok());
        assert!(check(Encoding::DELTA_BYTE_ARRAY, &[], 2).is_ok());
    }

    /// A block of one part is enough for any number of equal values.
    #[test]
    fn the_bytes_must_be_enough_for_the_count() {
        let mut bytes = Vec::new();
        for number in [1 << 30, 1, 1 << 30] {
            varint(number, &mut bytes);
        }
        bytes.extend([0; 40]);
        let expected = "a page of 51 bytes claims to hold 1073741824 values: it is damaged";
        for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
            assert_eq!(refusal(encoding, &bytes, 1 << 31), expected);
        }
        // Many equal texts are no reason to refuse a page.
        let rows = 1_000_000;
        let same = texts(&[vec![0], vec![30; rows - 1]].concat(), &[vec![30], vec![0; rows - 1]].concat());
        assert!(same.len() < rows / 10);
        assert!(check(Encoding::DELTA_BYTE_ARRAY, &same, rows as u64).is_ok());
    }

    #[test]
    fn texts_begin_like_the_one_before() {
        for (beginnings, rests) in [([1, 0], [3, 3]), ([0, 4], [3, 3]), ([0, -1], [3, 3]), ([0, 3], [3, -1])] {
            let bytes = texts(&beginnings, &rests);
            assert_eq!(refusal(Encoding::DELTA_BYTE_ARRAY, &bytes, 2), DAMAGED, "{beginnings:?} {rests:?}");
        }
    }

    /// Some bytes that say: a text of 64 kilobytes, and then 9,999 times the same.
    #[test]
    fn repeated_beginnings_are_counted() {
        let (rows, length) = (10_000, 1 << 16);
        let repeated = |first: i32, others: i32| [vec![first], vec![others; rows - 1]].concat();
        let mut bytes = texts(&repeated(0, length), &repeated(length, 0));
        let message = refusal(Encoding::DELTA_BYTE_ARRAY, &bytes, rows as u64);
        assert!(message.ends_with(" bytes claims to hold 67174400 of text: it is damaged"), "{message}");
        // A page of ten such texts may be trusted with all of it.
        bytes.resize(10 * length as usize, b'a');
        assert!(check(Encoding::DELTA_BYTE_ARRAY, &bytes, rows as u64).is_ok());
    }

    #[test]
    fn numbers_have_32_bits() {
        assert_eq!(bits(&[0xff; 5], 7, 32), Some(-1));
        assert_eq!(bits(&[0xff; 40], 7, 33), None);
        assert_eq!(bits(&[0xff; 40], 0, 255), None);
        assert_eq!(bits(&[0xff; 4], 1, 32), None);
        assert_eq!(bits(&[], 0, 0), Some(0));
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(
            numbers in prop_oneof![prop::collection::vec(any::<i32>(), 0..400), prop::collection::vec(-9..9, 0..400)],
            parts in 1..5usize,
            size in prop::sample::select(vec![32, 64, 128]),
        ) {
            let mut bytes = encoded(&numbers, parts, size);
            let length = bytes.len();
            bytes.extend([7; 9]);
            let read = Deltas::read(&bytes, numbers.len() as u64).unwrap().numbers();
            prop_assert_eq!(read, Some((numbers, length)));
        }

        #[test]
        fn no_bytes_are_a_reason_to_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), sound in any::<bool>()) {
            let start: &[u8] = if sound { &[0x80, 0x01, 4, 50] } else { &[] };
            let bytes = [start, &bytes].concat();
            let _ = check(Encoding::DELTA_BYTE_ARRAY, &bytes, 50);
            let _ = check(Encoding::DELTA_BINARY_PACKED, &bytes, 50);
        }
    }
}
