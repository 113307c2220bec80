//! Many attempts that are due in one moment: all connect before one of them sends.
//!
//! The last of them is then late by the others' connections, and not by what they send, wait for and read as well. Who
//! hands attempts out holds the crowd while more of them come, and releases it.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Attempts on one thread that wait for each other; its lock only makes it shareable.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    is_held: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Crowd {
    /// From now on attempts that have connected wait.
    pub(crate) fn hold(&self) {
        self.is_held.store(true, Ordering::Relaxed);
    }

    /// All may go on.
    pub(crate) fn release(&self) {
        if self.is_held.swap(false, Ordering::Relaxed) {
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// Whether those who come wait.
    pub(crate) fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }

    /// Waits while it is held.
    pub(crate) async fn pass(&self) {
        poll_fn(|context| {
            if !self.is_held() {
                return Poll::Ready(());
            }
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn while_it_is_held_those_who_come_wait_and_then_go_on_in_their_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (crowd, seen) = (Arc::new(Crowd::default()), Arc::new(Mutex::new(Vec::new())));
            crowd.hold();
            let attempts = (0..3).map(|number| {
                let (crowd, seen) = (Arc::clone(&crowd), Arc::clone(&seen));
                tokio::spawn(async move {
                    seen.lock().unwrap().push(("connects", number));
                    crowd.pass().await;
                    seen.lock().unwrap().push(("sends", number));
                })
            });
            let attempts: Vec<_> = attempts.collect();
            tokio::task::yield_now().await;
            assert_eq!(*seen.lock().unwrap(), [("connects", 0), ("connects", 1), ("connects", 2)]);
            crowd.release();
            for attempt in attempts {
                attempt.await.unwrap();
            }
            assert_eq!(seen.lock().unwrap()[3..], [("sends", 0), ("sends", 1), ("sends", 2)]);
            crowd.pass().await;
        });
    }
}
