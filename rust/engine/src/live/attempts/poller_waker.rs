//! Wakes the engine's thread while it sleeps in the poller, where no bell of the runtime reaches it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use rustix::event::epoll::EventFlags;
use rustix::event::{EventfdFlags, eventfd};

use crate::net::poller::Poller;

/// A waker that ends a sleep in a poller.
#[derive(Debug)]
pub(super) struct PollerWaker {
    event: OwnedFd,
    is_woken: AtomicBool,
}

impl PollerWaker {
    pub(super) fn new(poller: &Poller) -> io::Result<Arc<Self>> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        poller.watch(&event, EventFlags::IN, POLLER_WAKER)?;
        Ok(Arc::new(Self { event, is_woken: AtomicBool::default() }))
    }

    /// Forgets that it was woken. What wakes it from now on ends the next sleep.
    pub(super) fn begin(&self) {
        self.is_woken.store(false, Ordering::Release);
    }
}

impl Wake for PollerWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            // Nobody reads the counter, because the poller reports each write. It is full after 2^64 of them.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }
}

/// The number of its event, which is no attempt's.
pub(super) const POLLER_WAKER: u32 = u32::MAX - 1;
