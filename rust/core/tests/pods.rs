//! The prober's manager of pods: who gets workers, in which order they begin, who is stopped and what is left
//! (kubelet prober/prober_manager.go, 1.36).

use std::collections::BTreeSet;
use std::sync::Arc;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Outcome, Output, Prober, Settings};
use probelet_core::restart::RestartPolicy;
use probelet_core::results::ProbeResult;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ContainerSpec, PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::{Instant, WallOffset};

/// A pod of the containers `a` and `b`, the sidecar `s` and the init container `i`, each with these probes, and a sidecar
/// `t` with none.
fn pod(uid: &str, probes: &[ProbeType]) -> Arc<PodSpec> {
    let container = |name: &str, restart_policy, probes: &[ProbeType]| {
        let mut container = ContainerSpec { name: name.into(), restart_policy, ..ContainerSpec::default() };
        for probe_type in probes {
            container.probes[*probe_type as usize] = Some(Box::default());
        }
        container
    };
    let containers = vec![
        container("a", None, probes),
        container("b", None, probes),
        container("s", Some(RestartPolicy::Always), probes),
        container("i", None, probes),
        container("t", Some(RestartPolicy::Always), &[]),
    ];
    Arc::new(PodSpec { uid: uid.into(), containers, regular: 2, ..PodSpec::default() })
}

/// Its status while everything runs; container IDs are made of the UID.
fn status(uid: &str, started: bool) -> PodStatus {
    let containers = ["a", "b", "s", "i", "t"].map(|name| {
        let state = State::Running { started_at_ms: Some(0) };
        let mut container = ContainerStatus::new(name.into(), format!("c://{uid}-{name}").into(), state);
        container.started = Some(started);
        container
    });
    PodStatus { phase: Phase::Running, containers: containers.into(), regular: 2, ..PodStatus::default() }
}

fn prober(semantics: Semantics, record: bool) -> Prober {
    let settings = Settings { semantics, start_jitter: false, record, ..Settings::default() };
    Prober::new(settings, Instant::ZERO)
}

fn add(prober: &mut Prober, uid: &str, probes: &[ProbeType], started: bool) {
    prober.define_pod(pod(uid, probes));
    prober.set_pod_status(uid, status(uid, started));
    assert!(prober.add_pod(uid));
}

/// Settles, answers every attempt with a success, and says what came out besides: attempts as `container type`.
fn settle(prober: &mut Prober, now: Instant) -> (Vec<String>, Vec<Output>) {
    let (mut attempts, mut others) = (Vec::new(), Vec::new());
    prober.settle(now);
    while let Some(output) = prober.poll_output() {
        if let Output::Attempt(attempt) = output {
            let target = prober.target(attempt.worker).expect("it is probed");
            attempts.push(format!("{} {:?}", target.container.name, target.probe_type));
            prober.handle_attempt(attempt.worker, attempt.run, Outcome::Success, now);
            prober.settle(now);
        } else {
            others.push(output);
        }
    }
    (attempts, others)
}

/// The workers that are there and not told to stop, as `container type`.
fn working(prober: &Prober, uid: &str) -> Vec<String> {
    let states = prober.worker_states(Some(uid));
    let going_on = states.iter().filter(|state| !state.stopping);
    going_on.map(|state| format!("{} {:?}", state.target.container.name, state.target.probe_type)).collect()
}

#[test]
fn the_worker_made_last_begins_first_as_go_starts_them() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Liveness], true);
    let (attempts, _) = settle(&mut prober, Instant::ZERO);
    assert_eq!(attempts, ["s Liveness", "a Readiness", "a Liveness", "b Readiness", "b Liveness", "s Readiness"]);
}

#[test]
fn a_pod_without_probes_or_definition_has_no_workers() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[], true);
    assert!(!prober.add_pod("nobody"));
    prober.set_pod_status("a status alone", status("u", true));
    assert!(!prober.add_pod("a status alone"));
    assert_eq!(prober.worker_count(), 0);
}

#[test]
fn termination_stops_liveness_and_startup_of_sidecars_only_in_later_releases() {
    for (semantics, of_sidecar) in
        [(Semantics::V1_37, &["s Startup", "s Readiness", "s Liveness"][..]), (Semantics::V1_38, &["s Readiness"])]
    {
        let mut prober = prober(semantics, false);
        add(&mut prober, "u", &ProbeType::ALL, true);
        add(&mut prober, "other", &ProbeType::ALL, true);
        settle(&mut prober, Instant::ZERO);
        prober.stop_liveness_and_startup("u");
        settle(&mut prober, Instant::ZERO);
        assert_eq!(working(&prober, "u"), [&["a Readiness", "b Readiness"], of_sidecar].concat());
        assert_eq!(working(&prober, "other").len(), 9);
    }
}

#[test]
fn cleanup_stops_the_workers_of_every_pod_that_is_not_desired() {
    let mut prober = prober(Semantics::V1_36, false);
    for uid in ["u", "v", "w"] {
        add(&mut prober, uid, &[ProbeType::Readiness], true);
    }
    settle(&mut prober, Instant::ZERO);
    prober.cleanup_pods(&BTreeSet::from(["v", "unknown"]));
    settle(&mut prober, Instant::ZERO);
    assert_eq!(["u", "v", "w"].map(|uid| working(&prober, uid).len()), [0, 3, 0]);
    assert_eq!(prober.worker_count(), 3);
}

#[test]
fn a_deletion_that_workers_see_counts_as_alive_and_ends_all_but_readiness() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Liveness], true);
    settle(&mut prober, Instant::ZERO);
    prober.mark_deleting("nobody");
    prober.mark_deleting("u");
    let (attempts, _) = settle(&mut prober, Instant::ZERO + ProbeSpec::default().period());
    assert_eq!(attempts, ["a Readiness", "b Readiness", "s Readiness"]);
    assert_eq!(working(&prober, "u"), attempts);
}

#[test]
fn nothing_remembers_a_pod_that_is_forgotten() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "some-pod", &ProbeType::ALL, true);
    settle(&mut prober, Instant::ZERO);
    prober.remove_pod("some-pod");
    prober.remove_pod_status("some-pod");
    settle(&mut prober, Instant::ZERO);
    assert!(prober.pod("some-pod").is_some(), "it can be added again");
    prober.forget_pod("some-pod");
    assert!(prober.pod("some-pod").is_none());
    // Its UID is part of its containers' IDs here.
    assert!(!format!("{prober:?}").contains("some-pod"));
}

/// What UpdatePodStatus makes of a status: `ready` by container.
fn ready(prober: &mut Prober, uid: &str, mut status: PodStatus) -> Vec<(String, bool)> {
    prober.update_pod_status(uid, &mut status);
    status.containers.iter().map(|container| (container.name.to_string(), container.ready)).collect()
}

fn named(ready: [(&str, bool); 5]) -> Vec<(String, bool)> {
    ready.map(|(name, ready)| (name.to_string(), ready)).into()
}

#[test]
fn sidecars_are_ready_as_containers_are_and_init_containers_once_they_ended_well() {
    let mut prober = prober(Semantics::V1_36, false);
    prober.define_pod(pod("u", &[]));
    for (exit_code, is_ready) in [(None, false), (Some(0), true), (Some(1), false)] {
        let mut status = status("u", false);
        status.containers[2].state = State::Terminated { exit_code: 0 };
        if let Some(exit_code) = exit_code {
            status.containers[3].state = State::Terminated { exit_code };
        }
        let expected = [("a", true), ("b", true), ("s", false), ("i", is_ready), ("t", true)];
        assert_eq!(ready(&mut prober, "u", status), named(expected), "exit code {exit_code:?}");
    }
}

#[test]
fn a_sidecar_that_is_probed_is_ready_after_its_success() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Startup], false);
    let before = [("a", false), ("b", false), ("s", false), ("i", false), ("t", true)];
    assert_eq!(ready(&mut prober, "u", status("u", false)), named(before), "none has started");
    settle(&mut prober, Instant::ZERO);
    assert_eq!(ready(&mut prober, "u", status("u", false)), named(before), "all have, and wait for readiness");
    prober.set_pod_status("u", status("u", true));
    let (attempts, _) = settle(&mut prober, Instant::ZERO);
    assert_eq!(attempts, ["a Readiness", "b Readiness", "s Readiness"], "the workers of both were triggered");
    let after = [("a", true), ("b", true), ("s", true), ("i", false), ("t", true)];
    assert_eq!(ready(&mut prober, "u", status("u", false)), named(after));
}

#[test]
fn init_statuses_out_of_order_are_passed_over_as_in_the_kubelet() {
    let mut prober = prober(Semantics::V1_36, false);
    prober.define_pod(pod("u", &[]));
    let mut status = status("u", false);
    status.containers.swap(2, 4);
    let expected = [("a", true), ("b", true), ("t", false), ("i", false), ("s", false)];
    assert_eq!(ready(&mut prober, "u", status), named(expected));
}

#[test]
fn a_container_older_than_the_prober_stays_as_the_api_says_until_it_is_probed() {
    for (semantics, api_ready, probed) in [
        (Semantics::V1_36, true, true),
        (Semantics::V1_36, false, false),
        (Semantics::V1_34, true, false),
        (Semantics::V1_34, false, false),
    ] {
        // The containers run since the Unix epoch, the prober starts a minute later.
        let wall = WallOffset(60_000_000_000);
        let settings = Settings { semantics, wall, start_jitter: false, ..Settings::default() };
        let mut prober = Prober::new(settings, Instant::ZERO);
        let mut spec = PodSpec::clone(&pod("u", &[ProbeType::Readiness]));
        spec.api_ready = api_ready;
        prober.define_pod(Arc::new(spec));
        prober.set_pod_status("u", status("u", true));
        prober.add_pod("u");
        let expected = [("a", probed), ("b", probed), ("s", probed), ("i", false), ("t", true)];
        assert_eq!(ready(&mut prober, "u", status("u", true)), named(expected), "{semantics:?}, {api_ready}");
    }
}

#[test]
fn results_are_listed_by_container_and_recorded_as_they_come_and_go() {
    let mut prober = prober(Semantics::V1_36, true);
    add(&mut prober, "u", &[ProbeType::Readiness], true);
    let records = |outputs: &[Output]| -> Vec<String> {
        let record = |output: &Output| match output {
            Output::Record(record) => Some(format!("{} {:?} {}", record.container_id, record.result, record.changed)),
            _ => None,
        };
        outputs.iter().filter_map(record).collect()
    };
    let (_, outputs) = settle(&mut prober, Instant::ZERO);
    let told = records(&outputs);
    assert_eq!(told.len(), 6, "{told:?}");
    for name in ["a", "b", "s"] {
        assert!(told.contains(&format!("c://u-{name} Some(Failure) true")), "the first: {told:?}");
        assert!(told.contains(&format!("c://u-{name} Some(Success) true")), "after the run: {told:?}");
    }
    let (_, outputs) = settle(&mut prober, Instant::from_millis(10_000));
    assert!(records(&outputs).contains(&"c://u-a Some(Success) false".to_string()), "the same again is a set");
    let listed: Vec<_> =
        prober.results().map(|(probe_type, id, result)| (probe_type, id.to_string(), result)).collect();
    let expected = ["c://u-a", "c://u-b", "c://u-s"];
    assert_eq!(listed, expected.map(|id| (ProbeType::Readiness, id.to_string(), ProbeResult::Success)));
    prober.remove_pod("u");
    let (_, outputs) = settle(&mut prober, Instant::from_millis(10_000));
    assert_eq!(records(&outputs), expected.map(|id| format!("{id} None true")));
    assert_eq!(prober.results().count(), 0);
}

#[test]
fn a_malformed_container_id_is_the_empty_one_whose_result_is_never_removed() {
    let mut prober = prober(Semantics::V1_36, true);
    prober.define_pod(pod("u", &[ProbeType::Liveness]));
    let mut broken = status("u", true);
    broken.containers.truncate(1);
    broken.containers[0].id = "no scheme".into();
    prober.set_pod_status("u", broken.clone());
    prober.add_pod("u");
    for millis in [0, 10_000, 20_000] {
        settle(&mut prober, Instant::from_millis(millis));
        let listed: Vec<_> = prober.results().map(|(_, id, result)| (id.to_string(), result)).collect();
        assert_eq!(listed, [("://".to_string(), ProbeResult::Success)]);
    }
    broken.containers[0].state = State::Waiting;
    prober.set_pod_status("u", broken);
    let (_, outputs) = settle(&mut prober, Instant::from_millis(30_000));
    let said: Vec<_> =
        outputs.iter().filter(|output| matches!(output, Output::Update(_) | Output::Removed(_))).collect();
    assert!(said.is_empty(), "it does not run, and nobody is told: {said:?}");
}
