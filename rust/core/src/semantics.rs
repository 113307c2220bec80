//! What differs between Kubernetes releases, as named fields with a constant per release.
//!
//! | row | topic | field |
//! |---|---|---|
//! | V1 | AddPod meets a worker | [`Semantics::existing_worker`] |
//! | V2 | exec runs end with the context of the pod's sync (kubernetes#140881, 1.35 and 1.36) | none: not copied |
//! | V3 | StopLivenessAndStartup and sidecars | [`Semantics::stop_covers_sidecars`] |
//! | V4 | `started` over a status regeneration | [`Semantics::started_inheritance`] |
//! | V5 | first publish for a container older than the prober | [`Semantics::first_publish`] |
//! | V6 | a gRPC probe whose connection is refused | [`Semantics::grpc_connect`] |
//! | V10 | a terminated container's workers | [`Semantics::restart_rules`], [`Semantics::restart_all_containers`] |
//! | V11 | a startup success holds | [`Semantics::startup_success_holds`] |
//! | V12 | a manual trigger resets the ticker | [`Semantics::trigger_resets_ticker`] |

use serde::{Deserialize, Serialize};

/// What AddPod does when it meets a probe that already has a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExistingWorker {
    /// The whole call returns: later probes get no worker (recorded: `add_pod_early_return_other_container`).
    AbortCall,
    /// The rest of that container's probes is skipped, the next container goes on (inferred from kubernetes PR 138930).
    SkipContainer,
}

/// What is published for a container that was running well before the prober started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FirstPublish {
    /// What is published for every new container. With it, a status that says started is not believed, and Ready falls
    /// (gate `ChangeContainerStatusOnKubeletRestart` on; inferred: releases up to 1.34).
    Initial,
    /// Nothing, until a run decides (inferred: 1.35).
    Nothing,
    /// Nothing; but the startup probe of a sidecar that is started counts as passed, else the pod's regular containers
    /// would never be restarted (recorded: `kubelet_restart_sidecar_startup_seeded`; kubernetes PR 137146).
    NothingButStartedSidecars,
}

/// What a gRPC probe does about a connection that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrpcConnect {
    /// It has failed (inferred from kubernetes PR 142457: the call is made on a connection that is not waited for).
    Once,
    /// Another is tried, until the probe's time is over (recorded: `grpc_refused`).
    UntilTimeout,
}

/// Whose `started` a regenerated container status inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartedInheritance {
    /// Nobody's (inferred: releases up to 1.34).
    None,
    /// The previous status of that container name (recorded: `sync_restart_without_seeing_exit`).
    ByName,
    /// The previous status only if the container ID is the same (inferred from kubernetes PR 141342).
    ById,
}

/// The rules one prober plays by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Semantics {
    /// AddPod on a probe that has a worker.
    pub existing_worker: ExistingWorker,
    /// A container that is older than the prober.
    pub first_publish: FirstPublish,
    /// A gRPC probe that cannot connect.
    pub grpc_connect: GrpcConnect,
    /// Gate `RestartAllContainersOnContainerExits`: whether the restart of all a pod's containers keeps the workers of
    /// those that have ended, and whether the rule of that name counts.
    pub restart_all_containers: bool,
    /// Gate `ContainerRestartRules`: whether a terminated container's rules and exit code decide if its workers go on.
    pub restart_rules: bool,
    /// `started` over a status regeneration.
    pub started_inheritance: StartedInheritance,
    /// Whether a startup probe rests once it has passed, until the container is replaced (kubernetes PR 121206; yes
    /// since 1.29, so no release here differs).
    pub startup_success_holds: bool,
    /// Whether StopLivenessAndStartup stops sidecars' workers too.
    pub stop_covers_sidecars: bool,
    /// Whether a readiness run that was asked for begins a new period (no release here differs).
    pub trigger_resets_ticker: bool,
}

/// The release that was recorded.
impl Default for Semantics {
    fn default() -> Self {
        Self::V1_36
    }
}

impl Semantics {
    /// Kubernetes 1.34 and older, from 1.29 on (inferred).
    pub const V1_34: Self = Self {
        first_publish: FirstPublish::Initial,
        restart_all_containers: false,
        restart_rules: false,
        started_inheritance: StartedInheritance::None,
        ..Self::V1_36
    };
    /// Kubernetes 1.35 (inferred).
    pub const V1_35: Self = Self { first_publish: FirstPublish::Nothing, restart_all_containers: false, ..Self::V1_36 };
    /// Kubernetes 1.36.3, as recorded.
    pub const V1_36: Self = Self {
        existing_worker: ExistingWorker::AbortCall,
        first_publish: FirstPublish::NothingButStartedSidecars,
        grpc_connect: GrpcConnect::UntilTimeout,
        restart_all_containers: true,
        restart_rules: true,
        started_inheritance: StartedInheritance::ByName,
        startup_success_holds: true,
        stop_covers_sidecars: false,
        trigger_resets_ticker: true,
    };
    /// Kubernetes 1.37.0 (inferred).
    pub const V1_37: Self = Self { existing_worker: ExistingWorker::SkipContainer, ..Self::V1_36 };
    /// Kubernetes 1.38 and later (inferred).
    pub const V1_38: Self = Self {
        grpc_connect: GrpcConnect::Once,
        started_inheritance: StartedInheritance::ById,
        stop_covers_sidecars: true,
        ..Self::V1_37
    };

    /// The constant of a release, named as `1.36`.
    pub fn of_release(release: &str) -> Option<Self> {
        RELEASES.iter().find(|(name, _)| *name == release).map(|(_, semantics)| *semantics)
    }

    /// Whether ready and started survive a restart of the prober (gate `ChangeContainerStatusOnKubeletRestart` off).
    pub(crate) fn keeps_status_on_restart(&self) -> bool {
        self.first_publish != FirstPublish::Initial
    }
}

/// The releases that can be asked for.
pub const RELEASES: [(&str, Semantics); 5] = [
    ("1.34", Semantics::V1_34),
    ("1.35", Semantics::V1_35),
    ("1.36", Semantics::V1_36),
    ("1.37", Semantics::V1_37),
    ("1.38", Semantics::V1_38),
];
