//! A pod's status as the prober sees it: what the status manager would answer (v1.PodStatus, the part that matters).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::results::ContainerKey;

/// `status.phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// At least one container failed and none will run again.
    Failed,
    /// Accepted, but not every container was started.
    #[default]
    Pending,
    /// At least one container runs.
    Running,
    /// All containers ended well.
    Succeeded,
    /// The node could not be asked.
    Unknown,
}

impl Phase {
    /// Whether no container of the pod will run again.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Failed | Self::Succeeded)
    }

    /// The API's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failed => "Failed",
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Succeeded => "Succeeded",
            Self::Unknown => "Unknown",
        }
    }
}

/// `state` of a container status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It runs.
    Running {
        /// `startedAt`, Unix milliseconds; none for the zero time.
        started_at_ms: Option<i64>,
    },
    /// It ended.
    Terminated {
        /// Its exit code.
        exit_code: i32,
    },
    /// It does not run (yet, or again).
    #[default]
    Waiting,
}

impl State {
    /// The API keeps times in whole seconds, and the status manager cuts `startedAt` to them.
    pub(crate) fn cut_to_seconds(self) -> Self {
        match self {
            Self::Running { started_at_ms } => {
                Self::Running { started_at_ms: started_at_ms.map(|at| at.div_euclid(1_000) * 1_000) }
            }
            state => state,
        }
    }

    /// Whether it runs.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running { .. })
    }
}

/// One entry of `containerStatuses` or `initContainerStatuses`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerStatus {
    /// The container's name.
    pub name: Arc<str>,
    /// `containerID`, `type://id` as written; empty before the first container.
    pub id: Box<str>,
    /// `state`.
    pub state: State,
    /// `ready`.
    pub ready: bool,
    /// `started`.
    pub started: Option<bool>,
    /// The interned ID, while the prober stores this status.
    pub(crate) key: Option<ContainerKey>,
}

impl ContainerStatus {
    /// A status with neither `ready` nor `started`.
    pub fn new(name: Arc<str>, id: Box<str>, state: State) -> Self {
        Self { name, id, state, ..Self::default() }
    }
}

/// A pod's status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodStatus {
    /// `phase`.
    pub phase: Phase,
    /// The first pod IP, empty before there is one.
    pub pod_ip: Arc<str>,
    /// Condition `AllContainersRestarting` is True (KEP-5532).
    pub all_containers_restarting: bool,
    /// `containerStatuses` first, then `initContainerStatuses`.
    pub containers: Vec<ContainerStatus>,
    /// How many of `containers` are regular ones.
    pub regular: usize,
}

impl PodStatus {
    /// The status of a container by name: regular ones first, and only one that has an ID (worker.go:doProbe, 1.36).
    pub fn with_id(&self, name: &str) -> Option<&ContainerStatus> {
        self.containers.iter().find(|container| &*container.name == name && !container.id.is_empty())
    }

    /// The status of a container by name, with or without an ID.
    pub fn named(&self, name: &str) -> Option<&ContainerStatus> {
        self.containers.iter().find(|container| &*container.name == name)
    }
}
