//! What differs between Kubernetes releases, as named fields with a constant per release, and what differs for enhanced
//! liveness ([`Semantics::ENHANCED`]).
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
//! | V14 | the grpc-go that a gRPC probe calls with | [`Semantics::grpc_go`] |
//! | V15 | the Go that a probe's HTTP is of | [`Semantics::go`] |
//! | V16 | the golang.org/x/net that a probe's HTTP/2 with TLS is of | [`Semantics::x_net`] |
//! | V13 | a port's text that is no name | [`Semantics::text_ports`] |
//!
//! In enhanced liveness a failure is a report: nothing on the node follows from it, and the cluster decides. No release
//! differs in these:
//!
//! | topic | field |
//! |---|---|
//! | what liveness publishes for a new container | [`Semantics::liveness_start`] |
//! | what a published liveness failure does to its worker | [`Semantics::liveness_failure_holds`] |
//! | the failures of the container before | [`Semantics::new_container`] |
//! | what liveness publishes for a container that does not run | [`Semantics::liveness_not_running`] |
//! | whether liveness ends when the pod's deletion begins | [`Semantics::deletion_ends_liveness`] |

use serde::{Deserialize, Serialize};

/// What AddPod does when it meets a probe that already has a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExistingWorker {
    /// AddPod returns: later probes get no worker (recorded: `add_pod_early_return_other_container`).
    AbortCall,
    /// AddPod skips the rest of that container's probes and continues with the next container (recorded: 1.37; kubernetes
    /// PR 138930).
    SkipContainer,
}

/// What the prober publishes first for a container that was running long before the prober started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
pub enum FirstPublish {
    /// The initial value, as for every new container. The prober then ignores a status that says started, and Ready
    /// falls (gate `ChangeContainerStatusOnKubeletRestart` on; recorded: releases up to 1.34).
    Initial,
    /// Nothing, except that the startup probe of a started sidecar counts as passed: otherwise the pod's regular
    /// containers would never be restarted (recorded: `kubelet_restart_sidecar_startup_seeded`; kubernetes PR 137146).
    NothingButStartedSidecars,
}

/// Recordings have this number. 1 was what was once inferred of 1.35; played again, it is what 1.35 was seen to do.
impl From<FirstPublish> for u32 {
    fn from(first: FirstPublish) -> Self {
        match first {
            FirstPublish::Initial => 0,
            FirstPublish::NothingButStartedSidecars => 2,
        }
    }
}

impl TryFrom<u32> for FirstPublish {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        match number {
            0 => Ok(Self::Initial),
            1 | 2 => Ok(Self::NothingButStartedSidecars),
            _ => Err(format!("{number}: no first publish; 0 to 2 are")),
        }
    }
}

/// What a gRPC probe does when its connection fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrpcConnect {
    /// The probe fails (inferred from kubernetes PR 142457: it makes the call without waiting for the connection).
    Once,
    /// The probe connects again until its time is over (recorded: `grpc_refused`).
    UntilTimeout,
}

/// What a port's text is that names no port of the container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextPorts {
    /// A number, if it reads as one (recorded: releases up to 1.36).
    #[default]
    MayBeNumbers,
    /// A mistake, also where it reads as a number (recorded: 1.37).
    AreNames,
}

/// The grpc-go of a release (k8s.io/kubernetes, go.mod).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrpcGo {
    /// Of 1.34.4 (recorded).
    V1_72_1,
    /// Of 1.35.4 (recorded).
    V1_72_2,
    /// Of 1.36.3 (recorded).
    #[default]
    V1_79_3,
    /// Of 1.37.2 (recorded).
    V1_82_1,
}

impl GrpcGo {
    /// What it appends to the user agent of a call.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_72_1 => "grpc-go/1.72.1",
            Self::V1_72_2 => "grpc-go/1.72.2",
            Self::V1_79_3 => "grpc-go/1.79.3",
            Self::V1_82_1 => "grpc-go/1.82.1",
        }
    }

    /// Whether an HTTP status that is not 200 ends a call, also one that only announces a response and one of a gRPC
    /// response. Later grpc-go reads the status of a response that is not gRPC alone.
    pub const fn needs_http_200(self) -> bool {
        matches!(self, Self::V1_72_1 | Self::V1_72_2)
    }

    /// Whether a response with no message or with two has an error of its own. The end of a response without a message
    /// is else Go's end of the input.
    pub const fn counts_messages(self) -> bool {
        !matches!(self, Self::V1_72_1 | Self::V1_72_2)
    }

    /// Whether the error about a response that is not gRPC ends with the beginning of its body.
    pub const fn shows_other_bodies(self) -> bool {
        matches!(self, Self::V1_82_1)
    }

    /// Whether it reads a connection without TLS by system calls of its own (internal/transport/readyreader): the error
    /// of a read then lacks what Go's net puts in front.
    pub const fn reads_by_itself(self) -> bool {
        matches!(self, Self::V1_82_1)
    }
}

/// The Go of a release (k8s.io/kubernetes, .go-version).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Go {
    /// Of 1.34.4 (recorded).
    V1_24,
    /// Of 1.35.4 (recorded).
    V1_25,
    /// Of 1.36.3 and 1.37.2 (recorded).
    #[default]
    V1_26,
}

impl Go {
    /// Whether the error about a line of an HTTP head that is no field quotes the line.
    pub const fn quotes_fields(self) -> bool {
        matches!(self, Self::V1_26)
    }
}

/// The golang.org/x/net of a release (k8s.io/kubernetes, go.mod), with whose HTTP/2 a probe asks over TLS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum XNet {
    /// Of 1.36.3 (recorded). 1.34.4 and 1.35.4 have earlier ones that answer alike (recorded).
    #[default]
    V0_49,
    /// Of 1.37.2 (recorded).
    V0_57,
}

impl XNet {
    /// Whether a setting of the server outside of what RFC 9113 allows ends the connection.
    pub const fn validates_settings(self) -> bool {
        matches!(self, Self::V0_57)
    }

    /// Whether a request is sent again whose stream the server resets with PROTOCOL_ERROR.
    pub const fn repeats_protocol_errors(self) -> bool {
        matches!(self, Self::V0_49)
    }
}

/// What a handler must know of the kubelet's release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlerRules {
    /// What an HTTP probe's client is part of.
    pub go: Go,
    /// What a gRPC probe does when it cannot connect.
    pub grpc_connect: GrpcConnect,
    /// What a gRPC probe calls with.
    pub grpc_go: GrpcGo,
    /// What a port's text is that names no port.
    pub text_ports: TextPorts,
    /// What an HTTP probe asks with over HTTP/2 and TLS.
    pub x_net: XNet,
}

/// What a liveness probe publishes while no run of a new container has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LivenessStart {
    /// Success (kubelet prober/worker.go:newWorker, 1.36).
    Success,
    /// Unknown, because a cluster must not take a container that nobody has asked for a healthy one.
    Unknown,
}

/// What a liveness probe publishes for a container that does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotRunning {
    /// Failure (kubelet prober/worker.go:doProbe, 1.36).
    Failure,
    /// Unknown: a container that exited is started again anyway, and a failure would ask for a restart of the next one.
    Unknown,
}

/// What a worker that meets a new container does with the runs of the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NewContainer {
    /// It keeps counting them, except after a hold (kubelet prober/worker.go:doProbe, 1.36).
    KeepsRuns,
    /// It counts from 0, because without a hold nothing else clears the failures that led to the restart.
    DropsRuns,
}

/// From which status a regenerated container status inherits `started`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartedInheritance {
    /// From none (recorded: releases up to 1.34).
    None,
    /// From the previous status of that container name (recorded: `sync_restart_without_seeing_exit`).
    ByName,
    /// From the previous status, if the container ID is the same (inferred from kubernetes PR 141342).
    ById,
}

/// The rules that one prober follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Semantics {
    /// Whether liveness probes end when a pod's deletion begins; if not, they end with their container or when their
    /// caller takes them away.
    pub deletion_ends_liveness: bool,
    /// What AddPod does with a probe that has a worker.
    pub existing_worker: ExistingWorker,
    /// What the prober publishes first for a container that is older than itself.
    pub first_publish: FirstPublish,
    /// What an HTTP probe's client is part of. Recordings do not have it, because what plays one asks no server.
    #[serde(skip)]
    pub go: Go,
    /// What a gRPC probe does when it cannot connect.
    pub grpc_connect: GrpcConnect,
    /// What a gRPC probe calls with. Recordings do not have it, because what plays one asks no server.
    #[serde(skip)]
    pub grpc_go: GrpcGo,
    /// Whether a published liveness failure puts its worker on hold until the container is replaced; if not, the worker
    /// goes on, so that a recovery is seen.
    pub liveness_failure_holds: bool,
    /// What liveness publishes for a container that does not run.
    pub liveness_not_running: NotRunning,
    /// What liveness publishes first for a new container.
    pub liveness_start: LivenessStart,
    /// What a worker does with the runs of the container before.
    pub new_container: NewContainer,
    /// Gate `RestartAllContainersOnContainerExits`: whether a restart of all a pod's containers keeps the workers of
    /// ended containers, and whether the rule of that name counts.
    pub restart_all_containers: bool,
    /// Gate `ContainerRestartRules`: whether a terminated container's rules and exit code decide if its workers
    /// continue.
    pub restart_rules: bool,
    /// How a regenerated status inherits `started`.
    pub started_inheritance: StartedInheritance,
    /// Whether a startup probe that has passed rests until the container is replaced (kubernetes PR 121206; true since
    /// 1.29, so no release here differs).
    pub startup_success_holds: bool,
    /// Whether StopLivenessAndStartup stops sidecars' workers too.
    pub stop_covers_sidecars: bool,
    /// What a port's text is that names no port of the container. Recordings do not have it either.
    #[serde(skip)]
    pub text_ports: TextPorts,
    /// Whether a manually triggered readiness run begins a new period (no release here differs).
    pub trigger_resets_ticker: bool,
    /// What an HTTP probe asks with over HTTP/2 and TLS. Recordings do not have it either.
    #[serde(skip)]
    pub x_net: XNet,
}

/// The rules of the recorded release.
impl Default for Semantics {
    fn default() -> Self {
        Self::V1_36
    }
}

impl Semantics {
    /// Kubernetes 1.34.4, as recorded. 1.29 to 1.33 are inferred to be the same.
    pub const V1_34: Self = Self {
        first_publish: FirstPublish::Initial,
        go: Go::V1_24,
        grpc_go: GrpcGo::V1_72_1,
        restart_all_containers: false,
        restart_rules: false,
        started_inheritance: StartedInheritance::None,
        ..Self::V1_36
    };
    /// Kubernetes 1.35.4, as recorded.
    pub const V1_35: Self =
        Self { go: Go::V1_25, grpc_go: GrpcGo::V1_72_2, restart_all_containers: false, ..Self::V1_36 };
    /// Kubernetes 1.36.3, as recorded.
    pub const V1_36: Self = Self {
        deletion_ends_liveness: true,
        existing_worker: ExistingWorker::AbortCall,
        first_publish: FirstPublish::NothingButStartedSidecars,
        go: Go::V1_26,
        grpc_connect: GrpcConnect::UntilTimeout,
        grpc_go: GrpcGo::V1_79_3,
        liveness_failure_holds: true,
        liveness_not_running: NotRunning::Failure,
        liveness_start: LivenessStart::Success,
        new_container: NewContainer::KeepsRuns,
        restart_all_containers: true,
        restart_rules: true,
        started_inheritance: StartedInheritance::ByName,
        startup_success_holds: true,
        stop_covers_sidecars: false,
        text_ports: TextPorts::MayBeNumbers,
        trigger_resets_ticker: true,
        x_net: XNet::V0_49,
    };
    /// Kubernetes 1.37.2, as recorded.
    pub const V1_37: Self = Self {
        existing_worker: ExistingWorker::SkipContainer,
        grpc_go: GrpcGo::V1_82_1,
        text_ports: TextPorts::AreNames,
        x_net: XNet::V0_57,
        ..Self::V1_36
    };
    /// Kubernetes 1.38 and later (inferred).
    pub const V1_38: Self = Self {
        grpc_connect: GrpcConnect::Once,
        started_inheritance: StartedInheritance::ById,
        stop_covers_sidecars: true,
        ..Self::V1_37
    };

    /// Enhanced liveness: a release's handlers and timing, with results that only report.
    pub const ENHANCED: Self = Self::V1_36.enhanced();

    /// These rules with those of enhanced liveness in place of the kubelet's about liveness.
    pub const fn enhanced(self) -> Self {
        Self {
            deletion_ends_liveness: false,
            first_publish: FirstPublish::Initial,
            liveness_failure_holds: false,
            liveness_not_running: NotRunning::Unknown,
            liveness_start: LivenessStart::Unknown,
            new_container: NewContainer::DropsRuns,
            ..self
        }
    }

    /// The rules that the handlers follow.
    pub const fn handler_rules(&self) -> HandlerRules {
        let Self { go, grpc_connect, grpc_go, text_ports, x_net, .. } = *self;
        HandlerRules { go, grpc_connect, grpc_go, text_ports, x_net }
    }

    /// The rules of a release named like `1.36`; None for an unknown one.
    pub fn of_release(release: &str) -> Option<Self> {
        RELEASES.iter().find(|(name, _)| *name == release).map(|(_, semantics)| *semantics)
    }

    /// Whether `ready` and `started` survive a restart of the prober (gate `ChangeContainerStatusOnKubeletRestart`
    /// off).
    pub(crate) fn keeps_status_on_restart(&self) -> bool {
        self.first_publish != FirstPublish::Initial
    }
}

/// The releases that a caller can choose.
pub const RELEASES: [(&str, Semantics); 5] = [
    ("1.34", Semantics::V1_34),
    ("1.35", Semantics::V1_35),
    ("1.36", Semantics::V1_36),
    ("1.37", Semantics::V1_37),
    ("1.38", Semantics::V1_38),
];
