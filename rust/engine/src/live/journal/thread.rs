//! The thread that reads the journal and then writes it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use tokio::sync::Notify;

use super::super::disk::DiskThread;
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

/// Writes lists of changes.
pub(super) type JournalThread = DiskThread<Changes, Written>;

/// Starts the thread, and waits for what it reads, for `patience` at most. The thread rings `bell` after each write.
///
/// # Errors
/// The system has no thread to give.
pub(super) fn start(
    path: &Path,
    read: Read,
    patience: Duration,
    bell: Arc<Notify>,
) -> io::Result<(JournalThread, Opened)> {
    // Without room for a value, so that a reading is either taken or known to be late.
    let (found, opened) = sync_channel(0);
    let path = path.to_owned();
    let thread = DiskThread::start("probelet-journal", bell, move || {
        let mut writer = open(&path, read, &found);
        move |changes| Written { result: writer.write(changes), tally: writer.tally() }
    })?;
    Ok((thread, opened.recv_timeout(patience).unwrap_or(Opened::Late)))
}

/// Reads the journal and begins to write where it ends, or anew.
fn open(path: &Path, read: Read, found: &SyncSender<Opened>) -> Writer {
    let (opened, contents, whole) = match read(path) {
        Ok(reading) => {
            let (contents, whole) = (reading.contents.clone(), if reading.is_older { 0 } else { reading.whole });
            (Opened::Journal(reading), contents, whole)
        }
        Err(JournalError(why)) => {
            let kept = set_aside(path);
            (Opened::Refused { why, kept }, Contents::default(), 0)
        }
    };
    match found.send(opened) {
        Ok(()) => Writer::new(path, contents, whole),
        // The engine began without the file's memories, so they must not come back later.
        Err(_) => Writer::new(path, Contents::default(), 0),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

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
        let (thread, opened) = start(&path, read, Duration::ZERO, bell).expect("a thread");
        assert!(matches!(opened, Opened::Late), "{opened:?}");
        thread.hand([record("new")].into());
        IS_READ.store(true, Ordering::SeqCst);
        let written = thread.close(Changes::default(), Changes::extend, Duration::from_secs(60));
        assert!(written.is_some_and(|written| written.result.is_ok()));
        let contents = read_file(&path).expect("a journal").contents;
        assert_eq!(contents.backoff.keys().map(|key| &**key).collect::<Vec<_>>(), ["new"]);
        std::fs::remove_file(&path).expect("the journal");
    }
}
