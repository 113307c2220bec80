//! The HTTP status of a response as grpc-go v1.72 reads it (internal/transport/http2_client.go:operateHeaders): any but 200
//! ends the call, also before a gRPC response and in trailers.

use super::head::{Values, why_no_number};
use super::http_status::name_of;
use super::status::{Code, Status};

/// What the HTTP status says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HttpStatus {
    /// A later grpc-go reads it elsewhere.
    Ignored,
    Missing,
    /// 200.
    Good,
    /// Another number.
    Other(i32),
    Malformed(Status),
}

impl HttpStatus {
    pub(super) fn of(values: &Values) -> Self {
        let Some(status) = &values.http_status else { return Self::Missing };
        let text = String::from_utf8_lossy(status.bytes());
        match text.parse() {
            // Go compares the text: +200 is another number.
            Ok(_) if text == "200" => Self::Good,
            Ok(number) => Self::Other(number),
            Err(_) => {
                let why = why_no_number("ParseInt", &text);
                Self::Malformed(Status::internal(format!("transport: malformed http-status: {why}")))
            }
        }
    }

    /// The error of the response, unless it is gRPC's with a good status.
    pub(super) fn error(self, values: &Values, is_begun: bool) -> Option<Status> {
        let (code, wrong) = match self {
            Self::Ignored => return None,
            Self::Malformed(status) => return Some(status),
            Self::Missing if is_begun => (Code::INTERNAL, None),
            Self::Missing => (Code::INTERNAL, Some("malformed header: missing HTTP status".to_owned())),
            Self::Good => (Code::UNKNOWN, None),
            Self::Other(number) => {
                let (number, name) = (number.into(), name_of(number.into()));
                let text = format!("unexpected HTTP status code received from server: {number} ({name})");
                (Code::of_http(number), Some(text))
            }
        };
        if wrong.is_none() && (values.is_grpc || is_begun) {
            return None;
        }
        let is_named = values.is_grpc && values.other_type.is_none();
        let why_not = (!is_named).then(|| values.why_not_grpc());
        Some(Status::new(code, [wrong, why_not].into_iter().flatten().collect::<Vec<_>>().join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use probelet_golang::http2::{Field, Fields};

    use super::*;

    fn error(fields: &[(&str, &str)], is_begun: bool) -> Option<(Code, String)> {
        let mut values = Values::default();
        fields.iter().for_each(|(name, value)| values.add(&Field::new(name.as_bytes(), value.as_bytes())));
        let status = HttpStatus::of(&values).error(&values, is_begun)?;
        Some((status.code, String::from_utf8(status.message).unwrap()))
    }

    const GRPC: (&str, &str) = ("content-type", "application/grpc");

    #[test]
    fn a_grpc_response_needs_200() {
        assert_eq!(error(&[(":status", "200"), GRPC], false), None);
        let text = "unexpected HTTP status code received from server: 503 (Service Unavailable)";
        assert_eq!(error(&[(":status", "503"), GRPC], false), Some((Code::UNAVAILABLE, text.to_owned())));
        let text = "malformed header: missing HTTP status";
        assert_eq!(error(&[GRPC], false), Some((Code::INTERNAL, text.to_owned())));
        let text = "unexpected HTTP status code received from server: 200 (OK)";
        assert_eq!(error(&[(":status", "+200"), GRPC], false), Some((Code::UNKNOWN, text.to_owned())));
    }

    #[test]
    fn trailers_need_none() {
        assert_eq!(error(&[], true), None);
        assert_eq!(error(&[("content-type", "text/html")], true), None);
        let text = "unexpected HTTP status code received from server: 100 (Continue); \
                    malformed header: missing HTTP content-type";
        assert_eq!(error(&[(":status", "100")], true), Some((Code::UNKNOWN, text.to_owned())));
    }

    #[test]
    fn the_last_content_type_counts() {
        let (html, status) = (("content-type", "text/html"), (":status", "200"));
        assert_eq!(error(&[status, html, GRPC], false), None);
        assert_eq!(error(&[status, GRPC, html], false), None);
        let text = r#"transport: received unexpected content-type "text/html""#;
        assert_eq!(error(&[status, html], false), Some((Code::UNKNOWN, text.to_owned())));
        let both = format!("malformed header: missing HTTP status; {text}");
        assert_eq!(error(&[GRPC, html], false), Some((Code::INTERNAL, both)));
    }
}
