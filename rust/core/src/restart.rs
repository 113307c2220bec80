//! Whether a container that has ended runs again: container rules, then the container's policy, then the pod's.
//!
//! Kubelet pkg/api/v1/pod/util.go:ContainerShouldRestart, container/helpers.go and kuberuntime, 1.36. Only this file
//! answers the question, for the prober, the status, the model of crashes and the policy.

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

/// Everything that decides whether one container runs again.
#[derive(Clone, Copy, Debug)]
pub struct RestartSpec<'a> {
    /// The pod's policy.
    pub pod: RestartPolicy,
    /// The container's own policy.
    pub own: Option<RestartPolicy>,
    /// The container's rules, of which the first that matches counts.
    pub rules: &'a [RestartRule],
}

impl RestartSpec<'_> {
    /// The container's own policy, else the pod's.
    pub fn policy(&self) -> RestartPolicy {
        self.own.unwrap_or(self.pod)
    }

    /// Whether a container that exited with `exit_code` runs again. Without `restart_all` (gate
    /// `RestartAllContainersOnContainerExits`) a rule that restarts all containers leaves the decision to the policy.
    pub fn after_exit(&self, exit_code: i32, restart_all: bool) -> bool {
        // The kubelet reads rules only if the container has a policy of its own; validation requires one beside rules.
        match self.rule_for(exit_code).filter(|_| self.own.is_some()) {
            Some(RestartRule { action: RuleAction::Restart, .. }) => return true,
            Some(RestartRule { action: RuleAction::RestartAllContainers, .. }) if restart_all => return true,
            _ => {}
        }
        match self.policy() {
            RestartPolicy::Always => true,
            RestartPolicy::Never => false,
            RestartPolicy::OnFailure => exit_code != 0,
        }
    }

    /// Whether a container that a probe had killed runs again. It has no exit code yet, so no rule matches and
    /// `OnFailure` restarts it (kuberuntime_manager.go:computePodActions, 1.36).
    pub fn after_kill(&self) -> bool {
        self.policy() != RestartPolicy::Never
    }

    /// Whether an exit with `exit_code` restarts all containers of the pod (container/helpers.go:
    /// ShouldAllContainersRestart, 1.36, which does not look at the container's own policy).
    pub fn restarts_all(&self, exit_code: i32) -> bool {
        self.rule_for(exit_code).is_some_and(|rule| rule.action == RuleAction::RestartAllContainers)
    }

    fn rule_for(&self, exit_code: i32) -> Option<&RestartRule> {
        self.rules.iter().find(|rule| rule.matches(exit_code))
    }
}

#[cfg(test)]
mod tests {
    use super::RestartPolicy::{Always, Never, OnFailure};
    use super::RuleAction::{Restart, RestartAllContainers};
    use super::*;

    fn rule(action: RuleAction, within: bool, values: &[i32]) -> RestartRule {
        RestartRule { action, within, values: values.to_vec() }
    }

    fn after_exit(pod: RestartPolicy, own: Option<RestartPolicy>, rules: &[RestartRule], code: i32) -> bool {
        RestartSpec { pod, own, rules }.after_exit(code, true)
    }

    #[test]
    fn without_a_policy_of_its_own_the_pods_policy_decides() {
        for (pod, code, expected) in
            [(Always, 0, true), (Always, 1, true), (Never, 1, false), (OnFailure, 0, false), (OnFailure, 1, true)]
        {
            assert_eq!(after_exit(pod, None, &[], code), expected, "{pod:?} {code}");
        }
    }

    #[test]
    fn the_containers_own_policy_wins_over_the_pods() {
        assert!(after_exit(Never, Some(OnFailure), &[], 1));
        assert!(!after_exit(Never, Some(OnFailure), &[], 0));
        assert!(!after_exit(Always, Some(Never), &[], 1));
    }

    #[test]
    fn a_matching_rule_restarts_in_spite_of_the_policy() {
        assert!(after_exit(Never, Some(Never), &[rule(Restart, true, &[1])], 1));
        assert!(!after_exit(Never, Some(Never), &[rule(Restart, true, &[99])], 1));
        assert!(after_exit(Never, Some(Never), &[rule(Restart, false, &[99])], 1));
        assert!(!after_exit(Never, None, &[rule(Restart, true, &[1])], 1), "rules need the container's own policy");
    }

    #[test]
    fn the_first_rule_that_matches_counts_and_no_other() {
        let both = [rule(Restart, true, &[1]), rule(RestartAllContainers, true, &[1, 2])];
        let spec = RestartSpec { pod: Never, own: Some(Never), rules: &both };
        assert!(!spec.restarts_all(1), "the rule before it restarts the container alone");
        assert!(spec.restarts_all(2));
        assert!(!spec.restarts_all(3));
    }

    #[test]
    fn with_its_gate_off_a_restart_of_all_containers_leaves_the_decision_to_the_policy() {
        let rules = [rule(RestartAllContainers, true, &[1]), rule(Restart, true, &[1])];
        let spec = |own| RestartSpec { pod: Never, own: Some(own), rules: &rules };
        assert!(spec(Never).after_exit(1, true));
        assert!(!spec(Never).after_exit(1, false), "a later rule does not take its place");
        assert!(spec(OnFailure).after_exit(1, false));
    }

    #[test]
    fn after_a_probe_kill_only_never_stays_dead() {
        let rules = [rule(Restart, false, &[])];
        for (own, expected) in [(Always, true), (OnFailure, true), (Never, false)] {
            assert_eq!(RestartSpec { pod: Always, own: Some(own), rules: &rules }.after_kill(), expected, "{own:?}");
        }
        assert!(!RestartSpec { pod: Never, own: None, rules: &[] }.after_kill());
    }
}
