//! Who keeps the journal of a live engine: on its thread, some time after things have changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::Prober;
use probelet_core::time::{Instant, WallOffset};

use super::backoff_table::BackoffTable;
use super::batch::Notice;
use crate::journal::{BackoffRecord, Reading, Record, Tally, WorkerKey, Writer, read_file};

/// Where an engine keeps what a restart would lose.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The file. Nobody else may write it meanwhile.
    pub path: PathBuf,
    /// The back-off table that is kept with the workers.
    pub table: Arc<BackoffTable>,
}

#[derive(Debug)]
pub(super) struct JournalKeeper {
    writer: Writer,
    table: Arc<BackoffTable>,
    /// The table's revision that was written last.
    revision: u64,
    /// When changes that wait are written.
    due: Option<Instant>,
    /// When memories that no worker has asked for are dropped.
    claims_end: Option<Instant>,
    failing: bool,
}

impl JournalKeeper {
    /// Reads what an earlier engine left, gives it to the prober and the table, and says in a line what came of it.
    pub(super) fn open(
        options: &JournalOptions,
        prober: &mut Prober,
        wall: WallOffset,
        now: Instant,
    ) -> (Self, Option<Notice>) {
        let (reading, refused) = match read_file(&options.path) {
            Ok(reading) => (reading, None),
            Err(error) => (Reading::default(), Some(set_aside(&options.path, &error.0))),
        };
        prober.watch_memories();
        let workers = reading.contents.workers.len();
        for (key, record) in &reading.contents.workers {
            prober.recall(record.to_memory(key, wall));
        }
        let entries = reading.contents.backoff.iter();
        let kept = options
            .table
            .with(|table| entries.filter(|(key, record)| table.restore(key, record.to_entry(wall), now)).count());
        let said = refused.or_else(|| read_well(&reading, kept));
        let keeper = Self {
            writer: Writer::new(&options.path, reading.contents, reading.whole),
            table: Arc::clone(&options.table),
            revision: options.table.with(|table| table.revision()),
            due: None,
            claims_end: (workers > 0).then(|| now + CLAIM_TIME),
            failing: false,
        };
        (keeper, said)
    }

    pub(super) fn table(&self) -> Arc<BackoffTable> {
        Arc::clone(&self.table)
    }

    pub(super) const fn tally(&self) -> Tally {
        self.writer.tally()
    }

    /// When there will be something to write.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.due.into_iter().chain(self.claims_end).min()
    }

    /// Takes what has changed, if it is time to write it. `gone` are the workers that have ended since the last write.
    pub(super) fn collect(
        &mut self,
        prober: &mut Prober,
        gone: &mut Vec<WorkerKey>,
        now: Instant,
        wall: WallOffset,
    ) -> Option<Vec<Record>> {
        if self.claims_end.is_some_and(|end| end <= now) {
            self.claims_end = None;
            let unclaimed = prober.forget_recalled();
            gone.extend(unclaimed.iter().map(WorkerKey::of));
        }
        let revision = self.table.with(|table| table.revision());
        let changed = prober.has_touched() || !gone.is_empty() || revision != self.revision;
        if self.due.is_none() && changed {
            self.due = Some(now + DELAY);
        }
        if prober.is_urgent() && !self.failing {
            self.due = Some(now);
        }
        if self.due.is_none_or(|due| now < due) {
            return None;
        }
        Some(self.changes(prober, gone, wall))
    }

    /// Takes what has changed. Workers that have ended come first: another of the same name may have begun since.
    pub(super) fn changes(&mut self, prober: &mut Prober, gone: &mut Vec<WorkerKey>, wall: WallOffset) -> Vec<Record> {
        let mut changes: Vec<Record> = gone.drain(..).map(Record::WorkerGone).collect();
        for id in prober.take_touched() {
            changes.extend(prober.memory(id).map(|memory| Record::of(&memory, wall)));
        }
        self.table.with(|table| {
            let known = &self.writer.contents().backoff;
            let gone = known.keys().filter(|key| table.entry(key).is_none());
            changes.extend(gone.map(|key| Record::BackoffGone(key.clone())));
            let entries = table.entries().map(|(key, entry)| (key, BackoffRecord::of(entry, wall)));
            let news = entries.filter(|(key, entry)| !known.get(*key).is_some_and(|old| old.says_the_same(entry)));
            changes.extend(news.map(|(key, entry)| Record::Backoff(key.into(), entry)));
            self.revision = table.revision();
        });
        changes
    }

    /// Writes changes. Says in a line when writing stops or starts to work; probing goes on either way.
    pub(super) fn write(&mut self, changes: Vec<Record>, now: Instant) -> Option<Notice> {
        let result = self.writer.write(changes);
        self.due = result.is_err().then(|| now + RETRY);
        match result {
            Ok(()) if std::mem::take(&mut self.failing) => Some(info("journal: written again".into())),
            Err(error) if !std::mem::replace(&mut self.failing, true) => {
                let text = format!("journal: cannot be written: {error}; probing goes on, a restart now would forget");
                Some(warning(text))
            }
            _ => None,
        }
    }
}

const fn info(text: String) -> Notice {
    Notice { is_warning: false, text }
}

const fn warning(text: String) -> Notice {
    Notice { is_warning: true, text }
}

/// What a journal gave; nothing is said of one that was not there.
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

/// From a change to its place on disk: what a kill may lose. One write for a whole burst of changes.
const DELAY: Duration = Duration::from_millis(100);

/// From a write that failed to the next attempt: a full disk is not made emptier by asking more often.
const RETRY: Duration = Duration::from_secs(1);

/// How long a memory waits for its pod: as long as the slowest start of a node that has its pods from an API server.
const CLAIM_TIME: Duration = Duration::from_secs(600);
