//! The engine's side of the journal: it notices changes and hands them, some time after, to the thread that writes.
//! Probing never waits for the disk.
//!
//! **When histories are written.** An attempt that confirms what is known touches no memory, and a journal of a node on
//! which nothing happens must not grow. So a worker's attempts are handed over together with its memory, which changes
//! where it matters: when the worker begins, fails, and recovers; and all of them at the end. Of the attempts since the
//! record before, the last `ATTEMPTS_A_WRITE` go with a memory, so that the journal of a node whose probes fail and
//! recover gets twice as long at most (rust/engine/tests/journal.rs). So after a kill a history has what changed results,
//! with the attempts right before, and lacks attempts that only confirmed a result.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::backoff::{Backoff, Touched};
use probelet_core::prober::Prober;
use probelet_core::time::{Instant, WallOffset};
use probelet_play::history::History;
use probelet_play::worker_record::WorkerKey;

use super::super::backoff_table::BackoffTable;
use super::super::batch::{Batch, Notice};
use super::super::disk::WriteWatch;
use super::gone::Gone;
use super::thread::{self, JournalThread, Opened, Written};
use crate::journal::{BackoffRecord, Changes, Reading, Record, Tally, read_file};
use crate::stats::worker::StatsTable;

/// Where an engine keeps what a restart would lose.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The file. No other process may write it meanwhile.
    pub path: PathBuf,
    /// The back-off table that the journal keeps beside the workers.
    pub table: Arc<BackoffTable>,
}

#[derive(Debug)]
pub(in super::super) struct JournalSync {
    thread: JournalThread,
    table: Arc<BackoffTable>,
    /// Back-off entries of the file that were too old to restore; the next write removes them.
    outdated: Vec<Box<str>>,
    /// When the waiting changes are due to be handed over.
    due: Option<Instant>,
    watch: WriteWatch,
    /// Tokens of callers that wait for the write in progress.
    handed: Vec<u64>,
    /// When to drop memories that no worker has asked for.
    claims_end: Option<Instant>,
    /// The thread's counters; None before the first write.
    tally: Option<Tally>,
}

impl JournalSync {
    /// Reads the journal of an earlier engine, restores the prober, the histories and the table from it, and returns a line
    /// for the log. Waits for the disk for [`OPEN_TIME_MAX`] at most, and then begins without memories.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(in super::super) fn open(
        options: &JournalOptions,
        prober: &mut Prober,
        stats: &mut StatsTable,
        wall: WallOffset,
        now: Instant,
    ) -> io::Result<(Self, Option<Notice>)> {
        let bell = Arc::clone(&options.table.bell);
        let (thread, opened) = thread::start(&options.path, read_file, OPEN_TIME_MAX, bell)?;
        let (reading, refused) = match opened {
            Opened::Journal(reading) => (reading, None),
            Opened::Refused { why, kept } => {
                let text = format!("journal: not believed, every probe starts anew: {why}; {kept}");
                (Reading::default(), Some(Notice::warning(text)))
            }
            Opened::Late => (Reading::default(), Some(Notice::warning(LATE.into()))),
        };
        prober.watch_memories();
        let workers = reading.contents.workers.len();
        for (key, record) in &reading.contents.workers {
            prober.recall(record.to_memory(key, wall));
        }
        for (key, record) in &reading.contents.histories {
            stats.recall(key.clone(), History::of(record));
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
        let keeper = Self {
            thread,
            table: Arc::clone(&options.table),
            outdated,
            due: None,
            watch: WriteWatch::new("journal", "probing goes on, a restart now would forget"),
            handed: Vec::new(),
            claims_end: (workers > 0).then(|| now + CLAIM_TIME),
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
        let next = if self.watch.is_free() { self.due } else { self.watch.deadline() };
        next.into_iter().chain(self.claims_end).min()
    }

    /// Takes the result of the last write, and hands over the changes if they are due. `gone` are the workers that have
    /// ended since the last hand-over; `tokens` are those of callers that wait until the file has what the engine knows
    /// now, so that the changes are due at once. Returns lines for the log, and the tokens whose wait is over.
    pub(in super::super) fn turn(
        &mut self,
        prober: &mut Prober,
        stats: &mut StatsTable,
        gone: &mut Gone,
        tokens: &mut Vec<u64>,
        now: Instant,
        wall: WallOffset,
    ) -> Batch {
        let mut said = self.hear(now);
        if self.claims_end.is_some_and(|end| end <= now) {
            self.claims_end = None;
            let unclaimed = prober.forget_recalled();
            unclaimed.iter().for_each(|memory| gone.insert(WorkerKey::of(memory)));
            stats.forget_recalled().for_each(|key| gone.insert(key));
        }
        let changed = prober.has_touched() || !gone.is_empty() || self.table.with(|table| table.has_touched());
        if self.due.is_none() && changed {
            self.due = Some(now + DELAY);
        }
        if (prober.is_urgent() || changed && !tokens.is_empty()) && !self.watch.is_failing() {
            self.due = Some(now);
        }
        if self.watch.is_free() && self.due.is_some_and(|due| due <= now) {
            let changes = self.changes(prober, stats, gone, wall);
            self.thread.hand(changes);
            self.due = None;
            self.watch.handed(now);
            self.handed.append(tokens);
        }
        // A disk that refuses or hangs holds nobody up: what waits for it would otherwise never be done.
        if self.watch.is_free() || self.watch.is_hanging() || self.watch.is_failing() {
            said.timers.append(tokens);
        }
        said
    }

    /// Takes the result of the write in progress, or notices that the write hangs: either ends the wait for it.
    fn hear(&mut self, now: Instant) -> Batch {
        if self.watch.is_free() {
            return Batch::default();
        }
        let notices = if let Some(Written { result, tally }) = self.thread.result() {
            self.tally = Some(tally);
            if result.is_err() {
                self.due = Some(now + RETRY);
            }
            self.watch.ended(&result, now)
        } else {
            self.watch.goes_on(now).into_iter().collect()
        };
        let mut said = Batch::of_notices(notices);
        if self.watch.is_free() || self.watch.is_hanging() {
            said.timers.append(&mut self.handed);
        }
        said
    }

    /// Takes the changes, and every attempt that the journal does not have.
    pub(in super::super) fn last_changes(
        &mut self,
        prober: &mut Prober,
        stats: &mut StatsTable,
        gone: &mut Gone,
        wall: WallOffset,
    ) -> Changes {
        // First, because the changes take the attempts of some workers in part.
        let attempts: Vec<Record> = stats.take_all_unwritten().map(|(key, part)| Record::Attempts(key, part)).collect();
        let mut changes = self.changes(prober, stats, gone, wall);
        if !changes.is_all {
            changes.records.extend(attempts);
        }
        changes
    }

    /// Takes the changes.
    fn changes(&mut self, prober: &mut Prober, stats: &mut StatsTable, gone: &mut Gone, wall: WallOffset) -> Changes {
        let touched = prober.take_touched();
        let (gone, entries) = match (gone.take(), self.table.with(Backoff::take_touched)) {
            (Some(gone), Touched::Keys(entries)) => (gone, entries),
            _ => return self.everything(prober, stats, wall),
        };
        let memories = touched.iter().filter_map(|id| prober.memory(*id));
        let mut records = of_workers(gone, memories.map(|memory| Record::of(&memory, wall)).collect());
        let attempts = touched.iter().filter_map(|id| stats.take_unwritten(*id, ATTEMPTS_A_WRITE));
        records.extend(attempts.map(|(key, part)| Record::Attempts(key, part)));
        let is_older = |key: &str| entries.binary_search_by(|(other, _)| (**other).cmp(key)).is_err();
        let outdated = std::mem::take(&mut self.outdated).into_iter().filter(|key| is_older(key));
        records.extend(outdated.map(Record::BackoffGone));
        records.extend(entries.into_iter().map(|(key, entry)| match entry {
            Some(entry) => Record::Backoff(key, BackoffRecord::of(&entry, wall)),
            None => Record::BackoffGone(key),
        }));
        Changes { is_all: false, records }
    }

    /// All that a journal says.
    fn everything(&mut self, prober: &Prober, stats: &mut StatsTable, wall: WallOffset) -> Changes {
        self.outdated.clear();
        let mut records: Vec<Record> = prober.memories().map(|memory| Record::of(&memory, wall)).collect();
        records.extend(stats.take_histories().into_iter().map(|(key, all)| Record::Attempts(key, all)));
        self.table.with(|table| {
            let entries = table.entries();
            records.extend(entries.map(|(key, entry)| Record::Backoff(key.into(), BackoffRecord::of(entry, wall))));
            // They are among the records.
            let _ = table.take_touched();
        });
        Changes { is_all: true, records }
    }

    /// Hands over the last changes and ends the thread. Waits for the disk for [`CLOSE_TIME_MAX`] at most; returns a
    /// warning if the changes are not written by then.
    pub(in super::super) fn close(&mut self, changes: Changes) -> Option<Notice> {
        let written = self.thread.close(changes, Changes::extend, CLOSE_TIME_MAX);
        let is_written = written.is_some_and(|written| written.result.is_ok());
        let text = "journal: the last changes were not written before the end; the next start does not know them";
        (!is_written).then(|| Notice::warning(text.into()))
    }
}

/// The records of workers that have ended and of workers that have not. Where another worker of the same name has begun
/// since, its record replaces the old one.
fn of_workers(mut gone: BTreeSet<WorkerKey>, memories: Vec<Record>) -> Vec<Record> {
    for record in &memories {
        if let Record::Worker(key, _) | Record::OptedWorker(key, ..) = record {
            gone.remove(key);
        }
    }
    gone.into_iter().map(Record::WorkerGone).chain(memories).collect()
}

/// The line about a journal that was read; None if there was no file.
fn read_well(reading: &Reading, entries: usize) -> Option<Notice> {
    let workers = reading.contents.workers.len();
    let cut = if reading.cut { "; it was cut short, what came last is missing" } else { "" };
    let text = format!("journal: read the memory of {workers} probes and {entries} back-off entries{cut}");
    (reading.whole > 0 || reading.cut).then(|| Notice::info(text))
}

const LATE: &str =
    "journal: the disk has not answered in time, every probe starts anew; the journal goes on once it does";

/// From a change to its write, so that a burst of changes is one write. A kill may lose this much.
const DELAY: Duration = Duration::from_millis(100);

/// Attempts that go with a worker's memory. Their record is then about as long as that of the memory.
const ATTEMPTS_A_WRITE: usize = 16;

/// How long the start waits for the disk. A journal of 100,000 workers is read in a second.
const OPEN_TIME_MAX: Duration = Duration::from_secs(10);

/// How long [`JournalSync::close`] waits for the disk: a fraction of the time that systemd gives a service to stop.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);

/// From a write that failed to the next one: asking a full disk more often does not empty it.
const RETRY: Duration = Duration::from_secs(1);

/// How long a memory waits for its pod: as long as a node that gets its pods from an API server takes to start.
const CLAIM_TIME: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use probelet_core::results::ProbeResult;
    use probelet_core::spec::ProbeType;
    use probelet_play::worker_record::WorkerRecord;

    use super::*;

    #[test]
    fn a_worker_that_ended_and_began_again_has_one_record() {
        let key = |uid: &str| WorkerKey { pod_uid: uid.into(), container: "c".into(), probe_type: ProbeType::Liveness };
        let memory = WorkerRecord {
            container_id: "c://1".into(),
            result: None,
            last_result: ProbeResult::Success,
            result_run: 1,
            on_hold: false,
            has_initialized: true,
            window: 0,
            errors: 0,
            in_doubt: false,
            tick_ns: 0,
            period: Duration::from_secs(1),
        };
        let begun = Record::Worker(key("again"), memory);
        let records = of_workers([key("again"), key("ended")].into(), vec![begun.clone()]);
        assert_eq!(records, [Record::WorkerGone(key("ended")), begun]);
    }
}
