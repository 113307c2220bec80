//! A response in any pieces: it comes to an end in bounded memory, and is the same however the network cut it.

use probelet_engine::fuzzing::{Response, read_response};

use crate::pieces::{pieces, small_pieces};

/// Plays one input: what the server sent before it closed its side.
pub fn play(bytes: &[u8]) {
    let whole = read_response(&[bytes]);
    if let Ok(response) = &whole {
        assert!(response.body.as_ref().is_ok_and(|body| body.len() <= BODY_BYTES_MAX) || response.body.is_err());
    }
    assert_same(&whole, &read_response(&small_pieces(bytes)));
    assert_same(&whole, &read_response(&pieces(bytes)));
}

/// What Go's reader makes of the pieces too: a chunk's bad head is only seen if it came along with the last bytes that are
/// wanted, so behind a body of the full length nothing is compared.
fn assert_same(one: &Result<Response, String>, other: &Result<Response, String>) {
    match (one, other) {
        (Ok(one), Ok(other)) if one.is_full() || other.is_full() => {
            assert_eq!((one.status, &one.location), (other.status, &other.location));
        }
        _ => assert_eq!(one, other),
    }
}

trait Full {
    fn is_full(&self) -> bool;
}

impl Full for Response {
    fn is_full(&self) -> bool {
        self.body.as_ref().is_ok_and(|body| body.len() == BODY_BYTES_MAX)
    }
}

/// What is read of a body (kubelet pkg/probe/http/http.go:maxRespBodyLength, 1.36).
const BODY_BYTES_MAX: usize = 10_240;
