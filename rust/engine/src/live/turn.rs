//! An attempt that says something new: the first one of a worker, a good one after a bad one, and the first bad ones of a
//! run (`probelet_play::history::TURNS_OF_A_RUN`).

use std::sync::Arc;

use probelet_core::spec::ProbeType;

use crate::stats::LastAttempt;
use crate::stats::worker::WorkerStats;

/// A worker and its attempt. The first attempt since the engine began is a turn however it ended, so that what listens
/// knows which workers were good before; a run of bad ones goes on over a restart if the journal knows it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The pod's UID.
    pub pod_uid: Arc<str>,
    /// The container's name.
    pub container: Arc<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// The attempt.
    pub attempt: LastAttempt,
}

impl Turn {
    /// The turn that an attempt of a worker is.
    pub(super) fn of(row: &WorkerStats, attempt: LastAttempt) -> Self {
        Self {
            pod_uid: Arc::clone(&row.pod.uid),
            container: Arc::clone(row.container()),
            probe_type: row.probe_type,
            attempt,
        }
    }
}
