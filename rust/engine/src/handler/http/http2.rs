//! One request over HTTP/2 (golang.org/x/net/http2 as the kubelet's transport uses it, v0.49).

use std::time::Duration;

use bytes::Bytes;
use h2::client::Builder;
use h2::{Reason, RecvStream};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderName, HeaderValue};
use tokio::time::sleep;

use super::body::BODY_BYTES_MAX;
use super::reader::{DRAINED_BYTES_MAX, UNEXPECTED_EOF};
use super::request::Request;
use crate::cause::Cause;
use crate::handler::driven::Driven;
use crate::handler::duplex::Duplex;
use crate::handler::fault::Fault;
use crate::handler::gotext::{quote, quote_list};
use crate::handler::wire::Faults;

/// A response up to its body, and the connection that brings it.
#[derive(Debug)]
pub(super) struct Response {
    connection: Driven<Box<dyn Duplex>>,
    faults: Faults,
    parts: http::response::Parts,
    body: RecvStream,
}

/// Why there is no response.
#[derive(Debug)]
pub(super) enum Unanswered {
    Failed(Fault),
    /// The server did not look at the request, so it is sent again on another connection.
    Again,
}

/// The pauses between one connection and the next. Go makes none; a server that refuses each request would see hundreds
/// of connections a second from it.
#[derive(Debug, Default)]
pub(super) struct Pause {
    waited: u32,
}

impl Pause {
    pub(super) async fn wait(&mut self) {
        if self.waited > 0 {
            sleep(PAUSE_MIN * 2u32.pow(self.waited.min(PAUSE_DOUBLINGS_MAX))).await;
        }
        self.waited += 1;
    }
}

/// Sends the request and waits for the head of the response.
pub(super) async fn exchange(
    link: Box<dyn Duplex>,
    faults: Faults,
    request: &Request<'_>,
) -> Result<Box<Response>, Unanswered> {
    let message = message(request).map_err(|text| Unanswered::Failed(Fault::new(Cause::Http2, text)))?;
    let told = |error: &h2::Error| unanswered(error, &faults);
    let (mut sender, connection) = Builder::new()
        .enable_push(false)
        .initial_window_size(WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES_MAX)
        .max_header_list_size(HEADERS_BYTES_MAX)
        .handshake::<_, Bytes>(link)
        .await
        .map_err(|error| told(&error))?;
    let mut connection = Driven::new(connection);
    let (response, _) = sender.send_request(message, true).map_err(|error| told(&error))?;
    let response = connection.until(response).await.map_err(|error| told(&error))?;
    let (parts, body) = response.into_parts();
    Ok(Box::new(Response { connection, faults, parts, body }))
}

impl Response {
    pub(super) fn status(&self) -> u16 {
        self.parts.status.as_u16()
    }

    pub(super) fn location(&self) -> Option<&[u8]> {
        let location = self.parts.headers.get("location").map(HeaderValue::as_bytes);
        location.filter(|location| !location.is_empty())
    }

    /// Reads what the kubelet keeps of the body.
    pub(super) async fn body(&mut self, into: &mut Vec<u8>) -> Result<(), String> {
        let Err(error) = self.read(BODY_BYTES_MAX, into).await else { return Ok(()) };
        let is_short = self.length().is_some_and(|length| into.len() < length);
        if error.is_reset() && !error.is_remote() && is_short {
            return Err(UNEXPECTED_EOF.to_owned());
        }
        Err(text_of(&error, &self.faults).text)
    }

    fn length(&self) -> Option<usize> {
        self.parts.headers.get("content-length")?.to_str().ok()?.parse().ok()
    }

    /// Reads the start of a redirect's body, if it is short or of unknown length.
    pub(super) async fn drain(&mut self, into: &mut Vec<u8>) {
        if self.length().is_none_or(|length| length <= DRAINED_BYTES_MAX) {
            let _ = self.read(DRAINED_BYTES_MAX, into).await;
        }
    }

    async fn read(&mut self, most: usize, into: &mut Vec<u8>) -> Result<(), h2::Error> {
        while into.len() < most {
            let Some(data) = self.connection.until(self.body.data()).await else { break };
            let data = data?;
            into.extend_from_slice(&data[..data.len().min(most - into.len())]);
        }
        Ok(())
    }
}

/// The request's fields (`httpcommon.EncodeHeaders`).
fn message(request: &Request<'_>) -> Result<http::Request<()>, String> {
    refuse_hop_by_hop(request)?;
    let host = request.host_line();
    let authority = Authority::try_from(&*host).map_err(|_| "http2: invalid Host header".to_owned())?;
    let scheme = if request.url.scheme == b"https" { Scheme::HTTPS } else { Scheme::HTTP };
    let uri = Uri::builder().scheme(scheme).authority(authority).path_and_query(path(request)?);
    let mut message = http::Request::new(());
    *message.uri_mut() = uri.build().map_err(|error| format!("http2: {error}"))?;
    for (name, value) in request.headers.lines().filter(|(name, _)| !NOT_SENT.contains(name)) {
        let is_cookie = name == "Cookie";
        let name = HeaderName::try_from(name).map_err(|error| format!("http2: {error}"))?;
        for value in value.split(|&byte| is_cookie && byte == b';') {
            let value = if is_cookie { value.trim_ascii_start() } else { value };
            let value = HeaderValue::from_bytes(value).map_err(|error| format!("http2: {error}"))?;
            message.headers_mut().append(name.clone(), value);
        }
    }
    let user_agent = request.headers.first("User-Agent");
    if !user_agent.is_empty() {
        let value = HeaderValue::from_bytes(user_agent).map_err(|error| format!("http2: {error}"))?;
        message.headers_mut().insert(http::header::USER_AGENT, value);
    }
    if request.headers.first("Te") == b"trailers" {
        message.headers_mut().insert(http::header::TE, HeaderValue::from_static("trailers"));
    }
    Ok(message)
}

/// `httpcommon.checkConnHeaders`.
fn refuse_hop_by_hop(request: &Request<'_>) -> Result<(), String> {
    for (name, allowed) in [("Upgrade", &["chunked"][..]), ("Transfer-Encoding", &["chunked"]), ("Connection", &KEPT)] {
        let values = request.headers.all(name);
        let is_fine =
            |value: &[u8]| value.is_empty() || allowed.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(value));
        let is_one = name == "Upgrade" || values.len() <= 1;
        if !values.first().is_none_or(|value| is_fine(value)) || !is_one {
            let values = quote_list(values.iter().map(|value| &**value));
            return Err(format!("http2: invalid {name} request header: {values}"));
        }
    }
    Ok(())
}

/// The path; what may not stand in a URI is escaped, where Go would send it as it is.
fn path(request: &Request<'_>) -> Result<PathAndQuery, String> {
    let uri = request.url.request_uri();
    let mut path = String::with_capacity(uri.len());
    for &byte in &uri {
        match byte {
            b'!'..=b'~' => path.push(byte.into()),
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    PathAndQuery::try_from(path).map_err(|_| format!("http2: invalid request :path {}", quote(&uri)))
}

fn unanswered(error: &h2::Error, faults: &Faults) -> Unanswered {
    let is_refused =
        error.is_reset() && matches!(error.reason(), Some(Reason::REFUSED_STREAM | Reason::PROTOCOL_ERROR));
    let is_leaving = error.is_go_away() && error.reason() == Some(Reason::NO_ERROR);
    if error.is_remote() && (is_refused || is_leaving) {
        return Unanswered::Again;
    }
    Unanswered::Failed(text_of(error, faults))
}

/// What an error means: the connection's own story if it has one.
fn text_of(error: &h2::Error, faults: &Faults) -> Fault {
    match faults.get() {
        Some(fault) => fault.clone(),
        None if error.is_io() => Fault::new(Cause::Eof, UNEXPECTED_EOF),
        None => Fault::new(Cause::Http2, format!("http2: {error}")),
    }
}

/// Fields that HTTP/2 has no use for, and those that are written on their own.
const NOT_SENT: [&str; 9] = [
    "Connection",
    "Content-Length",
    "Host",
    "Keep-Alive",
    "Proxy-Connection",
    "Te",
    "Transfer-Encoding",
    "Upgrade",
    "User-Agent",
];
const KEPT: [&str; 2] = ["close", "keep-alive"];
// What Go's transport announces.
const WINDOW_BYTES: u32 = 4 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 30;
pub(super) const FRAME_BYTES_MAX: u32 = 16_384;
const HEADERS_BYTES_MAX: u32 = 10 << 20;
/// The second pause; the first connection is followed by another at once.
const PAUSE_MIN: Duration = Duration::from_millis(10);
const PAUSE_DOUBLINGS_MAX: u32 = 4;
