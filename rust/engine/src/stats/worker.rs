//! Statistics per worker: the kubelet's metrics, and how the last attempts went.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::{AttemptTarget, WorkerId};
use probelet_core::results::ProbeResult;
use probelet_core::spec::{PodSpec, ProbeType};
use probelet_play::counts::Counts;
use probelet_play::history::{ATTEMPTS, History, HistoryRecord, PastAttempt};
use probelet_play::worker_record::WorkerKey;

use super::last_attempt::{KeptAttempt, LastAttempt, Nanos};
use crate::prefetch::prefetch;

/// The statistics of all workers, by the worker's number.
#[derive(Debug, Default)]
pub struct StatsTable {
    rows: Vec<Option<Box<Row>>>,
    /// Histories of an earlier engine whose workers have not begun yet.
    recalled: BTreeMap<WorkerKey, History>,
    /// The row with which [`Self::slowest_answers`] goes on.
    answers_from: usize,
    /// How many workers run commands, and how many probe over a socket.
    execs: usize,
    sockets: usize,
}

/// What the table has of a worker. Metric pages copy the statistics alone.
#[derive(Debug)]
struct Row {
    stats: WorkerStats,
    last: Option<KeptAttempt>,
    history: History,
}

/// The slowest one of the last [`ATTEMPTS`] answers of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowestAnswer {
    /// The pod.
    pub pod_uid: Arc<str>,
    /// The container.
    pub container: Arc<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// How long it took.
    pub took: Duration,
}

/// A worker's names and counters. The series end with the worker, as the kubelet's do.
#[derive(Clone, Debug)]
pub struct WorkerStats {
    /// The pod as the worker has it.
    pub pod: Arc<PodSpec>,
    container: u32,
    /// `probe_type`.
    pub probe_type: ProbeType,
    /// Whether its attempts are commands in the container.
    pub is_exec: bool,
    /// Its runs.
    pub counts: Counts,
    /// Durations of successful runs: counts per bucket. A run that took longer is in none.
    pub buckets: [u32; BUCKETS.len()],
    /// The sum of the durations of successful runs.
    duration: Nanos,
    /// How long the prober held the attempts of the current run before their own time began.
    held: Nanos,
    /// How many runs ended since the slowest answer was last told, up to [`ATTEMPTS`].
    untold_runs: u8,
}

impl Row {
    fn tell_slowest(&mut self) -> Option<SlowestAnswer> {
        if usize::from(self.stats.untold_runs) < ATTEMPTS {
            return None;
        }
        self.stats.untold_runs = 0;
        let (took, stats) = (self.history.slowest_answer()?, &self.stats);
        let (pod_uid, container) = (Arc::clone(&stats.pod.uid), Arc::clone(stats.container()));
        Some(SlowestAnswer { pod_uid, container, probe_type: stats.probe_type, took })
    }
}

impl WorkerStats {
    fn of(target: &AttemptTarget<'_>) -> Self {
        Self {
            pod: Arc::clone(target.pod),
            container: target.container_index as u32,
            probe_type: target.probe_type,
            is_exec: target.is_exec(),
            counts: Counts::default(),
            buckets: [0; BUCKETS.len()],
            duration: Nanos::default(),
            held: Nanos::default(),
            untold_runs: 0,
        }
    }

    /// The container's name.
    pub fn container(&self) -> &Arc<str> {
        &self.pod.containers[self.container as usize].name
    }

    /// The sum of the durations of successful runs.
    pub fn duration(&self) -> Duration {
        self.duration.into()
    }

    /// The worker's name in the journal.
    pub fn key(&self) -> WorkerKey {
        WorkerKey {
            pod_uid: (&*self.pod.uid).into(),
            container: (&**self.container()).into(),
            probe_type: self.probe_type,
        }
    }
}

impl StatsTable {
    /// Adds the row of a worker that began.
    pub fn open(&mut self, worker: WorkerId, target: &AttemptTarget<'_>) {
        let index = worker as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, || None);
        }
        *self.counter(target.is_exec()) += 1;
        let stats = WorkerStats::of(target);
        let recalled = if self.recalled.is_empty() { None } else { self.recalled.remove(&stats.key()) };
        let history = recalled.unwrap_or_default();
        self.rows[index] = Some(Box::new(Row { stats, last: None, history }));
    }

    /// Counts a worker with another probe, which may be of another kind.
    pub fn change(&mut self, worker: WorkerId, target: &AttemptTarget<'_>) {
        let is_exec = target.is_exec();
        let Some(Some(row)) = self.rows.get_mut(worker as usize) else { return };
        row.stats.pod = Arc::clone(target.pod);
        row.stats.container = target.container_index as u32;
        let was_exec = std::mem::replace(&mut row.stats.is_exec, is_exec);
        *self.counter(was_exec) -= 1;
        *self.counter(is_exec) += 1;
    }

    /// Removes the row of a worker that ended.
    pub fn close(&mut self, worker: WorkerId) {
        if let Some(row) = self.rows.get_mut(worker as usize).and_then(Option::take) {
            *self.counter(row.stats.is_exec) -= 1;
        }
    }

    const fn counter(&mut self, is_exec: bool) -> &mut usize {
        if is_exec { &mut self.execs } else { &mut self.sockets }
    }

    /// Whether there are workers, and the attempts of all are commands.
    pub const fn has_only_execs(&self) -> bool {
        self.execs > 0 && self.sockets == 0
    }

    /// Prepares for the end of an attempt that begins now. Of thousands of rows none is in the processor's caches.
    pub fn expect(&self, worker: WorkerId) {
        if let Some(Some(row)) = self.rows.get(worker as usize) {
            prefetch(&**row);
        }
    }

    /// Stores the worker's latest attempt; `held` is how long the prober held it before its own time began. Returns
    /// whether it is a turn ([`History::add`]); the first attempt since the engine began is one, however it ended.
    pub fn remember(&mut self, worker: WorkerId, last: LastAttempt, held: Duration) -> bool {
        let Some(row) = self.rows.get_mut(worker as usize).and_then(Option::as_deref_mut) else {
            return false;
        };
        let LastAttempt { at_ms, outcome, cause, duration, lateness, .. } = last;
        let is_turn = row.history.add(&PastAttempt { at_ms, outcome, cause, duration, lateness }, &last.message);
        let is_first = row.last.replace(last.into()).is_none();
        row.stats.held += held;
        is_turn || is_first
    }

    /// How the last attempt of a worker went.
    pub fn last(&self, worker: WorkerId) -> Option<LastAttempt> {
        self.rows.get(worker as usize)?.as_deref()?.last.as_ref().map(LastAttempt::from)
    }

    /// The last attempts of a worker.
    pub fn history(&self, worker: WorkerId) -> Option<&History> {
        self.rows.get(worker as usize)?.as_deref().map(|row| &row.history)
    }

    /// Appends the slowest answers of workers that made a whole history of runs since theirs was last told, until there
    /// are `most`. Looks at `count` rows, and goes on with the next ones in the next call.
    pub fn slowest_answers(&mut self, count: usize, most: usize, found: &mut Vec<SlowestAnswer>) {
        for _ in 0..count.min(self.rows.len()) {
            if found.len() >= most {
                return;
            }
            let index = self.answers_from % self.rows.len();
            self.answers_from = index + 1;
            found.extend(self.rows[index].as_deref_mut().and_then(Row::tell_slowest));
        }
    }

    /// How many rows there are, with those of workers that ended.
    pub const fn places(&self) -> usize {
        self.rows.len()
    }

    /// Takes the history of an earlier engine's worker, which waits until its worker begins.
    pub fn recall(&mut self, key: WorkerKey, history: History) {
        self.recalled.insert(key, history);
    }

    /// Drops the histories whose workers have not begun, and returns the names of those workers.
    pub fn forget_recalled(&mut self) -> impl Iterator<Item = WorkerKey> {
        std::mem::take(&mut self.recalled).into_keys()
    }

    /// What the journal does not have of a worker's history, `most` attempts at most.
    pub fn take_unwritten(&mut self, worker: WorkerId, most: usize) -> Option<(WorkerKey, HistoryRecord)> {
        let row = self.rows.get_mut(worker as usize)?.as_mut()?;
        row.history.take_unwritten(most).map(|part| (row.stats.key(), part))
    }

    /// What the journal does not have of any history.
    pub fn take_all_unwritten(&mut self) -> impl Iterator<Item = (WorkerKey, HistoryRecord)> {
        let rows = self.rows.iter_mut().flatten();
        rows.filter_map(|row| row.history.take_unwritten(ATTEMPTS).map(|part| (row.stats.key(), part)))
    }

    /// All histories, for a journal that then has all of them.
    pub fn take_histories(&mut self) -> Vec<(WorkerKey, HistoryRecord)> {
        let of_rows = self.rows.iter_mut().flatten().map(|row| (row.stats.key(), row.history.take_all()));
        let recalled = self.recalled.iter_mut().map(|(key, history)| (key.clone(), history.take_all()));
        of_rows.chain(recalled).filter(|(_, record)| !record.is_empty()).collect()
    }

    /// Copies up to `count` rows from `from`; returns the next cursor.
    pub fn portion(&self, from: usize, count: usize) -> (Vec<WorkerStats>, Option<usize>) {
        let end = from.saturating_add(count).min(self.rows.len());
        let rows = self.rows[from.min(end)..end].iter().flatten().map(|row| row.stats.clone()).collect();
        (rows, (end < self.rows.len()).then_some(end))
    }

    /// Counts a run that ended; returns the type of its probe. Leaves out the durations of failures
    /// (prober_manager.go and worker.go:doProbe, 1.36).
    pub fn count(&mut self, worker: WorkerId, result: Option<ProbeResult>, took: Duration) -> Option<ProbeType> {
        let row = &mut self.rows.get_mut(worker as usize)?.as_mut()?.stats;
        row.counts.count(result);
        row.untold_runs = (row.untold_runs + 1).min(ATTEMPTS as u8);
        let took = took.saturating_sub(std::mem::take(&mut row.held).into());
        if result == Some(ProbeResult::Success) {
            if let Some(bucket) = BUCKETS.iter().position(|limit| took <= *limit) {
                row.buckets[bucket] = row.buckets[bucket].saturating_add(1);
            }
            row.duration += took;
        }
        Some(row.probe_type)
    }

    /// A worker's row.
    pub fn row(&self, worker: WorkerId) -> Option<&WorkerStats> {
        self.rows.get(worker as usize)?.as_deref().map(|row| &row.stats)
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &WorkerStats> {
        self.rows.iter().flatten().map(|row| &row.stats)
    }
}

/// Upper bounds of `prober_probe_duration_seconds` (Prometheus' default buckets).
pub const BUCKETS: [Duration; 11] = [
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_millis(1_000),
    Duration::from_millis(2_500),
    Duration::from_millis(5_000),
    Duration::from_millis(10_000),
];
