//! The groups of a key exchange: ring's, and the groups that Go offers and ring lacks.

mod hybrid;
mod p521;
mod random;

use rustls::crypto::SupportedKxGroup;
use rustls::crypto::ring::kx_group::{SECP256R1, SECP384R1, X25519};

use self::hybrid::{SECP256R1_MLKEM768, SECP384R1_MLKEM1024, X25519_MLKEM768};
use self::p521::SECP521R1;

/// The groups that are offered first. A server that knows a post-quantum group prefers it, which costs both sides more
/// than the rest of the handshake, so these are offered only to a server that takes none of the others.
pub(super) static CLASSICAL: [&dyn SupportedKxGroup; 4] = [X25519, SECP256R1, SECP384R1, SECP521R1];

/// All groups of Go, in its order (`tls.defaultCurvePreferences`, Go 1.26).
pub(super) static ALL: [&dyn SupportedKxGroup; 7] =
    [X25519_MLKEM768, SECP256R1_MLKEM768, SECP384R1_MLKEM1024, X25519, SECP256R1, SECP384R1, SECP521R1];
