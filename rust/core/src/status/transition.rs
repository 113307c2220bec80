//! The changes of a status that the kubelet refuses (kubelet status/status_manager.go:checkContainerStateTransition,
//! 1.36).

use crate::podstatus::{PodStatus, State};
use crate::restart::RestartPolicy;
use crate::spec::PodSpec;

/// Whether the status manager refuses the new status, because a container that ended for good may not run again in it.
pub(super) fn is_refused(pod: &PodSpec, old: &PodStatus, new: &PodStatus) -> bool {
    if pod.restart_policy == RestartPolicy::Always {
        return false;
    }
    pod.containers.iter().enumerate().any(|(index, spec)| {
        let Some(State::Terminated { exit_code }) = old.named(&spec.name).map(|container| container.state) else {
            return false;
        };
        let restarts = pod.restart_of(index).after_exit(exit_code, true);
        // An init container that is no sidecar runs again when the pod gets a new sandbox.
        let exempt = restarts || index >= pod.regular && exit_code != 0;
        !exempt && new.named(&spec.name).is_some_and(|container| !matches!(container.state, State::Terminated { .. }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::podstatus::ContainerStatus;
    use crate::spec::ContainerSpec;

    const RUNS: State = State::Running { started_at_ms: Some(0) };

    fn ended(exit_code: i32) -> State {
        State::Terminated { exit_code }
    }

    /// Whether a status is refused in which the container `name` goes from one state to another while the others run
    /// on. The pod has the container `a`, the sidecar `s` and the init container `i`.
    fn refuses(policy: RestartPolicy, name: &str, from: State, to: State) -> bool {
        let own = |name: &str| (name == "s").then_some(RestartPolicy::Always);
        let spec =
            |name: &str| ContainerSpec { name: name.into(), restart_policy: own(name), ..ContainerSpec::default() };
        let containers = ["a", "s", "i"].map(spec).into();
        let pod = PodSpec { restart_policy: policy, containers, regular: 1, ..PodSpec::default() };
        let status = |changed: State| {
            let container = |other: &str| {
                let state = if other == name { changed } else { RUNS };
                ContainerStatus::new(other.into(), format!("c://{other}").into(), state)
            };
            PodStatus { containers: ["a", "s", "i"].map(container).into(), regular: 1, ..PodStatus::default() }
        };
        is_refused(&pod, &status(from), &status(to))
    }

    #[test]
    fn a_container_that_ended_for_good_may_not_run_again() {
        use RestartPolicy::{Always, Never, OnFailure};
        for (policy, name, from, to, expected) in [
            (Never, "a", ended(1), RUNS, true),
            (Never, "a", ended(0), State::Waiting, true),
            (Never, "a", ended(1), ended(0), false),
            (Never, "a", RUNS, State::Waiting, false),
            (Never, "a", State::Waiting, RUNS, false),
            (OnFailure, "a", ended(0), RUNS, true),
            (OnFailure, "a", ended(1), RUNS, false),
            (Always, "a", ended(0), RUNS, false),
            (Never, "s", ended(0), RUNS, false),
            (Never, "i", ended(0), RUNS, true),
            (Never, "i", ended(1), RUNS, false),
        ] {
            assert_eq!(refuses(policy, name, from, to), expected, "{policy:?} {name}: {from:?} to {to:?}");
        }
    }
}
