//! A barrier for many attempts that are due at one moment: all of them connect before any of them sends.
//!
//! The last attempt is then late only by the others' connecting, and not by their sending, waiting and reading as well.
//! The loop that starts attempts closes the barrier while more of them are to start, and then opens it. An attempt's
//! own time begins when the barrier opens, so that waiting takes nothing from the target's timeout.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Holds back attempts of one thread; the lock only makes the barrier shareable.
#[derive(Debug, Default)]
pub(crate) struct ConnectBarrier {
    is_closed: AtomicBool,
    /// How often the barrier has been opened.
    openings: AtomicU64,
    waiting: Mutex<Vec<Waker>>,
}

impl ConnectBarrier {
    /// From now on an attempt that has connected waits.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Lets all attempts go on.
    pub(crate) fn open(&self) {
        if self.is_closed.swap(false, Ordering::Relaxed) {
            self.openings.fetch_add(1, Ordering::Relaxed);
            let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// True while attempts that have connected wait.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Waits until the barrier opens. An attempt waits for one opening, even if the barrier closes again before the
    /// attempt is polled: its wait is bounded by the time for which the barrier stays closed.
    pub(crate) async fn pass(&self) {
        let before = self.openings.load(Ordering::Relaxed);
        poll_fn(|context| {
            if !self.is_closed() || self.openings.load(Ordering::Relaxed) != before {
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
    fn while_the_barrier_is_closed_attempts_wait_and_then_go_on_in_their_order() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (barrier, seen) = (Arc::new(ConnectBarrier::default()), Arc::new(Mutex::new(Vec::new())));
            barrier.close();
            let attempts = (0..3).map(|number| {
                let (barrier, seen) = (Arc::clone(&barrier), Arc::clone(&seen));
                tokio::spawn(async move {
                    seen.lock().unwrap().push(("connects", number));
                    barrier.pass().await;
                    seen.lock().unwrap().push(("sends", number));
                })
            });
            let attempts: Vec<_> = attempts.collect();
            tokio::task::yield_now().await;
            assert_eq!(*seen.lock().unwrap(), [("connects", 0), ("connects", 1), ("connects", 2)]);
            barrier.open();
            // It closes again for others before these attempts are polled.
            barrier.close();
            for attempt in attempts {
                attempt.await.unwrap();
            }
            assert_eq!(seen.lock().unwrap()[3..], [("sends", 0), ("sends", 1), ("sends", 2)]);
            barrier.open();
            barrier.pass().await;
        });
    }
}
