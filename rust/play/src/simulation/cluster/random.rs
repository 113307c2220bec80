//! Numbers of its own for each probe and container: another probe changes none of them.

use probelet_core::rng::Rng;

/// A number above 0 and below 1.
pub(super) fn between_0_and_1(rng: &mut Rng) -> f64 {
    (rng.below(1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// The seed of something that is called by `names`.
pub(super) fn seed_of(seed: u64, names: &[&str]) -> u64 {
    // FNV-1a, 64 bits; a byte that no name has stands between the names.
    let bytes = names.iter().flat_map(|name| name.bytes().chain([0xFF]));
    bytes.fold(0xCBF2_9CE4_8422_2325 ^ seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
