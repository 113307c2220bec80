//! A TCP connection that a library reads and writes, watched while it does.

use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use probelet_golang::text::{self, Network};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connect::cause_of;
use super::read_budget::ReadBudget;
use crate::attempt::error::AttemptError;

/// A watched connection.
#[derive(Debug)]
pub(crate) struct WatchedStream<W> {
    stream: TcpStream,
    peer: SocketAddr,
    budget: ReadBudget,
    /// Sees every byte that arrives.
    pub(crate) watch: W,
    /// Why the connection cannot be read any more.
    pub(crate) read_error: SharedReadError,
    /// Whether that error is the system's alone, without the words of Go's net in front.
    pub(crate) has_bare_errors: bool,
}

/// Both directions of a connection.
pub(crate) trait Transport: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Debug + Send + Unpin> Transport for S {}

/// What the system said when a connection could not be read any more, also once the connection is a library's.
pub(crate) type SharedReadError = Arc<OnceLock<AttemptError>>;

/// Sees the bytes that arrive.
pub(crate) trait Watch: Unpin {
    /// Gets the bytes that arrived.
    fn pass(&mut self, bytes: &[u8]);
}

/// Ignores the bytes.
#[derive(Debug)]
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    fn pass(&mut self, _bytes: &[u8]) {}
}

impl<W> WatchedStream<W> {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, watch: W) -> Self {
        let (budget, read_error) = (ReadBudget::default(), SharedReadError::default());
        Self { stream, peer, budget, watch, read_error, has_bare_errors: false }
    }

    /// The system's error in Go's words.
    pub(crate) fn operation_error(&self, call: &str, error: &io::Error) -> AttemptError {
        operation_error(call, self.stream.local_addr().ok(), self.peer, error)
    }
}

/// `net.OpError` of a connection.
pub(crate) fn operation_error(
    call: &str,
    local: Option<SocketAddr>,
    peer: SocketAddr,
    error: &io::Error,
) -> AttemptError {
    let number = number_of(error);
    AttemptError::new(cause_of(number), text::operation(Network::Tcp, call, local, peer, number))
}

/// `syscall.Errno`.
fn bare_error(error: &io::Error) -> AttemptError {
    let number = number_of(error);
    AttemptError::new(cause_of(number), text::errno(number))
}

fn number_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EIO)
}

impl<W: Watch> AsyncRead for WatchedStream<W> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.budget.is_spent() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = into.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, into));
        match &read {
            Ok(()) => self.watch.pass(&into.filled()[before..]),
            Err(error) => {
                let said = if self.has_bare_errors { bare_error(error) } else { self.operation_error("read", error) };
                let _ = self.read_error.set(said);
            }
        }
        Poll::Ready(read)
    }
}

impl<W: Watch> AsyncWrite for WatchedStream<W> {
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
