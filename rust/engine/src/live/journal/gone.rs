//! The workers that have ended since the journal last took changes.

use std::collections::BTreeSet;

use probelet_play::worker_record::WorkerKey;

/// A set of limited size, because a disk may hang for hours while pods come and go.
#[derive(Debug, Default)]
pub(in super::super) struct Gone {
    keys: BTreeSet<WorkerKey>,
    /// Whether more workers have ended than are noted, so that none of them is.
    is_overflown: bool,
}

impl Gone {
    pub(in super::super) fn insert(&mut self, key: WorkerKey) {
        if self.is_overflown || self.keys.len() >= KEYS_MAX {
            self.is_overflown = true;
            self.keys.clear();
        } else {
            self.keys.insert(key);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty() && !self.is_overflown
    }

    /// The workers; None for so many that only a list of the remaining workers tells.
    pub(super) fn take(&mut self) -> Option<BTreeSet<WorkerKey>> {
        let Self { keys, is_overflown } = std::mem::take(self);
        (!is_overflown).then_some(keys)
    }
}

/// Workers that are noted at most, which takes a few megabytes: more than end on a node within a second.
const KEYS_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use probelet_core::spec::ProbeType;

    use super::*;

    #[test]
    fn workers_that_end_while_nobody_takes_them_cost_no_more_than_a_limit() {
        let key = |number: usize| WorkerKey {
            pod_uid: number.to_string().into(),
            container: "c".into(),
            probe_type: ProbeType::Liveness,
        };
        let mut gone = Gone::default();
        for number in 0..KEYS_MAX {
            gone.insert(key(number));
        }
        assert_eq!(gone.take().map(|keys| keys.len()), Some(KEYS_MAX));
        assert!(gone.is_empty());
        for number in 0..3 * KEYS_MAX {
            gone.insert(key(number));
            assert!(gone.keys.len() <= KEYS_MAX);
        }
        assert!(!gone.is_empty() && gone.keys.is_empty());
        assert_eq!(gone.take(), None);
        assert!(gone.is_empty());
    }
}
