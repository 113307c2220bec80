//! What one attempt after another works in, so that a probe that goes well allocates nothing of its own.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use crate::http1::reader::Reader;
use crate::net::barrier::Crowd;
use crate::net::epoll::Nest;

/// What an attempt works in. It belongs to one runtime, and its attempts come one after another.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) reader: Reader,
    pub(super) request: Vec<u8>,
    /// The response's body, as far as the kubelet keeps it; of other handlers what a success says.
    pub(super) body: Vec<u8>,
    pub(super) nest: Option<Nest>,
    /// Whom an attempt waits for between connecting and sending.
    pub(super) crowd: Option<Arc<Crowd>>,
}

impl Scratch {
    /// For the attempts of a crowd.
    pub(crate) fn of(crowd: Arc<Crowd>) -> Self {
        Self { crowd: Some(crowd), ..Self::default() }
    }

    /// Makes ready for another attempt. Buffers that the last one made too large are freed.
    pub(super) fn begin(&mut self) {
        if self.request.capacity() > KEPT_BYTES_MAX || self.reader.is_large(KEPT_BYTES_MAX) {
            *self = Self { nest: self.nest.take(), crowd: self.crowd.take(), ..Self::default() };
        }
        self.body.clear();
    }

    /// Puts the attempt's next socket into its nest.
    pub(super) fn watch(&mut self, socket: &TcpStream, is_sending: bool) -> io::Result<()> {
        match &self.nest {
            Some(nest) => nest.calm(),
            None => self.nest = Some(Nest::new()?),
        }
        self.nest.as_ref().expect("just made").watch(socket, is_sending)
    }
}

/// Buffers that a hostile head or a huge request made larger than this are freed.
const KEPT_BYTES_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_empty_and_are_freed_if_they_grew() {
        let mut scratch = Scratch::default();
        scratch.body.extend_from_slice(b"body");
        scratch.request.reserve_exact(100);
        scratch.begin();
        assert!(scratch.body.is_empty() && scratch.request.capacity() >= 100);
        scratch.request.reserve_exact(KEPT_BYTES_MAX + 1);
        scratch.begin();
        assert_eq!(scratch.request.capacity(), 0);
    }
}
