//! What a status may not do (kubelet status/status_manager.go:checkContainerStateTransition, 1.36).

use crate::podstatus::{PodStatus, State};
use crate::restart::{RestartPolicy, should_restart};
use crate::spec::PodSpec;

/// Whether the status manager refuses the new status: a container that ended for good may not live again.
pub(super) fn is_refused(pod: &PodSpec, old: &PodStatus, new: &PodStatus) -> bool {
    if pod.restart_policy == RestartPolicy::Always {
        return false;
    }
    pod.containers.iter().enumerate().any(|(index, spec)| {
        let Some(State::Terminated { exit_code }) = old.named(&spec.name).map(|container| container.state) else {
            return false;
        };
        let restarts = should_restart(pod.restart_policy, spec.restart_policy, &spec.restart_rules, exit_code);
        // An init container other than a sidecar runs again when its pod's sandbox is made anew.
        let exempt = restarts || index >= pod.regular && exit_code != 0;
        !exempt && new.named(&spec.name).is_some_and(|container| !matches!(container.state, State::Terminated { .. }))
    })
}
