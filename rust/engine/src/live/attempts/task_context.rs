//! What the tasks of attempts share: the clock, the suspect addresses, and the list to which each task adds the attempt
//! that it has ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use probelet_core::time::Instant;
use tokio::sync::Notify;

use super::super::suspects::SuspectAddresses;
use super::super::time::clock::Clock;
use super::super::time::overdue::Overdue;
use super::attempt::{EndedAttempt, Ticket};
use super::heap_trimmer::HeapTrimmer;

/// What the tasks share.
pub(super) struct TaskContext {
    pub(super) clock: Clock,
    pub(super) finished: Mutex<Vec<EndedAttempt>>,
    pub(super) overdue: Overdue,
    pub(super) trimmer: HeapTrimmer,
    pub(super) suspects: Arc<SuspectAddresses>,
    /// The tasks that were woken since the loop last polled them.
    pub(super) woken: Mutex<Vec<u32>>,
    /// Rung when a task was woken, and when the loop has something to hand out.
    pub(super) bell: Notify,
}

impl TaskContext {
    /// `overdue` is how long the loop was overdue before.
    pub(super) fn new(clock: Clock, overdue: Duration, suspects: Arc<SuspectAddresses>) -> Self {
        Self {
            clock,
            finished: Mutex::default(),
            overdue: Overdue::after(overdue),
            trimmer: HeapTrimmer::default(),
            suspects,
            woken: Mutex::default(),
            bell: Notify::new(),
        }
    }

    /// How long the loop was overdue until `now`, in total.
    pub(super) fn overdue(&self, now: Instant) -> Duration {
        self.overdue.total(now)
    }

    fn finish(&self, ended: EndedAttempt) {
        lock(&self.finished).push(ended);
    }
}

/// Finishes an attempt when it is dropped, also by a panic, because its worker would otherwise wait for ever.
pub(super) struct Flight<'a> {
    context: &'a TaskContext,
    ticket: Option<Ticket>,
}

impl<'a> Flight<'a> {
    pub(super) fn begin(context: &'a TaskContext, ticket: Ticket) -> Self {
        Self { context, ticket: Some(ticket) }
    }

    pub(super) fn finish(mut self, ended: EndedAttempt) {
        self.ticket = None;
        self.context.finish(ended);
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.context.finish(EndedAttempt::of_panic(
                ticket,
                "the probe's handler panicked",
                self.context.clock.now(),
            ));
        }
    }
}

/// Ignores poisoning: no code here can panic halfway through a change under the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
