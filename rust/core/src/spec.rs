//! The part of a pod that the prober reads: plain data, in which the caller has already filled the defaults.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::options::ProbeOptions;
use crate::restart::{RestartPolicy, RestartRule, RestartSpec};

/// The type of a probe, in the order in which AddPod looks at a container's probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ProbeType {
    /// Gates the other two until the container has started.
    Startup,
    /// Decides whether the container may get traffic.
    Readiness,
    /// Decides whether the container is restarted.
    Liveness,
}

impl ProbeType {
    /// All types, in AddPod's order.
    pub const ALL: [Self; 3] = [Self::Startup, Self::Readiness, Self::Liveness];

    /// `startup`, `readiness` or `liveness`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Readiness => "readiness",
            Self::Liveness => "liveness",
        }
    }

    /// The spelling in events and metric labels (kubelet prober.go:probeType.String, 1.36).
    pub const fn title(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Readiness => "Readiness",
            Self::Liveness => "Liveness",
        }
    }
}

/// A port of a probe: a number, or a name that each run looks up in the container's ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IntOrString {
    /// A number.
    Int(i64),
    /// A name, or a number in quotes.
    Str(Box<str>),
}

/// `httpGet` of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpGet {
    /// `HTTP` or `HTTPS`; empty means `HTTP`.
    pub scheme: Box<str>,
    /// The host; empty means the pod's first IP at the moment of the run.
    pub host: Box<str>,
    /// The port, resolved at each run.
    pub port: IntOrString,
    /// A URL reference.
    pub path: Box<str>,
    /// Extra headers, in order; names may repeat.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// Whether the probe speaks HTTP/2 without TLS from the first byte, without asking first (KEP-5999).
    pub http2: bool,
}

/// What a probe does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Handler {
    /// A command in the container; `$(VAR)` is already expanded.
    Exec {
        /// The command and its arguments.
        command: Vec<Box<str>>,
    },
    /// An HTTP GET.
    HttpGet(HttpGet),
    /// A TCP connection that is opened and closed.
    TcpSocket {
        /// The host; empty means the pod's first IP at the moment of the run.
        host: Box<str>,
        /// The port, resolved at each run.
        port: IntOrString,
    },
    /// A `grpc.health.v1.Health/Check` call.
    Grpc {
        /// The port, numeric only.
        port: i64,
        /// The service to ask about, often empty.
        service: Box<str>,
        /// Whether the call goes over TLS (KEP-4939).
        tls: bool,
    },
    /// No handler: every run is a prober error. Validation refuses such a probe, but the prober must survive it.
    #[default]
    None,
}

/// One probe of a container, defaulted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// What the probe does.
    pub handler: Handler,
    /// `initialDelaySeconds`.
    pub initial_delay_seconds: i32,
    /// `timeoutSeconds` of one attempt.
    pub timeout_seconds: i32,
    /// `periodSeconds`.
    pub period_seconds: i32,
    /// `successThreshold`.
    pub success_threshold: i32,
    /// `failureThreshold`.
    pub failure_threshold: i32,
    /// `initializationFailureThreshold` (KEP-950): how many failures in a row reach the threshold before a container's
    /// first success. A value up to `failureThreshold`, such as 0, changes nothing.
    pub initialization_failure_threshold: i32,
    /// What the pod asks for beyond the kubelet.
    pub options: Option<Box<ProbeOptions>>,
}

/// A probe of which the manifest gives only the presence, with the API server's defaults (apis/core/v1/defaults.go,
/// 1.36).
impl Default for ProbeSpec {
    fn default() -> Self {
        Self {
            handler: Handler::None,
            initial_delay_seconds: 0,
            timeout_seconds: 1,
            period_seconds: 10,
            success_threshold: 1,
            failure_threshold: 3,
            initialization_failure_threshold: 0,
            options: None,
        }
    }
}

impl ProbeSpec {
    /// The ticker's period. A period below one second cannot come from the API and would spin, so it becomes one
    /// second.
    pub fn period(&self) -> Duration {
        Duration::from_secs(self.period_seconds.max(1).unsigned_abs().into())
    }
}

/// One container of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerSpec {
    /// The container's name.
    pub name: Arc<str>,
    /// The image. No probe depends on it; a recording names it, so that releases can be compared.
    pub image: Arc<str>,
    /// Named ports; the first match wins.
    pub ports: Vec<(Box<str>, i64)>,
    /// The container's own restart policy; on an init container `Always` makes it a sidecar.
    pub restart_policy: Option<RestartPolicy>,
    /// The container's restart rules (KEP-5307).
    pub restart_rules: Vec<RestartRule>,
    /// Probes by [`ProbeType`]: startup, readiness, liveness.
    pub probes: [Option<Box<ProbeSpec>>; 3],
}

impl ContainerSpec {
    /// The probe of one type.
    pub fn probe(&self, probe_type: ProbeType) -> Option<&ProbeSpec> {
        self.probes[probe_type as usize].as_deref()
    }
}

/// The part of a v1.Pod that the prober reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodSpec {
    /// `metadata.uid`: the pod's key everywhere.
    pub uid: Arc<str>,
    /// `metadata.name`.
    pub name: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Arc<str>,
    /// `spec.restartPolicy`.
    pub restart_policy: RestartPolicy,
    /// Regular containers first, then init containers.
    pub containers: Vec<ContainerSpec>,
    /// How many of `containers` are regular ones.
    pub regular: usize,
    /// Whether the object's `deletionTimestamp` is set.
    pub deleting: bool,
    /// Whether the object's `Ready` condition is True, as the API last knew it.
    pub api_ready: bool,
}

impl PodSpec {
    /// Whether the container at `index` is a sidecar: an init container that restarts for ever beside the regular ones.
    pub fn is_sidecar(&self, index: usize) -> bool {
        index >= self.regular && self.containers[index].restart_policy == Some(RestartPolicy::Always)
    }

    /// Whether the container at `index` may have probes (kubelet prober_manager.go:AddPod, 1.36).
    pub fn is_probed(&self, index: usize) -> bool {
        index < self.regular || self.is_sidecar(index)
    }

    /// What decides whether the container at `index` runs again.
    pub fn restart_of(&self, index: usize) -> RestartSpec<'_> {
        let container = &self.containers[index];
        RestartSpec { pod: self.restart_policy, own: container.restart_policy, rules: &container.restart_rules }
    }

    /// The index of a container by name; regular containers come first.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.containers.iter().position(|container| &*container.name == name)
    }

    /// The `fieldPath` of a container's events (kubelet container/ref.go, 1.36).
    pub fn field_path(&self, index: usize) -> String {
        let (list, position) =
            if index < self.regular { ("containers", index) } else { ("initContainers", index - self.regular) };
        match &*self.containers[index].name {
            "" => format!("spec.{list}[{position}]"),
            name => format!("spec.{list}{{{name}}}"),
        }
    }
}
