//! Connections that begin in a pod's own network namespace, and that end there too.
//!
//! A socket belongs to the namespace in which it was made, whichever thread uses it later. So a thread enters the namespace,
//! makes sockets and hands them over ([`maker`]); the loop itself never leaves its own. A few sockets are made ahead
//! ([`stock`]), because a crossing between two threads costs more than half an attempt.
//!
//! A connection binds the address to which it connects before it connects. The system lets a socket bind the namespace's
//! own addresses alone, so a probe can reach its pod and nothing else, whatever its host resolves to.

mod interior;
mod maker;
mod stock;

use std::fs::OpenOptions;
use std::io;
use std::net::{self, SocketAddr, SocketAddrV6};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use probelet_play::cause::Cause;
use rustix::io::Errno;

use self::interior::Interior;
pub(crate) use self::maker::SocketMaker;
use self::stock::Family;
use super::connect::{ForeignAddress, SyscallError, at};

/// A network namespace. It stays open, also after its last process has ended, until the last attempt drops it.
#[derive(Debug)]
pub(crate) struct Namespace {
    interior: Arc<Interior>,
    maker: SocketMaker,
}

impl Namespace {
    /// Opens the namespace at `path`, and enters it once to see that this process may. None if it is the one of this
    /// process.
    ///
    /// # Errors
    /// There is none, or it cannot be entered.
    pub(crate) fn open(path: &Path, maker: &SocketMaker) -> io::Result<Option<Self>> {
        // Not to wait for a writer if the path turns out to be a pipe.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        let interior = Arc::new(Interior::of(file)?);
        if interior.is_same(maker.home()) {
            return Ok(None);
        }
        let namespace = Self { interior, maker: maker.clone() };
        namespace.maker.order(&namespace.interior, Family::V4).blocking_recv().map_err(|_| no_maker())??;
        Ok(Some(namespace))
    }

    /// Whether both are the same namespace of the system.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.interior.is_same(&other.interior)
    }

    /// Asks for a connection to an address of the namespace, and does not wait for it.
    ///
    /// A local port that is missing is a port of the pod's, so the prober is not at fault.
    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<net::TcpStream> {
        let family = Family::of(address);
        let socket = match self.take(family) {
            Some(socket) => socket,
            None => self.maker.order(&self.interior, family).await.map_err(|_| no_maker())??,
        };
        match rustix::net::bind(&socket, &without_port(address)) {
            Ok(()) => {}
            Err(Errno::ADDRNOTAVAIL) => return Err(ForeignAddress.into()),
            Err(error) => return Err(at("bind", &error.into())),
        }
        match rustix::net::connect(&socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket.into()),
            Err(error @ Errno::ADDRNOTAVAIL) => {
                Err(SyscallError { call: "connect", number: error.raw_os_error(), cause: Cause::Unreachable }.into())
            }
            Err(error) => Err(at("connect", &error.into())),
        }
    }

    /// A socket that was made ahead, if there is one. The last few are replaced.
    fn take(&self, family: Family) -> Option<OwnedFd> {
        let (socket, is_low) = self.interior.stock().take(family);
        if is_low {
            self.maker.refill(&self.interior, family);
        }
        socket
    }
}

fn no_maker() -> io::Error {
    SyscallError { call: "setns", number: libc::EAGAIN, cause: Cause::Starved }.into()
}

/// The address as a source, with a port of the system's choice.
const fn without_port(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(address) => SocketAddr::new(net::IpAddr::V4(*address.ip()), 0),
        SocketAddr::V6(address) => SocketAddr::V6(SocketAddrV6::new(*address.ip(), 0, 0, address.scope_id())),
    }
}

#[cfg(test)]
mod tests;
