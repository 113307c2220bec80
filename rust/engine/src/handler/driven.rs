//! An HTTP/2 connection moves only while it is polled; here it moves while one waits for something on it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::client::Connection;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection until its end.
#[derive(Debug)]
pub(super) struct Driven<S: AsyncRead + AsyncWrite + Unpin>(Option<Connection<S, Bytes>>);

impl<S: AsyncRead + AsyncWrite + Unpin> Driven<S> {
    pub(super) const fn new(connection: Connection<S, Bytes>) -> Self {
        Self(Some(connection))
    }

    /// Waits for something on the connection. When that ends, whatever waits on it is told why.
    pub(super) async fn until<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|context| {
            self.turn(context);
            work.as_mut().poll(context)
        })
        .await
    }

    /// Waits for an answer to `look`, which is asked each time something came; none once nothing can come any more.
    pub(super) async fn look<T>(&mut self, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        poll_fn(|context| {
            self.turn(context);
            match (&self.0, look()) {
                (None, _) => Poll::Ready(None),
                (Some(_), Some(seen)) => Poll::Ready(Some(seen)),
                (Some(_), None) => Poll::Pending,
            }
        })
        .await
    }

    fn turn(&mut self, context: &mut Context<'_>) {
        if let Some(connection) = &mut self.0
            && Pin::new(connection).poll(context).is_ready()
        {
            self.0 = None;
        }
    }
}
