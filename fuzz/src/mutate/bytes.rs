//! Mutations that know nothing of a format.

use crate::rng::Rng;

/// Changes a few bytes in place, or adds, removes, repeats and moves some.
pub(crate) fn bytes(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.few(&[1, 2, 6]) {
        one(rng, bytes);
    }
}

fn one(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let length = bytes.len();
    if length == 0 {
        bytes.push(rng.next() as u8);
        return;
    }
    let at = rng.below(length);
    let end = (at + rng.between(1, 16)).min(length);
    match rng.below(9) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.next() as u8,
        2 => bytes[at] = *rng.pick(&[0, 1, 0x7f, 0x80, 0xff, b'"', b',', b'\n', b'\r', 0xef]),
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let copy = bytes[at..end].to_vec();
            let to = rng.below(length);
            bytes.splice(to..to, copy);
        }
        6 => word(rng, bytes, at),
        7 => {
            let run = vec![bytes[at]; rng.between(1, 300)];
            bytes.splice(at..at, run);
        }
        _ => {
            let (from, to) = (rng.below(length), rng.below(length));
            bytes.swap(from, to);
        }
    }
}

/// Replaces the little-endian number at `at`, of a width drawn at random, by one at the end of a range.
pub(crate) fn word(rng: &mut Rng, bytes: &mut [u8], at: usize) {
    let width = *rng.pick(&[1, 2, 4, 4, 4, 8, 8]);
    let Some(place) = bytes.get_mut(at..at + width) else { return };
    let mut old = [0; 8];
    old[..width].copy_from_slice(place);
    let old = u64::from_le_bytes(old);
    let new = match rng.below(10) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => i32::MAX as u64,
        4 => i64::MAX as u64,
        5 => 1 << 31,
        6 => old.wrapping_add(1),
        7 => old.wrapping_sub(1),
        8 => old.wrapping_mul(2),
        _ => rng.next() >> rng.below(64),
    };
    place.copy_from_slice(&new.to_le_bytes()[..width]);
}
