//! One connection with HTTP/1.1 on it, with or without TLS.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::yield_now;

use super::reader::Reader;
use super::window::End;
use crate::cause::Cause;
use crate::handler::fault::Fault;
use crate::handler::turn::Turn;
use crate::handler::{tls, wire};

/// A connection whose response is being read.
#[derive(Debug)]
pub(super) struct Connection {
    link: Link,
    /// How much of the request has been sent.
    written: usize,
    /// Why no more of it can be sent; the response may be there all the same.
    write_fault: Option<Fault>,
    turn: Turn,
}

#[derive(Debug)]
enum Link {
    Plain { stream: TcpStream, peer: SocketAddr },
    Tls(Box<tls::Stream>),
}

impl Connection {
    pub(super) fn plain(stream: TcpStream, peer: SocketAddr, written: usize) -> Self {
        Self { link: Link::Plain { stream, peer }, written, write_fault: None, turn: Turn::default() }
    }

    pub(super) fn tls(stream: Box<tls::Stream>) -> Self {
        Self { link: Link::Tls(stream), written: 0, write_fault: None, turn: Turn::default() }
    }

    /// Reads once, and meanwhile sends what is left of the request: a server may answer before it has all of it.
    pub(super) async fn read(&mut self, reader: &mut Reader, request: &[u8]) {
        let read = match &mut self.link {
            Link::Plain { .. } => self.read_plain(reader, request).await,
            Link::Tls(_) => self.read_tls(reader, request).await,
        };
        match read {
            Ok(0) => reader.ended(End::Eof),
            Ok(count) => reader.filled(count),
            Err(fault) => reader.ended(fault.map_or(End::Eof, End::Fault)),
        }
    }

    async fn read_plain(&mut self, reader: &mut Reader, request: &[u8]) -> Result<usize, Option<Fault>> {
        if self.turn.is_over() {
            yield_now().await;
        }
        let Link::Plain { stream, peer } = &self.link else { unreachable!("asked for") };
        let fault = |call, error: &io::Error| wire::fault(call, stream, *peer, error);
        loop {
            let is_written = self.written == request.len() || self.write_fault.is_some();
            let interest = if is_written { Interest::READABLE } else { Interest::READABLE | Interest::WRITABLE };
            let ready = stream.ready(interest).await;
            if !is_written && ready.as_ref().is_ok_and(|ready| ready.is_writable()) {
                match stream.try_write(&request[self.written..]) {
                    Ok(count) => self.written += count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => self.write_fault = Some(fault("write", &error)),
                }
            }
            match ready.and_then(|_| stream.try_read(reader.space())) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other.map_err(|error| Some(fault("read", &error))),
            }
        }
    }

    async fn read_tls(&mut self, reader: &mut Reader, request: &[u8]) -> Result<usize, Option<Fault>> {
        poll_fn(|context| {
            self.poll_write_tls(context, request);
            let Link::Tls(stream) = &mut self.link else { unreachable!("asked for") };
            let mut space = ReadBuf::new(reader.space());
            match Pin::new(&mut **stream).poll_read(context, &mut space) {
                Poll::Ready(Ok(())) => Poll::Ready(Ok(space.filled().len())),
                Poll::Ready(Err(error)) => Poll::Ready(Err(tls::fault(stream, &error))),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Hands over what is left of the request, and sees to it that all of it leaves.
    fn poll_write_tls(&mut self, context: &mut Context<'_>, request: &[u8]) {
        let Link::Tls(stream) = &mut self.link else { unreachable!("asked for") };
        let mut stream = Pin::new(&mut **stream);
        while self.write_fault.is_none() && self.written < request.len() {
            match stream.as_mut().poll_write(context, &request[self.written..]) {
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) => self.write_fault = tls::fault(&stream, &error),
                Poll::Pending => break,
            }
        }
        if self.write_fault.is_none()
            && let Poll::Ready(Err(error)) = stream.as_mut().poll_flush(context)
        {
            self.write_fault = tls::fault(&stream, &error);
        }
    }

    /// A request that could not be sent is what went wrong if nothing of an answer came.
    pub(super) fn failed(self, fault: Fault) -> Fault {
        match self.write_fault {
            Some(write_fault) if matches!(fault.cause, Cause::Eof | Cause::Reset) => write_fault,
            _ => fault,
        }
    }
}
