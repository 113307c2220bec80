//! Opens one connection and sends its first bytes.
//!
//! The first bytes go out before the socket is registered with the poller: on one machine a connection is established
//! as soon as `connect` returns, and a probe then waits only once, for the answer.

use std::io::{self, ErrorKind};
use std::net::{self, SocketAddr};

use probelet_golang::text;
use probelet_play::cause::Cause;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socket_with};
use tokio::net::TcpStream;

use super::descriptors::below_reserve;
use crate::attempt::error::AttemptError;

/// A connection, and how much of the first bytes went out with it.
#[derive(Debug)]
pub(crate) struct Dialled {
    link: Link,
    pub(crate) peer: SocketAddr,
    pub(crate) written: usize,
}

#[derive(Debug)]
enum Link {
    /// The poller does not know it yet.
    Fresh(net::TcpStream),
    Polled(TcpStream),
}

impl Dialled {
    /// The connection, registered with the poller; TCP_NODELAY keeps later pieces from being held back.
    pub(crate) fn stream(self) -> io::Result<TcpStream> {
        let stream = match self.link {
            Link::Fresh(stream) => TcpStream::from_std(stream)?,
            Link::Polled(stream) => stream,
        };
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// The connection, not registered with the poller: for one request and one answer.
    pub(crate) fn socket(self) -> io::Result<net::TcpStream> {
        match self.link {
            Link::Fresh(socket) => Ok(socket),
            Link::Polled(stream) => stream.into_std(),
        }
    }
}

/// A connection that was asked for before the attempt that needs it begins.
#[derive(Debug)]
pub(crate) struct Ahead {
    pub(crate) address: SocketAddr,
    pub(crate) connection: io::Result<net::TcpStream>,
}

impl Ahead {
    /// Asks for a connection.
    pub(crate) fn to(address: SocketAddr) -> Self {
        Self { address, connection: open(address) }
    }
}

/// Connects and sends `first`.
pub(crate) async fn connect(address: SocketAddr, first: &[u8]) -> io::Result<Dialled> {
    send_first(open(address)?, address, first).await
}

/// Asks for a connection and does not wait for it.
///
/// The kubelet sets SO_LINGER to one second (probe/dialer_others.go, 1.36). On Linux that changes nothing on the wire:
/// it makes close(2) wait up to a second for the peer's last ACK, also for a non-blocking socket (measured: 1027 ms
/// towards a pod whose link is down, 0.07 ms without). Go can spare a thread for that; here it would hold up every
/// other probe. Go sets TCP_NODELAY on every connection. It changes nothing for a request that is sent with one write,
/// so only senders of several pieces set it. IP_BIND_ADDRESS_NO_PORT only matters for a socket that is bound, and no
/// socket here is.
///
/// The calls of an attempt go to the system directly, because in the C library each is also a point at which a thread
/// may be cancelled, and prepares for that.
pub(crate) fn open(address: SocketAddr) -> io::Result<net::TcpStream> {
    let socket = socket_with(family(address), SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
        .map_err(io::Error::from)
        .and_then(below_reserve)
        .map_err(|error| at("socket", &error))?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket.into()),
        Err(error) => Err(not_connected(address, error)),
    }
}

const fn family(address: SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

/// The error of a connect(2) that failed at once. The system says EADDRNOTAVAIL if this machine has no local port left
/// towards `address`, which is the prober's limit, and also if no interface could be the source, which a retry cannot
/// mend, so that the target is unreachable. A datagram socket tells the two apart, because it has ports of its own.
fn not_connected(address: SocketAddr, error: Errno) -> io::Error {
    if error == Errno::ADDRNOTAVAIL {
        let datagrams = socket_with(family(address), SocketType::DGRAM, SocketFlags::CLOEXEC, None);
        let source = datagrams.and_then(|socket| rustix::net::connect(socket, &address));
        if source == Err(Errno::ADDRNOTAVAIL) {
            let number = error.raw_os_error();
            return SyscallError { call: "connect", number, cause: Cause::Unreachable }.into();
        }
    }
    at("connect", &error.into())
}

/// Sends `first` on a connection that was asked for. A socket that is not connected yet refuses to send, which tells as
/// much as asking whether it is.
pub(crate) async fn send_first(stream: net::TcpStream, address: SocketAddr, first: &[u8]) -> io::Result<Dialled> {
    match send(&stream, first, SendFlags::NOSIGNAL) {
        Ok(written) => return Ok(Dialled { link: Link::Fresh(stream), peer: address, written }),
        Err(Errno::AGAIN) => {}
        Err(error) => return Err(at("connect", &error.into())),
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

/// `os.SyscallError`: the call that failed and its error number.
pub(super) fn at(call: &'static str, error: &io::Error) -> io::Error {
    let number = error.raw_os_error().unwrap_or(libc::EIO);
    SyscallError { call, number, cause: cause_of(number) }.into()
}

#[derive(Debug)]
pub(super) struct SyscallError {
    pub(super) call: &'static str,
    pub(super) number: i32,
    pub(super) cause: Cause,
}

impl From<SyscallError> for io::Error {
    fn from(error: SyscallError) -> Self {
        Self::new(Self::from_raw_os_error(error.number).kind(), error)
    }
}

impl std::error::Error for SyscallError {}

impl std::fmt::Display for SyscallError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.call, text::errno(self.number))
    }
}

/// The address is none of the pod's, so that a probe from inside the pod must not connect to it.
#[derive(Debug)]
pub(super) struct ForeignAddress;

impl From<ForeignAddress> for io::Error {
    fn from(error: ForeignAddress) -> Self {
        Self::new(ErrorKind::AddrNotAvailable, error)
    }
}

impl std::error::Error for ForeignAddress {}

impl std::fmt::Display for ForeignAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("not an address of the pod (network: pod)")
    }
}

/// The error of a connection that failed, in Go's words. An error that is not of a call on the socket is the poller's.
pub(crate) fn failed(shown: &str, error: &io::Error) -> AttemptError {
    let inner = error.get_ref();
    let cause = match inner.and_then(|inner| inner.downcast_ref::<SyscallError>()) {
        Some(call) => call.cause,
        None if inner.is_some_and(|inner| inner.is::<ForeignAddress>()) => Cause::Unreachable,
        None => Cause::Starved,
    };
    AttemptError::new(cause, format!("dial tcp {shown}: {error}"))
}

/// What an error number of a connection means. If this machine has run out of a resource, the prober is at fault:
/// descriptors (EMFILE, ENFILE), memory (ENOBUFS, ENOMEM), local ports (EADDRNOTAVAIL), cached routes (EAGAIN).
pub(crate) const fn cause_of(number: i32) -> Cause {
    match number {
        libc::ECONNREFUSED => Cause::Refused,
        libc::ECONNRESET | libc::EPIPE | libc::ECONNABORTED => Cause::Reset,
        libc::ETIMEDOUT => Cause::ConnectTimeout,
        libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM | libc::EADDRNOTAVAIL | libc::EAGAIN => {
            Cause::Starved
        }
        _ => Cause::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_lacks_is_the_probers_and_what_the_target_says_is_not() {
        let failure = |number| failed("a:1", &at("connect", &io::Error::from_raw_os_error(number)));
        for number in [libc::EMFILE, libc::ENFILE, libc::ENOBUFS, libc::ENOMEM, libc::EADDRNOTAVAIL, libc::EAGAIN] {
            assert!(failure(number).is_prober_error(), "{number}");
        }
        for number in [libc::ECONNREFUSED, libc::ECONNRESET, libc::ETIMEDOUT, libc::EHOSTUNREACH, libc::EACCES] {
            assert!(!failure(number).is_prober_error(), "{number}");
        }
        assert!(failed("a:1", &io::Error::other("the poller's")).is_prober_error());
    }

    #[test]
    fn a_machine_with_a_source_address_that_cannot_connect_has_no_port_left() {
        let error = failed("127.0.0.1:1", &not_connected("127.0.0.1:1".parse().unwrap(), Errno::ADDRNOTAVAIL));
        assert_eq!(error.cause, Cause::Starved);
        assert_eq!(error.text, "dial tcp 127.0.0.1:1: connect: cannot assign requested address");
    }
}
