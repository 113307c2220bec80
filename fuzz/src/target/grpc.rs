//! The answer of a gRPC server after its SETTINGS: the call ends, and with the same outcome however the network cuts
//! the answer.

use probelet_engine::fuzzing::read_answer;

use crate::pieces::{pieces, small_pieces};

/// Plays one input: the bytes that the server sends before it closes the connection.
pub fn play(bytes: &[u8]) {
    let whole = read_answer(&[bytes]);
    assert_eq!(whole, read_answer(&small_pieces(bytes)));
    assert_eq!(whole, read_answer(&pieces(bytes)));
}
