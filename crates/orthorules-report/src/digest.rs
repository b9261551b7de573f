//! SHA-256 (FIPS 180-4): what a table was, and which script a page may run.

/// A digest in the making.
#[derive(Debug, Clone)]
pub struct Sha256 {
    state: [u32; 8],
    keys: [u32; 64],
    block: Vec<u8>,
    length: u64,
}

impl Default for Sha256 {
    fn default() -> Self {
        let state = std::array::from_fn(|i| fraction(f64::from(PRIMES[i]).sqrt()));
        let keys = std::array::from_fn(|i| fraction(f64::from(PRIMES[i]).cbrt()));
        Self { state, keys, block: Vec::with_capacity(64), length: 0 }
    }
}

/// The first primes. The constants of the standard are the first bits of their square and cube roots.
const PRIMES: [u32; 64] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
    113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239,
    241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307, 311,
];

/// The first 32 bits after the point: a float has 52, of which at most five are before it.
fn fraction(root: f64) -> u32 {
    (root.fract() * 4_294_967_296.0) as u32
}

impl Sha256 {
    /// Adds bytes.
    pub fn add(&mut self, mut bytes: &[u8]) {
        self.length += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = 64 - self.block.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.block.extend_from_slice(now);
            bytes = later;
            if self.block.len() == 64 {
                self.compress();
                self.block.clear();
            }
        }
    }

    /// The digest of all that was added.
    pub fn finish(mut self) -> [u8; 32] {
        let bits = self.length.wrapping_mul(8).to_be_bytes();
        let zeros = (119 - self.block.len()) % 64;
        self.add(&[0x80]);
        self.add(&vec![0; zeros]);
        self.add(&bits);
        let mut digest = [0; 32];
        for (bytes, word) in digest.chunks_exact_mut(4).zip(self.state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        digest
    }

    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> [u8; 32] {
        let mut hash = Self::default();
        hash.add(bytes);
        hash.finish()
    }

    fn compress(&mut self) {
        let mut w = [0u32; 64];
        for (word, bytes) in w.iter_mut().zip(self.block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for i in 16..64 {
            let small = |x: u32, a, b, shift| x.rotate_right(a) ^ x.rotate_right(b) ^ x >> shift;
            w[i] = w[i - 16].wrapping_add(small(w[i - 15], 7, 18, 3)).wrapping_add(w[i - 7]).wrapping_add(small(
                w[i - 2],
                17,
                19,
                10,
            ));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for (word, key) in w.into_iter().zip(self.keys) {
            let big = |x: u32, p, q, r| x.rotate_right(p) ^ x.rotate_right(q) ^ x.rotate_right(r);
            let first =
                h.wrapping_add(big(e, 6, 11, 25)).wrapping_add(e & f ^ !e & g).wrapping_add(key).wrapping_add(word);
            let second = big(a, 2, 13, 22).wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (old, new) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *old = old.wrapping_add(new);
        }
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Bytes in base 64, as a browser's policy spells digests.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |number, i| number << 8 | u32::from(three.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { digit as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the standard, and lengths around a block.
    #[test]
    fn digests_are_those_of_the_standard() {
        let of = |text: &str| hex(&Sha256::of(text.as_bytes()));
        assert_eq!(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(
            of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(of(&"a".repeat(1_000_000)), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }

    #[test]
    fn pieces_make_the_same_digest() {
        let bytes: Vec<u8> = (0..200).collect();
        for length in 0..200 {
            let mut pieces = Sha256::default();
            bytes[..length].chunks(7).for_each(|piece| pieces.add(piece));
            assert_eq!(pieces.finish(), Sha256::of(&bytes[..length]));
        }
    }

    #[test]
    fn base64_pads() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
