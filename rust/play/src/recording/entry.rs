//! The entries of a recording.

use probelet_core::prober::Outcome;
use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use serde::{Deserialize, Serialize};

use super::opted::OptedProbe;
use super::pod::PodRecord;
use super::segment::Start;
use super::status::StatusRecord;
use crate::cause::Cause;
use crate::worker_record::WorkerRecord;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// An attempt has ended.
    Attempt(Attempt),
    /// Anything else.
    Event {
        /// When, on the engine's clock in microseconds.
        at_us: u64,
        /// What.
        event: Box<Event>,
    },
    /// A segment begins.
    Segment(Box<Start>),
}

/// The end of an attempt. Times are microseconds of the engine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The worker's number.
    pub worker: u32,
    /// How it ended.
    pub end: End,
    /// Why.
    pub cause: Cause,
    /// When it was due on the worker's grid.
    pub scheduled_us: u64,
    /// When its own time began.
    pub began_us: u64,
    /// When the prober took its outcome.
    pub ended_us: u64,
}

/// An [`Outcome`] without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The container answered well.
    Success,
    /// The container answered well, with something to say.
    Warning,
    /// The container answered wrongly, late or not at all.
    Failure,
    /// A prober error; the handler's result beside it is unknown.
    Error,
    /// A prober error; the handler's result beside it is failure.
    ErrorFailure,
    /// Neither verdict nor error.
    Unknown,
}

impl End {
    /// All ends; the place of an end is its code in a recording.
    pub const ALL: [Self; 6] =
        [Self::Success, Self::Warning, Self::Failure, Self::Error, Self::ErrorFailure, Self::Unknown];

    /// The end of an outcome.
    pub const fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::Warning { .. } => Self::Warning,
            Outcome::Failure { .. } => Self::Failure,
            Outcome::Error { failure: false, .. } => Self::Error,
            Outcome::Error { failure: true, .. } => Self::ErrorFailure,
            Outcome::Unknown => Self::Unknown,
        }
    }

    /// An outcome with this end, its cause and no text.
    pub fn to_outcome(self, cause: Cause) -> Outcome {
        let (error, kind) = (Box::default(), cause.error_kind());
        match self {
            Self::Success => Outcome::Success,
            Self::Warning => Outcome::Warning { output: Box::default() },
            Self::Failure => Outcome::Failure { output: Box::default() },
            Self::Error => Outcome::Error { failure: false, error, kind },
            Self::ErrorFailure => Outcome::Error { failure: true, error, kind },
            Self::Unknown => Outcome::Unknown,
        }
    }

    /// Whether the container answered well.
    pub const fn is_success(self) -> bool {
        matches!(self, Self::Success | Self::Warning)
    }
}

/// What is not an attempt. `pod` is the pod's number, which [`Event::Pod`] and [`Event::Defined`] tie to its UID.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The whole state of a pod; its entries count from here on.
    Pod(PodState),
    /// The owner defined a pod.
    Defined {
        /// The pod.
        pod: u32,
        /// Its definition.
        record: PodRecord,
    },
    /// The owner of a pod called.
    Called {
        /// The pod.
        pod: u32,
        /// The call.
        call: Call,
    },
    /// A worker began.
    WorkerStarted {
        /// The worker's number. Another worker may get it after its end.
        worker: u32,
        /// The pod.
        pod: u32,
        /// The container's name.
        container: Box<str>,
        /// The probe's type.
        probe_type: ProbeType,
        /// When it is due next, once it has begun: sooner than a period if the jitter of a young prober chose the moment
        /// of its first run.
        tick_us: u64,
    },
    /// A worker ended.
    WorkerEnded {
        /// The worker's number.
        worker: u32,
    },
    /// A result was published.
    Result {
        /// The pod.
        pod: u32,
        /// The cache.
        probe_type: ProbeType,
        /// The container's ID.
        container_id: Box<str>,
        /// The new result.
        result: ProbeResult,
    },
    /// The engine made its last turn before the calls that come next.
    Turned,
    /// The wall clock's offset from the engine's clock changed: Unix nanoseconds at its zero.
    Wall(i64),
    /// As [`Event::Defined`], of a pod with opt-ins. New variants come last, so that recordings without them read as
    /// before.
    OptedDefined {
        /// The pod.
        pod: u32,
        /// Its definition.
        record: PodRecord,
        /// Its probes with opt-ins.
        opted: Vec<OptedProbe>,
    },
    /// As [`Event::Pod`], of a pod with opt-ins.
    OptedPod(PodState, Vec<OptedProbe>),
    /// The images of a pod as it was defined just before.
    Images {
        /// The pod.
        pod: u32,
        /// The image of each container, by the container's name.
        images: Vec<(Box<str>, Box<str>)>,
    },
}

/// A call of a pod's owner ([`crate::pods::PodCalls`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    /// AddPod.
    Add,
    /// AddPod of a pod whose status the caller keeps.
    Take,
    /// RemovePod; nothing of the pod is kept.
    Forget,
    /// RemovePod.
    Remove,
    /// The pod's status is no longer known.
    RemoveStatus,
    /// The caller set the status.
    SetStatus(Facts),
    /// StopLivenessAndStartup.
    StopLivenessAndStartup,
    /// SyncPod.
    Sync(Facts),
    /// SyncTerminatedPod.
    SyncTerminated(Facts),
    /// SyncTerminatingPod.
    SyncTerminating(Facts),
    /// The caller, who keeps the status, set it.
    TakeStatus(Facts),
    /// UpdatePodStatus on a copy.
    Update(Facts),
    /// A probe makes no attempt for a while. New variants come last, so that recordings without them read as before.
    Pause(PauseRecord),
    /// The pod that runs takes the probes with which it was last defined.
    ChangeProbes,
    /// The liveness probe of this container goes on after a failure.
    Recheck(Box<str>),
}

impl Call {
    /// The facts of a call.
    pub const fn facts_mut(&mut self) -> Option<&mut Facts> {
        match self {
            Self::SetStatus(facts)
            | Self::Sync(facts)
            | Self::SyncTerminated(facts)
            | Self::SyncTerminating(facts)
            | Self::TakeStatus(facts)
            | Self::Update(facts) => Some(facts),
            Self::Add
            | Self::Forget
            | Self::Remove
            | Self::RemoveStatus
            | Self::StopLivenessAndStartup
            | Self::Take
            | Self::Pause(_)
            | Self::ChangeProbes
            | Self::Recheck(_) => None,
        }
    }
}

/// The pause of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseRecord {
    /// The container's name.
    pub container: Box<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// The end, on the engine's clock in microseconds. A pause that has ended already ends an earlier one.
    pub until_us: u64,
}

/// What a call says of a pod's containers. Most calls say what the call before said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Facts {
    /// The facts of the pod's last call.
    Same,
    /// Others.
    New(StatusRecord),
}

/// All that the engine knows of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodState {
    /// The pod's number.
    pub pod: u32,
    /// Its definition.
    pub record: PodRecord,
    /// Whether its caller keeps its status.
    pub is_supplied: bool,
    /// Its status.
    pub status: Option<StatusRecord>,
    /// What the last call said.
    pub facts: Option<StatusRecord>,
    /// Its workers.
    pub workers: Vec<WorkerState>,
}

/// A worker of a [`PodState`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerState {
    /// The worker's number.
    pub worker: u32,
    /// The container's name.
    pub container: Box<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// What the worker knows; None before it has seen a container.
    pub memory: Option<WorkerRecord>,
}
