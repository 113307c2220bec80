//! The buffers that one attempt after another uses, so that a probe that goes well allocates nothing of its own.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use probelet_golang::http1::Reader;

use crate::net::connect::Ahead;
use crate::net::poller::Wait;

/// The buffers of an attempt. They belong to one runtime and serve one attempt at a time.
#[derive(Debug, Default)]
pub struct Buffers {
    pub(super) reader: Reader,
    pub(super) request: Vec<u8>,
    /// The response's body, as far as the kubelet keeps it. Other handlers put the text of a success here.
    pub(super) body: Vec<u8>,
    pub(super) wait: Arc<Wait>,
    /// A connection that the prober asked for before its attempt began.
    pub(crate) ahead: Option<Ahead>,
}

impl Buffers {
    /// Buffers for attempts that somebody else drives.
    pub(crate) fn of(wait: Arc<Wait>) -> Self {
        Self { wait, ..Self::default() }
    }

    /// Prepares for another attempt.
    pub(super) fn begin(&mut self) {
        self.release();
        self.body.clear();
    }

    /// Frees buffers that the last attempt made too large, because a task that waits for its next attempt may wait for
    /// ever. Returns how many bytes that were.
    pub fn release(&mut self) -> usize {
        let bytes = self.request.capacity() + self.reader.capacity();
        if bytes <= KEPT_BYTES_MAX {
            return 0;
        }
        (self.reader, self.request) = Default::default();
        bytes
    }

    /// The connection to `address` that was asked for ahead, if there is one.
    pub(super) fn take_ahead(&mut self, address: SocketAddr) -> Option<io::Result<TcpStream>> {
        self.ahead.take().filter(|ahead| ahead.address == address).map(|ahead| ahead.connection)
    }
}

/// Buffers that exceed this size together, as a hostile head or a huge request needs them, are freed. The window of four
/// KiB and a body, which never exceeds 16 KiB, do not count.
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
        buffers.release();
        assert_eq!(buffers.request.capacity(), 0);
    }
}
