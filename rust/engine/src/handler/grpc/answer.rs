//! The response to a call: headers, one message, trailers (grpc-go internal/transport and stream.go, v1.79).

use h2::RecvStream;
use http::{HeaderMap, Response, StatusCode};

use super::health::Health;
use super::status::{Code, Status};
use crate::handler::gotext::quote;

/// Reads a response to its end. The outer error is the connection's.
pub(super) async fn read(response: Response<RecvStream>) -> Result<Result<Health, Status>, h2::Error> {
    let (parts, mut stream) = response.into_parts();
    if let Err(status) = speaks_grpc(parts.status, &parts.headers) {
        return Ok(Err(status));
    }
    let status = match Status::of_headers(&parts.headers) {
        Ok(status) if stream.is_end_stream() => status,
        Ok(_) => match message(&mut stream, &parts.headers).await? {
            Ok(answer) => return Ok(with_trailers(answer, stream.trailers().await?)),
            Err(status) => status,
        },
        Err(status) => status,
    };
    Ok(Err(if status.code == Code::OK { Status::internal(NO_MESSAGE) } else { status }))
}

/// A response without gRPC's content type is one of HTTP.
fn speaks_grpc(status: StatusCode, headers: &HeaderMap) -> Result<(), Status> {
    let types = headers.get_all("content-type");
    if types.iter().any(|value| is_grpc(value.as_bytes())) {
        return Ok(());
    }
    let why = types.iter().next_back().map_or_else(
        || "malformed header: missing HTTP content-type".to_owned(),
        |value| format!("transport: received unexpected content-type {}", quote(value.as_bytes())),
    );
    let name = status.canonical_reason().unwrap_or_default();
    let number = status.as_u16();
    let text = format!("unexpected HTTP status code received from server: {number} ({name}); {why}");
    Err(Status::new(Code::of_http(number), text))
}

/// `application/grpc`, perhaps with a subtype or parameters (grpcutil.ContentSubtype).
fn is_grpc(content_type: &[u8]) -> bool {
    content_type.strip_prefix(b"application/grpc").is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// What the message says; none if the stream ended before one came.
type Answer = Option<Health>;

/// Reads the only message there may be. Nothing that comes is kept beyond gRPC's limit.
async fn message(stream: &mut RecvStream, headers: &HeaderMap) -> Result<Result<Answer, Status>, h2::Error> {
    let mut bytes = Vec::new();
    let mut answer = None;
    while let Some(data) = stream.data().await {
        let data = data?;
        stream.flow_control().release_capacity(data.len())?;
        if answer.is_some() && !data.is_empty() {
            return Ok(Err(Status::internal(TWO_MESSAGES)));
        }
        bytes.extend_from_slice(&data);
        match whole(&bytes, headers) {
            Ok(found) => answer = answer.or(found),
            Err(status) => return Ok(Err(status)),
        }
    }
    Ok(Ok(answer))
}

/// The message, once it is whole.
fn whole(bytes: &[u8], headers: &HeaderMap) -> Result<Answer, Status> {
    let Some(([flag, length @ ..], rest)) = bytes.split_first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    if length > MESSAGE_BYTES_MAX {
        let text = format!("grpc: received message larger than max ({length} vs. {MESSAGE_BYTES_MAX})");
        return Err(Status::new(Code::RESOURCE_EXHAUSTED, text));
    }
    if rest.len() < length {
        return Ok(None);
    }
    let encoding = headers.get("grpc-encoding").map_or(&b""[..], |value| value.as_bytes());
    match flag {
        0 => {}
        1 if matches!(encoding, b"" | b"identity") => {
            return Err(Status::internal("grpc: compressed flag set with identity or empty encoding"));
        }
        1 => {
            let text = format!("grpc: Decompressor is not installed for grpc-encoding {}", quote(encoding));
            return Err(Status::internal(text));
        }
        flag => return Err(Status::internal(format!("grpc: received unexpected payload format {flag}"))),
    }
    if rest.len() > length {
        return Err(Status::internal(TWO_MESSAGES));
    }
    let told = |error| Status::internal(format!("grpc: failed to unmarshal the received message: {error}"));
    Health::read(rest).map(Some).map_err(told)
}

/// A message counts only if the trailers agree; without one they must say why.
fn with_trailers(answer: Answer, trailers: Option<HeaderMap>) -> Result<Health, Status> {
    let trailers = trailers.ok_or_else(|| Status::internal("server closed the stream without sending trailers"))?;
    let status = Status::of_headers(&trailers)?;
    if status.code != Code::OK {
        return Err(status);
    }
    answer.ok_or_else(|| Status::internal(NO_MESSAGE))
}

/// A flag and a length.
const PREFIX_BYTES: usize = 5;
/// grpc-go's default (dialoptions.go:defaultClientMaxReceiveMessageSize).
const MESSAGE_BYTES_MAX: usize = 4 << 20;
const NO_MESSAGE: &str = "cardinality violation: received no response message from non-server-streaming RPC";
const TWO_MESSAGES: &str =
    "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";

#[cfg(test)]
mod tests {
    use super::*;

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
    fn messages() {
        let headers = HeaderMap::new();
        assert_eq!(whole(&[0, 0, 0, 0], &headers), Ok(None));
        assert_eq!(whole(&[0, 0, 0, 0, 2, 8], &headers), Ok(None));
        assert_eq!(whole(&[0, 0, 0, 0, 2, 8, 1], &headers), Ok(Some(Health::SERVING)));
        for bad in [&[0, 0, 0, 0, 1, 8][..], &[0, 0, 0, 0, 0, 0], &[1, 0, 0, 0, 0], &[2, 0, 0, 0, 0], &[0, 1, 0, 0, 0]]
        {
            assert!(whole(bad, &headers).is_err(), "{bad:?}");
        }
    }
}
