//! The thread that writes the journal. The disk may hang, so the engine's thread hands changes over and does not wait.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;

use crate::journal::{Record, Tally, Writer};

/// How a write ended.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) result: io::Result<()>,
    pub(super) tally: Tally,
}

/// The engine's handle of the thread, which carries one list of changes at a time.
#[derive(Debug)]
pub(super) struct JournalThread {
    handover: Arc<Handover>,
}

#[derive(Debug)]
struct Handover {
    slot: Mutex<Slot>,
    /// Wakes the writing thread.
    handed: Condvar,
    /// Wakes [`JournalThread::close`].
    ended: Condvar,
    /// Rung after each write.
    bell: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Slot {
    changes: Option<Vec<Record>>,
    written: Option<Written>,
    is_closing: bool,
    has_ended: bool,
}

impl JournalThread {
    /// Starts the thread; it rings `bell` after each write.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(super) fn start(writer: Writer, bell: Arc<Notify>) -> io::Result<Self> {
        let (slot, handed, ended) = (Mutex::default(), Condvar::new(), Condvar::new());
        let handover = Arc::new(Handover { slot, handed, ended, bell });
        let end = End(Arc::clone(&handover));
        thread::Builder::new().name("probelet-journal".into()).spawn(move || end.0.write_all(writer))?;
        Ok(Self { handover })
    }

    /// Hands changes over. The caller must have taken the result of the last ones: [`Self::written`].
    pub(super) fn hand(&self, changes: Vec<Record>) {
        self.handover.lock().changes = Some(changes);
        self.handover.handed.notify_one();
    }

    /// Takes the result of the last write; None while the thread still writes.
    pub(super) fn written(&self) -> Option<Written> {
        self.handover.lock().written.take()
    }

    /// Hands over the last changes and waits for the thread to end, for `patience` at most. True if the thread has
    /// written everything. A thread that hangs is not joined.
    pub(super) fn close(&self, last: Vec<Record>, patience: Duration) -> bool {
        let mut slot = self.handover.lock();
        slot.changes.get_or_insert_default().extend(last);
        slot.is_closing = true;
        self.handover.handed.notify_one();
        let waited = self.handover.ended.wait_timeout_while(slot, patience, |slot| !slot.has_ended);
        let (slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_taken = slot.has_ended && slot.changes.is_none();
        is_taken && slot.written.as_ref().is_some_and(|written| written.result.is_ok())
    }
}

impl Handover {
    fn write_all(&self, mut writer: Writer) {
        while let Some(changes) = self.next() {
            let result = writer.write(changes);
            self.lock().written = Some(Written { result, tally: writer.tally() });
            self.bell.notify_one();
        }
    }

    /// Waits for changes; None when the journal closes and no changes are left.
    fn next(&self) -> Option<Vec<Record>> {
        let slot = self.lock();
        let waited = self.handed.wait_while(slot, |slot| slot.changes.is_none() && !slot.is_closing);
        waited.unwrap_or_else(PoisonError::into_inner).changes.take()
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the thread as ended when it is dropped, also by a panic, so that `close` does not wait for it.
struct End(Arc<Handover>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.ended.notify_all();
    }
}
