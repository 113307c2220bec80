//! The HTTP status of a response as grpc-go v1.72 reads it (internal/transport/http2_client.go:operateHeaders): any but 200
//! ends the call, also before a gRPC response and in trailers.

use probelet_golang::text::number_error;

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
    pub(super) fn of(text: Option<&[u8]>) -> Self {
        let Some(text) = text else { return Self::Missing };
        let text = String::from_utf8_lossy(text);
        match text.parse() {
            // Go compares the text: +200 is another number.
            Ok(_) if text == "200" => Self::Good,
            Ok(number) => Self::Other(number),
            Err(_) => {
                let why = number_error("ParseInt", &text);
                Self::Malformed(Status::internal(format!("transport: malformed http-status: {why}")))
            }
        }
    }

    /// The error of the response, unless it is gRPC's with a good status. `type_error` says what is wrong with its content
    /// type; `is_begun` that other fields of the response came before.
    pub(super) fn error(self, is_grpc: bool, is_begun: bool, type_error: Option<String>) -> Option<Status> {
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
        if wrong.is_none() && is_grpc {
            return None;
        }
        Some(Status::new(code, [wrong, type_error].into_iter().flatten().collect::<Vec<_>>().join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "wrong type";

    fn error(status: Option<&str>, is_grpc: bool, is_begun: bool) -> Option<(Code, String)> {
        let wrong_type = (!is_grpc || is_begun).then(|| TYPE.to_owned());
        let status = HttpStatus::of(status.map(str::as_bytes)).error(is_grpc, is_begun, wrong_type)?;
        Some((status.code, String::from_utf8(status.message).unwrap()))
    }

    #[test]
    fn a_grpc_response_needs_200() {
        let wrong = |code, text: &str| Some((code, text.to_owned()));
        let unexpected = |status: &str| format!("unexpected HTTP status code received from server: {status}");
        assert_eq!(error(Some("200"), true, false), None);
        let text = unexpected("503 (Service Unavailable)");
        assert_eq!(error(Some("503"), true, false), wrong(Code::UNAVAILABLE, &text));
        assert_eq!(error(Some("+200"), true, false), wrong(Code::UNKNOWN, &unexpected("200 (OK)")));
        assert_eq!(error(None, true, false), wrong(Code::INTERNAL, "malformed header: missing HTTP status"));
        let text = r#"transport: malformed http-status: strconv.ParseInt: parsing "": invalid syntax"#;
        assert_eq!(error(Some(""), true, false), wrong(Code::INTERNAL, text));
    }

    #[test]
    fn trailers_need_none_and_may_have_no_other() {
        assert_eq!(error(None, true, true), None);
        let text = "unexpected HTTP status code received from server: 100 (Continue); wrong type";
        assert_eq!(error(Some("100"), true, true), Some((Code::UNKNOWN, text.to_owned())));
    }

    #[test]
    fn another_response_has_both_mistakes() {
        assert_eq!(error(Some("200"), false, false), Some((Code::UNKNOWN, TYPE.to_owned())));
        let text = "malformed header: missing HTTP status; wrong type";
        assert_eq!(error(None, false, false), Some((Code::INTERNAL, text.to_owned())));
    }
}
