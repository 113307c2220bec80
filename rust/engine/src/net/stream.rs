//! A TCP connection that somebody else reads and writes, watched while it does.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connect::cause_of;
use super::read_budget::Turn;
use crate::attempt::error::Fault;
use crate::golang::text;

/// A watched connection.
#[derive(Debug)]
pub(crate) struct Wire<W> {
    stream: TcpStream,
    peer: SocketAddr,
    turn: Turn,
    /// Sees every byte that comes.
    pub(crate) watch: W,
    /// Why it cannot be read any more.
    pub(crate) faults: Faults,
}

/// Both directions of a connection.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Debug + Send + Unpin> Duplex for S {}

/// What the system said when a connection could not be read any more, also once the connection is a library's.
pub(crate) type Faults = Arc<OnceLock<Fault>>;

/// Looks at what comes.
pub(crate) trait Watch: Unpin {
    /// These bytes came.
    fn pass(&mut self, bytes: &[u8]);
}

/// Nobody looks.
#[derive(Debug)]
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    fn pass(&mut self, _bytes: &[u8]) {}
}

impl<W> Wire<W> {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, watch: W) -> Self {
        Self { stream, peer, turn: Turn::default(), watch, faults: Faults::default() }
    }

    /// What the system's error says in Go's words.
    pub(crate) fn fault(&self, call: &str, error: &io::Error) -> Fault {
        fault(call, self.stream.local_addr().ok(), self.peer, error)
    }
}

/// `net.OpError` of a connection.
pub(crate) fn fault(call: &str, local: Option<SocketAddr>, peer: SocketAddr, error: &io::Error) -> Fault {
    let number = error.raw_os_error().unwrap_or(libc::EIO);
    Fault::new(cause_of(number), text::operation(call, local, peer, number))
}

impl<W: Watch> AsyncRead for Wire<W> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.turn.is_over() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = into.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, into));
        match &read {
            Ok(()) => self.watch.pass(&into.filled()[before..]),
            Err(error) => {
                let _ = self.faults.set(self.fault("read", error));
            }
        }
        Poll::Ready(read)
    }
}

impl<W: Watch> AsyncWrite for Wire<W> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
