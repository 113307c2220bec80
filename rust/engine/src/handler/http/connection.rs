//! One connection with HTTP/1.1 on it, with or without TLS.

use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::yield_now;

use crate::attempt::cause::Cause;
use crate::attempt::error::Fault;
use crate::handler::buffers::Scratch;
use crate::http1::window::End;
use crate::net::read_budget::Turn;
use crate::net::{stream, tls};

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
    /// In the attempt's nest.
    Plain {
        socket: TcpStream,
        peer: SocketAddr,
    },
    Tls(Box<tls::Stream>),
}

impl Connection {
    pub(super) fn plain(socket: TcpStream, peer: SocketAddr, written: usize) -> Self {
        Self { link: Link::Plain { socket, peer }, written, write_fault: None, turn: Turn::default() }
    }

    pub(super) fn tls(stream: Box<tls::Stream>) -> Self {
        Self { link: Link::Tls(stream), written: 0, write_fault: None, turn: Turn::default() }
    }

    /// Reads once, and meanwhile sends what is left of the request: a server may answer before it has all of it.
    pub(super) async fn read(&mut self, scratch: &mut Scratch) {
        let read = match &mut self.link {
            Link::Plain { .. } => self.read_plain(scratch).await,
            Link::Tls(_) => self.read_tls(scratch).await,
        };
        match read {
            Ok(0) => scratch.reader.ended(End::Eof),
            Ok(count) => scratch.reader.filled(count),
            Err(fault) => scratch.reader.ended(fault.map_or(End::Eof, End::Fault)),
        }
    }

    async fn read_plain(&mut self, scratch: &mut Scratch) -> Result<usize, Option<Fault>> {
        if self.turn.is_over() {
            yield_now().await;
        }
        let Link::Plain { socket, peer } = &self.link else { unreachable!("asked for") };
        let peer = *peer;
        let fault = |call, error: &io::Error| stream::fault(call, socket.local_addr().ok(), peer, error);
        let Scratch { reader, request, nest, .. } = scratch;
        let nest = nest.as_ref().expect("the socket is in it");
        loop {
            let mut stirred = nest.stirred().await.map_err(|error| Some(fault("read", &error)))?;
            let mut may_write_on = false;
            if self.written < request.len() && self.write_fault.is_none() {
                match (&*socket).write(&request[self.written..]) {
                    Ok(count) => {
                        self.written += count;
                        may_write_on = self.written < request.len();
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(error) => self.write_fault = Some(fault("write", &error)),
                }
            }
            match (&*socket).read(reader.space()) {
                Err(error) if error.kind() == ErrorKind::WouldBlock && may_write_on => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => stirred.clear_ready(),
                other => return other.map_err(|error| Some(fault("read", &error))),
            }
        }
    }

    async fn read_tls(&mut self, scratch: &mut Scratch) -> Result<usize, Option<Fault>> {
        poll_fn(|context| {
            self.poll_write_tls(context, &scratch.request);
            let Link::Tls(stream) = &mut self.link else { unreachable!("asked for") };
            let mut space = ReadBuf::new(scratch.reader.space());
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
