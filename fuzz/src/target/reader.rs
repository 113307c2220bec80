//! A response in any pieces: reading it ends, takes bounded memory, and gives the same result however the network cuts
//! it.

use crate::pieces::{pieces, small_pieces};
use crate::response::{Response, read_response};

/// Plays one input: the bytes that the server sends before it closes its side.
pub fn play(bytes: &[u8]) {
    let whole = read_response(&[bytes]);
    if let Ok(response) = &whole {
        assert!(response.body.as_ref().is_ok_and(|body| body.len() <= BODY_BYTES_MAX) || response.body.is_err());
    }
    assert_same(&whole, &read_response(&small_pieces(bytes)));
    assert_same(&whole, &read_response(&pieces(bytes)));
}

/// Compares two readings. After a body of the full length it compares only the heads: Go's reader, too, sees a bad
/// chunk head only if it comes along with the last bytes that are kept.
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

/// How many bytes of a body the kubelet keeps (kubelet pkg/probe/http/http.go:maxRespBodyLength, 1.36).
const BODY_BYTES_MAX: usize = 10_240;
