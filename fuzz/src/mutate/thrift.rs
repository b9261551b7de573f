//! The compact protocol of Thrift, in which Parquet writes its metadata: where its numbers, texts and lists are.

use crate::make::odd;
use crate::rng::Rng;
use std::ops::Range;

/// What a stretch of bytes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A number as a zigzag varint.
    Number,
    /// A length and this many bytes.
    Text,
    /// The header of a list: how many elements of which type.
    List,
    /// The header of a field: which one, of which type.
    Field,
}

/// Finds the parts of the struct that starts at `at`; where it ends, or `None` where it is damaged.
pub(crate) fn parts(bytes: &[u8], at: usize, found: &mut Vec<(What, Range<usize>)>) -> Option<usize> {
    fields(bytes, at, found, 0)
}

fn fields(bytes: &[u8], mut at: usize, found: &mut Vec<(What, Range<usize>)>, depth: usize) -> Option<usize> {
    loop {
        let head = *bytes.get(at)?;
        if head == 0 {
            return Some(at + 1);
        }
        let start = at;
        at += 1;
        if head >> 4 == 0 {
            at = varint(bytes, at)?.1;
        }
        found.push((What::Field, start..at));
        // A truth value is part of its field's header.
        if !matches!(head & 15, 1 | 2) {
            at = value(bytes, at, head & 15, found, depth)?;
        }
    }
}

fn value(bytes: &[u8], at: usize, kind: u8, found: &mut Vec<(What, Range<usize>)>, depth: usize) -> Option<usize> {
    if depth > 20 {
        return None;
    }
    let end = match kind {
        1..=3 => at + 1,
        4..=6 => {
            let end = varint(bytes, at)?.1;
            found.push((What::Number, at..end));
            end
        }
        7 => at + 8,
        8 => {
            let (length, start) = varint(bytes, at)?;
            let end = start.checked_add(usize::try_from(length).ok()?)?;
            found.push((What::Text, at..end));
            end
        }
        9 | 10 => {
            let head = *bytes.get(at)?;
            let (count, mut next) =
                if head >> 4 == 15 { varint(bytes, at + 1)? } else { (u64::from(head >> 4), at + 1) };
            found.push((What::List, at..next));
            for _ in 0..count {
                next = value(bytes, next, head & 15, found, depth + 1)?;
            }
            next
        }
        12 => fields(bytes, at, found, depth + 1)?,
        _ => return None,
    };
    (end <= bytes.len()).then_some(end)
}

fn varint(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut number = 0u64;
    for shift in (0..70).step_by(7) {
        let byte = *bytes.get(at)?;
        at += 1;
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some((number, at));
        }
    }
    None
}

fn written(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Other bytes for a part: another number, text, list or field.
pub(crate) fn replacement(rng: &mut Rng, what: What, old: &[u8]) -> Vec<u8> {
    let mut new = Vec::new();
    match what {
        What::Number => {
            let old = varint(old, 0).map_or(0, |(number, _)| number);
            let zigzag = |n: i64| ((n << 1) ^ (n >> 63)) as u64;
            let number = match rng.below(9) {
                0 => zigzag(i64::MAX),
                1 => zigzag(i64::MIN),
                2 => zigzag(i64::from(i32::MAX)),
                3 => zigzag(-1),
                4 => 0,
                5 => old.wrapping_add(2),
                6 => old.wrapping_sub(2),
                7 => old.wrapping_mul(1 << rng.below(40)),
                _ => zigzag(rng.below(20) as i64),
            };
            written(number, &mut new);
        }
        What::Text => {
            let text = match rng.below(4) {
                0 => odd::name(rng).into_bytes(),
                1 => vec![rng.next() as u8; rng.below(9)],
                2 => b"y".to_vec(),
                _ => old.iter().skip(1).rev().copied().collect(),
            };
            let claimed = if rng.once_in(8) { rng.next() >> rng.below(60) } else { text.len() as u64 };
            written(claimed, &mut new);
            new.extend(text);
        }
        What::List => {
            let kind = old.first().map_or(12, |head| head & 15);
            let kind = if rng.once_in(4) { rng.below(16) as u8 } else { kind };
            if rng.once_in(2) {
                new.push((rng.below(15) as u8) << 4 | kind);
            } else {
                new.push(0xf0 | kind);
                written(rng.next() >> rng.between(20, 63), &mut new);
            }
        }
        What::Field => {
            new = old.to_vec();
            new[0] = if rng.once_in(2) {
                new[0] & 0xf0 | rng.below(13) as u8
            } else {
                new[0] & 15 | (rng.below(16) as u8) << 4
            };
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_struct_are_found() {
        // Field 1: i32 of 150; field 2: "ab"; field 3: two structs, each with field 1 = i64 of 1; field 4: true.
        let bytes = [0x15, 0xac, 0x02, 0x18, 2, b'a', b'b', 0x19, 0x2c, 0x16, 2, 0, 0x16, 2, 0, 0x11, 0, 9];
        let mut found = Vec::new();
        assert_eq!(parts(&bytes, 0, &mut found), Some(17));
        let of = |kind| found.iter().filter(|(what, _)| *what == kind).map(|(_, r)| r.clone()).collect::<Vec<_>>();
        assert_eq!(of(What::Number), [1..3, 10..11, 13..14]);
        assert_eq!(of(What::Text).first(), Some(&(4..7)));
        assert_eq!(of(What::List).first(), Some(&(8..9)));
        assert_eq!(of(What::Field).len(), 6);
        assert_eq!(parts(&bytes[..9], 0, &mut Vec::new()), None);
    }
}
