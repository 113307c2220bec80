//! Which probes get workers, in which order they begin, which workers stop and what is left.

use std::collections::BTreeSet;

use probelet_core::prober::{Prober, Settings};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use super::{add, prober, settle, status, working};

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
fn a_deletion_that_workers_see_publishes_success_and_ends_all_but_readiness() {
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
fn nothing_is_left_of_a_forgotten_pod() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "some-pod", &ProbeType::ALL, true);
    settle(&mut prober, Instant::ZERO);
    prober.remove_pod("some-pod");
    prober.remove_pod_status("some-pod");
    settle(&mut prober, Instant::ZERO);
    assert!(prober.pod("some-pod").is_some(), "the pod can be added again");
    prober.forget_pod("some-pod");
    assert!(prober.pod("some-pod").is_none());
    // The UID is part of the containers' IDs here.
    assert!(!format!("{prober:?}").contains("some-pod"));
}

/// In a young prober a worker sleeps for up to a period, which can be years, before its first run.
#[test]
fn a_worker_that_sleeps_before_its_first_run_ends_with_its_pod() {
    for (settled, removed, status_last) in
        [(true, false, false), (false, false, false), (true, true, false), (true, true, true), (false, false, true)]
    {
        let mut prober = Prober::new(Settings::default(), Instant::ZERO);
        add(&mut prober, "u", &ProbeType::ALL, true);
        add(&mut prober, "other", &ProbeType::ALL, true);
        if settled {
            settle(&mut prober, Instant::ZERO);
        }
        prober.remove_pod("u");
        if removed {
            settle(&mut prober, Instant::ZERO);
        }
        assert_eq!(prober.worker_count(), 18, "a kubelet's worker sleeps on");
        if status_last {
            prober.forget_pod("u");
            prober.remove_pod_status("u");
        } else {
            prober.remove_pod_status("u");
            prober.forget_pod("u");
        }
        settle(&mut prober, Instant::ZERO);
        assert_eq!((prober.worker_count(), working(&prober, "other").len()), (9, 9));
    }
}

#[test]
fn a_paused_probe_makes_no_attempt_until_the_pause_ends_and_keeps_its_result() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Liveness], true);
    let until = Instant::from_nanos(25_000_000_000);
    assert!(prober.pause("u", "a", ProbeType::Readiness, until, Instant::ZERO));
    assert!(!prober.pause("nobody", "a", ProbeType::Readiness, until, Instant::ZERO));
    let (attempts, _) = settle(&mut prober, Instant::ZERO);
    assert!(!attempts.contains(&"a Readiness".into()), "{attempts:?}");
    assert!(attempts.contains(&"a Liveness".into()) && attempts.contains(&"b Readiness".into()), "{attempts:?}");
    let (attempts, _) = settle(&mut prober, Instant::from_nanos(24_000_000_000));
    assert!(!attempts.contains(&"a Readiness".into()), "{attempts:?}");
    let (attempts, _) = settle(&mut prober, Instant::from_nanos(30_000_000_000));
    assert!(attempts.contains(&"a Readiness".into()), "{attempts:?}");
}

#[test]
fn a_pause_that_is_replaced_by_one_in_the_past_is_over() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Liveness], true);
    prober.pause("u", "a", ProbeType::Liveness, Instant::from_nanos(u64::MAX), Instant::ZERO);
    prober.pause("u", "a", ProbeType::Liveness, Instant::ZERO, Instant::ZERO);
    let (attempts, _) = settle(&mut prober, Instant::ZERO);
    assert!(attempts.contains(&"a Liveness".into()), "{attempts:?}");
}

#[test]
fn a_pause_ends_no_other_pause_and_is_over_at_its_very_end() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Liveness], true);
    let until = Instant::from_nanos(30_000_000_000);
    let paused = [("a", ProbeType::Readiness), ("a", ProbeType::Liveness), ("b", ProbeType::Liveness)];
    for (container, probe_type) in paused {
        assert!(prober.pause("u", container, probe_type, until, Instant::ZERO));
    }
    for now in [Instant::ZERO, Instant::from_nanos(until.as_nanos() - 1), until] {
        let (attempts, _) = settle(&mut prober, now);
        for (container, probe_type) in paused {
            let begins = attempts.contains(&format!("{container} {probe_type:?}"));
            assert_eq!(begins, now == until, "{container} {probe_type:?} at {now:?}");
        }
    }
}

#[test]
fn a_worker_that_sleeps_before_its_first_run_ends_when_its_pod_is_forgotten() {
    let mut prober = Prober::new(Settings::default(), Instant::ZERO);
    add(&mut prober, "u", &[ProbeType::Liveness], true);
    add(&mut prober, "other", &[ProbeType::Liveness], true);
    assert_eq!(settle(&mut prober, Instant::ZERO).0, Vec::<String>::new(), "they sleep for a part of their period");
    // None of them was left halfway, so this changes nothing.
    prober.take_up_stranded(Instant::ZERO);
    prober.remove_pod("u");
    settle(&mut prober, Instant::ZERO);
    assert_eq!(prober.worker_count(), 6, "a kubelet's worker looks at a stop after its first run");
    prober.remove_pod_status("u");
    prober.forget_pod("u");
    settle(&mut prober, Instant::ZERO);
    assert_eq!((prober.worker_count(), working(&prober, "other").len()), (3, 3));
}

#[test]
fn a_worker_that_is_stopped_before_its_first_run_makes_that_run() {
    let mut prober = prober(Semantics::V1_36, false);
    add(&mut prober, "u", &[ProbeType::Liveness], true);
    prober.remove_pod("u");
    let (attempts, _) = settle(&mut prober, Instant::ZERO);
    assert_eq!(attempts.len(), 3, "{attempts:?}");
    assert_eq!(prober.worker_count(), 0);
}

#[test]
fn a_first_run_that_is_expected_begins_at_its_moment_and_no_other_waits_for_it() {
    let mut prober = prober(Semantics::V1_36, false);
    let at = Instant::from_nanos(7_000_000_000);
    prober.expect_first_run("u", "a", ProbeType::Liveness, at);
    prober.expect_first_run("u", "b", ProbeType::Readiness, Instant::ZERO);
    add(&mut prober, "other", &[ProbeType::Liveness], true);
    assert_eq!(settle(&mut prober, Instant::ZERO).0.len(), 3);
    add(&mut prober, "u", &[ProbeType::Readiness, ProbeType::Liveness], true);
    let (attempts, _) = settle(&mut prober, Instant::ZERO);
    assert_eq!(attempts.len(), 5, "{attempts:?}");
    assert!(!attempts.contains(&"a Liveness".into()), "{attempts:?}");
    assert_eq!(settle(&mut prober, Instant::from_nanos(at.as_nanos() - 1)).0, Vec::<String>::new());
    assert_eq!(settle(&mut prober, at).0, ["a Liveness"]);
    add(&mut prober, "later", &[ProbeType::Liveness], true);
    assert_eq!(settle(&mut prober, at).0.len(), 3, "the expectation was used up");
}
