//! The records of a journal: of each worker, of its attempts, and of each back-off entry. Times are wall-clock times,
//! because no other clock outlives a process.

use std::time::Duration;

use probelet_core::backoff::Entry;
use probelet_core::prober::Memory;
use probelet_core::time::{Instant, WallOffset};
use probelet_play::history::HistoryRecord;
use probelet_play::worker_record::{WorkerKey, WorkerRecord, to_wall};
use serde::{Deserialize, Serialize};

/// An entry of the back-off table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackoffRecord {
    /// [`Entry::delay`].
    pub delay: Duration,
    /// [`Entry::last_start`], Unix nanoseconds.
    pub last_start_ns: i64,
    /// [`Entry::step`].
    pub step: u32,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// An entry of the back-off table is new or has changed.
    Backoff(Box<str>, BackoffRecord),
    /// An entry of the back-off table is gone.
    BackoffGone(Box<str>),
    /// A worker's memory is new or has changed.
    Worker(WorkerKey, WorkerRecord),
    /// A worker has ended; its history ends with it.
    WorkerGone(WorkerKey),
    /// A worker has made attempts since the record of its history before.
    Attempts(WorkerKey, HistoryRecord),
    /// The memory of a worker whose probe has opt-ins, and what it counts for them: [`Memory::window`] and
    /// [`Memory::errors`]. The last variant, so that journals without such probes read as before.
    OptedWorker(WorkerKey, WorkerRecord, u64, i32),
}

impl Record {
    /// A worker's memory, its ticks moved to the wall clock.
    pub fn of(memory: &Memory, wall: WallOffset) -> Self {
        Self::of_worker(WorkerKey::of(memory), WorkerRecord::of(memory, wall))
    }

    /// The record of a worker.
    pub fn of_worker(key: WorkerKey, record: WorkerRecord) -> Self {
        match (record.window, record.errors) {
            (0, 0) => Self::Worker(key, record),
            (window, errors) => Self::OptedWorker(key, record, window, errors),
        }
    }
}

impl BackoffRecord {
    /// An entry, moved to the wall clock.
    pub fn of(entry: &Entry, wall: WallOffset) -> Self {
        Self { delay: entry.delay, last_start_ns: to_wall(entry.last_start, wall), step: entry.step }
    }

    /// The entry again, on the engine's clock.
    pub fn to_entry(self, wall: WallOffset) -> Entry {
        let last_start = u64::try_from(self.last_start_ns.saturating_sub(wall.0)).unwrap_or(0);
        Entry { delay: self.delay, last_start: Instant::from_nanos(last_start), step: self.step }
    }
}
