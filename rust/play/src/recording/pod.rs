//! A pod's definition in a recording: names, policies and the numbers of its probes. Paths, headers and commands are left
//! out.

use std::sync::Arc;

use probelet_core::options::ProbeOptions;
use probelet_core::restart::{RestartPolicy, RestartRule};
use probelet_core::spec::{ContainerSpec, Handler, HttpGet, IntOrString, PodSpec, ProbeSpec};
use serde::{Deserialize, Serialize};

/// The part of a [`PodSpec`] that decides when a probe runs and what its answers mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodRecord {
    /// [`PodSpec::uid`].
    pub uid: Box<str>,
    /// [`PodSpec::namespace`].
    pub namespace: Box<str>,
    /// [`PodSpec::name`].
    pub name: Box<str>,
    /// [`PodSpec::restart_policy`].
    pub restart_policy: RestartPolicy,
    /// [`PodSpec::containers`].
    pub containers: Vec<ContainerDefinition>,
    /// [`PodSpec::regular`].
    pub regular: u32,
    /// [`PodSpec::deleting`].
    pub deleting: bool,
    /// [`PodSpec::api_ready`].
    pub api_ready: bool,
}

/// A container of a [`PodRecord`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerDefinition {
    /// [`ContainerSpec::name`].
    pub name: Box<str>,
    /// [`ContainerSpec::restart_policy`].
    pub restart_policy: Option<RestartPolicy>,
    /// [`ContainerSpec::restart_rules`].
    pub restart_rules: Vec<RestartRule>,
    /// [`ContainerSpec::image`]; files have it beside the record.
    #[serde(skip)]
    pub image: Box<str>,
    /// [`ContainerSpec::probes`].
    pub probes: [Option<ProbeRecord>; 3],
}

/// The numbers of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// What the probe asks.
    pub handler: HandlerKind,
    /// [`ProbeSpec::initial_delay_seconds`].
    pub initial_delay_seconds: i32,
    /// [`ProbeSpec::timeout_seconds`].
    pub timeout_seconds: i32,
    /// [`ProbeSpec::period_seconds`].
    pub period_seconds: i32,
    /// [`ProbeSpec::success_threshold`].
    pub success_threshold: i32,
    /// [`ProbeSpec::failure_threshold`].
    pub failure_threshold: i32,
    /// [`ProbeSpec::initialization_failure_threshold`].
    pub initialization_failure_threshold: i32,
    /// [`ProbeSpec::options`]; files have them beside the record.
    #[serde(skip)]
    pub options: Option<ProbeOptions>,
}

/// What a probe asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandlerKind {
    /// A command.
    Exec,
    /// HTTP.
    HttpGet,
    /// A connection.
    TcpSocket,
    /// A call of the health service.
    Grpc,
    /// Nothing.
    None,
}

impl PodRecord {
    /// The record of a pod.
    pub fn of(pod: &PodSpec) -> Self {
        Self {
            uid: (&*pod.uid).into(),
            namespace: (&*pod.namespace).into(),
            name: (&*pod.name).into(),
            restart_policy: pod.restart_policy,
            containers: pod.containers.iter().map(ContainerDefinition::of).collect(),
            regular: u32::try_from(pod.regular).unwrap_or(u32::MAX),
            deleting: pod.deleting,
            api_ready: pod.api_ready,
        }
    }

    /// The pod again, with handlers that ask nothing.
    pub fn to_spec(&self) -> PodSpec {
        PodSpec {
            uid: (&*self.uid).into(),
            name: (&*self.name).into(),
            namespace: (&*self.namespace).into(),
            restart_policy: self.restart_policy,
            containers: self.containers.iter().map(ContainerDefinition::to_spec).collect(),
            regular: (self.regular as usize).min(self.containers.len()),
            deleting: self.deleting,
            api_ready: self.api_ready,
        }
    }
}

impl ContainerDefinition {
    fn of(container: &ContainerSpec) -> Self {
        Self {
            name: (&*container.name).into(),
            restart_policy: container.restart_policy,
            restart_rules: container.restart_rules.clone(),
            image: (&*container.image).into(),
            probes: container.probes.each_ref().map(|probe| probe.as_deref().map(ProbeRecord::of)),
        }
    }

    fn to_spec(&self) -> ContainerSpec {
        ContainerSpec {
            name: Arc::from(&*self.name),
            image: Arc::from(&*self.image),
            ports: Vec::new(),
            restart_policy: self.restart_policy,
            restart_rules: self.restart_rules.clone(),
            probes: self.probes.map(|probe| probe.map(|probe| Box::new(probe.to_spec()))),
        }
    }
}

impl ProbeRecord {
    fn of(probe: &ProbeSpec) -> Self {
        let handler = match probe.handler {
            Handler::Exec { .. } => HandlerKind::Exec,
            Handler::HttpGet(_) => HandlerKind::HttpGet,
            Handler::TcpSocket { .. } => HandlerKind::TcpSocket,
            Handler::Grpc { .. } => HandlerKind::Grpc,
            Handler::None => HandlerKind::None,
        };
        Self {
            handler,
            initial_delay_seconds: probe.initial_delay_seconds,
            timeout_seconds: probe.timeout_seconds,
            period_seconds: probe.period_seconds,
            success_threshold: probe.success_threshold,
            failure_threshold: probe.failure_threshold,
            initialization_failure_threshold: probe.initialization_failure_threshold,
            options: probe.options.as_deref().copied(),
        }
    }

    fn to_spec(self) -> ProbeSpec {
        let port = IntOrString::Int(0);
        let handler = match self.handler {
            HandlerKind::Exec => Handler::Exec { command: Vec::new() },
            HandlerKind::HttpGet => Handler::HttpGet(HttpGet {
                scheme: "".into(),
                host: "".into(),
                port,
                path: "".into(),
                headers: Vec::new(),
                http2: false,
            }),
            HandlerKind::TcpSocket => Handler::TcpSocket { host: "".into(), port },
            HandlerKind::Grpc => Handler::Grpc { port: 0, service: "".into(), tls: false },
            HandlerKind::None => Handler::None,
        };
        ProbeSpec {
            handler,
            initial_delay_seconds: self.initial_delay_seconds,
            timeout_seconds: self.timeout_seconds,
            period_seconds: self.period_seconds,
            success_threshold: self.success_threshold,
            failure_threshold: self.failure_threshold,
            initialization_failure_threshold: self.initialization_failure_threshold,
            options: self.options.map(Box::new),
        }
    }
}
