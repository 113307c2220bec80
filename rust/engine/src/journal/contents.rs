//! What a journal says, all records applied.

use std::collections::BTreeMap;

use probelet_play::history::HistoryRecord;
use probelet_play::worker_record::{WorkerKey, WorkerRecord};

use super::record::{BackoffRecord, Record};

/// The last word on every worker and every back-off entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Workers.
    pub workers: BTreeMap<WorkerKey, WorkerRecord>,
    /// The last attempts of workers.
    pub histories: BTreeMap<WorkerKey, HistoryRecord>,
    /// The back-off table.
    pub backoff: BTreeMap<Box<str>, BackoffRecord>,
}

impl Contents {
    /// Takes a change in; false if it changes nothing.
    pub fn apply(&mut self, record: Record) -> bool {
        match record {
            Record::Backoff(key, entry) => self.backoff.insert(key, entry) != Some(entry),
            Record::BackoffGone(key) => self.backoff.remove(&key).is_some(),
            Record::Worker(key, memory) => self.remember(key, memory),
            Record::OptedWorker(key, memory, window, errors) => {
                self.remember(key, WorkerRecord { window, errors, ..memory })
            }
            Record::WorkerGone(key) => {
                let had_history = self.histories.remove(&key).is_some();
                self.workers.remove(&key).is_some() || had_history
            }
            Record::Attempts(key, attempts) => {
                self.histories.entry(key).or_default().extend(&attempts);
                !attempts.is_empty()
            }
        }
    }

    fn remember(&mut self, key: WorkerKey, memory: WorkerRecord) -> bool {
        let same = self.workers.get(&key) == Some(&memory);
        if !same {
            self.workers.insert(key, memory);
        }
        !same
    }

    /// The records that say all of it.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let workers = self.workers.iter().map(|(key, memory)| Record::of_worker(key.clone(), memory.clone()));
        let histories = self.histories.iter().map(|(key, all)| Record::Attempts(key.clone(), all.clone()));
        workers.chain(histories).chain(self.backoff.iter().map(|(key, entry)| Record::Backoff(key.clone(), *entry)))
    }
}
