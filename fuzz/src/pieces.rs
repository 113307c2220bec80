//! Bytes as a network may cut them.

use probelet_core::rng::Rng;

/// Many small pieces; of most inputs one byte each.
pub(crate) fn small_pieces(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(1 + bytes.len() / SMALL_PIECES).collect()
}

/// Pieces of any size, always the same for the same bytes.
pub(crate) fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut chance = Rng::new(bytes.iter().fold(bytes.len() as u64, |sum, &byte| sum.rotate_left(5) ^ u64::from(byte)));
    let mut rest = bytes;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + chance.below(PIECE_BYTES_MAX) as usize).min(rest.len()));
        found.push(piece);
        rest = after;
    }
    found
}

const SMALL_PIECES: usize = 2_000;
/// Some beyond the window of 4096 bytes.
const PIECE_BYTES_MAX: u64 = 5_000;
