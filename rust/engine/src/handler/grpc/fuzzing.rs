//! A call without a connection, for fuzz targets: it takes bytes in pieces and returns what the call makes of them.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use probelet_core::semantics::GrpcGo;
use probelet_golang::text::quote;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::call::Call;
use super::channel::Channel;
use super::stream::CallEnd;
use super::transport::BufferedTransport;
use crate::net::stream::SharedReadError;

/// Makes a call to a server that sends SETTINGS, then `pieces`, and closes. Returns the outcome as text.
///
/// # Panics
/// If the call waits for more than there is.
pub fn read_answer(pieces: &[&[u8]]) -> String {
    let call = Call {
        grpc_go: GrpcGo::V1_82_1,
        scheme: "http",
        authority: "server".to_owned(),
        service: "",
        user_agent: "fuzz",
        deadline: Instant::now() + Duration::from_secs(1),
    };
    let pieces = [SETTINGS].iter().chain(pieces).map(|piece| piece.to_vec()).rev().collect();
    let made = async {
        let transport = BufferedTransport::new(Box::new(Server { pieces }), Vec::new(), 0);
        let mut channel = Channel::open(transport, SharedReadError::default()).await.expect("SETTINGS come first");
        match call.make(&mut channel).await {
            CallEnd::Answered(Ok(health)) => health.name(),
            CallEnd::Answered(Err(status)) => format!("{}: {}", status.code, quote(&status.message)),
            CallEnd::Unprocessed(status) => format!("not looked at: {}", quote(&status.message)),
            CallEnd::Unopened => "not made".to_owned(),
        }
    };
    let (mut made, turn) = (pin!(made), Arc::new(Turn::default()));
    loop {
        match made.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&turn)))) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending if turn.0.swap(false, Ordering::Relaxed) => {}
            Poll::Pending => panic!("the call waits though everything has come"),
        }
    }
}

/// Whether the call only lets others run.
#[derive(Debug, Default)]
struct Turn(AtomicBool);

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The server's pieces, the last piece first.
#[derive(Debug)]
struct Server {
    pieces: Vec<Vec<u8>>,
}

impl AsyncRead for Server {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        while let Some(mut piece) = self.pieces.pop() {
            let rest = piece.split_off(piece.len().min(into.remaining()));
            if !rest.is_empty() {
                self.pieces.push(rest);
            }
            if !piece.is_empty() {
                into.put_slice(&piece);
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Server {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
