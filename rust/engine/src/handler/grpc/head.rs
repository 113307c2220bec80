//! The fields of a response's beginning or end (grpc-go internal/transport/http2_client.go:operateHeaders, v1.79).

use super::http_status::name_of;
use super::status::{Code, Status, unescaped};
use crate::golang::base64::from_base64;
use crate::golang::text::quote;
use crate::http2::Field;

/// What a list of fields is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The response is still to come.
    Interim,
    /// It has begun, and says how its messages are encoded.
    Begun { encoding: Vec<u8> },
    /// It is over.
    Ended(Status),
    /// It is none of gRPC.
    Wrong(Status),
}

/// What the fields say besides metadata that nobody asks for.
#[derive(Debug)]
struct Said<'a> {
    is_grpc: bool,
    why_not: String,
    http_status: &'a [u8],
    encoding: &'a [u8],
    code: Code,
    message: Vec<u8>,
    details: Vec<Vec<u8>>,
    wrong: Option<String>,
}

/// Reads fields; `is_begun` says that others of the response came before them, `ends` that nothing follows.
pub(super) fn read(fields: &[Field], is_begun: bool, ends: bool) -> Head {
    match Said::of(fields, is_begun) {
        Err(status) => Head::Wrong(status),
        Ok(said) if !said.is_grpc => said.without_grpc(ends),
        Ok(Said { wrong: Some(wrong), .. }) => Head::Wrong(Status::internal(wrong)),
        Ok(said) if !ends => Head::Begun { encoding: said.encoding.to_vec() },
        Ok(said) => {
            let status = Status::new(said.code, said.message);
            let [details] = &said.details[..] else { return Head::Ended(status) };
            Head::Ended(status.with_details(details))
        }
    }
}

impl<'a> Said<'a> {
    fn of(fields: &'a [Field], is_begun: bool) -> Result<Self, Status> {
        let mut said = Self {
            is_grpc: is_begun,
            why_not: "malformed header: missing HTTP content-type".to_owned(),
            http_status: b"",
            encoding: b"",
            code: Code::UNKNOWN,
            message: Vec::new(),
            details: Vec::new(),
            wrong: None,
        };
        for (name, value) in fields {
            match &name[..] {
                b"content-type" if is_grpc(value) => said.is_grpc = true,
                b"content-type" => {
                    said.why_not = format!("transport: received unexpected content-type {}", quote(value));
                }
                b"grpc-encoding" => said.encoding = value,
                b"grpc-status" => said.code = Code::read(value)?,
                b"grpc-message" => said.message = unescaped(value),
                b":status" => said.http_status = value,
                _ if name.ends_with(b"-bin") => said.binary(name, value),
                _ => {}
            }
        }
        Ok(said)
    }

    fn binary(&mut self, name: &[u8], value: &[u8]) {
        match from_base64(value) {
            Ok(bytes) if name == DETAILS => self.details.push(bytes),
            Ok(_) => {}
            Err(at) => {
                let name = String::from_utf8_lossy(name);
                self.wrong = Some(format!("transport: malformed {name}: illegal base64 data at input byte {at}"));
            }
        }
    }

    /// A response without gRPC's content type is one of HTTP.
    fn without_grpc(self, ends: bool) -> Head {
        let why_not = self.why_not;
        if self.http_status.is_empty() {
            return Head::Wrong(Status::internal(format!("malformed header: missing HTTP status; {why_not}")));
        }
        let text = String::from_utf8_lossy(self.http_status);
        match text.parse::<i64>() {
            Err(_) => {
                let why = why_no_number("Atoi", &text);
                Head::Wrong(Status::internal(format!("transport: malformed http-status: {why}")))
            }
            Ok(status @ 100..200) if ends => Head::Wrong(Status::internal(format!(
                "protocol error: informational header with status code {status} must not have END_STREAM set"
            ))),
            Ok(100..200) => Head::Interim,
            Ok(status) => {
                let name = name_of(status);
                let text = format!("unexpected HTTP status code received from server: {status} ({name}); {why_not}");
                Head::Wrong(Status::new(Code::of_http(status), text))
            }
        }
    }
}

impl Code {
    /// `grpc-status`, a number of 32 bits with a sign.
    fn read(value: &[u8]) -> Result<Self, Status> {
        let text = String::from_utf8_lossy(value);
        let number = text.parse::<i32>().map_err(|_| {
            let why = why_no_number("ParseInt", &text);
            Status::new(Self::UNKNOWN, format!("transport: malformed grpc-status: {why}"))
        })?;
        Ok(Self::of_number(number as u32))
    }
}

/// `application/grpc`, perhaps with a subtype or parameters (grpcutil.ContentSubtype).
fn is_grpc(content_type: &[u8]) -> bool {
    content_type.strip_prefix(b"application/grpc").is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// `strconv.NumError`.
fn why_no_number(call: &str, text: &str) -> String {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = if is_number { "value out of range" } else { "invalid syntax" };
    format!("strconv.{call}: parsing {}: {why}", quote(text.as_bytes()))
}

const DETAILS: &[u8] = b"grpc-status-details-bin";

#[cfg(test)]
mod tests {
    use super::*;

    fn end(fields: &[(&str, &str)]) -> Head {
        let fields: Vec<Field> = fields.iter().map(|(name, value)| (name.as_bytes().into(), (*value).into())).collect();
        read(&fields, true, true)
    }

    #[test]
    fn content_types() {
        for good in ["application/grpc", "application/grpc+json", "application/grpc;x"] {
            assert!(is_grpc(good.as_bytes()), "{good}");
        }
        for bad in ["", "application/grpcx", "application/grpc-web", "Application/GRPC", "text/html"] {
            assert!(!is_grpc(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn codes_and_messages() {
        let ended = |code, message| Head::Ended(Status::new(code, message));
        assert_eq!(end(&[("grpc-status", "12"), ("grpc-message", "a%20b%")]), ended(Code::UNIMPLEMENTED, "a b%"));
        assert_eq!(end(&[]), ended(Code::UNKNOWN, ""));
        assert_eq!(end(&[("grpc-status", "-1")]), ended(Code::of_number(u32::MAX), ""));
        let why = r#"transport: malformed grpc-status: strconv.ParseInt: parsing "abc": invalid syntax"#;
        assert_eq!(end(&[("grpc-status", "abc")]), Head::Wrong(Status::new(Code::UNKNOWN, why)));
    }

    #[test]
    fn details_agree_or_are_told_and_of_two_nobody_counts() {
        // code 5, message "d".
        let details = ("grpc-status-details-bin", "CAUSAWQ");
        let message = |fields: &[_]| match end(fields) {
            Head::Ended(Status { message, .. }) | Head::Wrong(Status { message, .. }) => {
                String::from_utf8(message).unwrap()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(message(&[("grpc-status", "5"), ("grpc-message", "m"), details]), "d");
        assert_eq!(message(&[("grpc-status", "5"), ("grpc-message", "m"), details, details]), "m");
        assert!(message(&[("grpc-status", "0"), details]).starts_with("grpc-status-details-bin mismatch"));
        let why = "transport: malformed x-bin: illegal base64 data at input byte 1";
        assert_eq!(message(&[("grpc-status", "0"), ("x-bin", "a!aa")]), why);
    }
}
