//! What a peer's alert says, in Go's words (`tls.alert.String`, Go 1.26).

use rustls::AlertDescription as A;

pub(crate) fn text(alert: A) -> String {
    let known = match alert {
        A::CloseNotify => "close notify",
        A::UnexpectedMessage => "unexpected message",
        A::BadRecordMac => "bad record MAC",
        A::DecryptionFailed => "decryption failed",
        A::RecordOverflow => "record overflow",
        A::DecompressionFailure => "decompression failure",
        A::HandshakeFailure => "handshake failure",
        A::BadCertificate => "bad certificate",
        A::UnsupportedCertificate => "unsupported certificate",
        A::CertificateRevoked => "revoked certificate",
        A::CertificateExpired => "expired certificate",
        A::CertificateUnknown => "unknown certificate",
        A::IllegalParameter => "illegal parameter",
        A::UnknownCA => "unknown certificate authority",
        A::AccessDenied => "access denied",
        A::DecodeError => "error decoding message",
        A::DecryptError => "error decrypting message",
        A::ExportRestriction => "export restriction",
        A::ProtocolVersion => "protocol version not supported",
        A::InsufficientSecurity => "insufficient security level",
        A::InternalError => "internal error",
        A::InappropriateFallback => "inappropriate fallback",
        A::UserCanceled => "user canceled",
        A::NoRenegotiation => "no renegotiation",
        A::MissingExtension => "missing extension",
        A::UnsupportedExtension => "unsupported extension",
        A::CertificateUnobtainable => "certificate unobtainable",
        A::UnrecognisedName => "unrecognized name",
        A::BadCertificateStatusResponse => "bad certificate status response",
        A::BadCertificateHashValue => "bad certificate hash value",
        A::UnknownPSKIdentity => "unknown PSK identity",
        A::CertificateRequired => "certificate required",
        A::NoApplicationProtocol => "no application protocol",
        A::EncryptedClientHelloRequired => "encrypted client hello required",
        other => return format!("alert({})", u8::from(other)),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown() {
        assert_eq!(text(A::from(120)), "no application protocol");
        assert_eq!(text(A::from(200)), "alert(200)");
    }
}
