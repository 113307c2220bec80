//! The buffers that one attempt after another uses, so that a probe that goes well allocates nothing of its own.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use crate::http1::reader::Reader;
use crate::net::barrier::ConnectBarrier;
use crate::net::epoll::SocketPoll;

/// The buffers of an attempt. They belong to one runtime and serve one attempt at a time.
#[derive(Debug, Default)]
pub struct Buffers {
    pub(super) reader: Reader,
    pub(super) request: Vec<u8>,
    /// The response's body, as far as the kubelet keeps it. Other handlers put the text of a success here.
    pub(super) body: Vec<u8>,
    pub(super) poll: Option<SocketPoll>,
    /// The barrier at which attempts wait between connecting and sending.
    pub(super) barrier: Option<Arc<ConnectBarrier>>,
}

impl Buffers {
    /// Buffers for attempts that wait at `barrier` between connecting and sending.
    pub(crate) fn of(barrier: Arc<ConnectBarrier>) -> Self {
        Self { barrier: Some(barrier), ..Self::default() }
    }

    /// Prepares for another attempt; frees buffers that the last attempt made too large.
    pub(super) fn begin(&mut self) {
        if self.request.capacity() > KEPT_BYTES_MAX || self.reader.is_large(KEPT_BYTES_MAX) {
            *self = Self { poll: self.poll.take(), barrier: self.barrier.take(), ..Self::default() };
        }
        self.body.clear();
    }

    /// Watches the attempt's next socket.
    pub(super) fn watch(&mut self, socket: &TcpStream, is_sending: bool) -> io::Result<()> {
        match &self.poll {
            Some(poll) => poll.clear_ready(),
            None => self.poll = Some(SocketPoll::new()?),
        }
        self.poll.as_ref().expect("just made").watch(socket, is_sending)
    }
}

/// Buffers above this size, which a hostile head or a huge request needs, are freed.
const KEPT_BYTES_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_empty_and_are_freed_if_they_grew() {
        let mut buffers = Buffers::default();
        buffers.body.extend_from_slice(b"body");
        buffers.request.reserve_exact(100);
        buffers.begin();
        assert!(buffers.body.is_empty() && buffers.request.capacity() >= 100);
        buffers.request.reserve_exact(KEPT_BYTES_MAX + 1);
        buffers.begin();
        assert_eq!(buffers.request.capacity(), 0);
    }
}
