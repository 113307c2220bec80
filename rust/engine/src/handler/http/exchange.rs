//! One request and its response on a connection of their own.

use std::net::SocketAddr;
use std::sync::Arc;

use super::attempt::{Run, Stage};
use super::connection::Connection;
use super::over_http2::{self, Unanswered};
use crate::attempt::cause::Cause;
use crate::attempt::error::Fault;
use crate::golang::punycode::to_ascii;
use crate::golang::url::Url;
use crate::http1::error::Stop;
use crate::net::connect::Dialled;
use crate::net::dial::{dial, dial_address};
use crate::net::retry_delay::Pause;
use crate::net::stream::Duplex;
use crate::net::stream::{Faults, Unwatched, Wire};
use crate::net::tls::{self, Offer};

/// A response up to its body.
#[derive(Debug)]
pub(super) enum Response {
    Http1(Connection),
    Http2(Box<over_http2::Response>),
}

impl Run<'_> {
    /// Connects, sends the request and reads the response's head.
    pub(super) async fn exchange(&mut self) -> Result<Response, Fault> {
        let request = self.request();
        let (host, port) = target(&request.url)?;
        let unwritable = request.unwritable();
        self.begin(Stage::Connect);
        if let Some(text) = unwritable {
            dial(&host, port, b"", self.deadline, &mut self.watch).await?;
            return Err(Fault::new(Cause::Request, text));
        }
        if self.probe.get.http2 || self.is_https() {
            self.exchange_over_either(&host, port).await
        } else {
            self.write();
            let dialled = dial(&host, port, &self.scratch.request, self.deadline, &mut self.watch).await?;
            self.exchange_on(dialled).await
        }
    }

    /// The same for a request that is written already, to an address.
    pub(super) async fn exchange_plain(&mut self, address: SocketAddr) -> Result<Response, Fault> {
        let dialled = dial_address(address, &self.scratch.request, self.scratch.crowd.as_deref()).await?;
        self.exchange_on(dialled).await
    }

    async fn exchange_on(&mut self, dialled: Dialled) -> Result<Response, Fault> {
        let (peer, written) = (dialled.peer, dialled.written);
        let socket = dialled.socket().map_err(|error| Fault::of_poller(&error))?;
        let is_sending = written < self.scratch.request.len();
        let watched = if is_sending { socket.set_nodelay(true) } else { Ok(()) };
        let watched = watched.and_then(|()| self.scratch.watch(&socket, is_sending));
        watched.map_err(|error| Fault::of_poller(&error))?;
        self.head(Connection::plain(socket, peer, written)).await
    }

    fn is_https(&mut self) -> bool {
        self.request().url.scheme == b"https"
    }

    fn write(&mut self) {
        let mut bytes = std::mem::take(&mut self.scratch.request);
        self.request().write(&mut bytes);
        self.scratch.request = bytes;
    }

    /// Over HTTP/2, or over HTTP/1.1 if the handshake of TLS comes to that.
    async fn exchange_over_either(&mut self, host: &str, port: u16) -> Result<Response, Fault> {
        let mut pause = Pause::default();
        loop {
            self.begin(Stage::Connect);
            let dialled = dial(host, port, b"", self.deadline, &mut self.watch).await?;
            let peer = dialled.peer;
            let stream = dialled.stream().map_err(|error| Fault::of_poller(&error))?;
            let (link, faults): (Box<dyn Duplex>, Faults) = if self.is_https() {
                self.begin(Stage::Tls);
                let offer = if self.request().requires_http1() { Offer::Nothing } else { Offer::Http2OrHttp1 };
                let stream = tls::connect(stream, peer, host, offer).await?;
                if !tls::speaks_http2(&stream) {
                    self.write();
                    return self.head(Connection::tls(stream)).await;
                }
                let faults = tls::faults(&stream);
                (stream, faults)
            } else {
                let wire = Wire::new(stream, peer, Unwatched);
                let faults = Arc::clone(&wire.faults);
                (Box::new(wire), faults)
            };
            self.begin(Stage::Headers);
            match over_http2::exchange(link, faults, self.request()).await {
                Ok(response) => return Ok(Response::Http2(response)),
                Err(Unanswered::Failed(fault)) => return Err(fault),
                Err(Unanswered::Again) => pause.wait().await,
            }
        }
    }

    async fn head(&mut self, mut connection: Connection) -> Result<Response, Fault> {
        self.begin(Stage::Headers);
        self.scratch.reader.begin();
        loop {
            match self.scratch.reader.head() {
                Ok(()) => return Ok(Response::Http1(connection)),
                Err(Stop::Wanting) => connection.read(self.scratch).await,
                Err(Stop::Failed(fault)) => return Err(connection.failed(fault)),
            }
        }
    }

    /// The response's status code.
    pub(super) fn status(&self, response: &Response) -> i64 {
        match response {
            Response::Http1(_) => self.scratch.reader.status().into(),
            Response::Http2(response) => response.status(),
        }
    }

    /// Where a response redirects to.
    pub(super) fn location(&self, response: &Response) -> Option<Vec<u8>> {
        let location = match response {
            Response::Http1(_) => self.scratch.reader.location(),
            Response::Http2(response) => response.location(),
        };
        location.map(<[u8]>::to_vec)
    }

    /// Reads the body, as much as the kubelet wants of it.
    pub(super) async fn body(&mut self, response: Response) -> Result<(), String> {
        let scratch = &mut *self.scratch;
        scratch.body.clear();
        let mut connection = match response {
            Response::Http1(connection) => connection,
            Response::Http2(mut response) => return Box::pin(response.body(&mut scratch.body)).await,
        };
        loop {
            match scratch.reader.body(&mut scratch.body) {
                Ok(()) => return Ok(()),
                Err(Stop::Wanting) => connection.read(scratch).await,
                Err(Stop::Failed(fault)) => return Err(fault.text),
            }
        }
    }

    /// Reads the start of a redirect's body; what is wrong with it does not matter.
    pub(super) async fn drain(&mut self, response: Response) {
        let scratch = &mut *self.scratch;
        scratch.body.clear();
        let mut connection = match response {
            Response::Http1(connection) => connection,
            Response::Http2(mut response) => return Box::pin(response.drain(&mut scratch.body)).await,
        };
        while scratch.reader.is_drained() && scratch.reader.drain(&mut scratch.body) == Err(Stop::Wanting) {
            connection.read(scratch).await;
        }
    }
}

/// Where the request goes (`http.canonicalAddr`).
fn target(url: &Url) -> Result<(String, u16), Fault> {
    let host = String::from_utf8_lossy(url.host_name());
    // A name that has no such form is looked up as it is.
    let host = match to_ascii(&host.to_lowercase()) {
        Ok(ascii) if !host.is_ascii() => ascii,
        _ => host.into_owned(),
    };
    let port = match url.port() {
        b"" if url.scheme == b"https" => "443",
        b"" => "80",
        port => std::str::from_utf8(port).expect("digits"),
    };
    let invalid = |_| Fault::new(Cause::Request, format!("dial tcp: address {port}: invalid port"));
    Ok((host, port.parse().map_err(invalid)?))
}
