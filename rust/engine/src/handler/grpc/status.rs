//! How a call ended (google.golang.org/grpc/codes and status, v1.79).

use std::fmt;

use h2::Reason;
use http::HeaderMap;

use super::protobuf::{Value, fields};
use crate::handler::base64::from_base64;
use crate::handler::gotext::quote;

/// A call's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) code: Code,
    pub(super) message: String,
}

/// A status code, named or not.
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

    /// The code of an HTTP status that came without gRPC (http_util.go:HTTPStatusConvTab).
    pub(super) const fn of_http(status: u16) -> Self {
        match status {
            400 => Self::INTERNAL,
            401 => Self::UNAUTHENTICATED,
            403 => Self::PERMISSION_DENIED,
            404 => Self::UNIMPLEMENTED,
            429 | 502..=504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        }
    }

    /// The code of a stream that was reset (http_util.go:http2ErrConvTab).
    pub(super) fn of_reset(reason: Reason) -> Self {
        match reason {
            Reason::CANCEL => Self::CANCELED,
            Reason::REFUSED_STREAM => Self::UNAVAILABLE,
            Reason::ENHANCE_YOUR_CALM | Reason::FLOW_CONTROL_ERROR => Self::RESOURCE_EXHAUSTED,
            Reason::INADEQUATE_SECURITY => Self::PERMISSION_DENIED,
            other if u32::from(other) > u32::from(Reason::HTTP_1_1_REQUIRED) => Self::UNKNOWN,
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
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::INTERNAL, message)
    }

    /// Reads the status out of a stream's last headers (http2_client.go:operateHeaders).
    pub(super) fn of_headers(headers: &HeaderMap) -> Result<Self, Self> {
        let text = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let code = match text("grpc-status") {
            None => Code::UNKNOWN,
            Some(text) => Code(text.parse::<i32>().map_err(|_| malformed_status(&text))? as u32),
        };
        let message = headers.get("grpc-message").map_or_else(String::new, |value| unescaped(value.as_bytes()));
        let mut details = None;
        for (name, value) in headers.iter().filter(|(name, _)| name.as_str().ends_with("-bin")) {
            let bytes = from_base64(value.as_bytes());
            let bytes =
                bytes.ok_or_else(|| Self::internal(format!("transport: malformed {name}: illegal base64 data")))?;
            if name == DETAILS {
                details = Some(bytes);
            }
        }
        let status = Self { code, message };
        Ok(
            match details
                .filter(|_| headers.get_all(DETAILS).iter().count() == 1)
                .and_then(|bytes| Self::of_details(&bytes))
            {
                None => status,
                Some(detailed) if detailed.code == status.code => detailed,
                Some(detailed) => Self::internal(format!(
                    "grpc-status-details-bin mismatch: grpc-status={}, grpc-message={}, grpc-status-details-bin=code:{} message:{}",
                    status.code,
                    quote(status.message.as_bytes()),
                    detailed.code.0 as i32,
                    quote(detailed.message.as_bytes()),
                )),
            },
        )
    }

    /// Reads a `google.rpc.Status`.
    fn of_details(bytes: &[u8]) -> Option<Self> {
        let mut status = Self::new(Code::OK, "");
        for field in fields(bytes) {
            match field.ok()? {
                (1, Value::Varint(code)) => status.code = Code(code as u32),
                (2, Value::Bytes(message)) => status.message = std::str::from_utf8(message).ok()?.to_owned(),
                _ => {}
            }
        }
        Some(status)
    }
}

fn malformed_status(text: &str) -> Status {
    let quoted = quote(text.as_bytes());
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = if is_number { "value out of range" } else { "invalid syntax" };
    Status::new(Code::UNKNOWN, format!("transport: malformed grpc-status: strconv.ParseInt: parsing {quoted}: {why}"))
}

/// Undoes percent-encoding where it is one (http_util.go:decodeGrpcMessage).
fn unescaped(text: &[u8]) -> String {
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
    String::from_utf8_lossy(&plain).into_owned()
}

const DETAILS: &str = "grpc-status-details-bin";
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
    use http::HeaderValue;

    use super::*;

    fn read(lines: &[(&'static str, &'static str)]) -> Result<Status, Status> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        Status::of_headers(&headers)
    }

    #[test]
    fn codes_and_messages() {
        assert_eq!(read(&[("grpc-status", "12"), ("grpc-message", "a%20b%")]), Ok(Status::new(Code(12), "a b%")));
        assert_eq!(read(&[]), Ok(Status::new(Code::UNKNOWN, "")));
        assert_eq!(read(&[("grpc-status", "-1")]).unwrap().code.to_string(), "Code(4294967295)");
        assert_eq!(Code(12).to_string(), "Unimplemented");
        let error = read(&[("grpc-status", "abc")]).unwrap_err();
        assert_eq!(
            error.message,
            r#"transport: malformed grpc-status: strconv.ParseInt: parsing "abc": invalid syntax"#
        );
    }

    #[test]
    fn details_agree_or_are_told() {
        // code 5, message "d".
        let details = ("grpc-status-details-bin", "CAUSAWQ");
        assert_eq!(read(&[("grpc-status", "5"), ("grpc-message", "m"), details]), Ok(Status::new(Code(5), "d")));
        let mismatch = read(&[("grpc-status", "0"), details]).unwrap();
        assert_eq!(mismatch.code, Code::INTERNAL);
        assert_eq!(read(&[("grpc-status", "0"), ("x-bin", "!")]).unwrap_err().code, Code::INTERNAL);
    }

    #[test]
    fn percents() {
        assert_eq!(unescaped(b"a%zz%2"), "a%zz%2");
        assert_eq!(unescaped(b"%C3%A9%25"), "é%");
        assert_eq!(unescaped(b"%+1"), "%+1");
    }
}
