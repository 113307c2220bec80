//! A thread that writes to a disk. The disk may hang, so the engine's thread hands work over and does not wait.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;

/// The engine's handle of a thread that carries one piece of work at a time and answers each with a result.
#[derive(Debug)]
pub(in super::super) struct DiskThread<W, R> {
    handover: Arc<Handover<W, R>>,
}

#[derive(Debug)]
struct Handover<W, R> {
    slot: Mutex<Slot<W, R>>,
    /// Wakes the thread.
    handed: Condvar,
    /// Wakes [`DiskThread::close`].
    ended: Condvar,
    /// Rung after each piece of work.
    bell: Arc<Notify>,
}

#[derive(Debug)]
struct Slot<W, R> {
    work: Option<W>,
    result: Option<R>,
    is_closing: bool,
    has_ended: bool,
}

impl<W: Send + 'static, R: Send + 'static> DiskThread<W, R> {
    /// Starts the thread, which first opens what it writes to. It rings `bell` after each piece of work.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(in super::super) fn start<Do: FnMut(W) -> R>(
        name: &str,
        bell: Arc<Notify>,
        open: impl FnOnce() -> Do + Send + 'static,
    ) -> io::Result<Self> {
        let slot = Mutex::new(Slot { work: None, result: None, is_closing: false, has_ended: false });
        let handover = Arc::new(Handover { slot, handed: Condvar::new(), ended: Condvar::new(), bell });
        let end = End(Arc::clone(&handover));
        thread::Builder::new().name(name.into()).spawn(move || {
            let mut carry_out = open();
            while let Some(work) = end.0.next() {
                let result = carry_out(work);
                end.0.lock().result = Some(result);
                end.0.bell.notify_one();
            }
        })?;
        Ok(Self { handover })
    }

    /// Hands work over. The caller must have taken the result of the last one: [`Self::result`].
    pub(in super::super) fn hand(&self, work: W) {
        self.handover.lock().work = Some(work);
        self.handover.handed.notify_one();
    }

    /// Takes the result of the last work; None while the thread still carries it out.
    pub(in super::super) fn result(&self) -> Option<R> {
        self.handover.lock().result.take()
    }

    /// Hands over the last work, together with work that still waits, and waits for the thread to end, for `patience`
    /// at most. Returns the last result if the thread has carried everything out. A thread that hangs is not joined.
    pub(in super::super) fn close(&self, last: W, merge: impl FnOnce(&mut W, W), patience: Duration) -> Option<R> {
        let mut slot = self.handover.lock();
        match &mut slot.work {
            Some(work) => merge(work, last),
            work => *work = Some(last),
        }
        slot.is_closing = true;
        self.handover.handed.notify_one();
        let waited = self.handover.ended.wait_timeout_while(slot, patience, |slot| !slot.has_ended);
        let (mut slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_taken = slot.has_ended && slot.work.is_none();
        slot.result.take().filter(|_| is_taken)
    }
}

impl<W, R> Handover<W, R> {
    /// Waits for work; None when the thread is to end and no work is left.
    fn next(&self) -> Option<W> {
        let slot = self.lock();
        let waited = self.handed.wait_while(slot, |slot| slot.work.is_none() && !slot.is_closing);
        waited.unwrap_or_else(PoisonError::into_inner).work.take()
    }

    fn lock(&self) -> MutexGuard<'_, Slot<W, R>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the thread as ended when it is dropped, also by a panic, so that nobody waits for it.
struct End<W, R>(Arc<Handover<W, R>>);

impl<W, R> Drop for End<W, R> {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.ended.notify_all();
    }
}
