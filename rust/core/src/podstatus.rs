//! A pod's status as the status manager would return it: the part of v1.PodStatus that the prober reads.

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
    /// The node did not answer, so its pods' state is not known.
    Unknown,
}

impl Phase {
    /// Whether no container of the pod will run again.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Failed | Self::Succeeded)
    }

    /// The phase as the API spells it.
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
    /// The container runs.
    Running {
        /// `startedAt` in Unix milliseconds; None for the zero time.
        started_at_ms: Option<i64>,
    },
    /// The container ended.
    Terminated {
        /// The container's exit code.
        exit_code: i32,
    },
    /// The container does not run: not yet, or not again.
    #[default]
    Waiting,
}

impl State {
    /// Cuts `startedAt` to whole seconds, as the status manager does, because the API keeps no fractions.
    pub(crate) fn cut_to_seconds(self) -> Self {
        match self {
            Self::Running { started_at_ms } => {
                Self::Running { started_at_ms: started_at_ms.map(|at| at.div_euclid(1_000) * 1_000) }
            }
            state => state,
        }
    }

    /// Whether the container runs.
    pub const fn is_running(self) -> bool {
        matches!(self, Self::Running { .. })
    }
}

/// One entry of `containerStatuses` or `initContainerStatuses`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerStatus {
    /// The container's name.
    pub name: Arc<str>,
    /// `containerID`, `type://id` as written; empty before the runtime made the first container.
    pub id: Arc<str>,
    /// `state`.
    pub state: State,
    /// `ready`.
    pub ready: bool,
    /// `started`.
    pub started: Option<bool>,
    /// The interned ID; None unless the prober stores this status.
    pub(crate) key: Option<ContainerKey>,
}

impl ContainerStatus {
    /// A status with neither `ready` nor `started`.
    pub fn new(name: Arc<str>, id: Arc<str>, state: State) -> Self {
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
    /// Whether condition `AllContainersRestarting` is True (KEP-5532).
    pub all_containers_restarting: bool,
    /// `containerStatuses` first, then `initContainerStatuses`.
    pub containers: Vec<ContainerStatus>,
    /// How many of `containers` are regular ones; the others are init containers.
    pub regular: usize,
}

impl PodStatus {
    /// The first status with this name and with an ID; regular containers come first (worker.go:doProbe, 1.36).
    pub fn with_id(&self, name: &str) -> Option<&ContainerStatus> {
        self.containers.iter().find(|container| &*container.name == name && !container.id.is_empty())
    }

    /// The first status with this name, with or without an ID.
    pub fn named(&self, name: &str) -> Option<&ContainerStatus> {
        self.containers.iter().find(|container| &*container.name == name)
    }
}
