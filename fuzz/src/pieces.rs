//! Cuts bytes into pieces, as a network may.

use probelet_core::rng::Rng;

/// Many small pieces; for most inputs they have one byte each.
pub(crate) fn small_pieces(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(1 + bytes.len() / SMALL_PIECES).collect()
}

/// Pieces of random sizes; the same bytes always give the same pieces.
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
/// Some pieces exceed the reader's window of 4096 bytes.
const PIECE_BYTES_MAX: u64 = 5_000;
