//! Buffers that one attempt after another works in, so that a probe that goes well allocates nothing of its own.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use super::reader::Reader;

/// What an attempt works in.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(super) reader: Reader,
    pub(super) request: Vec<u8>,
    /// The response's body, as far as the kubelet keeps it.
    pub(crate) body: Vec<u8>,
}

/// Buffers on loan; they go back when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(Option<Box<Buffers>>);

thread_local! {
    static POOL: RefCell<Vec<Box<Buffers>>> = const { RefCell::new(Vec::new()) };
}

impl Scratch {
    /// Takes buffers, empty ones.
    pub(crate) fn take() -> Self {
        let mut buffers = POOL.with_borrow_mut(Vec::pop).unwrap_or_default();
        buffers.body.clear();
        Self(Some(buffers))
    }
}

impl Deref for Scratch {
    type Target = Buffers;

    fn deref(&self) -> &Buffers {
        self.0.as_ref().expect("on loan")
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Buffers {
        self.0.as_mut().expect("on loan")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let Some(buffers) = self.0.take() else { return };
        let is_small = buffers.request.capacity() <= KEPT_BYTES_MAX && !buffers.reader.is_large(KEPT_BYTES_MAX);
        // A thread that is ending has no pool any more, and needs none.
        let _ = POOL.try_with(|pool| {
            let mut pool = pool.borrow_mut();
            if is_small && pool.len() < POOL_MAX {
                pool.push(buffers);
            }
        });
    }
}

/// How many buffers wait for their next attempt: more attempts than that are in flight only when targets hang.
const POOL_MAX: usize = 64;
/// Buffers that a hostile head or a huge request made larger than this are freed.
const KEPT_BYTES_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_empty_unless_they_grew() {
        let mut scratch = Scratch::take();
        scratch.body.extend_from_slice(b"body");
        scratch.request.reserve_exact(100);
        drop(scratch);
        let mut again = Scratch::take();
        assert!(again.body.is_empty() && again.request.capacity() >= 100);
        again.request.reserve_exact(KEPT_BYTES_MAX + 1);
        drop(again);
        assert_eq!(Scratch::take().request.capacity(), 0);
    }
}
