//! The workers of a container or a pod that has ended (worker.go:doProbe, 1.36).

use std::sync::Arc;

use probelet_core::podstatus::{Phase, PodStatus, State};
use probelet_core::prober::Output;
use probelet_core::restart::{RestartPolicy, RestartRule, RuleAction};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use super::{add, pod, prober, settle, status, working};

#[test]
fn a_pod_that_has_ended_ends_its_workers_without_a_verdict() {
    for phase in [Phase::Failed, Phase::Succeeded] {
        let mut prober = prober(Semantics::V1_36, false);
        add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Liveness], true);
        settle(&mut prober, Instant::ZERO);
        prober.set_pod_status("u", PodStatus { phase, ..status("u", true) });
        let (attempts, others) = settle(&mut prober, Instant::ZERO + ProbeSpec::default().period());
        assert_eq!((attempts.len(), prober.worker_count()), (0, 0), "{phase:?}");
        assert!(!others.iter().any(|output| matches!(output, Output::Update(_))), "{others:?}");
    }
}

#[test]
fn workers_of_an_ended_container_continue_if_it_will_be_restarted() {
    use RestartPolicy::{Always, Never, OnFailure};
    let before_rules = [(Always, 0, true), (OnFailure, 0, true), (OnFailure, 1, true), (Never, 1, false)];
    let with_rules = [(Always, 0, true), (OnFailure, 0, false), (OnFailure, 1, true), (Never, 1, false)];
    for (semantics, cases) in [(Semantics::V1_34, before_rules), (Semantics::V1_36, with_rules)] {
        for (restart_policy, exit_code, stays) in cases {
            let mut prober = prober(semantics, false);
            prober
                .define_pod(Arc::new(PodSpec { restart_policy, ..PodSpec::clone(&pod("u", &[ProbeType::Liveness])) }));
            let mut ended = status("u", true);
            ended.containers.iter_mut().for_each(|container| container.state = State::Terminated { exit_code });
            prober.set_pod_status("u", ended);
            prober.add_pod("u");
            settle(&mut prober, Instant::ZERO);
            let expected: &[&str] = if stays { &["a Liveness", "b Liveness", "s Liveness"] } else { &["s Liveness"] };
            assert_eq!(working(&prober, "u"), expected, "{restart_policy:?}, exit code {exit_code}");
        }
    }
}

#[test]
fn restart_rules_keep_the_workers_of_one_container_or_of_all_as_the_release_does() {
    use RuleAction::{Restart, RestartAllContainers};
    let (none, one, all): (&[&str], &[&str], &[&str]) = (&[], &["a Liveness"], &["a Liveness", "b Liveness"]);
    for (semantics, action, exit_code, all_containers_restarting, expected) in [
        (Semantics::V1_34, Restart, 42, false, none),
        (Semantics::V1_35, Restart, 42, false, one),
        (Semantics::V1_35, RestartAllContainers, 42, false, none),
        (Semantics::V1_35, Restart, 41, true, none),
        (Semantics::V1_36, Restart, 42, false, one),
        (Semantics::V1_36, Restart, 41, false, none),
        (Semantics::V1_36, RestartAllContainers, 42, false, all),
        (Semantics::V1_36, RestartAllContainers, 41, false, none),
        (Semantics::V1_36, Restart, 41, true, all),
    ] {
        let mut prober = prober(semantics, false);
        let mut spec = PodSpec::clone(&pod("u", &[ProbeType::Liveness]));
        spec.restart_policy = RestartPolicy::Never;
        spec.containers.truncate(2);
        spec.containers[0].restart_policy = Some(RestartPolicy::Never);
        spec.containers[0].restart_rules = vec![RestartRule { action, within: true, values: vec![42] }];
        prober.define_pod(Arc::new(spec));
        let mut ended = PodStatus { all_containers_restarting, ..status("u", true) };
        ended.containers.truncate(2);
        ended.containers.iter_mut().for_each(|container| container.state = State::Terminated { exit_code });
        prober.set_pod_status("u", ended);
        prober.add_pod("u");
        settle(&mut prober, Instant::ZERO);
        assert_eq!(working(&prober, "u"), expected, "{semantics:?}, {action:?} on 42, exit code {exit_code}");
    }
}
