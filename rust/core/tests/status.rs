//! The kubelet's handling of results and status, one rule at a time (kubelet.go:syncLoopIteration and
//! kubelet_pods.go:convertToAPIContainerStatuses, 1.36). The recorded traces test how the rules work together.

use std::time::Duration;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Attempt, Outcome, Output, Prober, Settings};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{Handler, ProbeSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;

use crate::single::{UID, failure, pod, running, settings};

/// One container with the given probes, each of which fails at its first failure.
struct Node {
    manager: StatusManager,
    now: Instant,
}

impl Node {
    fn new(semantics: Semantics, glue: Glue, probes: &[ProbeType]) -> Self {
        let settings = Settings { semantics, record: true, ..settings() };
        let mut manager = StatusManager::new(Prober::new(settings, Instant::ZERO), glue);
        let probe = || ProbeSpec { period_seconds: 1, failure_threshold: 1, ..ProbeSpec::default() };
        manager.prober_mut().define_pod(pod(probes.iter().map(|probe_type| (*probe_type, probe()))));
        let mut node = Self { manager, now: Instant::ZERO };
        // As in a kubelet, the workers exist before the container does.
        node.manager.sync_pod(UID, PodStatus::default());
        node.pass(&Outcome::Success);
        node
    }

    fn kubelet(probes: &[ProbeType]) -> Self {
        let mut node = Self::new(Semantics::V1_36, Glue::KUBELET, probes);
        node.sync("test://1");
        node
    }

    fn sync(&mut self, id: &str) -> ContainerStatus {
        self.manager.sync_pod(UID, running(id, Instant::ZERO)).expect("the pod is defined").containers[0].clone()
    }

    /// Answers every attempt of this moment with `outcome`; returns the outputs that follow, as words in order.
    fn pass(&mut self, outcome: &Outcome) -> Vec<String> {
        let mut outputs = Vec::new();
        self.manager.settle(self.now);
        while let Some(output) = self.manager.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    let prober = self.manager.prober_mut();
                    prober.handle_attempt(attempt.worker, attempt.run, outcome.clone(), self.now);
                    self.manager.settle(self.now);
                }
                Output::Update(update) => outputs.push(format!("{:?} {:?}", update.probe_type, update.result)),
                Output::Sync { .. } => outputs.push(String::from("sync")),
                Output::StatusStored { .. } => outputs.push(String::from("stored")),
                _ => {}
            }
        }
        self.now = self.now + Duration::from_secs(1);
        outputs
    }

    /// What comes out now; the attempt among it, if one begins.
    fn drained(&mut self) -> Option<Attempt> {
        let drained: Vec<Output> = std::iter::from_fn(|| self.manager.poll_output()).collect();
        drained.iter().find_map(|output| match output {
            Output::Attempt(attempt) => Some(*attempt),
            _ => None,
        })
    }

    fn stored(&self) -> (Option<bool>, bool) {
        let container = &self.manager.prober().pod_status(UID).expect("the pod was synced").containers[0];
        (container.started, container.ready)
    }
}

#[test]
fn a_readiness_success_sets_ready_and_asks_for_a_sync() {
    let mut node = Node::kubelet(&[ProbeType::Readiness]);
    assert_eq!(node.stored(), (Some(true), false));
    let outputs = node.pass(&Outcome::Success);
    assert_eq!(outputs, ["stored", "Readiness Failure", "sync", "Readiness Success", "stored", "sync"]);
    assert_eq!(node.stored(), (Some(true), true));
    assert_eq!(node.pass(&failure()), ["Readiness Failure", "stored", "sync"]);
    assert_eq!(node.stored(), (Some(true), false));
}

#[test]
fn a_startup_success_sets_started_and_asks_for_a_sync() {
    let mut node = Node::kubelet(&[ProbeType::Startup]);
    assert_eq!(node.stored(), (Some(false), false));
    let outputs = node.pass(&Outcome::Success);
    assert_eq!(outputs, ["stored", "Startup Unknown", "sync", "Startup Success", "stored", "sync"]);
    assert_eq!(node.stored().0, Some(true));
}

#[test]
fn only_a_failure_of_liveness_asks_for_a_sync() {
    let mut node = Node::kubelet(&[ProbeType::Liveness]);
    let outputs = node.pass(&failure());
    assert_eq!(outputs.last().map(String::as_str), Some("sync"), "{outputs:?}");
    let mut node = Node::kubelet(&[ProbeType::Liveness]);
    let outputs = [node.pass(&Outcome::Success), node.pass(&Outcome::Success)].concat();
    assert!(!outputs.contains(&String::from("sync")), "{outputs:?}");
}

#[test]
fn a_result_takes_effect_before_the_driver_sees_it() {
    let mut node = Node::kubelet(&[ProbeType::Readiness]);
    node.manager.settle(node.now);
    let attempt = node.drained().expect("the container is probed at once");
    node.manager.prober_mut().handle_attempt(attempt.worker, attempt.run, Outcome::Success, node.now);
    // Nothing is settled in between, and the caller that drains must see the update only after its effect.
    while let Some(output) = node.manager.poll_output() {
        assert!(node.stored().1, "{output:?} came out, and ready is not set");
    }
    assert!(node.stored().1);
}

#[test]
fn what_inputs_cause_is_done_without_a_timer() {
    let mut node = Node::kubelet(&[ProbeType::Readiness]);
    node.manager.settle(node.now);
    let attempt = node.drained().expect("the container is probed at once");
    node.manager.prober_mut().handle_attempt(attempt.worker, attempt.run, Outcome::Success, node.now);
    node.manager.settle_inputs(node.now);
    assert!(node.stored().1, "the result has its effect before anybody drains it");
    let due = node.now + Duration::from_secs(1);
    node.manager.settle_inputs(due);
    assert!(node.drained().is_none(), "the next attempt waits for its timer");
    node.manager.settle(due);
    assert!(node.drained().is_some());
}

#[test]
fn a_pod_that_has_ended_gets_its_status_and_no_worker_comes_or_goes() {
    let ended = || {
        let container = ContainerStatus::new("c".into(), "test://1".into(), State::Terminated { exit_code: 3 });
        PodStatus { phase: Phase::Failed, containers: vec![container], ..PodStatus::default() }
    };
    let mut node = Node::kubelet(&[ProbeType::Liveness, ProbeType::Readiness]);
    let status = node.manager.sync_terminated_pod(UID, ended()).expect("the pod is defined");
    assert_eq!((status.phase, status.containers[0].state), (Phase::Failed, State::Terminated { exit_code: 3 }));
    assert_eq!(node.manager.prober().worker_count(), 2);
    assert_eq!(node.manager.sync_terminated_pod("other", ended()), None);
    let mut manager = StatusManager::new(Prober::new(settings(), Instant::ZERO), Glue::KUBELET);
    manager.prober_mut().define_pod(pod([(ProbeType::Liveness, ProbeSpec::default())]));
    assert!(manager.sync_terminated_pod(UID, ended()).is_some());
    assert_eq!(manager.prober().worker_count(), 0);
}

#[test]
fn the_version_of_a_workers_target_changes_with_its_pods_status() {
    let mut node = Node::kubelet(&[ProbeType::Readiness]);
    node.manager.settle(node.now);
    let attempt = node.drained().expect("the container is probed at once");
    let worker = attempt.worker;
    let version = |node: &Node| node.manager.prober().target_version(worker);
    let mut seen = vec![version(&node)];
    for id in ["test://2", "test://3"] {
        node.sync(id);
        seen.push(version(&node));
    }
    assert!(seen.is_sorted() && seen[0] != seen[1] && seen[1] != seen[2], "{seen:?}");
    node.manager.forget_pod(UID);
    node.manager.prober_mut().handle_attempt(worker, attempt.run, Outcome::Success, node.now);
    node.manager.settle(node.now);
    assert_eq!(version(&node), None, "the worker has ended");
}

#[test]
fn a_workers_target_says_whether_it_runs_a_command() {
    for (handler, is_exec) in [(Handler::Exec { command: vec!["true".into()] }, true), (Handler::None, false)] {
        let mut prober = Prober::new(settings(), Instant::ZERO);
        prober.define_pod(pod([(ProbeType::Readiness, ProbeSpec { handler, ..ProbeSpec::default() })]));
        prober.set_pod_status(UID, running("test://1", Instant::ZERO));
        prober.add_pod(UID);
        let worker = prober.worker_states(Some(UID))[0].id;
        assert_eq!(prober.target(worker).map(|target| target.is_exec()), Some(is_exec));
    }
}

#[test]
fn each_part_of_the_status_layer_can_be_left_out() {
    let all = [ProbeType::Readiness, ProbeType::Startup];
    for (glue, expected, syncs) in [
        (Glue::KUBELET, (Some(true), true), true),
        (Glue { readiness: false, ..Glue::KUBELET }, (Some(true), false), true),
        (Glue { startup: false, ..Glue::KUBELET }, (Some(false), false), true),
        (Glue { sync: false, ..Glue::KUBELET }, (Some(true), true), false),
        (Glue::NONE, (Some(false), false), false),
    ] {
        let mut node = Node::new(Semantics::V1_36, glue, &all);
        node.sync("test://1");
        node.sync("test://1");
        let mut outputs = Vec::new();
        for _ in 0..3 {
            outputs.append(&mut node.pass(&Outcome::Success));
        }
        assert_eq!(node.stored(), expected, "{glue:?}");
        assert_eq!(outputs.contains(&String::from("sync")), syncs, "{glue:?}: {outputs:?}");
    }
}

#[test]
fn started_of_a_replaced_container_is_inherited_as_the_release_does() {
    for (semantics, expected) in
        [(Semantics::V1_34, false), (Semantics::V1_35, true), (Semantics::V1_36, true), (Semantics::V1_38, false)]
    {
        let mut node = Node::new(semantics, Glue::KUBELET, &[ProbeType::Startup]);
        node.sync("test://1");
        node.pass(&Outcome::Success);
        assert_eq!(node.sync("test://1").started, Some(true), "{semantics:?}");
        assert_eq!(node.sync("test://2").started, Some(expected), "{semantics:?}");
    }
}

#[test]
fn a_status_that_does_not_change_for_workers_is_stored_once() {
    let mut node = Node::kubelet(&[]);
    assert_eq!(node.pass(&Outcome::Success), ["stored"]);
    node.sync("test://1");
    assert_eq!(node.pass(&Outcome::Success), [""; 0]);
    node.sync("test://2");
    assert_eq!(node.pass(&Outcome::Success), ["stored"]);
}

#[test]
fn the_sync_of_a_terminating_pod_stops_liveness_and_returns_its_status() {
    let mut node = Node::kubelet(&[ProbeType::Liveness, ProbeType::Readiness]);
    node.pass(&Outcome::Success);
    let status =
        node.manager.sync_terminating_pod(UID, running("test://1", Instant::ZERO)).expect("the pod is defined").clone();
    assert_eq!(status.phase, Phase::Running);
    assert_eq!(&*status.containers[0].id, "test://1");
    node.pass(&Outcome::Success);
    let left: Vec<ProbeType> =
        node.manager.prober().worker_states(None).iter().map(|state| state.target.probe_type).collect();
    assert_eq!(left, [ProbeType::Readiness]);
    assert!(node.manager.sync_terminating_pod("nobody", running("test://1", Instant::ZERO)).is_none());
}

#[test]
fn a_recorder_sees_a_status_before_and_after_it_is_filled() {
    for record in [true, false] {
        let prober = Prober::new(Settings { record, ..settings() }, Instant::ZERO);
        let mut manager = StatusManager::new(prober, Glue::KUBELET);
        manager.prober_mut().define_pod(pod([]));
        manager.sync_pod(UID, running("test://1", Instant::ZERO));
        let outputs: Vec<_> = std::iter::from_fn(|| manager.poll_output())
            .filter_map(|output| match output {
                Output::StatusUpdated { pod_uid, argument, filled } => {
                    assert_eq!(&*pod_uid, UID);
                    Some([argument, filled].map(|status| status.containers[0].ready))
                }
                _ => None,
            })
            .collect();
        assert_eq!(outputs, if record { vec![[false, true]] } else { vec![] });
    }
}

#[test]
fn a_pod_whose_status_a_caller_supplies_is_left_to_the_caller_until_it_is_forgotten() {
    let probes = [ProbeType::Readiness, ProbeType::Startup, ProbeType::Liveness];
    let mut node = Node::kubelet(&probes);
    node.manager.supply(UID);
    let outputs = [node.pass(&Outcome::Success), node.pass(&Outcome::Success), node.pass(&failure())].concat();
    assert!(outputs.contains(&String::from("Startup Success")), "{outputs:?}");
    assert!(!outputs.contains(&String::from("sync")), "{outputs:?}");
    assert_eq!(node.stored(), (Some(false), false));
    node.manager.forget_pod(UID);
    node.pass(&Outcome::Success);
    let probe = || ProbeSpec { period_seconds: 1, failure_threshold: 1, ..ProbeSpec::default() };
    node.manager.prober_mut().define_pod(pod(probes.iter().map(|probe_type| (*probe_type, probe()))));
    node.sync("test://2");
    let outputs = [node.pass(&Outcome::Success), node.pass(&Outcome::Success)].concat();
    assert!(outputs.contains(&String::from("sync")), "{outputs:?}");
}
