//! An attempt at which a worker turned: the one before was good and it is bad, or the other way round.

use std::sync::Arc;

use probelet_core::spec::ProbeType;

use crate::stats::worker::{LastAttempt, WorkerStats};

/// A worker that turned. The first attempt of a worker whose journal knows none turns if it is bad.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The pod's UID.
    pub pod_uid: Arc<str>,
    /// The container's name.
    pub container: Arc<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// The attempt, the first one of its kind.
    pub attempt: LastAttempt,
}

impl Turn {
    /// The turn of a worker that turned at its last attempt.
    pub(super) fn of(row: &WorkerStats) -> Option<Self> {
        Some(Self {
            pod_uid: Arc::clone(&row.pod_uid),
            container: Arc::clone(&row.container),
            probe_type: row.probe_type,
            attempt: row.last.clone()?,
        })
    }
}
