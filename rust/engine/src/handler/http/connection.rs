//! A connection that speaks HTTP/1.1, with or without TLS.

use std::future::poll_fn;
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};

use probelet_golang::http1::{End, Fault, ResponseError};
use probelet_play::cause::Cause;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::yield_now;

use crate::attempt::error::AttemptError;
use crate::handler::buffers::Buffers;
use crate::net::read_budget::ReadBudget;
use crate::net::{stream, tls};

/// A connection whose response is read.
#[derive(Debug)]
pub(super) struct Connection {
    link: Link,
    /// How many bytes of the request were sent.
    written: usize,
    /// Why the rest of the request cannot be sent; the response may have come all the same.
    write_error: Option<AttemptError>,
    /// Why the last read failed.
    read_cause: Cause,
    budget: ReadBudget,
}

#[derive(Debug)]
enum Link {
    /// The attempt's [`Wait`](crate::net::poller::Wait) watches the socket.
    Plain {
        socket: TcpStream,
        peer: SocketAddr,
    },
    Tls(Box<tls::Stream>),
}

impl Connection {
    pub(super) fn plain(socket: TcpStream, peer: SocketAddr, written: usize) -> Self {
        Self {
            link: Link::Plain { socket, peer },
            written,
            write_error: None,
            read_cause: Cause::Eof,
            budget: ReadBudget::default(),
        }
    }

    pub(super) fn tls(stream: Box<tls::Stream>) -> Self {
        Self {
            link: Link::Tls(stream),
            written: 0,
            write_error: None,
            read_cause: Cause::Eof,
            budget: ReadBudget::default(),
        }
    }

    /// Reads once, and meanwhile sends the rest of the request, because a server may answer before it has all of it.
    pub(super) async fn read(&mut self, buffers: &mut Buffers) {
        let read = match &mut self.link {
            Link::Plain { .. } => self.read_plain(buffers).await,
            Link::Tls(_) => self.read_tls(buffers).await,
        };
        match read {
            Ok(0) => buffers.reader.ended(End::Eof),
            Ok(count) => buffers.reader.filled(count),
            Err(None) => buffers.reader.ended(End::Eof),
            Err(Some(AttemptError { text, cause })) => {
                self.read_cause = cause;
                buffers.reader.ended(End::Failed(text));
            }
        }
    }

    async fn read_plain(&mut self, buffers: &mut Buffers) -> Result<usize, Option<AttemptError>> {
        if self.budget.is_spent() {
            yield_now().await;
        }
        let Link::Plain { socket, peer } = &self.link else { unreachable!("the caller matched the link") };
        let peer = *peer;
        let failed = |call, error: Errno| stream::operation_error(call, socket.local_addr().ok(), peer, &error.into());
        let Buffers { reader, request, wait, .. } = buffers;
        loop {
            wait.ready().await;
            let mut may_write_on = false;
            if self.written < request.len() && self.write_error.is_none() {
                match send(socket, &request[self.written..], SendFlags::NOSIGNAL) {
                    Ok(count) => {
                        self.written += count;
                        may_write_on = self.written < request.len();
                    }
                    Err(Errno::AGAIN) => {}
                    Err(error) => self.write_error = Some(failed("write", error)),
                }
            }
            match recv(socket, reader.space(), RecvFlags::empty()) {
                Ok((count, _)) => return Ok(count),
                Err(Errno::AGAIN) if may_write_on => {}
                Err(Errno::AGAIN) => wait.clear_ready(),
                Err(error) => return Err(Some(failed("read", error))),
            }
        }
    }

    async fn read_tls(&mut self, buffers: &mut Buffers) -> Result<usize, Option<AttemptError>> {
        poll_fn(|context| {
            self.poll_write_tls(context, &buffers.request);
            let Link::Tls(stream) = &mut self.link else { unreachable!("the caller matched the link") };
            let mut space = ReadBuf::new(buffers.reader.space());
            match Pin::new(&mut **stream).poll_read(context, &mut space) {
                Poll::Ready(Ok(())) => Poll::Ready(Ok(space.filled().len())),
                Poll::Ready(Err(error)) => Poll::Ready(Err(tls::attempt_error(stream, &error))),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Passes the rest of the request to TLS, and flushes it.
    fn poll_write_tls(&mut self, context: &mut Context<'_>, request: &[u8]) {
        let Link::Tls(stream) = &mut self.link else { unreachable!("the caller matched the link") };
        let mut stream = Pin::new(&mut **stream);
        while self.write_error.is_none() && self.written < request.len() {
            match stream.as_mut().poll_write(context, &request[self.written..]) {
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) => self.write_error = tls::attempt_error(&stream, &error),
                Poll::Pending => break,
            }
        }
        if self.write_error.is_none()
            && let Poll::Ready(Err(error)) = stream.as_mut().poll_flush(context)
        {
            self.write_error = tls::attempt_error(&stream, &error);
        }
    }

    /// The error of an attempt whose response cannot be read.
    pub(super) fn error(&self, ResponseError { text, fault, .. }: ResponseError) -> AttemptError {
        let cause = match fault {
            Fault::Connection => self.read_cause,
            Fault::Eof => Cause::Eof,
            Fault::Malformed => Cause::Malformed,
        };
        AttemptError::new(cause, text)
    }

    /// The error of the exchange: the write error, if there is one and no part of an answer came.
    pub(super) fn failed(self, error: ResponseError) -> AttemptError {
        let error = self.error(error);
        match self.write_error {
            Some(write_error) if matches!(error.cause, Cause::Eof | Cause::Reset) => write_error,
            _ => error,
        }
    }
}
