//! The changes of a status that the kubelet refuses (kubelet status/status_manager.go:checkContainerStateTransition,
//! 1.36).

use crate::podstatus::{PodStatus, State};
use crate::restart::{RestartPolicy, RuleAction};
use crate::semantics::Semantics;
use crate::spec::PodSpec;

/// Whether the status manager refuses the new status, because a container that ended for good may not run again in it.
/// Under `OnFailure` it lets every container run again that failed, whatever the container's own policy says.
pub(super) fn is_refused(semantics: &Semantics, pod: &PodSpec, old: &PodStatus, new: &PodStatus) -> bool {
    if pod.restart_policy == RestartPolicy::Always || semantics.restart_all_containers && may_restart_all(pod) {
        return false;
    }
    pod.containers.iter().enumerate().any(|(index, spec)| {
        let Some(State::Terminated { exit_code }) = old.named(&spec.name).map(|container| container.state) else {
            return false;
        };
        let restarts = pod.restart_of(index).after_exit(exit_code, semantics.restart_all_containers);
        let exempt = pod.is_sidecar(index)
            || semantics.restart_rules && restarts
            || exit_code != 0 && pod.restart_policy == RestartPolicy::OnFailure;
        !exempt && new.named(&spec.name).is_some_and(|container| !matches!(container.state, State::Terminated { .. }))
    })
}

/// Whether some exit of some container restarts all containers (pkg/api/v1/pod/util.go:AllContainersCouldRestart).
fn may_restart_all(pod: &PodSpec) -> bool {
    let mut rules = (0..pod.containers.len()).flat_map(|index| pod.restart_of(index).rules);
    rules.any(|rule| rule.action == RuleAction::RestartAllContainers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::podstatus::ContainerStatus;
    use crate::restart::RestartRule;
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
        is_refused(&Semantics::V1_36, &pod, &status(from), &status(to))
    }

    /// Whether a status is refused in which `a`, which has this policy and these rules, runs again after exit code 1.
    fn refuses_own(semantics: &Semantics, policy: RestartPolicy, own: RestartPolicy, rules: &[RestartRule]) -> bool {
        let (restart_policy, restart_rules) = (Some(own), rules.to_vec());
        let spec = ContainerSpec { name: "a".into(), restart_policy, restart_rules, ..ContainerSpec::default() };
        let pod = PodSpec { restart_policy: policy, containers: vec![spec], regular: 1, ..PodSpec::default() };
        let status = |state: State| {
            let containers = vec![ContainerStatus::new("a".into(), "c://a".into(), state)];
            PodStatus { containers, regular: 1, ..PodStatus::default() }
        };
        is_refused(semantics, &pod, &status(ended(1)), &status(RUNS))
    }

    #[test]
    fn the_containers_own_policy_counts_under_never_alone() {
        use RestartPolicy::{Never, OnFailure};
        let refused = |policy, own| refuses_own(&Semantics::V1_36, policy, own, &[]);
        assert!(refused(Never, Never));
        assert!(!refused(Never, OnFailure));
        assert!(!refused(OnFailure, Never), "it failed, and the pod restarts what fails");
        assert!(refuses_own(&Semantics::V1_34, Never, OnFailure, &[]), "1.34 knows no policy of a container");
    }

    #[test]
    fn a_rule_that_restarts_all_containers_lets_every_container_run_again() {
        let never_met = RestartRule { action: RuleAction::RestartAllContainers, within: true, values: vec![99] };
        for (semantics, expected) in [(Semantics::V1_36, false), (Semantics::V1_35, true)] {
            let rules = std::slice::from_ref(&never_met);
            assert_eq!(refuses_own(&semantics, RestartPolicy::Never, RestartPolicy::Never, rules), expected);
        }
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
            (Never, "i", ended(1), RUNS, true),
            (OnFailure, "i", ended(1), RUNS, false),
        ] {
            assert_eq!(refuses(policy, name, from, to), expected, "{policy:?} {name}: {from:?} to {to:?}");
        }
    }
}
