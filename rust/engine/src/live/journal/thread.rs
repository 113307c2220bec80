//! The thread that reads the journal and then writes it. The disk may hang, so the engine's thread hands changes over
//! and does not wait.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;

use crate::journal::{Changes, Contents, JournalError, Reading, Tally, Writer};

/// How a write ended.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) result: io::Result<()>,
    pub(super) tally: Tally,
}

/// What the thread found.
#[derive(Debug)]
pub(super) enum Opened {
    Journal(Reading),
    /// The file is not believed. `kept` says where it lies now.
    Refused {
        why: String,
        kept: String,
    },
    /// The disk has not answered in time. The thread forgets what it reads, should it ever come.
    Late,
}

/// How the thread reads a journal.
pub(super) type Read = fn(&Path) -> Result<Reading, JournalError>;

/// The engine's handle of the thread, which carries one list of changes at a time.
#[derive(Debug)]
pub(super) struct JournalThread {
    handover: Arc<Handover>,
}

#[derive(Debug)]
struct Handover {
    slot: Mutex<Slot>,
    /// Wakes the thread.
    handed: Condvar,
    /// Wakes [`JournalThread::start`] and [`JournalThread::close`].
    answered: Condvar,
    /// Rung after each write.
    bell: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Slot {
    opened: Option<Opened>,
    /// Whether nobody waits for `opened` any more.
    is_late: bool,
    changes: Option<Changes>,
    written: Option<Written>,
    is_closing: bool,
    has_ended: bool,
}

impl JournalThread {
    /// Starts the thread, and waits for what it reads, for `patience` at most. The thread rings `bell` after each write.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(super) fn start(path: &Path, read: Read, patience: Duration, bell: Arc<Notify>) -> io::Result<(Self, Opened)> {
        let (slot, handed, answered) = (Mutex::default(), Condvar::new(), Condvar::new());
        let handover = Arc::new(Handover { slot, handed, answered, bell });
        let (end, path) = (End(Arc::clone(&handover)), path.to_owned());
        thread::Builder::new().name("probelet-journal".into()).spawn(move || end.0.work(&path, read))?;
        let opened = handover.opened(patience);
        Ok((Self { handover }, opened))
    }

    /// Hands changes over. The caller must have taken the result of the last ones: [`Self::written`].
    pub(super) fn hand(&self, changes: Changes) {
        self.handover.lock().changes = Some(changes);
        self.handover.handed.notify_one();
    }

    /// Takes the result of the last write; None while the thread still writes.
    pub(super) fn written(&self) -> Option<Written> {
        self.handover.lock().written.take()
    }

    /// Hands over the last changes and waits for the thread to end, for `patience` at most. True if the thread has
    /// written everything. A thread that hangs is not joined.
    pub(super) fn close(&self, last: Changes, patience: Duration) -> bool {
        let mut slot = self.handover.lock();
        match &mut slot.changes {
            Some(changes) => changes.extend(last),
            changes => *changes = Some(last),
        }
        slot.is_closing = true;
        self.handover.handed.notify_one();
        let waited = self.handover.answered.wait_timeout_while(slot, patience, |slot| !slot.has_ended);
        let (slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_taken = slot.has_ended && slot.changes.is_none();
        is_taken && slot.written.as_ref().is_some_and(|written| written.result.is_ok())
    }
}

impl Handover {
    fn opened(&self, patience: Duration) -> Opened {
        let is_waiting = |slot: &mut Slot| slot.opened.is_none() && !slot.has_ended;
        let waited = self.answered.wait_timeout_while(self.lock(), patience, is_waiting);
        let (mut slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        slot.is_late = true;
        slot.opened.take().unwrap_or(Opened::Late)
    }

    fn work(&self, path: &Path, read: Read) {
        let mut writer = self.open(path, read);
        while let Some(changes) = self.next() {
            let result = writer.write(changes);
            self.lock().written = Some(Written { result, tally: writer.tally() });
            self.bell.notify_one();
        }
    }

    /// Reads the journal and begins to write where it ends, or anew.
    fn open(&self, path: &Path, read: Read) -> Writer {
        let (opened, contents, whole) = match read(path) {
            Ok(reading) => {
                let (contents, whole) = (reading.contents.clone(), reading.whole);
                (Opened::Journal(reading), contents, whole)
            }
            Err(JournalError(why)) => {
                let kept = set_aside(path);
                (Opened::Refused { why, kept }, Contents::default(), 0)
            }
        };
        let mut slot = self.lock();
        // The engine began without the file's memories, so they must not come back later.
        if slot.is_late {
            drop(slot);
            return Writer::new(path, Contents::default(), 0);
        }
        slot.opened = Some(opened);
        drop(slot);
        self.answered.notify_all();
        Writer::new(path, contents, whole)
    }

    /// Waits for changes; None when the journal closes and no changes are left.
    fn next(&self) -> Option<Changes> {
        let slot = self.lock();
        let waited = self.handed.wait_while(slot, |slot| slot.changes.is_none() && !slot.is_closing);
        waited.unwrap_or_else(PoisonError::into_inner).changes.take()
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renames a file that is not believed; returns where it lies now.
fn set_aside(path: &Path) -> String {
    let aside: PathBuf = path.with_extension("refused");
    match std::fs::rename(path, &aside) {
        Ok(()) => format!("kept as {}", aside.display()),
        Err(error) => format!("it cannot be set aside: {error}"),
    }
}

/// Marks the thread as ended when it is dropped, also by a panic, so that nobody waits for it.
struct End(Arc<Handover>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.answered.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::journal::{BackoffRecord, Record, read_file};

    fn record(name: &str) -> Record {
        Record::Backoff(name.into(), BackoffRecord { delay: Duration::ZERO, last_start_ns: 0, step: 0 })
    }

    #[test]
    fn a_journal_that_comes_too_late_is_forgotten_and_written_anew() {
        static IS_READ: AtomicBool = AtomicBool::new(false);
        let path = std::env::temp_dir().join(format!("probelet-late-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Writer::new(&path, Contents::default(), 0).write([record("old")]).expect("room on the disk");
        let read: Read = |path| {
            while !IS_READ.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            read_file(path)
        };
        let bell = Arc::new(Notify::new());
        let (thread, opened) = JournalThread::start(&path, read, Duration::ZERO, bell).expect("a thread");
        assert!(matches!(opened, Opened::Late), "{opened:?}");
        thread.hand([record("new")].into());
        IS_READ.store(true, Ordering::SeqCst);
        assert!(thread.close(Changes::default(), Duration::from_secs(60)));
        let contents = read_file(&path).expect("a journal").contents;
        assert_eq!(contents.backoff.keys().map(|key| &**key).collect::<Vec<_>>(), ["new"]);
        std::fs::remove_file(&path).expect("the journal");
    }
}
