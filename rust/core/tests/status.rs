//! The kubelet's glue between results and status, a rule at a time (kubelet.go:syncLoopIteration and
//! kubelet_pods.go:convertToAPIContainerStatuses, 1.36). That it all plays together is shown by recordings elsewhere.

mod single;

use std::time::Duration;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus};
use probelet_core::prober::{Outcome, Output, Prober, Settings};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ProbeSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;

use self::single::{UID, failure, pod, running, settings};

/// One container with the given probes, each of which has one failure to give.
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
        // As in a kubelet, workers are there before the container is.
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
        self.manager.sync_pod(UID, running(id, Instant::ZERO)).expect("it was defined").containers[0].clone()
    }

    /// Answers every attempt of this moment with `outcome`; the words for what came out of it, in order.
    fn pass(&mut self, outcome: &Outcome) -> Vec<String> {
        let mut said = Vec::new();
        self.manager.settle(self.now);
        while let Some(output) = self.manager.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    let prober = self.manager.prober_mut();
                    prober.handle_attempt(attempt.worker, attempt.run, outcome.clone(), self.now);
                    self.manager.settle(self.now);
                }
                Output::Update(update) => said.push(format!("{:?} {:?}", update.probe_type, update.result)),
                Output::Sync { .. } => said.push(String::from("sync")),
                Output::StatusStored { .. } => said.push(String::from("stored")),
                _ => {}
            }
        }
        self.now = self.now + Duration::from_secs(1);
        said
    }

    fn stored(&self) -> (Option<bool>, bool) {
        let container = &self.manager.prober().pod_status(UID).expect("it was synced").containers[0];
        (container.started, container.ready)
    }
}

#[test]
fn a_readiness_success_sets_ready_and_asks_for_a_sync() {
    let mut node = Node::kubelet(&[ProbeType::Readiness]);
    assert_eq!(node.stored(), (Some(true), false));
    let said = node.pass(&Outcome::Success);
    assert_eq!(said, ["stored", "Readiness Failure", "sync", "Readiness Success", "stored", "sync"]);
    assert_eq!(node.stored(), (Some(true), true));
    assert_eq!(node.pass(&failure()), ["Readiness Failure", "stored", "sync"]);
    assert_eq!(node.stored(), (Some(true), false));
}

#[test]
fn a_startup_success_sets_started_and_asks_for_a_sync() {
    let mut node = Node::kubelet(&[ProbeType::Startup]);
    assert_eq!(node.stored(), (Some(false), false));
    let said = node.pass(&Outcome::Success);
    assert_eq!(said, ["stored", "Startup Unknown", "sync", "Startup Success", "stored", "sync"]);
    assert_eq!(node.stored().0, Some(true));
}

#[test]
fn of_liveness_only_a_failure_asks_for_a_sync() {
    let mut node = Node::kubelet(&[ProbeType::Liveness]);
    let said = node.pass(&failure());
    assert_eq!(said.last().map(String::as_str), Some("sync"), "{said:?}");
    let mut node = Node::kubelet(&[ProbeType::Liveness]);
    let said = [node.pass(&Outcome::Success), node.pass(&Outcome::Success)].concat();
    assert!(!said.contains(&String::from("sync")), "{said:?}");
}

#[test]
fn a_result_is_acted_on_before_anybody_sees_it() {
    let mut node = Node::kubelet(&[ProbeType::Readiness]);
    node.manager.settle(node.now);
    let drained: Vec<Output> = std::iter::from_fn(|| node.manager.poll_output()).collect();
    let attempt = drained.iter().find_map(|output| match output {
        Output::Attempt(attempt) => Some(*attempt),
        _ => None,
    });
    let attempt = attempt.expect("the container is probed at once");
    node.manager.prober_mut().handle_attempt(attempt.worker, attempt.run, Outcome::Success, node.now);
    // Nothing is settled in between: whoever drains sees the update, and what it led to.
    while let Some(output) = node.manager.poll_output() {
        assert!(node.stored().1, "{output:?} came out, and ready is not set");
    }
    assert!(node.stored().1);
}

#[test]
fn each_part_of_the_glue_can_be_left_out() {
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
        let mut said = Vec::new();
        for _ in 0..3 {
            said.append(&mut node.pass(&Outcome::Success));
        }
        assert_eq!(node.stored(), expected, "{glue:?}");
        assert_eq!(said.contains(&String::from("sync")), syncs, "{glue:?}: {said:?}");
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
fn a_status_that_workers_see_as_before_is_stored_once() {
    let mut node = Node::kubelet(&[]);
    assert_eq!(node.pass(&Outcome::Success), ["stored"]);
    node.sync("test://1");
    assert_eq!(node.pass(&Outcome::Success), [""; 0]);
    node.sync("test://2");
    assert_eq!(node.pass(&Outcome::Success), ["stored"]);
}

#[test]
fn the_end_of_a_pod_stops_liveness_and_answers_its_status() {
    let mut node = Node::kubelet(&[ProbeType::Liveness, ProbeType::Readiness]);
    node.pass(&Outcome::Success);
    let status =
        node.manager.sync_terminating_pod(UID, running("test://1", Instant::ZERO)).expect("it was defined").clone();
    assert_eq!(status.phase, Phase::Running);
    assert_eq!(&*status.containers[0].id, "test://1");
    node.pass(&Outcome::Success);
    let left: Vec<ProbeType> =
        node.manager.prober().worker_states(None).iter().map(|state| state.target.probe_type).collect();
    assert_eq!(left, [ProbeType::Readiness]);
    assert!(node.manager.sync_terminating_pod("nobody", running("test://1", Instant::ZERO)).is_none());
}

#[test]
fn whoever_records_sees_a_status_before_and_after_it_is_filled() {
    for record in [true, false] {
        let prober = Prober::new(Settings { record, ..settings() }, Instant::ZERO);
        let mut manager = StatusManager::new(prober, Glue::KUBELET);
        manager.prober_mut().define_pod(pod([]));
        manager.sync_pod(UID, running("test://1", Instant::ZERO));
        let said: Vec<_> = std::iter::from_fn(|| manager.poll_output())
            .filter_map(|output| match output {
                Output::StatusUpdated { pod_uid, argument, filled } => {
                    assert_eq!(&*pod_uid, UID);
                    Some([argument, filled].map(|status| status.containers[0].ready))
                }
                _ => None,
            })
            .collect();
        assert_eq!(said, if record { vec![[false, true]] } else { vec![] });
    }
}

#[test]
fn a_pod_whose_status_a_caller_supplies_is_left_to_the_caller_until_it_is_forgotten() {
    let probes = [ProbeType::Readiness, ProbeType::Startup, ProbeType::Liveness];
    let mut node = Node::kubelet(&probes);
    node.manager.supply(UID);
    let said = [node.pass(&Outcome::Success), node.pass(&Outcome::Success), node.pass(&failure())].concat();
    assert!(said.contains(&String::from("Startup Success")), "{said:?}");
    assert!(!said.contains(&String::from("sync")), "{said:?}");
    assert_eq!(node.stored(), (Some(false), false));
    node.manager.forget_pod(UID);
    node.pass(&Outcome::Success);
    let probe = || ProbeSpec { period_seconds: 1, failure_threshold: 1, ..ProbeSpec::default() };
    node.manager.prober_mut().define_pod(pod(probes.iter().map(|probe_type| (*probe_type, probe()))));
    node.sync("test://2");
    let said = [node.pass(&Outcome::Success), node.pass(&Outcome::Success)].concat();
    assert!(said.contains(&String::from("sync")), "{said:?}");
}
