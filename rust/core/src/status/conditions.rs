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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::podstatus::{ContainerStatus, Phase};
    use crate::restart::RestartPolicy;
    use crate::spec::ContainerSpec;

    /// A pod of the container `a`, the sidecar `s` and the init container `i`.
    fn pod() -> PodSpec {
        let container = |name: &str, restart_policy| ContainerSpec {
            name: name.into(),
            restart_policy,
            ..ContainerSpec::default()
        };
        let containers = vec![container("a", None), container("s", Some(RestartPolicy::Always)), container("i", None)];
        PodSpec { containers, regular: 1, ..PodSpec::default() }
    }

    /// The pod's status when all is well: `a` and `s` run and are ready, `i` has ended.
    fn well() -> PodStatus {
        let container = |name: &str, state, ready| {
            let mut container = ContainerStatus::new(name.into(), format!("c://{name}").into(), state);
            (container.ready, container.started) = (ready, Some(ready));
            container
        };
        let runs = State::Running { started_at_ms: Some(0) };
        let containers = vec![
            container("a", runs, true),
            container("s", runs, true),
            container("i", State::Terminated { exit_code: 0 }, false),
        ];
        PodStatus { phase: Phase::Running, containers, regular: 1, ..PodStatus::default() }
    }

    /// The value of a condition after `change` was made to the status of the healthy pod.
    fn after(condition: fn(&PodSpec, &PodStatus) -> bool, change: fn(&mut PodStatus)) -> bool {
        let mut status = well();
        change(&mut status);
        condition(&pod(), &status)
    }

    #[test]
    fn a_pod_is_ready_when_its_containers_and_sidecars_are() {
        assert!(after(is_ready, |_| {}), "an init container need not be ready");
        assert!(!after(is_ready, |status| status.containers[0].ready = false));
        assert!(!after(is_ready, |status| status.containers[1].ready = false));
        assert!(!after(is_ready, |status| status.phase = Phase::Succeeded));
        assert!(!after(is_ready, |status| status.containers.clear()));
        assert!(!is_ready(&PodSpec::default(), &PodStatus::default()), "no container has a status");
    }

    #[test]
    fn a_pod_is_initialized_when_its_sidecars_have_started_and_its_init_containers_ended_well() {
        assert!(after(is_initialized, |_| {}));
        assert!(after(is_initialized, |status| status.containers[0].started = Some(false)), "`a` is no init container");
        assert!(!after(is_initialized, |status| status.containers[1].started = Some(false)));
        assert!(!after(is_initialized, |status| status.containers[2].state = State::Terminated { exit_code: 1 }));
        assert!(!after(is_initialized, |status| status.containers[2].state = State::Waiting));
        assert!(!after(is_initialized, |status| status.containers.truncate(2)));
        let ready_again = |status: &mut PodStatus| {
            status.containers[2].state = State::Waiting;
            status.containers[2].ready = true;
        };
        assert!(after(is_initialized, ready_again), "`i` has ended well before");
    }
}
