//! Certificates without a connection, for the fuzz target.

use probelet_golang::x509;

use super::signature::{OFFERED, Version, verify};

/// Parses a certificate and returns what its key is for.
///
/// # Errors
/// Go's reason to refuse the certificate.
pub fn parse_certificate(certificate: &[u8]) -> Result<String, String> {
    x509::parse(certificate).map(|key| format!("{:?}", key.kind)).map_err(|why| why.into_owned())
}

/// Whether a signature of a message is the certificate's in any version and scheme of TLS.
pub fn is_signed_by(certificate: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let Ok(key) = x509::parse(certificate) else { return false };
    let is_valid = |version, scheme| verify(version, &key, scheme, message, signature).is_ok();
    OFFERED.iter().any(|&scheme| is_valid(Version::Tls12, scheme) || is_valid(Version::Tls13, scheme))
}
