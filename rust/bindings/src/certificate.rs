//! `make_authority`, `issue_certificate` and `certificate_validity`: certificates of probelet's own server.

use probelet_engine::certificate as engine;
use probelet_engine::certificate::Validity;
use pyo3::prelude::*;

use crate::error::InputError;

/// Makes a certificate authority for servers' certificates: its certificate and its key (PKCS #8), both DER.
///
/// Times are seconds since the Unix epoch; ``not_after`` is the last second of the certificate.
///
/// Raises:
///     InvalidInputError: a time beyond year 9999.
#[pyfunction]
pub(crate) fn make_authority(name: &str, not_before: i64, not_after: i64) -> PyResult<(Vec<u8>, Vec<u8>)> {
    pair(engine::authority(name, Validity { not_before, not_after }))
}

/// Makes a server's certificate for DNS names and IP addresses, signed with the key of the authority ``name``: its
/// certificate and its key (PKCS #8), both DER.
///
/// Raises:
///     InvalidInputError: a name that no certificate can have, a key of no authority, a time beyond year 9999.
#[pyfunction]
pub(crate) fn issue_certificate(
    name: &str,
    authority_key: &[u8],
    hosts: Vec<String>,
    not_before: i64,
    not_after: i64,
) -> PyResult<(Vec<u8>, Vec<u8>)> {
    pair(engine::issue(name, authority_key, hosts, Validity { not_before, not_after }))
}

/// The first and the last second in which a certificate (DER) holds, since the Unix epoch.
///
/// Raises:
///     InvalidInputError: no certificate, in the words of Go's parser.
#[pyfunction]
pub(crate) fn certificate_validity(certificate: &[u8]) -> PyResult<(i64, i64)> {
    let Validity { not_before, not_after } = engine::validity(certificate).map_err(InputError::Certificate)?;
    Ok((not_before, not_after))
}

fn pair(made: Result<engine::Pair, String>) -> PyResult<(Vec<u8>, Vec<u8>)> {
    let engine::Pair { certificate, key } = made.map_err(InputError::Certificate)?;
    Ok((certificate, key))
}
