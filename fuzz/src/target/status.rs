//! A status from JSON: it is refused or it survives the way back.

use probelet_engine::json::{StatusDocument, decode_status};

/// Plays one input.
pub fn play(json: &[u8]) {
    let Ok(status) = decode_status(json) else { return };
    assert!(status.regular <= status.containers.len());
    let written = StatusDocument::of(None, &status).to_json();
    let again = decode_status(&written).expect("what we write we read");
    assert_eq!(again, status);
}
