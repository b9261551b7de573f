//! The order in which the published code saw its training rows: NumPy's legacy generator and scikit-learn's shuffle.
//!
//! The splits are stored, but their order is not, and the published cross-validation takes contiguous folds of it.

const N: usize = 624;

/// MT19937 as `numpy.random.RandomState(seed)` starts it.
struct MersenneTwister {
    state: [u32; N],
    at: usize,
}

impl MersenneTwister {
    fn new(seed: u32) -> Self {
        let mut state = [0; N];
        state[0] = seed;
        for i in 1..N {
            let last: u32 = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(i as u32);
        }
        Self { state, at: N }
    }

    fn twist(&mut self) {
        for i in 0..N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + 397) % N] ^ (y >> 1) ^ odd;
        }
        self.at = 0;
    }

    fn next(&mut self) -> u32 {
        if self.at == N {
            self.twist();
        }
        let mut y = self.state[self.at];
        self.at += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// Uniform from 0 to `largest`, by masking and rejection.
    fn interval(&mut self, largest: u32) -> u32 {
        let mask = u32::MAX.checked_shr(largest.leading_zeros()).unwrap_or(0);
        loop {
            let value = self.next() & mask;
            if value <= largest {
                return value;
            }
        }
    }
}

/// Training rows of `train_test_split(random_state=seed, test_size=…)` on `rows` rows, in its order.
pub(crate) fn training_order(rows: usize, test_size: f64, seed: u32) -> Vec<u32> {
    let mut random = MersenneTwister::new(seed);
    let mut order: Vec<u32> = (0..rows as u32).collect();
    for i in (1..rows).rev() {
        order.swap(i, random.interval(i as u32) as usize);
    }
    let test = (test_size * rows as f64).ceil() as usize;
    order.split_off(test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_mt19937() {
        // The first outputs for seed 5489, as published with the algorithm.
        let mut random = MersenneTwister::new(5489);
        assert_eq!([random.next(), random.next(), random.next()], [3_499_211_612, 581_869_302, 3_890_346_734]);
    }

    #[test]
    fn the_permutation_is_numpys() {
        // numpy.random.RandomState(0).permutation(10) is [2 8 4 9 1 6 7 3 0 5]; test rows come first.
        assert_eq!(training_order(10, 0.2, 0), [4, 9, 1, 6, 7, 3, 0, 5]);
    }
}
