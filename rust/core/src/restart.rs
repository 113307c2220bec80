//! Whether a container that has exited should run again (kubelet container/helpers.go:ShouldContainerBeRestarted and
//! kuberuntime, 1.36). The container's rules come first, then its own policy, then the pod's.

use serde::{Deserialize, Serialize};

/// `restartPolicy` of a pod or of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestartPolicy {
    /// After any exit code.
    #[default]
    Always,
    /// Never.
    Never,
    /// Only after an exit code other than 0.
    OnFailure,
}

/// What a matching rule does (KEP-5307, KEP-5532).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RuleAction {
    /// Restart this container.
    Restart,
    /// Restart all containers of the pod.
    RestartAllContainers,
}

/// One entry of `restartPolicyRules`: an action for some exit codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartRule {
    /// The rule's action.
    pub action: RuleAction,
    /// Whether the rule is for the exit codes in `values` (`In`) or for all others (`NotIn`).
    pub within: bool,
    /// The exit codes.
    pub values: Vec<i32>,
}

impl RestartRule {
    /// Whether the rule applies to this exit code.
    pub fn matches(&self, exit_code: i32) -> bool {
        self.values.contains(&exit_code) == self.within
    }
}

/// Whether a container that exited with `exit_code` should be started again.
pub fn should_restart<'a>(
    pod: RestartPolicy,
    own: Option<RestartPolicy>,
    rules: impl IntoIterator<Item = &'a RestartRule>,
    exit_code: i32,
) -> bool {
    // The kubelet reads rules only if the container has a policy of its own; validation requires one beside rules.
    if own.is_some() && rules.into_iter().any(|rule| rule.matches(exit_code)) {
        return true;
    }
    match own.unwrap_or(pod) {
        RestartPolicy::Always => true,
        RestartPolicy::Never => false,
        RestartPolicy::OnFailure => exit_code != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::RestartPolicy::{Always, Never, OnFailure};
    use super::*;

    #[test]
    fn without_a_policy_of_its_own_the_pods_policy_decides() {
        for (pod, code, expected) in
            [(Always, 0, true), (Always, 1, true), (Never, 1, false), (OnFailure, 0, false), (OnFailure, 1, true)]
        {
            assert_eq!(should_restart(pod, None, &[], code), expected, "{pod:?} {code}");
        }
    }

    #[test]
    fn the_containers_own_policy_wins_over_the_pods() {
        assert!(should_restart(Never, Some(OnFailure), &[], 1));
        assert!(!should_restart(Never, Some(OnFailure), &[], 0));
        assert!(!should_restart(Always, Some(Never), &[], 1));
    }

    #[test]
    fn a_matching_rule_restarts_in_spite_of_the_policy() {
        let rule =
            |within, values: &[i32]| RestartRule { action: RuleAction::Restart, within, values: values.to_vec() };
        assert!(should_restart(Never, Some(Never), &[rule(true, &[1])], 1));
        assert!(!should_restart(Never, Some(Never), &[rule(true, &[99])], 1));
        assert!(should_restart(Never, Some(Never), &[rule(false, &[99])], 1));
        assert!(!should_restart(Never, None, &[rule(true, &[1])], 1), "rules need the container's own policy");
    }
}
