//! Certificates that probelet makes for its own server, and the dates of any certificate.
//!
//! Keys are ECDSA over P-256, which every client of an API server accepts. Times are seconds since the Unix epoch and
//! come from the caller. A key is the DER of PKCS #8; it never leaves its caller's hands but through its result.

use probelet_golang::x509;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use time::OffsetDateTime;

/// A certificate and its key, both as DER.
pub struct Pair {
    /// The certificate.
    pub certificate: Vec<u8>,
    /// The private key (PKCS #8).
    pub key: Vec<u8>,
}

/// The time in which a certificate holds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Its first second.
    pub not_before: i64,
    /// Its last second.
    pub not_after: i64,
}

/// Makes a certificate authority that signs servers' certificates and nothing below them.
///
/// An error is one line: a time beyond year 9999, or a system without randomness.
pub fn authority(name: &str, validity: Validity) -> Result<Pair, String> {
    let key = KeyPair::generate().map_err(text)?;
    let mut params = authority_params(name)?;
    hold(&mut params, validity)?;
    let certificate = params.self_signed(&key).map_err(text)?;
    Ok(Pair { certificate: certificate.der().to_vec(), key: key.serialize_der() })
}

/// Makes a certificate for a server with these DNS names or IP addresses, signed by the authority `name`.
///
/// An error is one line: a name that no certificate can have, or a key that is none of [`authority`]'s.
pub fn issue(name: &str, authority_key: &[u8], hosts: Vec<String>, validity: Validity) -> Result<Pair, String> {
    let authority_key = KeyPair::try_from(authority_key).map_err(text)?;
    let issuer = Issuer::new(authority_params(name)?, authority_key);
    let key = KeyPair::generate().map_err(text)?;
    let mut params = CertificateParams::new(hosts.clone()).map_err(text)?;
    params.distinguished_name = Default::default();
    if let Some(host) = hosts.into_iter().find(|host| host.len() <= COMMON_NAME_LENGTH_MAX) {
        params.distinguished_name.push(DnType::CommonName, host);
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    hold(&mut params, validity)?;
    let certificate = params.signed_by(&key, &issuer).map_err(text)?;
    Ok(Pair { certificate: certificate.der().to_vec(), key: key.serialize_der() })
}

/// The dates of a certificate (DER). An error is one line, in the words of Go's parser.
pub fn validity(certificate: &[u8]) -> Result<Validity, String> {
    let (not_before, not_after) = x509::validity(certificate).map_err(|error| error.into_owned())?;
    Ok(Validity { not_before, not_after })
}

/// RFC 5280, `ub-common-name`. A server is found by its alternative names; this one is for people.
const COMMON_NAME_LENGTH_MAX: usize = 64;

/// The same for each certificate of an authority, so that its name and key are enough to sign.
fn authority_params(name: &str) -> Result<CertificateParams, String> {
    let mut params = CertificateParams::new(Vec::new()).map_err(text)?;
    params.distinguished_name = Default::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn hold(params: &mut CertificateParams, validity: Validity) -> Result<(), String> {
    params.not_before = moment(validity.not_before)?;
    params.not_after = moment(validity.not_after)?;
    Ok(())
}

fn moment(seconds: i64) -> Result<OffsetDateTime, String> {
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| format!("{seconds}: no second of the years to 9999"))
}

fn text(error: rcgen::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const YEAR: Validity = Validity { not_before: 1_790_000_000, not_after: 1_821_536_000 };

    #[test]
    fn a_certificate_has_the_dates_that_were_asked_for() {
        let authority = authority("test CA", YEAR).unwrap();
        let hosts = vec!["web.default.svc".to_owned(), "127.0.0.1".to_owned()];
        let server = issue("test CA", &authority.key, hosts, YEAR).unwrap();
        assert_eq!(validity(&authority.certificate), Ok(YEAR));
        assert_eq!(validity(&server.certificate), Ok(YEAR));
        assert!(x509::parse(&server.certificate).is_ok(), "Go's parser takes it");
    }

    #[test]
    fn dates_from_2050_on_are_written_with_four_digits_of_the_year() {
        let late = Validity { not_before: 2_524_607_999, not_after: 2_524_608_000 };
        assert_eq!(validity(&authority("CA", late).unwrap().certificate), Ok(late));
    }

    #[test]
    fn mistakes_are_one_line() {
        let never = Validity { not_after: i64::MAX, ..YEAR };
        assert!(authority("CA", never).is_err_and(|text| text.starts_with("9223372036854775807: ")));
        assert!(issue("CA", b"no key", Vec::new(), YEAR).is_err());
        let key = authority("CA", YEAR).unwrap().key;
        assert!(issue("CA", &key, vec!["n\u{e4}me".to_owned()], YEAR).is_err());
        assert_eq!(validity(b""), Err("x509: malformed certificate".to_owned()));
    }
}
