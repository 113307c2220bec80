//! X.509 certificates as Go parses them, with its error texts (`x509.ParseCertificate`, Go 1.26).
//!
//! A probe verifies no certificate, but Go's client refuses one that it cannot parse, and so does the kubelet's probe.
//! Nothing here is kept but the public key. No parser of another maker refuses the same certificates, let alone for the
//! same reasons.

mod algorithm;
mod alternative_names;
mod constraints;
mod der;
mod domain;
mod error;
mod extensions;
mod general_name;
mod key;
mod mailbox;
mod name;
mod oid_set;
mod policies;
mod validity;

use self::algorithm::Algorithm;
use self::der::{Der, INTEGER, SEQUENCE, constructed, context, is_negative};
use self::error::ParseError;
pub use self::key::{Curve, Kind, PublicKey, bits};

/// Parses a certificate and returns its public key.
pub fn parse(certificate: &[u8]) -> Result<PublicKey<'_>, ParseError> {
    let mut rest = Der(certificate);
    let mut outer = rest.element(SEQUENCE).ok_or("x509: malformed certificate")?;
    let mut tbs = outer.element(SEQUENCE).ok_or("x509: malformed tbs certificate")?;
    let version = version(&mut tbs)?;
    let serial = tbs.integer(INTEGER).ok_or("x509: malformed serial number")?;
    if is_negative(serial) {
        return Err("x509: negative serial number".into());
    }
    check_signature_algorithms(&mut tbs, &mut outer)?;
    name::check(tbs.whole(SEQUENCE).ok_or("x509: malformed issuer")?)?;
    validity::check(tbs.element(SEQUENCE).ok_or("x509: malformed validity")?)?;
    name::check(tbs.whole(SEQUENCE).ok_or("x509: malformed issuer")?)?;
    let key = public_key(&mut tbs)?;
    if version > 1 {
        tbs.optional(context(1)).ok_or("x509: malformed issuerUniqueID")?;
        tbs.optional(context(2)).ok_or("x509: malformed subjectUniqueID")?;
    }
    if version == 3
        && let Some(mut field) = tbs.optional(constructed(3)).ok_or("x509: malformed extensions")?
    {
        extensions::check(field.element(SEQUENCE).ok_or("x509: malformed extensions")?)?;
    }
    outer.bit_string().ok_or("x509: malformed signature")?;
    if rest.is_empty() { Ok(key) } else { Err("x509: trailing data".into()) }
}

/// The first and the last second in which a certificate holds, since the Unix epoch (`Certificate.NotBefore`, `NotAfter`).
pub fn validity(certificate: &[u8]) -> Result<(i64, i64), ParseError> {
    parse(certificate)?;
    let malformed = "x509: malformed validity";
    let mut outer = Der(certificate).element(SEQUENCE).ok_or(malformed)?;
    let mut tbs = outer.element(SEQUENCE).ok_or(malformed)?;
    version(&mut tbs)?;
    tbs.integer(INTEGER).ok_or(malformed)?;
    // The algorithm of the signature, and the issuer.
    for _ in 0..2 {
        tbs.whole(SEQUENCE).ok_or(malformed)?;
    }
    let mut times = tbs.element(SEQUENCE).ok_or(malformed)?;
    Ok((validity::seconds(&mut times).ok_or(malformed)?, validity::seconds(&mut times).ok_or(malformed)?))
}

/// The version, counted from one as people do.
fn version(tbs: &mut Der<'_>) -> Result<i64, ParseError> {
    let malformed = "x509: malformed version";
    let Some(mut field) = tbs.optional(constructed(0)).ok_or(malformed)? else { return Ok(1) };
    let version = field.int64(INTEGER).filter(|&version| field.is_empty() && version >= 0).ok_or(malformed)?;
    // Go's number wraps, too.
    match version.wrapping_add(1) {
        4.. => Err("x509: invalid version".into()),
        version => Ok(version),
    }
}

/// The certificate names the algorithm of its signature twice.
fn check_signature_algorithms(tbs: &mut Der<'_>, outer: &mut Der<'_>) -> Result<(), ParseError> {
    let inner = tbs.element(SEQUENCE).ok_or("x509: malformed signature algorithm identifier")?;
    let outer = outer.element(SEQUENCE).ok_or("x509: malformed algorithm identifier")?;
    if inner.0 != outer.0 {
        return Err("x509: inner and outer signature algorithm identifiers don't match".into());
    }
    Algorithm::parse(inner).map(|_| ())
}

fn public_key<'a>(tbs: &mut Der<'a>) -> Result<PublicKey<'a>, ParseError> {
    let mut info = tbs.element(SEQUENCE).ok_or("x509: malformed spki")?;
    let algorithm = info.element(SEQUENCE).ok_or("x509: malformed public key algorithm identifier")?;
    let algorithm = Algorithm::parse(algorithm)?;
    PublicKey::parse(&algorithm, info.bit_string().ok_or("x509: malformed subjectPublicKey")?)
}

#[cfg(test)]
mod tests;
