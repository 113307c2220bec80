//! A connection that sends its queued bytes whenever it is read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::net::stream::Transport;

/// Both directions of a connection. It sends nothing before the caller reads, and then everything in one piece.
#[derive(Debug)]
pub(super) struct BufferedTransport {
    link: Box<dyn Transport>,
    out: Vec<u8>,
    /// How many bytes of `out` were sent.
    sent: usize,
    /// How many of the frames in `out` answer a frame of the peer.
    answers: usize,
    is_flushed: bool,
    is_broken: bool,
}

impl BufferedTransport {
    /// Queues `out`, of which `sent` bytes were sent already.
    pub(super) fn new(link: Box<dyn Transport>, out: Vec<u8>, sent: usize) -> Self {
        Self { link, out, sent, answers: 0, is_flushed: true, is_broken: false }
    }

    /// The queue of bytes to send next, to which callers append frames.
    pub(super) const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Like [`Self::out`], for a frame that answers a frame of the peer: the peer decides how many there are.
    pub(super) const fn answer(&mut self) -> &mut Vec<u8> {
        self.answers += 1;
        &mut self.out
    }

    /// Sends as much as the connection takes. Ignores write errors, because the read that follows reports the better
    /// one.
    fn send(&mut self, context: &mut Context<'_>) {
        while self.sent < self.out.len() && !self.is_broken {
            match Pin::new(&mut self.link).poll_write(context, &self.out[self.sent..]) {
                Poll::Ready(Ok(count @ 1..)) => (self.sent, self.is_flushed) = (self.sent + count, false),
                Poll::Ready(_) => self.is_broken = true,
                Poll::Pending => return,
            }
        }
        (self.sent, self.answers) = (0, 0);
        self.out.clear();
        if !self.is_flushed {
            self.is_flushed = Pin::new(&mut self.link).poll_flush(context).is_ready();
        }
    }
}

impl AsyncRead for BufferedTransport {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.send(context);
        if self.answers > ANSWERS_MAX {
            return Poll::Pending;
        }
        Pin::new(&mut self.link).poll_read(context, into)
    }
}

/// From a peer that sends requests and does not read the answers, the client stops reading too
/// (controlbuf.go:maxQueuedTransportResponseFrames).
const ANSWERS_MAX: usize = 50;
