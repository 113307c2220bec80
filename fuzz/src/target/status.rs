//! A status from JSON: the decoder refuses it, or it survives encoding and decoding.

use probelet_play::json::{StatusDocument, decode_status};

/// Plays one input.
pub fn play(json: &[u8]) {
    let Ok(status) = decode_status(json) else { return };
    assert!(status.regular <= status.containers.len());
    let written = StatusDocument::of(None, &status).to_json();
    let again = decode_status(&written).expect("an encoded status decodes");
    assert_eq!(again, status);
}
