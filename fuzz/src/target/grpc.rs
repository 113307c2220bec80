//! What a gRPC server says after its SETTINGS: the call comes to an end, and to the same however the network cut it.

use probelet_engine::fuzzing::read_answer;

use crate::pieces::{pieces, small_pieces};

/// Plays one input: what the server sent before it closed the connection.
pub fn play(bytes: &[u8]) {
    let whole = read_answer(&[bytes]);
    assert_eq!(whole, read_answer(&small_pieces(bytes)));
    assert_eq!(whole, read_answer(&pieces(bytes)));
}
