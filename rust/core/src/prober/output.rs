//! The prober's outputs, which the driver drains after every input.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::options::ErrorKind;
use crate::podstatus::PodStatus;
use crate::results::ProbeResult;
use crate::spec::ProbeType;
use crate::time::Instant;

/// A worker's number. Another worker may get it after [`Output::WorkerEnded`].
pub type WorkerId = u32;

/// One thing for the driver to do or to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// Carry out this attempt and answer with [`crate::prober::Prober::handle_attempt`].
    Attempt(Attempt),
    /// Record this event for the pod.
    Event(Event),
    /// From now on the worker has the probe, and the pod's object, of a [change](crate::prober::Prober::change_probes).
    ProbeChanged {
        /// The worker.
        worker: WorkerId,
    },
    /// A run is over; count it.
    RunFinished {
        /// The run's worker.
        worker: WorkerId,
        /// The run's result; None for a prober error, which counts nowhere.
        result: Option<ProbeResult>,
        /// When the run's first attempt began.
        started: Instant,
    },
    /// A result was set or removed. Pushed only while recording.
    Record(ResultRecord),
    /// A result is no longer cached. The kubelet sends no update for this.
    Removed(Removal),
    /// A status was stored, and workers see it differently from the one before. Pushed only while recording.
    StatusStored {
        /// The pod.
        pod_uid: Arc<str>,
        /// The stored status.
        status: Box<PodStatus>,
    },
    /// UpdatePodStatus was called (status layer only). Pushed only while recording.
    StatusUpdated {
        /// The pod.
        pod_uid: Arc<str>,
        /// The status that the caller passed.
        argument: Box<PodStatus>,
        /// The same status with `ready` and `started` filled.
        filled: Box<PodStatus>,
    },
    /// The pod needs a sync: for the status layer, or because it has lost a probe.
    Sync {
        /// The pod.
        pod_uid: Arc<str>,
    },
    /// A driver's own timer is due.
    Timer {
        /// The token that the driver armed it with.
        token: u64,
    },
    /// A result changed (`results.Manager.Updates`).
    Update(Update),
    /// A worker has ended, and its metric series end with it.
    WorkerEnded {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker started.
    WorkerStarted {
        /// The worker.
        worker: WorkerId,
    },
}

/// One of up to three tries of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The run's worker.
    pub worker: WorkerId,
    /// The number of the worker's run; the answer must repeat it.
    pub run: u32,
    /// Which attempt of the run this is, from 1 to [`crate::prober::ATTEMPTS_PER_RUN`].
    pub attempt: u8,
    /// When the run was due on the worker's own grid.
    pub scheduled: Instant,
}

/// How an attempt went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The prober could not ask the container: the run tries again, then counts nowhere.
    Error {
        /// Whether the handler returned `failure` beside the error; if not, it returned `unknown`.
        failure: bool,
        /// The error text.
        error: Box<str>,
        /// Why, for probes whose options let errors count.
        kind: ErrorKind,
    },
    /// The container answered wrongly, late or not at all.
    Failure {
        /// The handler's output, byte for byte.
        output: Box<[u8]>,
    },
    /// The container answered well.
    Success,
    /// The handler gave no verdict and no error; counts as a failure without an event.
    Unknown,
    /// The container answered well, with something to say (an HTTP redirect that was not followed).
    Warning {
        /// The handler's output, byte for byte.
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
    /// The reason as the API spells it.
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
    /// The event's reason; both reasons have type Warning.
    pub reason: Reason,
    /// The message, verbatim as the kubelet words it; it need not be UTF-8, because it quotes the probe's output.
    pub message: Box<[u8]>,
    /// The streak of failures so far; None unless a run failed.
    pub streak: Option<Streak>,
}

/// Failures in a row, including the latest, and the threshold they count towards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streak {
    /// From 1 to `threshold`; failures beyond it are not counted.
    pub failures: i32,
    /// The failure threshold in force.
    pub threshold: i32,
}

/// A result that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// The cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// The pod of the worker that published the result.
    pub pod_uid: Arc<str>,
    /// The new result.
    pub result: ProbeResult,
}

/// A result that is no longer cached, because its worker has ended or sees another container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// The cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// The pod of the worker.
    pub pod_uid: Arc<str>,
}

/// A set or a removal in a result cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// The result that was set; None for a removal.
    pub result: Option<ProbeResult>,
    /// For a set: whether an update is sent. For a removal: whether there was an entry.
    pub changed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_spelled_as_in_the_api() {
        assert_eq!([Reason::ProbeWarning, Reason::Unhealthy].map(Reason::name), ["ProbeWarning", "Unhealthy"]);
    }
}
