//! One request and its response, on a connection of their own.

use std::net::SocketAddr;
use std::sync::Arc;

use probelet_golang::http1::ReadError;
use probelet_golang::punycode::to_ascii;
use probelet_golang::url::Url;
use probelet_play::cause::Cause;

use super::attempt::{HttpAttempt, Stage};
use super::connection::Connection;
use super::over_http2::{self, ExchangeError};
use crate::attempt::error::AttemptError;
use crate::net::connect::Dialled;
use crate::net::dial::{dial, dial_address};
use crate::net::retry_delay::RetryDelay;
use crate::net::stream::{SharedReadError, Transport, Unwatched, WatchedStream};
use crate::net::tls::{self, Offer};

/// A response whose head was read and whose body follows.
#[derive(Debug)]
pub(super) enum Response {
    Http1(Connection),
    Http2(Box<over_http2::Response>),
}

impl HttpAttempt<'_> {
    /// Connects, sends the request and reads the response's head.
    pub(super) async fn exchange(&mut self) -> Result<Response, AttemptError> {
        let request = self.request();
        let (host, port) = target(&request.url)?;
        let unwritable = request.unwritable();
        self.begin(Stage::Connect);
        if let Some(text) = unwritable {
            dial((self.probe)().origin, &host, port, b"", self.deadline, &mut self.watch).await?;
            return Err(AttemptError::new(Cause::Request, text));
        }
        if (self.probe)().get.http2 || self.is_https() {
            // Boxed, because few attempts need it, and the future of every attempt would be as large as this one.
            Box::pin(self.exchange_over_either(&host, port)).await
        } else {
            self.write();
            let dialled =
                dial((self.probe)().origin, &host, port, &self.buffers.request, self.deadline, &mut self.watch).await?;
            self.exchange_on(dialled).await
        }
    }

    /// Like [`Self::exchange`] to an address, for a plain request that is already written.
    pub(super) async fn exchange_plain(&mut self, address: SocketAddr) -> Result<Response, AttemptError> {
        let ahead = self.buffers.take_ahead(address);
        let dialled = dial_address(address, &self.buffers.request, ahead).await?;
        self.exchange_on(dialled).await
    }

    async fn exchange_on(&mut self, dialled: Dialled) -> Result<Response, AttemptError> {
        let (peer, written) = (dialled.peer, dialled.written);
        let socket = dialled.socket().map_err(|error| AttemptError::of_poller(&error))?;
        let is_sending = written < self.buffers.request.len();
        let watched = if is_sending { socket.set_nodelay(true) } else { Ok(()) };
        let watched = watched.and_then(|()| self.buffers.wait.watch(&socket, is_sending));
        watched.map_err(|error| AttemptError::of_poller(&error))?;
        self.head(Connection::plain(socket, peer, written)).await
    }

    fn is_https(&mut self) -> bool {
        self.request().url.scheme == b"https"
    }

    fn http2_rules(&mut self) -> over_http2::Rules {
        if self.is_https() { over_http2::Rules::of_x_net((self.probe)().x_net) } else { over_http2::Rules::OF_NET_HTTP }
    }

    fn write(&mut self) {
        let mut bytes = std::mem::take(&mut self.buffers.request);
        self.request().write(&mut bytes);
        self.buffers.request = bytes;
    }

    /// Exchanges over HTTP/2, or over HTTP/1.1 if the TLS handshake chooses it.
    async fn exchange_over_either(&mut self, host: &str, port: u16) -> Result<Response, AttemptError> {
        let mut delay = RetryDelay::default();
        loop {
            self.begin(Stage::Connect);
            let dialled = dial((self.probe)().origin, host, port, b"", self.deadline, &mut self.watch).await?;
            let peer = dialled.peer;
            let stream = dialled.stream().map_err(|error| AttemptError::of_poller(&error))?;
            let (link, read_error): (Box<dyn Transport>, SharedReadError) = if self.is_https() {
                self.begin(Stage::Tls);
                let offer = if self.request().requires_http1() { Offer::Nothing } else { Offer::Http2OrHttp1 };
                let stream = tls::connect(stream, peer, host, offer).await?;
                if !tls::speaks_http2(&stream) {
                    self.write();
                    return self.head(Connection::tls(stream)).await;
                }
                let read_error = tls::read_error(&stream);
                (stream, read_error)
            } else {
                let tcp = WatchedStream::new(stream, peer, Unwatched);
                let read_error = Arc::clone(&tcp.read_error);
                (Box::new(tcp), read_error)
            };
            self.begin(Stage::Headers);
            let rules = self.http2_rules();
            match over_http2::exchange(link, read_error, self.request(), rules).await {
                Ok(response) => return Ok(Response::Http2(response)),
                Err(ExchangeError::Failed(error)) => return Err(error),
                Err(ExchangeError::Retry) => delay.wait().await,
            }
        }
    }

    async fn head(&mut self, mut connection: Connection) -> Result<Response, AttemptError> {
        self.begin(Stage::Headers);
        self.buffers.reader.begin();
        loop {
            match self.buffers.reader.head() {
                Ok(()) => return Ok(Response::Http1(connection)),
                Err(ReadError::NeedsInput) => connection.read(self.buffers).await,
                Err(ReadError::Failed(error)) => return Err(connection.failed(self.in_its_go(error))),
            }
        }
    }

    /// The response's status code.
    pub(super) fn status(&self, response: &Response) -> i64 {
        match response {
            Response::Http1(_) => self.buffers.reader.status().into(),
            Response::Http2(response) => response.status(),
        }
    }

    /// The target of the response's redirect.
    pub(super) fn location(&self, response: &Response) -> Option<Vec<u8>> {
        let location = match response {
            Response::Http1(_) => self.buffers.reader.location(),
            Response::Http2(response) => response.location(),
        };
        location.map(<[u8]>::to_vec)
    }

    /// Reads as much of the body as the kubelet does.
    pub(super) async fn body(&mut self, response: Response) -> Result<(), AttemptError> {
        let buffers = &mut *self.buffers;
        buffers.body.clear();
        let mut connection = match response {
            Response::Http1(connection) => connection,
            Response::Http2(mut response) => {
                let read = Box::pin(response.body(&mut buffers.body)).await;
                return read.map_err(|text| AttemptError::new(Cause::Body, text));
            }
        };
        loop {
            match buffers.reader.body(&mut buffers.body) {
                Ok(()) => return Ok(()),
                Err(ReadError::NeedsInput) => connection.read(buffers).await,
                Err(ReadError::Failed(error)) => return Err(connection.error(self.in_its_go(error))),
            }
        }
    }

    /// Reads the start of a redirect's body; ignores errors within it.
    pub(super) async fn drain(&mut self, response: Response) {
        let buffers = &mut *self.buffers;
        buffers.body.clear();
        let mut connection = match response {
            Response::Http1(connection) => connection,
            Response::Http2(mut response) => return Box::pin(response.drain(&mut buffers.body)).await,
        };
        while buffers.reader.is_drained() && buffers.reader.drain(&mut buffers.body) == Err(ReadError::NeedsInput) {
            connection.read(buffers).await;
        }
    }
}

/// The host and port to connect to (`http.canonicalAddr`).
fn target(url: &Url) -> Result<(String, u16), AttemptError> {
    let host = String::from_utf8_lossy(url.host_name());
    // A name without an ACE form is resolved as it is.
    let host = match to_ascii(&host.to_lowercase()) {
        Ok(ascii) if !host.is_ascii() => ascii,
        _ => host.into_owned(),
    };
    let port = match url.port() {
        b"" if url.scheme == b"https" => "443",
        b"" => "80",
        port => std::str::from_utf8(port).expect("digits"),
    };
    let invalid = |_| AttemptError::new(Cause::Request, format!("dial tcp: address {port}: invalid port"));
    Ok((host, port.parse().map_err(invalid)?))
}
