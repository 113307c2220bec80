//! What the prober hands out, to be drained after every input.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::podstatus::PodStatus;
use crate::results::ProbeResult;
use crate::spec::ProbeType;
use crate::time::Instant;

/// A worker's number. It is used again after [`Output::WorkerEnded`].
pub type WorkerId = u32;

/// One thing for the driver to do or to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// Carry out this attempt and answer with [`crate::prober::Prober::handle_attempt`].
    Attempt(Attempt),
    /// Record this event for the pod.
    Event(Event),
    /// A run is over; count it.
    RunFinished {
        /// Whose run.
        worker: WorkerId,
        /// Its result; none for a prober error, which counts nowhere.
        result: Option<ProbeResult>,
        /// When its first attempt began.
        started: Instant,
    },
    /// A result was set or removed. Only while recording.
    Record(ResultRecord),
    /// A result is no longer cached. The kubelet tells nobody of it.
    Removed(Removal),
    /// A status was stored that workers see differently from the one before. Only while recording.
    StatusStored {
        /// Whose.
        pod_uid: Arc<str>,
        /// What the prober sees from now on.
        status: Box<PodStatus>,
    },
    /// UpdatePodStatus was called (status layer only). Only while recording.
    StatusUpdated {
        /// Whose status.
        pod_uid: Arc<str>,
        /// The status it was called with.
        argument: Box<PodStatus>,
        /// The same with `ready` and `started` filled.
        filled: Box<PodStatus>,
    },
    /// The pod wants a sync (status layer only).
    Sync {
        /// Which pod.
        pod_uid: Arc<str>,
    },
    /// A driver's own timer is due.
    Timer {
        /// The token it was armed with.
        token: u64,
    },
    /// A result changed (`results.Manager.Updates`).
    Update(Update),
    /// A worker is gone: its metric series end with it.
    WorkerEnded {
        /// Which one.
        worker: WorkerId,
    },
    /// A worker began.
    WorkerStarted {
        /// Which one.
        worker: WorkerId,
    },
}

/// One of up to three tries of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Whose run.
    pub worker: WorkerId,
    /// The number of the worker's run; the answer must repeat it.
    pub run: u32,
    /// 1 to [`crate::prober::ATTEMPTS_PER_RUN`].
    pub attempt: u8,
    /// When the run was due on the worker's own grid.
    pub scheduled: Instant,
}

/// How an attempt went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The prober could not ask: retried, then discarded.
    Error {
        /// Whether the handler's state beside the error was `failure`; `unknown` otherwise.
        failure: bool,
        /// The error text.
        error: Box<str>,
    },
    /// The container answered wrongly, late or not at all.
    Failure {
        /// The handler's output, bytes as they came.
        output: Box<[u8]>,
    },
    /// The container answered well.
    Success,
    /// The handler gave no verdict and no error; counts as a failure without an event.
    Unknown,
    /// The container answered well, with something to say (an HTTP redirect that was not followed).
    Warning {
        /// The handler's output, bytes as they came.
        output: Box<[u8]>,
    },
}

/// The reason of a prober's event (kubelet events/event.go, 1.36).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// A probe answered well, with something to say.
    ProbeWarning,
    /// A probe failed or errored.
    Unhealthy,
}

impl Reason {
    /// The API's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProbeWarning => "ProbeWarning",
            Self::Unhealthy => "Unhealthy",
        }
    }
}

/// A Kubernetes event about a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The pod's UID.
    pub pod_uid: Arc<str>,
    /// `involvedObject.fieldPath`.
    pub field_path: Box<str>,
    /// Why; both reasons are Warnings.
    pub reason: Reason,
    /// The message, verbatim as the kubelet words it; an output in it need not be UTF-8.
    pub message: Box<[u8]>,
    /// Of a failed run: how far its failures have come.
    pub streak: Option<Streak>,
}

/// Failures in a row, the one that is told of included, and how many of them are a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streak {
    /// From 1 to `threshold`, which is not counted beyond.
    pub failures: i32,
    /// The failure threshold in force.
    pub threshold: i32,
}

/// A result that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// Which cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// The pod of the worker that published it.
    pub pod_uid: Arc<str>,
    /// The new result.
    pub result: ProbeResult,
}

/// A result that is no longer cached: its worker has ended, or sees another container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// From which cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// The pod of the worker.
    pub pod_uid: Arc<str>,
}

/// A set or a removal in a result cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// Which cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// What was set; none for a removal.
    pub result: Option<ProbeResult>,
    /// Set: an update is sent. Removal: there was an entry.
    pub changed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_apis_words() {
        assert_eq!([Reason::ProbeWarning, Reason::Unhealthy].map(Reason::name), ["ProbeWarning", "Unhealthy"]);
    }
}
