//! KEP-950, `initializationFailureThreshold`: the KEP's test plan and worked examples, on the core.

use std::time::Duration;

use probelet_core::prober::{Outcome, Output, Prober};
use probelet_core::results::ProbeResult;
use probelet_core::spec::{ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use crate::single::{UID, failure, pod, running, settings};

/// A container with one liveness probe of period 10 s. The test gives it answer by answer.
struct Life {
    prober: Prober,
    now: Instant,
    runs: usize,
}

impl Life {
    fn new(failure_threshold: i32, initialization_failure_threshold: i32) -> Self {
        let probe = ProbeSpec { failure_threshold, initialization_failure_threshold, ..ProbeSpec::default() };
        let mut prober = Prober::new(settings(), Instant::ZERO);
        prober.define_pod(pod([(ProbeType::Liveness, probe)]));
        let mut life = Self { prober, now: Instant::ZERO, runs: 0 };
        life.run_container("c://1");
        life.prober.add_pod(UID);
        life
    }

    fn run_container(&mut self, id: &str) {
        let mut status = running(id, Instant::ZERO);
        status.containers[0].started = Some(true);
        self.prober.set_pod_status(UID, status);
    }

    /// Plays answers (`F`, `S`, `E` for a prober error) until a failure is published; returns the number of that run,
    /// if any.
    fn killed_at(&mut self, answers: &str) -> Option<usize> {
        for answer in answers.chars() {
            self.runs += 1;
            if self.answer(answer) {
                return Some(self.runs);
            }
        }
        None
    }

    fn answer(&mut self, answer: char) -> bool {
        for _ in 0..PATIENCE {
            self.prober.settle(self.now);
            let mut failed = false;
            let mut attempts = Vec::new();
            while let Some(output) = self.prober.poll_output() {
                match output {
                    Output::Attempt(attempt) => attempts.push(attempt),
                    Output::Update(update) => failed |= update.result == ProbeResult::Failure,
                    _ => {}
                }
            }
            if let [attempt] = attempts[..] {
                self.prober.handle_attempt(attempt.worker, attempt.run, outcome(answer), self.now);
                if answer != 'E' || attempt.attempt == 3 {
                    self.prober.settle(self.now);
                    return std::iter::from_fn(|| self.prober.poll_output()).any(
                        |output| matches!(output, Output::Update(update) if update.result == ProbeResult::Failure),
                    );
                }
            } else if failed {
                return true;
            } else {
                self.now = self.now + Duration::from_secs(10);
            }
        }
        panic!("no run in {PATIENCE} periods");
    }
}

/// How many periods may pass without a run: far more than any test here needs.
const PATIENCE: usize = 100;

fn outcome(answer: char) -> Outcome {
    match answer {
        'S' => Outcome::Success,
        'F' => failure(),
        _ => Outcome::Error { failure: false, error: "boom".into(), own: false },
    }
}

#[test]
fn a_container_that_never_succeeds_fails_at_the_initial_threshold() {
    assert_eq!(Life::new(3, 20).killed_at(&"F".repeat(30)), Some(20));
}

#[test]
fn one_success_ends_the_allowance_late_or_early() {
    assert_eq!(Life::new(3, 20).killed_at(&format!("{}S{}", "F".repeat(19), "F".repeat(9))), Some(23));
    assert_eq!(Life::new(3, 20).killed_at(&format!("{}S{}", "F".repeat(10), "F".repeat(9))), Some(14));
    assert_eq!(Life::new(3, 20).killed_at(&format!("S{}FFF", "S".repeat(40))), Some(44));
}

#[test]
fn a_smaller_initial_threshold_is_raised_to_the_usual_one() {
    assert_eq!(Life::new(3, 2).killed_at("FFFF"), Some(3));
    assert_eq!(Life::new(3, 0).killed_at("FFFF"), Some(3));
}

#[test]
fn a_new_container_gets_the_allowance_again_and_no_old_failures() {
    let mut life = Life::new(3, 5);
    assert_eq!(life.killed_at("SFF"), None);
    life.run_container("c://2");
    life.runs = 0;
    assert_eq!(life.killed_at("FFFFFFF"), Some(5));
}

#[test]
fn without_the_field_old_failures_count_against_the_new_container_as_in_the_kubelet() {
    let mut life = Life::new(3, 0);
    assert_eq!(life.killed_at("SFF"), None);
    life.run_container("c://2");
    life.runs = 0;
    assert_eq!(life.killed_at("FFF"), Some(1));
}

#[test]
fn a_new_prober_gives_the_allowance_again() {
    let mut before = Life::new(3, 20);
    assert_eq!(before.killed_at(&"F".repeat(15)), None);
    assert_eq!(before.runs + Life::new(3, 20).killed_at(&"F".repeat(30)).unwrap_or_default(), 35);
}

#[test]
fn prober_errors_are_not_counted_in_the_initial_phase() {
    assert_eq!(Life::new(2, 4).killed_at("FEEFEFFF"), Some(7));
}

#[test]
fn the_shown_threshold_is_the_one_in_force() {
    let mut life = Life::new(3, 20);
    let shown = |life: &Life| life.prober.worker_states(None)[0].failure_threshold;
    assert_eq!((life.killed_at("FFFF"), shown(&life)), (None, 20));
    assert_eq!((life.killed_at("S"), shown(&life)), (None, 3));
    life.run_container("c://2");
    assert_eq!((life.killed_at("F"), shown(&life)), (None, 20));
    assert_eq!(shown(&Life::new(3, 2)), 3, "a smaller threshold is raised");
}

#[test]
fn the_only_worker_is_the_liveness_probes() {
    let life = Life::new(3, 20);
    let state = life.prober.worker_states(None);
    assert_eq!(state.iter().map(|state| state.target.probe_type).collect::<Vec<_>>(), [ProbeType::Liveness]);
    assert_eq!(state[0].target.probe().initialization_failure_threshold, 20);
}
