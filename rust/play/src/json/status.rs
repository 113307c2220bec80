//! Statuses and runtime facts: one shape for both.

use std::ops::RangeInclusive;
use std::sync::Arc;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::spec::PodSpec;
use probelet_core::status::{is_initialized, is_ready};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::{JsonError, decode};

/// A pod's status as JSON. As input `ready`, `started`, `pod_ip` and the conditions may be absent, and the conditions
/// `ready` and `initialized` of the pod are not read.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StatusDocument {
    #[serde(default)]
    phase: PhaseName,
    #[serde(default)]
    pod_ip: Arc<str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    all_containers_restarting: bool,
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    initialized: bool,
    #[serde(default)]
    containers: Vec<ContainerDocument>,
    #[serde(default)]
    init_containers: Vec<ContainerDocument>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
enum PhaseName {
    Failed,
    #[default]
    Pending,
    Running,
    Succeeded,
    Unknown,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ContainerDocument {
    name: Arc<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    id: Arc<str>,
    state: StateName,
    #[serde(default)]
    ready: bool,
    started: Option<bool>,
    #[serde(default, deserialize_with = "time_of_the_api", skip_serializing_if = "Option::is_none")]
    started_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum StateName {
    Running,
    Terminated,
    Waiting,
}

/// Reads Unix milliseconds that RFC 3339 can write: the API knows no other times, and the core calculates with these.
fn time_of_the_api<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let time = Option::<i64>::deserialize(deserializer)?;
    match time.filter(|time| !TIMES_MS.contains(time)) {
        None => Ok(time),
        Some(time) => {
            let (first, last) = (TIMES_MS.start(), TIMES_MS.end());
            Err(D::Error::custom(format_args!("started_at_ms: {time}: must be from {first} to {last}")))
        }
    }
}

/// From the beginning of year 1, Go's zero time, to the end of year 9999.
const TIMES_MS: RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// Decodes a status, or the runtime's facts.
///
/// # Errors
/// The first place where the JSON is not a status.
pub fn decode_status(json: &[u8]) -> Result<PodStatus, JsonError> {
    let document: StatusDocument = decode(json)?;
    Ok(document.into_core())
}

impl StatusDocument {
    /// The status as the core keeps it.
    pub fn into_core(self) -> PodStatus {
        let regular = self.containers.len();
        let containers = self.containers.into_iter().chain(self.init_containers);
        PodStatus {
            phase: self.phase.into_core(),
            pod_ip: self.pod_ip,
            all_containers_restarting: self.all_containers_restarting,
            containers: containers.map(ContainerDocument::into_core).collect(),
            regular,
        }
    }

    /// A status with the conditions that follow from it.
    pub fn of(pod: Option<&PodSpec>, status: &PodStatus) -> Self {
        let documents = |containers: &[ContainerStatus]| containers.iter().map(ContainerDocument::of).collect();
        let regular = status.regular.min(status.containers.len());
        Self {
            phase: PhaseName::of(status.phase),
            pod_ip: Arc::clone(&status.pod_ip),
            all_containers_restarting: status.all_containers_restarting,
            ready: pod.is_some_and(|pod| is_ready(pod, status)),
            initialized: pod.is_some_and(|pod| is_initialized(pod, status)),
            containers: documents(&status.containers[..regular]),
            init_containers: documents(&status.containers[regular..]),
        }
    }

    /// The document as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data")
    }
}

impl PhaseName {
    const fn into_core(self) -> Phase {
        match self {
            Self::Failed => Phase::Failed,
            Self::Pending => Phase::Pending,
            Self::Running => Phase::Running,
            Self::Succeeded => Phase::Succeeded,
            Self::Unknown => Phase::Unknown,
        }
    }

    const fn of(phase: Phase) -> Self {
        match phase {
            Phase::Failed => Self::Failed,
            Phase::Pending => Self::Pending,
            Phase::Running => Self::Running,
            Phase::Succeeded => Self::Succeeded,
            Phase::Unknown => Self::Unknown,
        }
    }
}

impl ContainerDocument {
    fn into_core(self) -> ContainerStatus {
        let state = match self.state {
            StateName::Running => State::Running { started_at_ms: self.started_at_ms },
            StateName::Terminated => State::Terminated { exit_code: self.exit_code.unwrap_or_default() },
            StateName::Waiting => State::Waiting,
        };
        let mut status = ContainerStatus::new(self.name, self.id, state);
        status.ready = self.ready;
        status.started = self.started;
        status
    }

    fn of(status: &ContainerStatus) -> Self {
        let (state, started_at_ms, exit_code) = match status.state {
            State::Running { started_at_ms } => (StateName::Running, started_at_ms, None),
            State::Terminated { exit_code } => (StateName::Terminated, None, Some(exit_code)),
            State::Waiting => (StateName::Waiting, None, None),
        };
        Self {
            name: Arc::clone(&status.name),
            id: Arc::clone(&status.id),
            state,
            ready: status.ready,
            started: status.started,
            started_at_ms,
            exit_code,
        }
    }
}
