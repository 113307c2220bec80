//! Upstream's worker tests that read a worker's memory (kubelet prober/worker_test.go and prober_test.go, 1.36), what
//! our events add, and two rules of kubelets that are older than any release a caller can choose.

use std::time::Duration;

use probelet_core::podstatus::PodStatus;
use probelet_core::prober::{Outcome, Output, Prober, Settings};
use probelet_core::results::ProbeResult;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use crate::single::{UID, failure, pod, running, settings};

/// One worker of one container with period 1 s; the test answers its attempts.
struct Bench {
    prober: Prober,
    now: Instant,
    started: bool,
    events: Vec<String>,
    /// The failures in a row and their threshold, as the events give them.
    streaks: Vec<Option<(i32, i32)>>,
}

impl Bench {
    fn new(probe_type: ProbeType, failure_threshold: i32) -> Self {
        Self::of(Semantics::V1_36, probe_type, failure_threshold)
    }

    fn of(semantics: Semantics, probe_type: ProbeType, failure_threshold: i32) -> Self {
        let probe = ProbeSpec { period_seconds: 1, failure_threshold, ..ProbeSpec::default() };
        let mut prober = Prober::new(Settings { semantics, ..settings() }, Instant::ZERO);
        prober.define_pod(pod([(probe_type, probe)]));
        let mut bench = Self {
            prober,
            now: Instant::ZERO,
            started: probe_type != ProbeType::Startup,
            events: Vec::new(),
            streaks: Vec::new(),
        };
        bench.run_container("test://1");
        bench.prober.add_pod(UID);
        bench
    }

    fn run_container(&mut self, id: &str) {
        self.prober.set_pod_status(UID, self.status(id));
    }

    fn status(&self, id: &str) -> PodStatus {
        let mut status = running(id, Instant::ZERO);
        status.containers[0].started = Some(self.started);
        status
    }

    /// Lets the worker make its next pass and answers its attempt at once; returns whether it probed.
    fn pass(&mut self, outcome: &Outcome) -> bool {
        let probed = self.settle(outcome);
        self.now = self.now + Duration::from_secs(1);
        probed
    }

    fn settle(&mut self, outcome: &Outcome) -> bool {
        let mut probed = false;
        self.prober.settle(self.now);
        while let Some(output) = self.prober.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    probed = true;
                    self.prober.handle_attempt(attempt.worker, attempt.run, outcome.clone(), self.now);
                    self.prober.settle(self.now);
                }
                Output::Event(event) => {
                    self.events.push(String::from_utf8_lossy(&event.message).into_owned());
                    self.streaks.push(event.streak.map(|streak| (streak.failures, streak.threshold)));
                }
                _ => {}
            }
        }
        probed
    }

    /// The cached result, the length of the run and whether the worker is on hold.
    fn memory(&self) -> (Option<ProbeResult>, i32, bool) {
        let states = self.prober.worker_states(None);
        let state = states.first().expect("one worker");
        (state.result, state.result_run, state.on_hold)
    }
}

const FAILURE: Option<ProbeResult> = Some(ProbeResult::Failure);
const SUCCESS: Option<ProbeResult> = Some(ProbeResult::Success);
const UNKNOWN: Option<ProbeResult> = Some(ProbeResult::Unknown);

#[test]
fn w22_startup_probe_success_threshold() {
    let mut bench = Bench::new(ProbeType::Startup, 3);
    assert!(!bench.memory().2);
    bench.pass(&Outcome::Success);
    assert_eq!(bench.memory(), (SUCCESS, 0, true));
}

#[test]
fn w23_startup_probe_failure_threshold() {
    let mut bench = Bench::new(ProbeType::Startup, 3);
    for expected in [(UNKNOWN, 1, false), (UNKNOWN, 2, false), (FAILURE, 0, true)] {
        bench.pass(&failure());
        assert_eq!(bench.memory(), expected);
    }
}

#[test]
fn w25_on_hold_on_liveness_or_startup_check_failure() {
    for probe_type in [ProbeType::Liveness, ProbeType::Startup] {
        let mut bench = Bench::new(probe_type, 1);
        assert!(bench.pass(&failure()));
        assert_eq!(bench.memory(), (FAILURE, 0, true), "{probe_type:?}");
        assert!(!bench.pass(&Outcome::Success), "{probe_type:?}: probed while on hold");
        assert_eq!(bench.memory(), (FAILURE, 0, true), "{probe_type:?}");
        bench.run_container("test://2");
        assert!(bench.pass(&Outcome::Success));
        let (result, _, on_hold) = bench.memory();
        assert_eq!((result, on_hold), (SUCCESS, probe_type == ProbeType::Startup), "{probe_type:?}");
    }
}

#[test]
fn w26_result_run_on_liveness_check_failure() {
    let mut bench = Bench::new(ProbeType::Liveness, 3);
    let passes = [
        (Outcome::Success, (SUCCESS, 1, false)),
        (failure(), (SUCCESS, 1, false)),
        (failure(), (SUCCESS, 2, false)),
        (failure(), (FAILURE, 0, true)),
    ];
    for (outcome, expected) in passes {
        bench.pass(&outcome);
        assert_eq!(bench.memory(), expected);
    }
}

#[test]
fn w27_result_run_on_startup_check_failure() {
    let mut bench = Bench::new(ProbeType::Startup, 3);
    for expected in [(UNKNOWN, 1, false), (UNKNOWN, 2, false), (FAILURE, 0, true)] {
        bench.pass(&failure());
        assert_eq!(bench.memory(), expected);
    }
}

#[test]
fn p7_unknown_without_an_error_is_a_failure_and_no_event() {
    let mut bench = Bench::new(ProbeType::Liveness, 1);
    bench.pass(&Outcome::Unknown);
    assert_eq!(bench.memory(), (FAILURE, 0, true));
    assert!(bench.events.is_empty());
}

#[test]
fn p8_an_error_beside_a_failure_is_discarded_and_the_event_says_so() {
    let mut bench = Bench::new(ProbeType::Readiness, 1);
    bench.pass(&Outcome::Error { failure: true, error: "boom".into(), own: false });
    assert_eq!(bench.events, ["Readiness probe errored and resulted in failure state: boom"]);
    assert_eq!(bench.memory(), (FAILURE, 0, false), "the initial value, and no run was counted");
}

#[test]
fn only_a_failures_event_carries_the_streak_so_far() {
    let mut bench = Bench::new(ProbeType::Readiness, 3);
    let warning = Outcome::Warning { output: Box::default() };
    let error = Outcome::Error { failure: true, error: "boom".into(), own: false };
    for outcome in [failure(), failure(), warning, failure(), error] {
        bench.pass(&outcome);
    }
    assert_eq!(bench.streaks, [Some((1, 3)), Some((2, 3)), None, Some((1, 3)), None]);
}

#[test]
fn v11_a_startup_success_holds_but_did_not_before_1_29() {
    for (holds, probed_again) in [(true, false), (false, true)] {
        let semantics = Semantics { startup_success_holds: holds, ..Semantics::V1_34 };
        let mut bench = Bench::of(semantics, ProbeType::Startup, 1);
        bench.pass(&Outcome::Success);
        assert_eq!(bench.memory().2, holds);
        assert_eq!(bench.pass(&failure()), probed_again);
        assert_eq!(bench.memory().0, if probed_again { FAILURE } else { SUCCESS });
    }
}

#[test]
fn v12_a_trigger_begins_a_new_period_but_did_not_in_old_releases() {
    for (resets, first_probe_after) in [(true, 1_300), (false, 1_000)] {
        let semantics = Semantics { trigger_resets_ticker: resets, ..Semantics::V1_34 };
        let mut bench = Bench::of(semantics, ProbeType::Readiness, 1);
        assert!(bench.settle(&failure()));
        bench.now = Instant::from_millis(300);
        let mut status = bench.status("test://1");
        bench.prober.update_pod_status(UID, &mut status);
        assert!(bench.settle(&failure()), "a trigger runs at once");
        for t_ms in [999, 1_000, 1_299, 1_300] {
            bench.now = Instant::from_millis(t_ms);
            assert_eq!(bench.settle(&failure()), t_ms == first_probe_after, "resets {resets}, {t_ms} ms");
            if t_ms == first_probe_after {
                break;
            }
        }
    }
}
