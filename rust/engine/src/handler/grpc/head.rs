//! The fields at a response's beginning or end (grpc-go internal/transport/http2_client.go:operateHeaders, v1.79 and
//! v1.82).

use std::sync::Arc;

use probelet_core::semantics::GrpcGo;
use probelet_golang::base64::from_base64;
use probelet_golang::http2::{Field, Fields, Judgement, Text};
use probelet_golang::text::{number_error, quote};

use super::http_200::HttpStatus;
use super::http_status::name_of;
use super::status::{Code, Status, unescaped};

/// What a list of fields means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// The response is still to come.
    Interim,
    /// The response has begun; `encoding` is that of its messages.
    Begun { encoding: Vec<u8> },
    /// The response is over.
    CallEnd(Status),
    /// The response has a mistake.
    Wrong(Status),
    /// The response is not a gRPC response.
    Other(Status),
}

/// What the fields say, without metadata that no probe reads.
#[derive(Debug, Default)]
pub(super) struct Values {
    is_grpc: bool,
    /// The content type, if the last one is not gRPC's.
    other_type: Option<Arc<Text>>,
    http_status: Option<Arc<Text>>,
    encoding: Option<Arc<Text>>,
    code: Option<Code>,
    /// The first status code that is none. Go reads no further.
    wrong_code: Option<Arc<Text>>,
    message: Option<Arc<Text>>,
    /// The first details that can be read, and how many of them there are.
    details: Option<Arc<Text>>,
    details_count: usize,
    /// The last field whose bytes cannot be decoded, and where.
    wrong: Option<(Arc<Text>, usize)>,
}

impl Fields for Values {
    fn add(&mut self, Field { name, value }: &Field) {
        if self.wrong_code.is_some() {
            return;
        }
        match name.bytes() {
            b"content-type" if is_grpc(value.bytes()) => (self.is_grpc, self.other_type) = (true, None),
            b"content-type" => self.other_type = Some(Arc::clone(value)),
            b"grpc-encoding" => self.encoding = Some(Arc::clone(value)),
            b"grpc-status" => match value.judged(number_of) {
                Ok(number) => self.code = Some(Code::of_number(number)),
                Err(_) => self.wrong_code = Some(Arc::clone(value)),
            },
            b"grpc-message" => self.message = Some(Arc::clone(value)),
            b":status" => self.http_status = Some(Arc::clone(value)),
            name_bytes if name_bytes.ends_with(b"-bin") => match value.judged(is_base64) {
                Ok(_) if name_bytes == DETAILS => {
                    self.details_count += 1;
                    self.details.get_or_insert_with(|| Arc::clone(value));
                }
                Ok(_) => {}
                Err(at) => self.wrong = Some((Arc::clone(name), at)),
            },
            _ => {}
        }
    }
}

/// What the fields mean. `is_begun` says that other fields of the response came before; `ends` says that nothing
/// follows.
pub(super) fn read(values: Values, is_begun: bool, ends: bool, grpc_go: GrpcGo) -> Head {
    let http_status = if grpc_go.needs_http_200() {
        HttpStatus::of(values.http_status.as_ref().map(|status| status.bytes()))
    } else {
        HttpStatus::Ignored
    };
    if let HttpStatus::Malformed(status) = http_status {
        return Head::Wrong(status);
    }
    if let Some(code) = &values.wrong_code {
        let why = number_error("ParseInt", &String::from_utf8_lossy(code.bytes()));
        let code = if grpc_go.needs_http_200() { Code::INTERNAL } else { Code::UNKNOWN };
        return Head::Wrong(Status::new(code, format!("transport: malformed grpc-status: {why}")));
    }
    if let Some(status) = http_status.error(values.is_grpc || is_begun, is_begun, values.type_error()) {
        return Head::Wrong(status);
    }
    if !values.is_grpc && !is_begun {
        return values.without_grpc(ends);
    }
    if let Some((name, at)) = values.wrong {
        let name = String::from_utf8_lossy(name.bytes());
        let text = format!("transport: malformed {name}: illegal base64 data at input byte {at}");
        return Head::Wrong(Status::internal(text));
    }
    let bytes_of = |text: &Option<Arc<Text>>| text.as_ref().map_or_else(Vec::new, |text| text.bytes().to_vec());
    if !ends {
        return Head::Begun { encoding: bytes_of(&values.encoding) };
    }
    let status = Status::new(values.code.unwrap_or(Code::UNKNOWN), unescaped(&bytes_of(&values.message)));
    Head::CallEnd(match (values.details, values.details_count) {
        (Some(details), 1) => status.with_details(&from_base64(details.bytes()).unwrap_or_default()),
        _ => status,
    })
}

impl Values {
    /// What is wrong with the content type.
    fn type_error(&self) -> Option<String> {
        match &self.other_type {
            Some(other) => Some(format!("transport: received unexpected content-type {}", quote(other.bytes()))),
            None if self.is_grpc => None,
            None => Some("malformed header: missing HTTP content-type".to_owned()),
        }
    }

    /// Handles a response without gRPC's content type as a plain HTTP response.
    fn without_grpc(self, ends: bool) -> Head {
        let why_not = self.type_error().unwrap_or_default();
        let http_status = self.http_status.as_ref().map_or(&b""[..], |status| status.bytes());
        if http_status.is_empty() {
            return Head::Other(Status::internal(format!("malformed header: missing HTTP status; {why_not}")));
        }
        let text = String::from_utf8_lossy(http_status);
        match text.parse::<i64>() {
            Err(_) => {
                let why = number_error("Atoi", &text);
                Head::Wrong(Status::internal(format!("transport: malformed http-status: {why}")))
            }
            Ok(status @ 100..200) if ends => Head::Wrong(Status::internal(format!(
                "protocol error: informational header with status code {status} must not have END_STREAM set"
            ))),
            Ok(100..200) => Head::Interim,
            Ok(status) => {
                let name = name_of(status);
                let text = format!("unexpected HTTP status code received from server: {status} ({name}); {why_not}");
                Head::Other(Status::new(Code::of_http(status), text))
            }
        }
    }
}

/// Reads `grpc-status`, a signed number of 32 bits.
fn number_of(value: &[u8]) -> Judgement {
    let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i32>().ok());
    number.map(|number| number as u32).ok_or(0)
}

fn is_base64(value: &[u8]) -> Judgement {
    from_base64(value).map(|_| 0)
}

/// Whether the content type is `application/grpc`, perhaps with a subtype or parameters (grpcutil.ContentSubtype).
fn is_grpc(content_type: &[u8]) -> bool {
    content_type.strip_prefix(b"application/grpc").is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

const DETAILS: &[u8] = b"grpc-status-details-bin";

#[cfg(test)]
mod tests {
    use super::*;

    fn end(fields: &[(&str, &str)]) -> Head {
        let mut values = Values::default();
        fields.iter().for_each(|(name, value)| values.add(&Field::new(name.as_bytes(), value.as_bytes())));
        read(values, true, true, GrpcGo::V1_79_3)
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
    fn grpc_go_v1_72_reads_the_http_status_of_every_response() {
        let (html, grpc, status) =
            (("content-type", "text/html"), ("content-type", "application/grpc"), (":status", "503"));
        let read = |fields: &[(&str, &str)], grpc_go| {
            let mut values = Values::default();
            fields.iter().for_each(|(name, value)| values.add(&Field::new(name.as_bytes(), value.as_bytes())));
            read(values, false, true, grpc_go)
        };
        let wrong = |code, text: &str| Head::Wrong(Status::new(code, text));
        let text = "unexpected HTTP status code received from server: 503 (Service Unavailable)";
        assert_eq!(read(&[status, html, grpc], GrpcGo::V1_72_2), wrong(Code::UNAVAILABLE, text));
        assert_eq!(read(&[status, html, grpc], GrpcGo::V1_79_3), Head::CallEnd(Status::new(Code::UNKNOWN, "")));
        let code = [status, grpc, ("grpc-status", "x")];
        let text = r#"transport: malformed grpc-status: strconv.ParseInt: parsing "x": invalid syntax"#;
        assert_eq!(read(&code, GrpcGo::V1_72_2), wrong(Code::INTERNAL, text));
        assert_eq!(read(&code, GrpcGo::V1_79_3), wrong(Code::UNKNOWN, text));
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
            Head::CallEnd(Status { message, .. })
            | Head::Wrong(Status { message, .. })
            | Head::Other(Status { message, .. }) => String::from_utf8(message).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(message(&[("grpc-status", "5"), ("grpc-message", "m"), details]), "d");
        assert_eq!(message(&[("grpc-status", "5"), ("grpc-message", "m"), details, details]), "m");
        assert!(message(&[("grpc-status", "0"), details]).starts_with("grpc-status-details-bin mismatch"));
        let why = "transport: malformed x-bin: illegal base64 data at input byte 1";
        assert_eq!(message(&[("grpc-status", "0"), ("x-bin", "a!aa")]), why);
    }
}
