//! An epoll instance within the runtime's, for the one socket of a plain attempt at a time.
//!
//! The runtime allocates for each socket that it watches, and a socket must be deregistered before it is closed. A
//! [`SocketPoll`] is registered once; one call adds a socket, and closing the socket removes it. The instance's events
//! are never read: it has one socket, and the attempt that waits for the socket tries again.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

use super::async_fd::watched;
use super::descriptors::below_reserve;

/// An epoll instance that the runtime watches.
#[derive(Debug)]
pub(crate) struct SocketPoll(AsyncFd<OwnedFd>);

impl SocketPoll {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = below_reserve(epoll::create(CreateFlags::CLOEXEC)?)?;
        Ok(Self(watched(epoll)?))
    }

    /// Watches a socket until it is closed: whether something came, and at first also whether something may be sent.
    pub(crate) fn watch(&self, socket: &TcpStream, is_sending: bool) -> io::Result<()> {
        let flags = if is_sending { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        Ok(epoll::add(&self.0, socket, EventData::new_u64(0), flags)?)
    }

    /// Waits until the socket may be ready. A caller that finds nothing clears the guard.
    pub(crate) async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
        self.0.readable().await
    }

    /// Forgets the readiness of the last socket.
    pub(crate) fn clear_ready(&self) {
        let _: io::Result<()> = self.0.try_io(Interest::READABLE, |_| Err(ErrorKind::WouldBlock.into()));
    }
}
