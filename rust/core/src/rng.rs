//! The only randomness of the core: a seeded generator that is part of its state.

use serde::{Deserialize, Serialize};

/// SplitMix64 (Steele, Lea, Flood 2014): one word of state, good enough to spread first runs over a period.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rng(u64);

impl Rng {
    /// A generator that returns the same numbers for the same seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in `0..bound`, uniform up to the rounding of a 64-bit product; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_within_the_bound() {
        let (mut one, mut two) = (Rng::new(7), Rng::new(7));
        for _ in 0..1_000 {
            let number = one.below(10);
            assert!(number < 10);
            assert_eq!(number, two.below(10));
        }
        assert_eq!(one.below(0), 0);
    }

    #[test]
    fn numbers_cover_the_whole_range() {
        let mut rng = Rng::new(1);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[rng.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1_200).contains(&count)), "{seen:?}");
    }
}
