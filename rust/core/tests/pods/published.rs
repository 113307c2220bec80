//! The results of a pod's containers that are published, recorded and listed.

use probelet_core::podstatus::State;
use probelet_core::prober::{Output, Prober, Settings};
use probelet_core::results::ProbeResult;
use probelet_core::semantics::Semantics;
use probelet_core::spec::ProbeType;
use probelet_core::time::{Instant, WallOffset};

use super::{add, pod, prober, restarted, settle, status};

#[test]
fn the_first_result_of_a_started_container_older_than_the_prober_depends_on_the_release() {
    let (success, unknown) = (Some(ProbeResult::Success), Some(ProbeResult::Unknown));
    for (semantics, of_sidecar, of_container) in
        [(Semantics::V1_34, unknown, unknown), (Semantics::V1_35, success, None), (Semantics::V1_36, success, None)]
    {
        let mut prober = restarted(semantics);
        add(&mut prober, "u", &[ProbeType::Startup], true);
        settle(&mut prober, Instant::ZERO);
        let published = ["c://u-s", "c://u-a"].map(|id| prober.result(ProbeType::Startup, id));
        assert_eq!(published, [of_sidecar, of_container], "{semantics:?}");
    }
}

#[test]
fn a_container_counts_as_older_if_it_started_over_ten_seconds_before_the_prober() {
    for (started_after_ms, published) in [(10_000, Some(ProbeResult::Failure)), (10_001, None)] {
        let wall = WallOffset(started_after_ms * 1_000_000);
        let mut prober = Prober::new(Settings { wall, start_jitter: false, ..Settings::default() }, Instant::ZERO);
        add(&mut prober, "u", &[ProbeType::Readiness], false);
        settle(&mut prober, Instant::ZERO);
        assert_eq!(prober.result(ProbeType::Readiness, "c://u-a"), published, "{started_after_ms} ms");
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
    let recorded = records(&outputs);
    assert_eq!(recorded.len(), 6, "{recorded:?}");
    for name in ["a", "b", "s"] {
        assert!(recorded.contains(&format!("c://u-{name} Some(Failure) true")), "the initial value: {recorded:?}");
        assert!(recorded.contains(&format!("c://u-{name} Some(Success) true")), "after the run: {recorded:?}");
    }
    let (_, outputs) = settle(&mut prober, Instant::from_millis(10_000));
    assert!(records(&outputs).contains(&"c://u-a Some(Success) false".to_string()), "the same result again is a set");
    let listed: Vec<_> =
        prober.results().map(|(probe_type, id, result)| (probe_type, id.to_string(), result)).collect();
    let expected = ["c://u-a", "c://u-b", "c://u-s"];
    assert_eq!(listed, expected.map(|id| (ProbeType::Readiness, id.to_string(), ProbeResult::Success)));
    prober.remove_pod("u");
    let (_, outputs) = settle(&mut prober, Instant::from_millis(10_000));
    let mut removed = records(&outputs);
    removed.sort();
    assert_eq!(removed, expected.map(|id| format!("{id} None true")));
    assert_eq!(prober.results().count(), 0);
}

#[test]
fn a_malformed_container_id_is_new_in_each_pass_whatever_its_length() {
    for id in ["no scheme", "-r1"] {
        let mut prober = prober(Semantics::V1_36, true);
        prober.define_pod(pod("u", &[ProbeType::Readiness]));
        let mut broken = status("u", false);
        broken.containers.truncate(1);
        broken.containers[0].id = id.into();
        prober.set_pod_status("u", broken);
        prober.add_pod("u");
        for millis in [0, 10_000] {
            let (_, outputs) = settle(&mut prober, Instant::from_millis(millis));
            let sets = outputs.iter().filter(|output| matches!(output, Output::Record(_))).count();
            assert_eq!(sets, 1, "{id} gets its initial value again");
        }
    }
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
    let published: Vec<_> =
        outputs.iter().filter(|output| matches!(output, Output::Update(_) | Output::Removed(_))).collect();
    assert!(published.is_empty(), "it does not run, and nothing is sent: {published:?}");
}
