//! The pod of the tests of single workers: UID `u`, one container `c`, under the kubelet's rules without start jitter.

use std::sync::Arc;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Outcome, Settings};
use probelet_core::spec::{ContainerSpec, PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;

/// The pod's UID.
pub(crate) const UID: &str = "u";

/// The pod, with `probes`.
pub(crate) fn pod(probes: impl IntoIterator<Item = (ProbeType, ProbeSpec)>) -> Arc<PodSpec> {
    let mut container = ContainerSpec { name: "c".into(), ..ContainerSpec::default() };
    for (probe_type, probe) in probes {
        container.probes[probe_type as usize] = Some(Box::new(probe));
    }
    Arc::new(PodSpec {
        uid: UID.into(),
        name: "p".into(),
        namespace: "ns".into(),
        containers: vec![container],
        regular: 1,
        ..PodSpec::default()
    })
}

/// The pod's status while the container `id` has been running since `started`.
pub(crate) fn running(id: &str, started: Instant) -> PodStatus {
    let state = State::Running { started_at_ms: Some(started.as_nanos() as i64 / 1_000_000) };
    PodStatus {
        phase: Phase::Running,
        containers: vec![ContainerStatus::new("c".into(), id.into(), state)],
        regular: 1,
        ..PodStatus::default()
    }
}

/// A kubelet's settings without the jitter of first runs.
pub(crate) fn settings() -> Settings {
    Settings { start_jitter: false, ..Settings::default() }
}

/// An answer that counts against the container.
pub(crate) fn failure() -> Outcome {
    Outcome::Failure { output: Box::default() }
}
