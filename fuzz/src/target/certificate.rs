//! A certificate in a server's handshake: parsing it ends, and no signature of these bytes is the server's.

use probelet_engine::fuzzing::{is_signed_by, parse_certificate};

/// Plays one input: the certificate.
pub fn play(bytes: &[u8]) {
    let parsed = parse_certificate(bytes);
    assert_eq!(parsed, parse_certificate(bytes));
    if parsed.is_ok() {
        assert!(parse_certificate(&[bytes, &[0]].concat()).is_err());
        assert!(!is_signed_by(bytes, b"message", &[1; 256]));
    }
}
