//! A stretch of time without a loss, as one log per pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;

use super::entry::{Attempt, PauseRecord, PodState};
use super::pod::PodRecord;
use super::segment::Start;
use super::status::StatusRecord;

/// What one engine recorded without a loss.
#[derive(Debug)]
pub struct Stretch {
    /// The start of its first segment.
    pub start: Start,
    /// The time of its last entry.
    pub end_us: u64,
    /// Changes of the wall clock's offset, in order.
    pub walls: Vec<(u64, i64)>,
    /// Its pods, in the order in which they came.
    pub pods: Vec<PodLog>,
}

/// What a stretch says about a pod, from [`PodLog::from_us`] on.
#[derive(Debug, Default)]
pub struct PodLog {
    /// The pod as it was first defined here.
    pub record: PodRecord,
    /// When the log begins.
    pub from_us: u64,
    /// The pod's state at that time; None for a pod that was defined then.
    pub state: Option<PodState>,
    /// The images that each container had, in order: one, unless the pod changed while it ran.
    pub images: BTreeMap<Box<str>, Vec<Box<str>>>,
    /// Its workers that began, in order.
    pub workers: Vec<Begun>,
    /// Its owner's calls, in order.
    pub inputs: Vec<Told>,
    /// Its attempts by container and type, in the order of their ends.
    pub attempts: BTreeMap<(Box<str>, ProbeType), Vec<Attempt>>,
    /// The results that were published, in order.
    pub results: Vec<Published>,
}

/// A worker that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// When.
    pub at_us: u64,
    /// The container's name.
    pub container: Box<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// When it was due next.
    pub tick_us: u64,
}

/// A call and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The engine's turn after the call: what follows from the call followed then.
    pub at_us: u64,
    /// The engine's last turn before the call: all that was due by then was done before the call.
    pub turned_us: u64,
    /// The call.
    pub input: Input,
}

/// A call of a pod's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// AddPod.
    Add,
    /// The pod was defined.
    Define(Arc<PodRecord>),
    /// RemovePod; nothing of the pod is kept.
    Forget,
    /// RemovePod.
    Remove,
    /// The pod's status is no longer known.
    RemoveStatus,
    /// The caller set the status.
    SetStatus(Arc<StatusRecord>),
    /// StopLivenessAndStartup.
    StopLivenessAndStartup,
    /// SyncPod.
    Sync(Arc<StatusRecord>),
    /// SyncTerminatedPod.
    SyncTerminated(Arc<StatusRecord>),
    /// SyncTerminatingPod.
    SyncTerminating(Arc<StatusRecord>),
    /// AddPod of a pod whose status the caller keeps.
    Take,
    /// The caller, who keeps the status, set it.
    TakeStatus(Arc<StatusRecord>),
    /// UpdatePodStatus on a copy.
    Update(Arc<StatusRecord>),
    /// A probe makes no attempt for a while.
    Pause(PauseRecord),
    /// See [`super::Call::ChangeProbes`].
    ChangeProbes,
    /// The liveness probe of this container goes on after a failure.
    Recheck(Box<str>),
}

impl Input {
    /// What the call says of the containers.
    pub fn facts(&self) -> Option<&StatusRecord> {
        match self {
            Self::SetStatus(facts)
            | Self::Sync(facts)
            | Self::SyncTerminated(facts)
            | Self::SyncTerminating(facts)
            | Self::TakeStatus(facts)
            | Self::Update(facts) => Some(facts),
            _ => None,
        }
    }
}

/// A result that was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// When.
    pub at_us: u64,
    /// The cache.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Box<str>,
    /// The result.
    pub result: ProbeResult,
}
