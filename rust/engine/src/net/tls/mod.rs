//! TLS without a check of the target's certificate: the kubelet's probes skip verification (1.36).

mod alert;
mod records;
mod verifier;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, crypto::ring};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) use self::records::Records;
use self::verifier::Unverified;
use super::stream::{SharedReadError, WatchedStream};
use crate::attempt::cause::Cause;
use crate::attempt::error::AttemptError;

/// A TLS connection.
pub(crate) type Stream = TlsStream<WatchedStream<Records>>;

/// What ALPN offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Nothing,
    Http2,
    Http2OrHttp1,
}

/// Shakes hands.
pub(crate) async fn connect(
    stream: TcpStream,
    peer: SocketAddr,
    host: &str,
    offer: Offer,
) -> Result<Box<Stream>, AttemptError> {
    let config = match offer {
        Offer::Nothing => &WITHOUT_PROTOCOLS,
        Offer::Http2 => &WITH_HTTP2,
        Offer::Http2OrHttp1 => &WITH_PROTOCOLS,
    };
    let connector = TlsConnector::from(Arc::clone(config));
    let handshake =
        connector.connect(server_name(host), WatchedStream::new(stream, peer, Records::default())).into_fallible();
    match timeout(HANDSHAKE_TIME_MAX, handshake).await {
        Ok(Ok(stream)) => Ok(Box::new(stream)),
        Ok(Err((error, tcp))) => Err(error_of(&tcp, &error, true)),
        Err(_) => Err(AttemptError::new(Cause::Tls, "net/http: TLS handshake timeout")),
    }
}

/// Whether HTTP/2 was agreed on.
pub(crate) fn speaks_http2(stream: &Stream) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(b"h2")
}

/// Where a connection's error will be found.
pub(crate) fn read_error(stream: &Stream) -> SharedReadError {
    Arc::clone(&stream.get_ref().0.read_error)
}

/// What a failed read or write on a connection means; None if the peer closed it between two records, which it may do
/// without an alert.
pub(crate) fn attempt_error(stream: &Stream, error: &io::Error) -> Option<AttemptError> {
    let tcp = stream.get_ref().0;
    let is_end = error.kind() == ErrorKind::UnexpectedEof && tcp.watch.is_between();
    (!is_end).then(|| error_of(tcp, error, false))
}

fn error_of(tcp: &WatchedStream<Records>, error: &io::Error, is_handshake: bool) -> AttemptError {
    if let Some(error) = tcp.read_error.get() {
        return error.clone();
    }
    if error.kind() == ErrorKind::UnexpectedEof {
        let text = if tcp.watch.is_between() { "EOF" } else { "unexpected EOF" };
        return AttemptError::new(Cause::Eof, text);
    }
    let told = |text: String| AttemptError::new(Cause::Tls, text);
    if is_handshake && let Some(text) = tcp.watch.not_tls() {
        return told(text.to_owned());
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::AlertReceived(description)) => {
            told(format!("remote error: tls: {}", alert::text(*description)))
        }
        Some(error) => told(format!("tls: {error}")),
        // A failed read is known already.
        None => tcp.operation_error("write", error),
    }
}

/// The name in the ClientHello; no name for an address, or for a host that is not allowed there (`tls.hostnameInSNI`).
fn server_name(host: &str) -> ServerName<'static> {
    let unnamed = ServerName::from(IpAddr::from(Ipv4Addr::UNSPECIFIED));
    let name = host.strip_suffix('.').unwrap_or(host);
    ServerName::try_from(name).map_or(unnamed, |name| name.to_owned())
}

fn config(protocols: &[&[u8]]) -> Arc<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Unverified))
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    // Each probe is a handshake of its own, as the kubelet's are.
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

static WITH_PROTOCOLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| config(&[b"h2", b"http/1.1"]));
/// grpc-go offers nothing else (credentials/tls.go:NewTLS, v1.79).
static WITH_HTTP2: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| config(&[b"h2"]));
static WITHOUT_PROTOCOLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| config(&[]));
/// `http.Transport.TLSHandshakeTimeout` of the kubelet's transport (apimachinery util/net/http.go, 1.36).
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
