//! The conditions that follow from a status (kubelet status/generate.go, 1.36).

use crate::podstatus::{PodStatus, State};
use crate::spec::PodSpec;

/// Condition Ready, without readiness gates: every regular container and every sidecar is ready.
pub fn is_ready(pod: &PodSpec, status: &PodStatus) -> bool {
    !status.phase.is_terminal()
        && !status.containers.is_empty()
        && (0..pod.containers.len()).filter(|&index| pod.is_probed(index)).all(|index| {
            let name = &pod.containers[index].name;
            status.named(name).is_some_and(|container| container.ready)
        })
}

/// Condition Initialized: every sidecar has started and every other init container has ended well.
pub fn is_initialized(pod: &PodSpec, status: &PodStatus) -> bool {
    (pod.regular..pod.containers.len()).all(|index| {
        status.named(&pod.containers[index].name).is_some_and(|container| {
            if pod.is_sidecar(index) {
                container.started == Some(true)
            } else {
                container.ready || container.state == State::Terminated { exit_code: 0 }
            }
        })
    })
}
