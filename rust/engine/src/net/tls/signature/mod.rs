//! Verifies the signature that shows that a server has its certificate's key (`tls.verifyHandshakeSignature`, Go 1.26).

mod ecdsa;
mod rsa;

use probelet_golang::x509::{Curve, Kind, PublicKey};
use ring::digest::{self, SHA256, SHA384, SHA512};
use ring::signature::{ED25519, UnparsedPublicKey};
use rustls::SignatureScheme as Scheme;

use self::rsa::Padding;

/// A version of TLS, which decides what a key may sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Tls12,
    Tls13,
}

/// Verifies a signature of a message; the error is Go's text.
pub(super) fn verify(
    version: Version,
    key: &PublicKey<'_>,
    scheme: Scheme,
    message: &[u8],
    signature: &[u8],
) -> Result<(), String> {
    let is_allowed = OFFERED.contains(&scheme) && (version == Version::Tls12 || is_of_tls13(key, scheme));
    if !is_allowed {
        return Err("certificate used with invalid signature algorithm".to_owned());
    }
    verify_with(key, scheme, message, signature)
        .map_err(|why| format!("invalid signature by the server certificate: {why}"))
}

/// Whether TLS 1.3 lets a key sign with a scheme (`tls.signatureSchemesForPublicKey`).
fn is_of_tls13(key: &PublicKey<'_>, scheme: Scheme) -> bool {
    match (&key.kind, scheme) {
        (Kind::Rsa { .. }, Scheme::RSA_PSS_SHA256 | Scheme::RSA_PSS_SHA384 | Scheme::RSA_PSS_SHA512) => {
            key.modulus().len() >= 2 * digest_of(scheme).output_len() + 2
        }
        (Kind::Ecdsa(Curve::P256), Scheme::ECDSA_NISTP256_SHA256)
        | (Kind::Ecdsa(Curve::P384), Scheme::ECDSA_NISTP384_SHA384)
        | (Kind::Ecdsa(Curve::P521), Scheme::ECDSA_NISTP521_SHA512)
        | (Kind::Ed25519, Scheme::ED25519) => true,
        _ => false,
    }
}

fn verify_with(key: &PublicKey<'_>, scheme: Scheme, message: &[u8], signature: &[u8]) -> Result<(), String> {
    let hash = digest_of(scheme);
    let is_valid = match (family(scheme), &key.kind) {
        (Family::Ed25519, Kind::Ed25519) => {
            UnparsedPublicKey::new(&ED25519, &key.bytes).verify(message, signature).is_ok()
        }
        (Family::Ecdsa, &Kind::Ecdsa(curve)) => ecdsa::is_valid(curve, hash, &key.bytes, message, signature),
        (Family::Rsa(padding), &Kind::Rsa { exponent, .. }) => {
            let key = rsa::Key::checked(key.modulus(), exponent)?;
            let is_valid = key.is_valid(padding, hash, message, signature);
            return if is_valid { Ok(()) } else { Err("crypto/rsa: verification error".to_owned()) };
        }
        (family, kind) => return Err(format!("expected an {} public key, got {}", family.name(), type_of(kind))),
    };
    if is_valid { Ok(()) } else { Err(format!("{} verification failure", family(scheme).name())) }
}

/// What makes and verifies signatures of a scheme.
#[derive(Clone, Copy, Debug)]
enum Family {
    Rsa(Padding),
    Ecdsa,
    Ed25519,
}

impl Family {
    const fn name(self) -> &'static str {
        match self {
            Self::Rsa(_) => "RSA",
            Self::Ecdsa => "ECDSA",
            Self::Ed25519 => "Ed25519",
        }
    }
}

const fn family(scheme: Scheme) -> Family {
    match scheme {
        Scheme::ED25519 => Family::Ed25519,
        Scheme::RSA_PSS_SHA256 | Scheme::RSA_PSS_SHA384 | Scheme::RSA_PSS_SHA512 => Family::Rsa(Padding::Pss),
        Scheme::RSA_PKCS1_SHA256 | Scheme::RSA_PKCS1_SHA384 | Scheme::RSA_PKCS1_SHA512 => Family::Rsa(Padding::Pkcs1),
        _ => Family::Ecdsa,
    }
}

/// The type of a key, as Go prints it.
const fn type_of(kind: &Kind) -> &'static str {
    match kind {
        Kind::Rsa { .. } => "*rsa.PublicKey",
        Kind::Ecdsa(_) => "*ecdsa.PublicKey",
        Kind::Ed25519 => "ed25519.PublicKey",
        Kind::Dsa => "*dsa.PublicKey",
        Kind::Unknown => "<nil>",
    }
}

/// The hash of a scheme.
fn digest_of(scheme: Scheme) -> &'static digest::Algorithm {
    match scheme {
        Scheme::RSA_PKCS1_SHA384 | Scheme::RSA_PSS_SHA384 | Scheme::ECDSA_NISTP384_SHA384 => &SHA384,
        Scheme::RSA_PKCS1_SHA512 | Scheme::RSA_PSS_SHA512 | Scheme::ECDSA_NISTP521_SHA512 => &SHA512,
        _ => &SHA256,
    }
}

/// What the client offers, in Go's order (`tls.supportedSignatureAlgorithms`).
pub(super) const OFFERED: [Scheme; 10] = [
    Scheme::RSA_PSS_SHA256,
    Scheme::ECDSA_NISTP256_SHA256,
    Scheme::ED25519,
    Scheme::RSA_PSS_SHA384,
    Scheme::RSA_PSS_SHA512,
    Scheme::RSA_PKCS1_SHA256,
    Scheme::RSA_PKCS1_SHA384,
    Scheme::RSA_PKCS1_SHA512,
    Scheme::ECDSA_NISTP384_SHA384,
    Scheme::ECDSA_NISTP521_SHA512,
];
