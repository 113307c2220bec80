//! Any connection that HTTP/2 can be spoken on, with or without TLS.

use std::fmt::Debug;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::wire::Watch;

/// Both directions of a connection.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Debug + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Debug + Send + Unpin> Duplex for S {}

/// A connection whose content is watched above TLS.
#[derive(Debug)]
pub(super) struct Watched<S, W> {
    stream: S,
    watch: W,
}

impl<S, W> Watched<S, W> {
    pub(super) const fn new(stream: S, watch: W) -> Self {
        Self { stream, watch }
    }
}

impl<S: Duplex, W: Watch> AsyncRead for Watched<S, W> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, into));
        if read.is_ok() {
            self.watch.pass(&into.filled()[before..]);
        }
        Poll::Ready(read)
    }
}

impl<S: Duplex, W: Unpin> AsyncWrite for Watched<S, W> {
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
