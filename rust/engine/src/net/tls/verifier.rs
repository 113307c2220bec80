//! Checks what Go's client checks of a server although it verifies no certificate (`InsecureSkipVerify`): that it can
//! parse every certificate, and that the server has the key of the first.

use std::error::Error as StdError;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use probelet_golang::x509::{self, Kind, PublicKey, bits};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use super::signature::{self, Version};

/// Trusts every certificate that Go can parse.
#[derive(Debug)]
pub(crate) struct GoVerifier;

/// Go's text for what it refuses.
#[derive(Debug)]
pub(crate) struct Refusal(String);

impl Display for Refusal {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl StdError for Refusal {}

fn refused(text: String) -> Error {
    Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(Refusal(text)))))
}

fn parsed<'a>(certificate: &'a CertificateDer<'_>) -> Result<PublicKey<'a>, Error> {
    x509::parse(certificate).map_err(|why| refused(format!("failed to parse certificate from server: {why}")))
}

fn verified(
    version: Version,
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
) -> Result<HandshakeSignatureValid, Error> {
    let key = parsed(certificate)?;
    signature::verify(version, &key, signed.scheme, message, signed.signature()).map_err(refused)?;
    Ok(HandshakeSignatureValid::assertion())
}

impl ServerCertVerifier for GoVerifier {
    /// `tls.Conn.verifyServerCertificate`.
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        for certificate in std::iter::once(end_entity).chain(intermediates) {
            if bits(parsed(certificate)?.modulus()) > RSA_BITS_MAX {
                let what = "server sent certificate containing RSA key larger than";
                return Err(refused(format!("{what} {RSA_BITS_MAX} bits")));
            }
        }
        let unsupported = match parsed(end_entity)?.kind {
            Kind::Rsa { .. } | Kind::Ecdsa(_) | Kind::Ed25519 => return Ok(ServerCertVerified::assertion()),
            Kind::Dsa => "*dsa.PublicKey",
            Kind::Unknown => "<nil>",
        };
        let what = "server's certificate contains an unsupported type of public key:";
        Err(refused(format!("{what} {unsupported}")))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verified(Version::Tls12, message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verified(Version::Tls13, message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        signature::OFFERED.to_vec()
    }
}

/// `tls.defaultMaxRSAKeySize`.
const RSA_BITS_MAX: usize = 8192;
