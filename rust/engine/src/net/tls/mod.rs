//! TLS without trust in the target's certificate: the kubelet's probes skip verification (1.36).

mod alert;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod groups;
mod records;
mod signature;
mod stream;
mod verifier;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConfig, InvalidMessage};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use self::records::Records;
pub(crate) use self::stream::Stream;
use self::verifier::GoVerifier;
use super::dial::dial_address;
use super::stream::{SharedReadError, WatchedStream};
use crate::attempt::error::AttemptError;
use probelet_play::cause::Cause;

/// What ALPN offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Nothing,
    Http2,
    Http2OrHttp1,
}

/// Shakes hands.
///
/// A server that refuses the first offer may know only post-quantum groups: a second connection offers those, too.
pub(crate) async fn connect(
    stream: TcpStream,
    peer: SocketAddr,
    host: &str,
    offer: Offer,
) -> Result<Box<Stream>, AttemptError> {
    match shake_hands(stream, peer, host, &CLASSICAL[offer as usize]).await {
        Err(Failure { is_refusal: true, error }) => {
            let dialled = dial_address(peer, b"", None).await.map_err(|late| error.or_prober_error(late))?;
            let stream = dialled.stream().map_err(|error| AttemptError::of_poller(&error))?;
            shake_hands(stream, peer, host, &WITH_POST_QUANTUM[offer as usize]).await.map_err(|failure| failure.error)
        }
        other => other.map_err(|failure| failure.error),
    }
}

/// Why a handshake failed.
struct Failure {
    error: AttemptError,
    /// Whether the server found nothing in the offer that it knows.
    is_refusal: bool,
}

async fn shake_hands(
    stream: TcpStream,
    peer: SocketAddr,
    host: &str,
    config: &Arc<ClientConfig>,
) -> Result<Box<Stream>, Failure> {
    let connector = TlsConnector::from(Arc::clone(config));
    let tcp = WatchedStream::new(stream, peer, Records::default());
    let handshake = async {
        let mut ended = connector.connect(server_name(host), tcp).into_fallible().await;
        if let Err((_, tcp)) = &mut ended {
            // Go judges the first record once its header has come, and rustls its first byte.
            while tcp.watch.has_half_a_header() && tcp.read(&mut [0; 5]).await.is_ok_and(|count| count > 0) {}
        }
        ended
    };
    match timeout(HANDSHAKE_TIME_MAX, handshake).await {
        Ok(Ok(stream)) => Ok(Box::new(Stream::new(stream))),
        Ok(Err((error, tcp))) => {
            let refusal = Some(&rustls::Error::AlertReceived(AlertDescription::HandshakeFailure));
            let is_refusal = tcp.watch.is_refusal() && tls_error(&error) == refusal;
            Err(Failure { error: error_of(&tcp, &error, true), is_refusal })
        }
        Err(_) => {
            let error = AttemptError::new(Cause::Tls, "net/http: TLS handshake timeout");
            Err(Failure { error, is_refusal: false })
        }
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

/// Whether HTTP/2 was agreed on.
pub(crate) fn speaks_http2(stream: &Stream) -> bool {
    stream.tls.get_ref().1.alpn_protocol() == Some(b"h2")
}

/// Where a connection's error will be found.
pub(crate) fn read_error(stream: &Stream) -> SharedReadError {
    Arc::clone(&stream.tls.get_ref().0.read_error)
}

/// What a failed read or write on a connection means; None if the peer closed it between two records, which it may do
/// without an alert.
pub(crate) fn attempt_error(stream: &Stream, error: &io::Error) -> Option<AttemptError> {
    let tcp = stream.tls.get_ref().0;
    let is_end = error.kind() == ErrorKind::UnexpectedEof && tcp.watch.is_between();
    (!is_end).then(|| error_of(tcp, error, false))
}

fn error_of(tcp: &WatchedStream<Records>, error: &io::Error, is_handshake: bool) -> AttemptError {
    if let Some(error) = tcp.read_error.get() {
        return error.clone();
    }
    if error.kind() == ErrorKind::UnexpectedEof || tcp.watch.has_half_a_header() {
        let text = if tcp.watch.is_between() { "EOF" } else { "unexpected EOF" };
        return AttemptError::new(Cause::Eof, text);
    }
    let told = |text: String| AttemptError::new(Cause::Tls, text);
    if is_handshake && let Some(text) = tcp.watch.not_tls() {
        return told(text.to_owned());
    }
    match tls_error(error) {
        Some(rustls::Error::AlertReceived(description)) => {
            told(format!("remote error: tls: {}", alert::text(*description)))
        }
        Some(rustls::Error::InvalidCertificate(CertificateError::Other(refusal))) => told(format!("tls: {refusal}")),
        Some(rustls::Error::InvalidMessage(
            InvalidMessage::HandshakePayloadTooLarge | InvalidMessage::CertificatePayloadTooLarge,
        )) if tcp.watch.has_hello() => too_long(),
        Some(error) => told(format!("tls: {error}")),
        None if error.kind() == ErrorKind::InvalidData && tcp.watch.has_hello() => too_long(),
        None if error.get_ref().is_some() => told(format!("tls: {error}")),
        // A failed read is known already.
        None => tcp.operation_error("write", error),
    }
}

/// Go takes certificates of 256 KiB together and rustls of 64 KiB, so the container is not to blame.
fn too_long() -> AttemptError {
    AttemptError::of_prober("tls: the server's certificates are longer than 65535 bytes, the limit of the prober")
}

/// The name in the ClientHello; no name for an address, or for a host that is not allowed there (`tls.hostnameInSNI`).
fn server_name(host: &str) -> ServerName<'static> {
    let unnamed = ServerName::from(IpAddr::from(Ipv4Addr::UNSPECIFIED));
    let name = host.strip_suffix('.').unwrap_or(host);
    ServerName::try_from(name).map_or(unnamed, |name| name.to_owned())
}

/// The configuration of each [`Offer`].
fn configs(groups: &'static [&'static dyn SupportedKxGroup]) -> [Arc<ClientConfig>; 3] {
    // grpc-go offers HTTP/2 alone (credentials/tls.go:NewTLS, v1.79).
    let protocols: [&[&[u8]]; 3] = [&[], &[b"h2"], &[b"h2", b"http/1.1"]];
    protocols.map(|protocols| config(protocols, groups))
}

fn config(protocols: &[&[u8]], groups: &[&'static dyn SupportedKxGroup]) -> Arc<ClientConfig> {
    let provider = CryptoProvider { kx_groups: groups.to_vec(), ..ring::default_provider() };
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(GoVerifier))
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    // Each probe is a handshake of its own, as the kubelet's are.
    config.resumption = Resumption::disabled();
    Arc::new(config)
}

static CLASSICAL: LazyLock<[Arc<ClientConfig>; 3]> = LazyLock::new(|| configs(&groups::CLASSICAL));
static WITH_POST_QUANTUM: LazyLock<[Arc<ClientConfig>; 3]> = LazyLock::new(|| configs(&groups::ALL));
/// `http.Transport.TLSHandshakeTimeout` of the kubelet's transport (apimachinery util/net/http.go, 1.36).
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
