//! The engine's side of the journal: it notices changes and hands them, some time after, to the thread that writes.
//! Probing never waits for the disk.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use probelet_core::backoff::Backoff;
use probelet_core::prober::Prober;
use probelet_core::time::{Instant, WallOffset};

use super::super::backoff_table::BackoffTable;
use super::super::batch::Notice;
use super::thread::{JournalThread, Written};
use crate::journal::{BackoffRecord, Reading, Record, Tally, WorkerKey, Writer, read_file};

/// Where an engine keeps what a restart would lose.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The file. No other process may write it meanwhile.
    pub path: PathBuf,
    /// The back-off table that the journal keeps beside the workers.
    pub table: Arc<BackoffTable>,
}

#[derive(Debug)]
pub(in super::super) struct JournalKeeper {
    thread: JournalThread,
    table: Arc<BackoffTable>,
    /// Back-off entries of the file that were too old to restore; the next write removes them.
    outdated: Vec<Box<str>>,
    /// When the waiting changes are due to be handed over.
    due: Option<Instant>,
    /// Since when the thread has been writing; None while it is free.
    writing_since: Option<Instant>,
    is_hanging: bool,
    /// When to drop memories that no worker has asked for.
    claims_end: Option<Instant>,
    failing: bool,
    /// The thread's counters; None before the first write.
    tally: Option<Tally>,
}

impl JournalKeeper {
    /// Reads the journal of an earlier engine, restores the prober and the table from it, and returns a line for the
    /// log.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(in super::super) fn open(
        options: &JournalOptions,
        prober: &mut Prober,
        wall: WallOffset,
        now: Instant,
    ) -> io::Result<(Self, Option<Notice>)> {
        let (reading, refused) = match read_file(&options.path) {
            Ok(reading) => (reading, None),
            Err(error) => (Reading::default(), Some(set_aside(&options.path, &error.0))),
        };
        prober.watch_memories();
        let workers = reading.contents.workers.len();
        for (key, record) in &reading.contents.workers {
            prober.recall(record.to_memory(key, wall));
        }
        let outdated: Vec<Box<str>> = options.table.with(|table| {
            let refused = reading.contents.backoff.iter();
            let refused = refused.filter(|(key, record)| !table.restore(key, record.to_entry(wall), now));
            let outdated = refused.map(|(key, _)| key.clone()).collect();
            // Only now, because the file already has the restored entries.
            table.watch();
            outdated
        });
        let kept = reading.contents.backoff.len() - outdated.len();
        let said = refused.or_else(|| read_well(&reading, kept));
        let writer = Writer::new(&options.path, reading.contents, reading.whole);
        let keeper = Self {
            thread: JournalThread::start(writer, Arc::clone(&options.table.bell))?,
            table: Arc::clone(&options.table),
            outdated,
            due: None,
            writing_since: None,
            is_hanging: false,
            claims_end: (workers > 0).then(|| now + CLAIM_TIME),
            failing: false,
            tally: None,
        };
        Ok((keeper, said))
    }

    pub(in super::super) fn table(&self) -> Arc<BackoffTable> {
        Arc::clone(&self.table)
    }

    pub(in super::super) const fn tally(&self) -> Option<Tally> {
        self.tally
    }

    /// When the journal next needs a turn. While the thread writes, the end of the write wakes the engine.
    pub(in super::super) fn deadline(&self) -> Option<Instant> {
        let next = match self.writing_since {
            Some(since) => (!self.is_hanging).then(|| since + HANGS_AFTER),
            None => self.due,
        };
        next.into_iter().chain(self.claims_end).min()
    }

    /// Takes the result of the last write, and hands over the changes if they are due. `gone` are the workers that have
    /// ended since the last hand-over. Returns lines for the log.
    pub(in super::super) fn turn(
        &mut self,
        prober: &mut Prober,
        gone: &mut BTreeSet<WorkerKey>,
        now: Instant,
        wall: WallOffset,
    ) -> Vec<Notice> {
        let notices = self.hear(now);
        if self.claims_end.is_some_and(|end| end <= now) {
            self.claims_end = None;
            let unclaimed = prober.forget_recalled();
            gone.extend(unclaimed.iter().map(WorkerKey::of));
        }
        let changed = prober.has_touched() || !gone.is_empty() || self.table.with(|table| table.has_touched());
        if self.due.is_none() && changed {
            self.due = Some(now + DELAY);
        }
        if prober.is_urgent() && !self.failing {
            self.due = Some(now);
        }
        if self.writing_since.is_none() && self.due.is_some_and(|due| due <= now) {
            let changes = self.changes(prober, gone, wall);
            self.thread.hand(changes);
            (self.due, self.writing_since) = (None, Some(now));
        }
        notices
    }

    /// Takes the result of the write in progress, or notices that the write hangs.
    fn hear(&mut self, now: Instant) -> Vec<Notice> {
        let Some(since) = self.writing_since else { return Vec::new() };
        let Some(Written { result, tally }) = self.thread.written() else {
            if self.is_hanging || now < since + HANGS_AFTER {
                return Vec::new();
            }
            self.is_hanging = true;
            let text = "journal: the disk hangs, a write has not ended; probing goes on, a restart now would forget";
            return vec![warning(text.into())];
        };
        (self.writing_since, self.tally) = (None, Some(tally));
        let mut notices = Vec::new();
        if std::mem::take(&mut self.is_hanging) {
            notices.push(info(format!("journal: the write that hung has ended, after {:?}", now.since(since))));
        }
        match result {
            Ok(()) if std::mem::take(&mut self.failing) => notices.push(info("journal: written again".into())),
            Ok(()) => {}
            Err(error) => {
                self.due = Some(now + RETRY);
                if !std::mem::replace(&mut self.failing, true) {
                    let goes_on = "probing goes on, a restart now would forget";
                    notices.push(warning(format!("journal: cannot be written: {error}; {goes_on}")));
                }
            }
        }
        notices
    }

    /// Takes the changes. Workers that have ended come first, because another of the same name may have begun since.
    pub(in super::super) fn changes(
        &mut self,
        prober: &mut Prober,
        gone: &mut BTreeSet<WorkerKey>,
        wall: WallOffset,
    ) -> Vec<Record> {
        let mut changes: Vec<Record> = std::mem::take(gone).into_iter().map(Record::WorkerGone).collect();
        for id in prober.take_touched() {
            changes.extend(prober.memory(id).map(|memory| Record::of(&memory, wall)));
        }
        changes.extend(std::mem::take(&mut self.outdated).into_iter().map(Record::BackoffGone));
        let entries = self.table.with(Backoff::take_touched).into_iter();
        changes.extend(entries.map(|(key, entry)| match entry {
            Some(entry) => Record::Backoff(key, BackoffRecord::of(&entry, wall)),
            None => Record::BackoffGone(key),
        }));
        changes
    }

    /// Hands over the last changes and ends the thread. Waits for the disk for [`CLOSE_TIME_MAX`] at most; returns a
    /// warning if the changes are not written by then.
    pub(in super::super) fn close(&mut self, changes: Vec<Record>) -> Option<Notice> {
        let is_written = self.thread.close(changes, CLOSE_TIME_MAX);
        let text = "journal: the last changes were not written before the end; the next start does not know them";
        (!is_written).then(|| warning(text.into()))
    }
}

const fn info(text: String) -> Notice {
    Notice { is_warning: false, text }
}

const fn warning(text: String) -> Notice {
    Notice { is_warning: true, text }
}

/// The line about a journal that was read; None if there was no file.
fn read_well(reading: &Reading, entries: usize) -> Option<Notice> {
    let workers = reading.contents.workers.len();
    let cut = if reading.cut { "; it was cut short, what came last is missing" } else { "" };
    let text = format!("journal: read the memory of {workers} probes and {entries} back-off entries{cut}");
    (reading.whole > 0 || reading.cut).then(|| info(text))
}

fn set_aside(path: &Path, why: &str) -> Notice {
    let aside = path.with_extension("refused");
    let kept = match std::fs::rename(path, &aside) {
        Ok(()) => format!("kept as {}", aside.display()),
        Err(error) => format!("it cannot be set aside: {error}"),
    };
    warning(format!("journal: not believed, every probe starts anew: {why}; {kept}"))
}

/// From a change to its write, so that a burst of changes is one write. A kill may lose this much.
const DELAY: Duration = Duration::from_millis(100);

/// A write that takes longer than this hangs: a disk that is only busy takes a few kilobytes sooner.
const HANGS_AFTER: Duration = Duration::from_secs(5);

/// How long [`JournalKeeper::close`] waits for the disk: a fraction of the time that systemd gives a service to stop.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);

/// From a write that failed to the next one: asking a full disk more often does not empty it.
const RETRY: Duration = Duration::from_secs(1);

/// How long a memory waits for its pod: as long as a node that gets its pods from an API server takes to start.
const CLAIM_TIME: Duration = Duration::from_secs(600);
