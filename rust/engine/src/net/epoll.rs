//! An epoll instance within the runtime's, for the one socket of a plain attempt at a time.
//!
//! The runtime allocates for each socket it is told of, and wants to be told when the socket goes. A nest it is told of
//! once; a socket goes into it with one call and out of it by being closed. Nobody asks the nest what happened: there is
//! one socket, and whoever waits for it tries again.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

use super::async_fd::watched;

/// An epoll instance that the runtime watches.
#[derive(Debug)]
pub(crate) struct Nest(AsyncFd<OwnedFd>);

impl Nest {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self(watched(epoll)?))
    }

    /// Watches a socket until it is closed: whether something came, and at first also whether something may be sent.
    pub(crate) fn watch(&self, socket: &TcpStream, is_sending: bool) -> io::Result<()> {
        let flags = if is_sending { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        Ok(epoll::add(&self.0, socket, EventData::new_u64(0), flags)?)
    }

    /// Waits until there is something to try. Who finds nothing clears the guard.
    pub(crate) async fn stirred(&self) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
        self.0.readable().await
    }

    /// Forgets what the last socket did.
    pub(crate) fn calm(&self) {
        let _: io::Result<()> = self.0.try_io(Interest::READABLE, |_| Err(ErrorKind::WouldBlock.into()));
    }
}
