//! Connections as the kubelet's dialer opens them (`net.Dialer`, Go 1.26).
//!
//! The first bytes go out before the poller hears of the socket: on one machine a connection stands as soon as it was
//! asked for, and a probe then waits once, for the answer.

use std::io::{self, ErrorKind, Write};
use std::net::{self, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout_at};

use super::address::Literal;
use super::fault::Fault;
use super::gotext;
use super::resolve::lookup;
use super::stopwatch::Stopwatch;
use crate::cause::Cause;

/// A connection, and how much of the first bytes went out with it.
#[derive(Debug)]
pub(super) struct Dialled {
    link: Link,
    pub(super) peer: SocketAddr,
    pub(super) written: usize,
}

#[derive(Debug)]
enum Link {
    /// The poller does not know it yet.
    Fresh(net::TcpStream),
    Polled(TcpStream),
}

impl Dialled {
    /// The connection, known to the poller; what is written to it in several pieces is not held back.
    pub(super) fn stream(self) -> io::Result<TcpStream> {
        let stream = match self.link {
            Link::Fresh(stream) => TcpStream::from_std(stream)?,
            Link::Polled(stream) => stream,
        };
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// The connection, unknown to the poller: for one request and one answer.
    pub(super) fn socket(self) -> io::Result<net::TcpStream> {
        match self.link {
            Link::Fresh(socket) => Ok(socket),
            Link::Polled(stream) => stream.into_std(),
        }
    }
}

/// Connects to a host, which may be an IP address, a name, or empty for this machine, and sends `first`.
///
/// The caller's own timer ends this; the deadline only divides the time among a name's addresses.
pub(super) async fn dial(
    host: &str,
    port: u16,
    first: &[u8],
    deadline: Option<Instant>,
    watch: &mut Stopwatch,
) -> Result<Dialled, Fault> {
    let literal = if host.is_empty() { Literal::parse("0.0.0.0") } else { Literal::parse(host) };
    if let Some(literal) = literal {
        let address = literal.target(port);
        return connect(address, first).await.map_err(|error| {
            let shown = if host.is_empty() { format!(":{port}") } else { literal.shown(port) };
            failed(&shown, &error)
        });
    }
    let mut addresses = addresses_of(host, deadline).await?;
    watch.lap(|phases| &mut phases.dns);
    addresses.iter_mut().for_each(|address| address.set_port(port));
    let (primaries, fallbacks): (Vec<_>, Vec<_>) =
        addresses.iter().partition(|address| address.is_ipv4() == addresses[0].is_ipv4());
    race(&primaries, &fallbacks, first, deadline).await
}

/// Connects to an address and sends `first`.
pub(super) async fn dial_address(address: SocketAddr, first: &[u8]) -> Result<Dialled, Fault> {
    connect(address, first).await.map_err(|error| failed(&Literal::from(address).shown(address.port()), &error))
}

async fn addresses_of(host: &str, deadline: Option<Instant>) -> Result<Vec<SocketAddr>, Fault> {
    let error = |text: String| Fault::new(Cause::Dns, format!("dial tcp: {text}"));
    let found = match deadline {
        Some(deadline) => timeout_at(deadline, lookup(host)).await,
        None => Ok(lookup(host).await),
    };
    found.unwrap_or_else(|_| Err(format!("lookup {host}: i/o timeout"))).map_err(error)
}

/// The second family waits a little, unless the first failed before (RFC 6555; `net.sysDialer.dialParallel`).
async fn race(
    primaries: &[SocketAddr],
    fallbacks: &[SocketAddr],
    first: &[u8],
    deadline: Option<Instant>,
) -> Result<Dialled, Fault> {
    let mut primary = pin!(one_by_one(primaries, first, deadline));
    if fallbacks.is_empty() {
        return primary.await;
    }
    let mut fallback = pin!(one_by_one(fallbacks, first, deadline));
    tokio::select! {
        biased;
        done = &mut primary => {
            return match done {
                Ok(dialled) => Ok(dialled),
                Err(error) => fallback.await.map_err(|_| error),
            };
        }
        () = sleep(FALLBACK_DELAY) => {}
    }
    tokio::select! {
        biased;
        done = &mut primary => match done {
            Ok(dialled) => Ok(dialled),
            Err(error) => fallback.await.map_err(|_| error),
        },
        done = &mut fallback => match done {
            Ok(dialled) => Ok(dialled),
            Err(_) => primary.await,
        },
    }
}

/// One address after the other; the first error is told (`net.sysDialer.dialSerial`).
async fn one_by_one(addresses: &[SocketAddr], first: &[u8], deadline: Option<Instant>) -> Result<Dialled, Fault> {
    let mut told = None;
    for (index, &address) in addresses.iter().enumerate() {
        let shown = Literal::from(address).shown(address.port());
        let dialled = match deadline {
            Some(deadline) => {
                let partial = share(deadline, addresses.len() - index);
                timeout_at(partial, connect(address, first)).await.map_err(|_| late(&shown))
            }
            None => Ok(connect(address, first).await),
        };
        match dialled.and_then(|done| done.map_err(|error| failed(&shown, &error))) {
            Ok(dialled) => return Ok(dialled),
            Err(error) => told = told.or(Some(error)),
        }
    }
    Err(told.expect("a name has an address"))
}

/// An address's part of the time (`net.partialDeadline`).
fn share(deadline: Instant, addresses_left: usize) -> Instant {
    let now = Instant::now();
    let left = deadline.saturating_duration_since(now);
    let fair = left / u32::try_from(addresses_left).unwrap_or(u32::MAX);
    now + fair.max(ADDRESS_TIME_MIN.min(left))
}

/// One connection. A socket that is not connected yet refuses to send, which tells as much as asking.
///
/// The kubelet sets SO_LINGER to one second (probe/dialer_others.go, 1.36). On Linux that changes nothing on the wire: it
/// makes close(2) wait up to a second for the peer's last ACK, also for a non-blocking socket (measured: 1027 ms towards a
/// pod whose link is down, 0.07 ms without). Go can spare a thread for that; here it would hold up every other probe.
/// Go sets TCP_NODELAY on every connection. A request that is sent with one write does not see it, so those that are sent
/// otherwise set it themselves. IP_BIND_ADDRESS_NO_PORT only means something to who binds, which nobody does here.
async fn connect(address: SocketAddr, first: &[u8]) -> io::Result<Dialled> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))
        .map_err(|error| at("socket", &error))?;
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(at("connect", &error)),
        _ => {}
    }
    let mut stream = net::TcpStream::from(socket);
    match stream.write(first) {
        Ok(written) => return Ok(Dialled { link: Link::Fresh(stream), peer: address, written }),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Err(error) => return Err(at("connect", &error)),
    }
    let stream = TcpStream::from_std(stream)?;
    stream.writable().await?;
    if let Some(error) = stream.take_error()? {
        return Err(at("connect", &error));
    }
    let written = match stream.try_write(first) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
        other => other.map_err(|error| at("connect", &error))?,
    };
    Ok(Dialled { link: Link::Polled(stream), peer: address, written })
}

/// `os.SyscallError`: which call went wrong, and how. The error's number stays with it.
fn at(call: &'static str, error: &io::Error) -> io::Error {
    let number = error.raw_os_error().unwrap_or(libc::EIO);
    io::Error::new(error.kind(), SyscallError { call, number })
}

#[derive(Debug)]
struct SyscallError {
    call: &'static str,
    number: i32,
}

impl std::error::Error for SyscallError {}

impl std::fmt::Display for SyscallError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.call, gotext::errno(self.number))
    }
}

/// Why there is no connection, as Go tells it.
fn failed(shown: &str, error: &io::Error) -> Fault {
    let number = error.get_ref().and_then(|inner| inner.downcast_ref::<SyscallError>()).map(|error| error.number);
    Fault::new(cause_of(number.unwrap_or(libc::EIO)), format!("dial tcp {shown}: {error}"))
}

/// No connection within the time.
pub(super) fn late(shown: &str) -> Fault {
    Fault::new(Cause::ConnectTimeout, format!("dial tcp {shown}: i/o timeout"))
}

/// What an error number of a connection means. Where this machine has no more to give, the prober is what is wrong.
pub(super) const fn cause_of(number: i32) -> Cause {
    match number {
        libc::ECONNREFUSED => Cause::Refused,
        libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => Cause::Reset,
        libc::ETIMEDOUT => Cause::ConnectTimeout,
        libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM | libc::EADDRNOTAVAIL => Cause::Starved,
        _ => Cause::Unreachable,
    }
}

/// `net.Dialer.FallbackDelay`: the default.
const FALLBACK_DELAY: Duration = Duration::from_millis(300);
/// The least an address gets while there is that much left (`net.partialDeadline`, saneMinimum).
const ADDRESS_TIME_MIN: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    async fn dialled(host: &str, port: u16) -> Result<usize, Fault> {
        dial(host, port, b"abc", None, &mut Stopwatch::start()).await.map(|dialled| dialled.written)
    }

    #[test]
    fn the_first_bytes_go_with_the_connection() {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in ["127.0.0.1", "localhost", "", "0.0.0.0", "::ffff:127.0.0.1"] {
            assert_eq!(run(dialled(host, port)), Ok(3), "{host:?}");
        }
    }

    #[test]
    fn nobody_listens() {
        let bound = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        bound.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
        let port = bound.local_addr().unwrap().as_socket().unwrap().port();
        for (host, shown) in [("127.0.0.1", "127.0.0.1"), ("", ""), ("0.0.0.0", "0.0.0.0")] {
            let text = format!("dial tcp {shown}:{port}: connect: connection refused");
            assert_eq!(run(dialled(host, port)), Err(Fault::new(Cause::Refused, text)));
        }
    }

    #[test]
    fn each_address_has_its_share() {
        let deadline = Instant::now() + Duration::from_secs(10);
        let part = |left| share(deadline, left).duration_since(Instant::now()).as_secs_f64().round();
        assert_eq!([part(1), part(2), part(10)], [10.0, 5.0, 2.0]);
        assert_eq!(
            share(Instant::now() + Duration::from_secs(1), 2).duration_since(Instant::now()).as_secs_f64().round(),
            1.0
        );
    }
}
