//! A liveness failure that is taken back: the next run decides anew, whatever the threshold.

use std::sync::Arc;

use probelet_core::options::{ErrorKind, FailureWindow, ProbeOptions};
use probelet_core::prober::{Outcome, Output, Prober};
use probelet_core::results::ProbeResult;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ContainerSpec, PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use super::{prober, status};

const ID: &str = "c://u-a";

/// A prober with one container whose liveness probe runs every ten seconds.
fn begun(probe: ProbeSpec) -> Prober {
    let mut prober = prober(Semantics::V1_36, false);
    let mut container = ContainerSpec { name: "a".into(), ..ContainerSpec::default() };
    container.probes[ProbeType::Liveness as usize] = Some(Box::new(ProbeSpec { period_seconds: 10, ..probe }));
    let pod = PodSpec { uid: "u".into(), containers: vec![container], regular: 1, ..PodSpec::default() };
    prober.define_pod(Arc::new(pod));
    prober.set_pod_status("u", status("u", true));
    assert!(prober.add_pod("u"));
    prober
}

/// Plays the runs that are due at `second`; returns how many there were, and the results that changed.
fn run(prober: &mut Prober, second: u64, outcome: &Outcome) -> (usize, Vec<ProbeResult>) {
    let (mut runs, mut results, now) = (0, Vec::new(), Instant::from_millis(second * 1_000));
    prober.settle(now);
    while let Some(output) = prober.poll_output() {
        match output {
            Output::Attempt(attempt) => {
                runs += 1;
                prober.handle_attempt(attempt.worker, attempt.run, outcome.clone(), now);
                prober.settle(now);
            }
            Output::Update(update) => results.push(update.result),
            _ => {}
        }
    }
    (runs, results)
}

fn failure() -> Outcome {
    Outcome::Failure { output: b"no".as_slice().into() }
}

fn failed(probe: ProbeSpec, runs: u64) -> Prober {
    let mut prober = begun(probe);
    run(&mut prober, 0, &Outcome::Success);
    for number in 1..=runs {
        run(&mut prober, number * 10, &failure());
    }
    assert_eq!(prober.result(ProbeType::Liveness, ID), Some(ProbeResult::Failure));
    assert_eq!(run(&mut prober, (runs + 1) * 10, &failure()), (0, vec![]), "it rests");
    prober
}

fn three() -> ProbeSpec {
    ProbeSpec { failure_threshold: 3, ..ProbeSpec::default() }
}

#[test]
fn one_more_failure_is_a_verdict_again() {
    let mut prober = failed(three(), 3);
    for round in 0..4 {
        assert!(prober.recheck("u", "a"));
        assert_eq!(prober.result(ProbeType::Liveness, ID), Some(ProbeResult::Unknown));
        let (runs, results) = run(&mut prober, 50 + round * 10, &failure());
        assert_eq!((runs, results), (1, vec![ProbeResult::Unknown, ProbeResult::Failure]));
    }
    assert_eq!(run(&mut prober, 90, &failure()).0, 0, "it rests again");
}

#[test]
fn a_success_ends_it_and_the_next_verdict_takes_the_whole_threshold() {
    let mut prober = failed(three(), 3);
    assert!(prober.recheck("u", "a"));
    assert_eq!(run(&mut prober, 50, &Outcome::Success), (1, vec![ProbeResult::Unknown, ProbeResult::Success]));
    assert_eq!(run(&mut prober, 60, &failure()).1, []);
    assert_eq!(run(&mut prober, 70, &failure()).1, []);
    assert_eq!(run(&mut prober, 80, &failure()).1, [ProbeResult::Failure]);
}

#[test]
fn an_error_of_the_prober_decides_nothing() {
    let mut prober = failed(three(), 3);
    assert!(prober.recheck("u", "a"));
    let error = Outcome::Error { failure: false, error: "no runtime".into(), kind: ErrorKind::Request };
    assert_eq!(run(&mut prober, 50, &error), (3, vec![ProbeResult::Unknown]), "three tries");
    assert_eq!(run(&mut prober, 60, &failure()), (1, vec![ProbeResult::Failure]));
}

#[test]
fn a_window_of_failures_is_full_but_for_one() {
    let window = ProbeOptions { failures: Some(FailureWindow::new(5, 2)), ..ProbeOptions::default() };
    let probe = || ProbeSpec { options: Some(Box::new(window)), ..three() };
    let mut prober = failed(probe(), 2);
    assert!(prober.recheck("u", "a"));
    assert_eq!(run(&mut prober, 40, &failure()).1, [ProbeResult::Unknown, ProbeResult::Failure]);
    assert!(prober.recheck("u", "a"));
    assert_eq!(run(&mut prober, 50, &Outcome::Success).1, [ProbeResult::Unknown, ProbeResult::Success]);
}

#[test]
fn a_container_that_has_never_answered_decides_by_one_run_too() {
    let probe = ProbeSpec { initialization_failure_threshold: 5, ..three() };
    let mut prober = begun(probe);
    for second in 0..5 {
        run(&mut prober, second * 10, &failure());
    }
    assert!(prober.recheck("u", "a"));
    assert_eq!(run(&mut prober, 60, &failure()).1, [ProbeResult::Unknown, ProbeResult::Failure]);
}

#[test]
fn there_is_nothing_to_take_back_without_a_failure() {
    let mut prober = begun(three());
    run(&mut prober, 0, &Outcome::Success);
    assert!(!prober.recheck("u", "a"));
    assert!(!prober.recheck("u", "nobody"));
    assert!(!prober.recheck("nobody", "a"));
    assert_eq!(prober.result(ProbeType::Liveness, ID), Some(ProbeResult::Success));
    assert_eq!(run(&mut prober, 10, &failure()), (1, vec![]));
}
