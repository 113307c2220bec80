//! A call's status (google.golang.org/grpc/codes and status, v1.79).

use std::fmt;

use probelet_golang::http2;
use probelet_golang::text::quote;

use super::protobuf::{Value, fields};

/// A call's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) code: Code,
    /// The server's message, which need not be text.
    pub(super) message: Vec<u8>,
    /// Whether it is an error of Go that is no status, which a text shows without a code.
    pub(super) is_plain: bool,
}

/// A status code, which need not have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code(u32);

impl Code {
    pub(super) const OK: Self = Self(0);
    pub(super) const CANCELED: Self = Self(1);
    pub(super) const UNKNOWN: Self = Self(2);
    pub(super) const DEADLINE_EXCEEDED: Self = Self(4);
    pub(super) const PERMISSION_DENIED: Self = Self(7);
    pub(super) const RESOURCE_EXHAUSTED: Self = Self(8);
    pub(super) const UNIMPLEMENTED: Self = Self(12);
    pub(super) const INTERNAL: Self = Self(13);
    pub(super) const UNAVAILABLE: Self = Self(14);
    pub(super) const UNAUTHENTICATED: Self = Self(16);

    pub(super) const fn of_number(number: u32) -> Self {
        Self(number)
    }

    /// The code for an HTTP status that came without gRPC (http_util.go:HTTPStatusConvTab).
    pub(super) const fn of_http(status: i64) -> Self {
        match status {
            400 => Self::INTERNAL,
            401 => Self::UNAUTHENTICATED,
            403 => Self::PERMISSION_DENIED,
            404 => Self::UNIMPLEMENTED,
            429 | 502..=504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        }
    }

    /// The code for a stream that was reset (http_util.go:http2ErrConvTab).
    pub(super) const fn of_reset(code: http2::Code) -> Self {
        match code {
            http2::Code::CANCEL => Self::CANCELED,
            http2::Code::REFUSED_STREAM => Self::UNAVAILABLE,
            http2::Code::ENHANCE_YOUR_CALM | http2::Code::FLOW_CONTROL => Self::RESOURCE_EXHAUSTED,
            http2::Code::INADEQUATE_SECURITY => Self::PERMISSION_DENIED,
            http2::Code(number) if number > http2::Code::HTTP_1_1_REQUIRED.0 => Self::UNKNOWN,
            _ => Self::INTERNAL,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CODES.get(self.0 as usize) {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "Code({})", self.0),
        }
    }
}

impl Status {
    pub(super) fn new(code: Code, message: impl Into<Vec<u8>>) -> Self {
        Self { code, message: message.into(), is_plain: false }
    }

    /// `io.EOF`, which grpc-go before v1.79 returned for a response without a message.
    pub(super) fn eof() -> Self {
        Self { is_plain: true, ..Self::new(Code::UNKNOWN, "EOF") }
    }

    pub(super) fn internal(message: impl Into<Vec<u8>>) -> Self {
        Self::new(Code::INTERNAL, message)
    }

    /// Takes the status in `details` instead, if these bytes are a `google.rpc.Status` (internal/status.NewWithProto).
    pub(super) fn with_details(self, details: &[u8]) -> Self {
        match Self::of_details(details) {
            None => self,
            Some(detailed) if detailed.code == self.code => detailed,
            Some(detailed) => Self::internal(format!(
                "grpc-status-details-bin mismatch: grpc-status={}, grpc-message={}, grpc-status-details-bin={}",
                self.code,
                quote(&self.message),
                detailed.as_details(),
            )),
        }
    }

    /// The status as protobuf prints it, without fields that are not set.
    fn as_details(&self) -> String {
        let code = Some(self.code).filter(|&code| code != Code::OK).map(|code| format!("code:{}", code.0 as i32));
        let message =
            Some(&self.message).filter(|text| !text.is_empty()).map(|text| format!("message:{}", quote(text)));
        [code, message].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn of_details(bytes: &[u8]) -> Option<Self> {
        let mut status = Self::new(Code::OK, "");
        for field in fields(bytes) {
            match field.ok()? {
                (1, Value::Varint(code)) => status.code = Code(code as u32),
                (2, Value::Bytes(message)) => status.message = std::str::from_utf8(message).ok()?.into(),
                (3, Value::Bytes(any)) => is_any(any)?,
                _ => {}
            }
        }
        Some(status)
    }
}

/// Checks that the bytes are a `google.protobuf.Any` whose name is text.
fn is_any(bytes: &[u8]) -> Option<()> {
    for field in fields(bytes) {
        if let (1, Value::Bytes(name)) = field.ok()? {
            std::str::from_utf8(name).ok()?;
        }
    }
    Some(())
}

/// Undoes percent-encoding and leaves other percent signs as they are (http_util.go:decodeGrpcMessage).
pub(super) fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%')
            .then(|| after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()))
            .flatten()
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        plain.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    plain
}

const CODES: [&str; 17] = [
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!(Code(12).to_string(), "Unimplemented");
        assert_eq!(Code(17).to_string(), "Code(17)");
        assert_eq!(Code::of_reset(http2::Code(13)), Code::INTERNAL);
        assert_eq!(Code::of_reset(http2::Code(14)), Code::UNKNOWN);
    }

    #[test]
    fn details_that_cannot_be_read_change_nothing() {
        let status = Status::new(Code(5), "m");
        for (details, message) in
            [(&b"\x08\x05\x12\x01d"[..], "d"), (b"\x08", "m"), (b"\x08\x05\x1a\x03\x0a\x01\xff", "m")]
        {
            assert_eq!(status.clone().with_details(details), Status::new(Code(5), message), "{details:?}");
        }
    }

    #[test]
    fn percents() {
        assert_eq!(unescaped(b"a%zz%2"), b"a%zz%2");
        assert_eq!(unescaped(b"%C3%A9%25"), "é%".as_bytes());
        assert_eq!(unescaped(b"%+1"), b"%+1");
        assert_eq!(unescaped(b"%fF"), b"\xff");
    }
}
