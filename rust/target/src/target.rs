//! Answers every probe correctly, as cheaply as it can, and notes when each one arrives.
//!
//! It listens on every address of the loopback device, so that each worker can have an address of its own, as pods have.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::arrivals::Arrivals;
use crate::{answer, grpc};

/// What a target speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// `grpc.health.v1.Health` without TLS; every service is SERVING.
    Grpc,
    /// HTTP/1.1, one request per connection.
    Http,
    /// The same over TLS, with a certificate that the target makes and signs itself.
    Https,
    /// Accepts a connection and closes it.
    Tcp,
}

impl Protocol {
    /// Finds a protocol by its name on the command line.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        match name {
            "grpc" => Some(Self::Grpc),
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            "tcp" => Some(Self::Tcp),
            _ => None,
        }
    }
}

/// A running target. Dropping it stops its thread and closes its connections.
#[derive(Debug)]
pub(crate) struct Target {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    arrivals: Mutex<Arrivals>,
    closing: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target {
    /// Listens on `port`; 0 takes one that is free. Each worker's probes should arrive `period` apart: lateness is
    /// measured against that grid.
    pub(crate) fn start(protocol: Protocol, port: u16, period: Duration) -> io::Result<Self> {
        let listener = listen(port)?;
        let port = listener.local_addr()?.port();
        let acceptor = if protocol == Protocol::Https { Some(acceptor()?) } else { None };
        let shared = Arc::new(Shared { arrivals: Mutex::new(Arrivals::new(period)), closing: Notify::new() });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let serving = serve(listener, protocol, acceptor, Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("target".into()).spawn(move || {
            // The only error is a listener that the runtime refuses; the prober then counts failures.
            let _ = runtime.block_on(serving);
        })?;
        Ok(Self { port, shared, thread: Some(thread) })
    }

    /// The port on which the target listens.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Returns as JSON how many probes arrived since [`forget`](Self::forget) and how late they were.
    pub(crate) fn statistics(&self) -> String {
        let seen = self.shared.lock().clone();
        seen.to_json()
    }

    /// Begins to count anew.
    pub(crate) fn forget(&self) {
        self.shared.lock().forget();
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.shared.closing.notify_one();
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, it has printed the panic.
            let _ = thread.join();
        }
    }
}

fn listen(port: u16) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    // No other machine can connect. Kernels before 5.7 require a privilege for it; there `serve` drops connections from
    // other machines.
    let _ = socket.bind_device(Some(b"lo"));
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)).into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn acceptor() -> io::Result<TlsAcceptor> {
    let made = rcgen::generate_simple_self_signed(["target".to_owned()]).map_err(io::Error::other)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .map_err(io::Error::other)?;
    // Probes never resume a TLS session.
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve(
    listener: std::net::TcpListener,
    protocol: Protocol,
    acceptor: Option<TlsAcceptor>,
    shared: Arc<Shared>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let began = Instant::now();
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                // Too many open files, or the peer has gone: the next accept may succeed.
                Err(_) => { tokio::task::yield_now().await; continue }
            },
            () = shared.closing.notified() => return Ok(()),
        };
        if !peer.ip().is_loopback() {
            continue;
        }
        let Ok(SocketAddr::V4(local)) = stream.local_addr() else { continue };
        shared.lock().note(*local.ip(), began.elapsed());
        let shared = Arc::clone(&shared);
        let came = move || shared.lock().note_first_byte(*local.ip(), began.elapsed());
        answer_to(stream, protocol, acceptor.as_ref(), came);
    }
}

/// Ignores the errors of a connection: the prober sees the failure too, and counts it.
fn answer_to(
    stream: TcpStream,
    protocol: Protocol,
    acceptor: Option<&TlsAcceptor>,
    came: impl FnOnce() + Send + 'static,
) {
    match (protocol, acceptor) {
        (Protocol::Tcp, _) => drop(stream),
        (Protocol::Http, _) => drop(tokio::spawn(answer::answer(stream, came))),
        (Protocol::Grpc, _) => drop(tokio::spawn(grpc::answer(stream, came))),
        (Protocol::Https, Some(acceptor)) => {
            let handshake = acceptor.accept(stream);
            drop(tokio::spawn(async move { answer::answer(handshake.await?, came).await }));
        }
        (Protocol::Https, None) => unreachable!("an https target starts with its acceptor"),
    }
}

/// A burst of 5,000 probes must not fill the accept queue before the thread runs.
const BACKLOG: i32 = 4096;

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{IpAddr, TcpStream};

    use super::*;
    use crate::arrivals::FIRST;

    fn at(target: &Target) -> SocketAddr {
        (IpAddr::V4(FIRST), target.port()).into()
    }

    #[test]
    fn an_http_target_answers_and_closes() {
        let target = Target::start(Protocol::Http, 0, Duration::from_secs(1)).expect("a free port");
        let mut stream = TcpStream::connect(at(&target)).expect("it listens");
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").expect("it reads");
        stream.write_all(b"\r\n").expect("it still reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it closes");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(target.statistics().contains("\"probes\":1,"), "{}", target.statistics());
    }

    #[test]
    fn forget_begins_to_count_anew() {
        let target = Target::start(Protocol::Tcp, 0, Duration::from_secs(1)).expect("a free port");
        let mut stream = TcpStream::connect(at(&target)).expect("it listens");
        assert_eq!(stream.read(&mut [0]).expect("it closes"), 0);
        target.forget();
        assert!(target.statistics().contains("\"probes\":0,"));
    }
}
