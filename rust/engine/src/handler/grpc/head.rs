//! The fields at a response's beginning or end (grpc-go internal/transport/http2_client.go:operateHeaders, v1.79).

use super::http_status::name_of;
use super::status::{Code, Status, unescaped};
use crate::golang::base64::from_base64;
use crate::golang::text::quote;
use crate::http2::Field;

/// What a list of fields means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The response is still to come.
    Interim,
    /// The response has begun; `encoding` is that of its messages.
    Begun { encoding: Vec<u8> },
    /// The response is over.
    CallEnd(Status),
    /// The response is not a gRPC response.
    Wrong(Status),
}

/// The fields' values, without metadata that no probe reads.
#[derive(Debug)]
struct Values<'a> {
    is_grpc: bool,
    why_not: String,
    http_status: &'a [u8],
    encoding: &'a [u8],
    code: Code,
    message: Vec<u8>,
    details: Vec<Vec<u8>>,
    wrong: Option<String>,
}

/// Reads fields. `is_begun` says that other fields of the response came before; `ends` says that nothing follows.
pub(super) fn read(fields: &[Field], is_begun: bool, ends: bool) -> Head {
    match Values::of(fields, is_begun) {
        Err(status) => Head::Wrong(status),
        Ok(values) if !values.is_grpc => values.without_grpc(ends),
        Ok(Values { wrong: Some(wrong), .. }) => Head::Wrong(Status::internal(wrong)),
        Ok(values) if !ends => Head::Begun { encoding: values.encoding.to_vec() },
        Ok(values) => {
            let status = Status::new(values.code, values.message);
            let [details] = &values.details[..] else { return Head::CallEnd(status) };
            Head::CallEnd(status.with_details(details))
        }
    }
}

impl<'a> Values<'a> {
    fn of(fields: &'a [Field], is_begun: bool) -> Result<Self, Status> {
        let mut values = Self {
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
                b"content-type" if is_grpc(value) => values.is_grpc = true,
                b"content-type" => {
                    values.why_not = format!("transport: received unexpected content-type {}", quote(value));
                }
                b"grpc-encoding" => values.encoding = value,
                b"grpc-status" => values.code = Code::read(value)?,
                b"grpc-message" => values.message = unescaped(value),
                b":status" => values.http_status = value,
                _ if name.ends_with(b"-bin") => values.binary(name, value),
                _ => {}
            }
        }
        Ok(values)
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

    /// Handles a response without gRPC's content type as a plain HTTP response.
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
    /// Reads `grpc-status`, a signed number of 32 bits.
    fn read(value: &[u8]) -> Result<Self, Status> {
        let text = String::from_utf8_lossy(value);
        let number = text.parse::<i32>().map_err(|_| {
            let why = why_no_number("ParseInt", &text);
            Status::new(Self::UNKNOWN, format!("transport: malformed grpc-status: {why}"))
        })?;
        Ok(Self::of_number(number as u32))
    }
}

/// Whether the content type is `application/grpc`, perhaps with a subtype or parameters (grpcutil.ContentSubtype).
fn is_grpc(content_type: &[u8]) -> bool {
    content_type.strip_prefix(b"application/grpc").is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// The text of `strconv.NumError`.
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
        let ended = |code, message| Head::CallEnd(Status::new(code, message));
        assert_eq!(end(&[("grpc-status", "12"), ("grpc-message", "a%20b%")]), ended(Code::UNIMPLEMENTED, "a b%"));
        assert_eq!(end(&[]), ended(Code::UNKNOWN, ""));
        assert_eq!(end(&[("grpc-status", "-1")]), ended(Code::of_number(u32::MAX), ""));
        let why = r#"transport: malformed grpc-status: strconv.ParseInt: parsing "abc": invalid syntax"#;
        assert_eq!(end(&[("grpc-status", "abc")]), Head::Wrong(Status::new(Code::UNKNOWN, why)));
    }

    #[test]
    fn details_must_agree_with_the_status_and_two_of_them_count_as_none() {
        // code 5, message "d".
        let details = ("grpc-status-details-bin", "CAUSAWQ");
        let message = |fields: &[_]| match end(fields) {
            Head::CallEnd(Status { message, .. }) | Head::Wrong(Status { message, .. }) => {
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
