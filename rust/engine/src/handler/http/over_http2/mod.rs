//! One request over HTTP/2, as the kubelet's transports do it: with TLS golang.org/x/net/http2, without TLS net/http's own copy
//! of it (Go 1.26). Each connection has one stream.

mod error;
mod request;
mod rules;
mod stream;

pub(super) use self::error::ExchangeError;
use self::request::message;
pub(super) use self::rules::Rules;
use self::stream::{Head, Stream};
use super::request::Request;
use crate::attempt::error::AttemptError;
use crate::net::stream::{SharedReadError, Transport};
use probelet_golang::http1::UNEXPECTED_EOF;
use probelet_golang::http1::{BODY_BYTES_MAX, DRAINED_BYTES_MAX};
use probelet_play::cause::Cause;

/// A response whose head was read, and the connection that brings its body.
#[derive(Debug)]
pub(super) struct Response {
    stream: Stream,
    head: Head,
}

/// Sends the request and waits for the head of the response.
pub(super) async fn exchange(
    link: Box<dyn Transport>,
    read_error: SharedReadError,
    request: &Request<'_>,
    rules: Rules,
) -> Result<Box<Response>, ExchangeError> {
    let message = message(request).map_err(|text| ExchangeError::Failed(AttemptError::new(Cause::Http2, text)))?;
    let mut stream = Stream::open(link, read_error, &message, rules).await;
    let head = stream.head().await?;
    Ok(Box::new(Response { stream, head }))
}

impl Response {
    pub(super) const fn status(&self) -> i64 {
        self.head.status
    }

    pub(super) fn location(&self) -> Option<&[u8]> {
        self.head.location.as_ref().map(|location| location.bytes()).filter(|location| !location.is_empty())
    }

    /// Reads as much of the body as the kubelet keeps.
    pub(super) async fn body(&mut self, into: &mut Vec<u8>) -> Result<(), String> {
        self.read(BODY_BYTES_MAX, into).await
    }

    /// Reads the start of a redirect's body, if it is short or of unknown length.
    pub(super) async fn drain(&mut self, into: &mut Vec<u8>) {
        if self.head.length.is_none_or(|length| length <= DRAINED_BYTES_MAX as u64) {
            let _ = self.read(DRAINED_BYTES_MAX, into).await;
        }
    }

    /// Reads up to `most` bytes; an error if the body is shorter or longer than announced
    /// (`transportResponseBody.Read`).
    async fn read(&mut self, most: usize, into: &mut Vec<u8>) -> Result<(), String> {
        let mut left = self.head.length;
        while into.len() < most {
            let Some(data) = self.stream.data().await? else {
                return if left.is_some_and(|left| left > 0) { Err(UNEXPECTED_EOF.to_owned()) } else { Ok(()) };
            };
            let kept = &data[..data.len().min(most - into.len())];
            if let Some(left) = &mut left {
                *left = left.checked_sub(kept.len() as u64).ok_or(TOO_LONG)?;
            }
            into.extend_from_slice(kept);
        }
        Ok(())
    }
}

const TOO_LONG: &str = "net/http: server replied with more than declared Content-Length; truncated";
