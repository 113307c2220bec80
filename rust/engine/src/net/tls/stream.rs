//! A TLS connection after its handshake, and how many messages without data a server may send on it.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use super::records::Records;
use crate::net::stream::WatchedStream;

/// A TLS connection.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(super) tls: TlsStream<WatchedStream<Records>>,
    /// The records and session tickets that had come with the last data.
    at_data: Counts,
}

/// How many records and session tickets have come.
#[derive(Clone, Copy, Debug)]
struct Counts {
    records: u64,
    tickets: u32,
}

/// The server sends messages, but no data.
#[derive(Debug)]
pub(super) struct NoProgress;

impl Display for NoProgress {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("too many non-advancing records")
    }
}

impl std::error::Error for NoProgress {}

impl Stream {
    pub(super) fn new(tls: TlsStream<WatchedStream<Records>>) -> Self {
        let at_data = counts(&tls);
        Self { tls, at_data }
    }

    /// Go gives up on a server after [`USELESS_MAX`] messages without data between them.
    fn is_useless(&self, has_data: bool) -> bool {
        let now = counts(&self.tls);
        let tickets = now.tickets - self.at_data.tickets;
        // Nobody knows which of the records that came with data held it.
        let records = if has_data { 0 } else { now.records - self.at_data.records };
        tickets > USELESS_MAX || records > u64::from(USELESS_MAX)
    }
}

fn counts(tls: &TlsStream<WatchedStream<Records>>) -> Counts {
    let (tcp, session) = tls.get_ref();
    Counts { records: tcp.watch.count(), tickets: session.tls13_tickets_received() }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.tls).poll_read(context, into);
        let has_data = into.filled().len() > before;
        if self.is_useless(has_data) {
            return Poll::Ready(Err(io::Error::other(NoProgress)));
        }
        if has_data {
            self.at_data = counts(&self.tls);
        }
        read
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tls).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tls).poll_shutdown(context)
    }
}

/// `tls.maxUselessRecords`.
const USELESS_MAX: u32 = 16;
