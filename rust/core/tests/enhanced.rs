//! [`Semantics::ENHANCED`]: a liveness result reports, and nothing on the node follows from it (the table 4A.1 of
//! OpenKruise's prober beside the kubelet's).

use std::time::Duration;

use probelet_core::podstatus::State;
use probelet_core::prober::{Outcome, Output, Prober, Settings};
use probelet_core::results::ProbeResult;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use crate::single::{UID, failure, pod, running, settings};

/// One container with a liveness probe of period 10 s that fails three times before it counts.
struct Life {
    prober: Prober,
    now: Instant,
}

impl Life {
    fn new(semantics: Semantics) -> Self {
        let mut prober = Prober::new(Settings { semantics, ..settings() }, Instant::ZERO);
        prober.define_pod(pod([(ProbeType::Liveness, ProbeSpec { failure_threshold: 3, ..ProbeSpec::default() })]));
        let mut life = Self { prober, now: Instant::ZERO };
        life.container("c://1", None);
        life.prober.add_pod(UID);
        life
    }

    /// The container is this instance from now on; `ended`: its exit code, if it does not run.
    fn container(&mut self, id: &str, ended: Option<i32>) {
        let mut status = running(id, Instant::ZERO);
        status.containers[0].started = Some(true);
        if let Some(exit_code) = ended {
            status.containers[0].state = State::Terminated { exit_code };
        }
        self.prober.set_pod_status(UID, status);
    }

    /// Lets a period pass, whose run gets `answer`; returns whether there was a run, and the results that changed.
    fn period(&mut self, answer: &Outcome) -> (bool, Vec<ProbeResult>) {
        self.now = self.now + Duration::from_secs(10);
        let (mut has_run, mut results) = (false, Vec::new());
        self.prober.settle(self.now);
        while let Some(output) = self.prober.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    has_run = true;
                    self.prober.handle_attempt(attempt.worker, attempt.run, answer.clone(), self.now);
                }
                Output::Update(update) => results.push(update.result),
                _ => {}
            }
        }
        (has_run, results)
    }

    fn failures(&mut self, count: usize) -> Vec<ProbeResult> {
        (0..count).flat_map(|_| self.period(&failure()).1).collect()
    }

    fn result(&self, id: &str) -> Option<ProbeResult> {
        self.prober.result(ProbeType::Liveness, id)
    }
}

const UNKNOWN: ProbeResult = ProbeResult::Unknown;
const FAILURE: ProbeResult = ProbeResult::Failure;
const SUCCESS: ProbeResult = ProbeResult::Success;

#[test]
fn a_container_is_unknown_until_a_threshold_is_reached() {
    for (semantics, expected) in [(Semantics::ENHANCED, [UNKNOWN, FAILURE]), (Semantics::V1_36, [SUCCESS, FAILURE])] {
        assert_eq!(Life::new(semantics).failures(3), expected);
    }
}

#[test]
fn probes_go_on_after_a_failure_so_that_a_recovery_is_seen() {
    let mut life = Life::new(Semantics::ENHANCED);
    assert_eq!(life.failures(5), [UNKNOWN, FAILURE], "a failure that lasts is no news");
    assert_eq!(life.period(&Outcome::Success), (true, vec![SUCCESS]));
    assert_eq!(life.failures(3), [FAILURE]);
    let mut held = Life::new(Semantics::V1_36);
    held.failures(3);
    assert_eq!(held.period(&Outcome::Success), (false, vec![]), "a kubelet waits for the next container");
}

#[test]
fn failures_of_the_container_before_do_not_count() {
    // In a kubelet, a container that exits by itself after two failures leaves them to the next one.
    for (semantics, expected) in [(Semantics::ENHANCED, UNKNOWN), (Semantics::V1_36, FAILURE)] {
        let mut life = Life::new(semantics);
        life.failures(2);
        life.container("c://2", None);
        life.failures(1);
        assert_eq!(life.result("c://2"), Some(expected));
    }
}

#[test]
fn after_a_restart_for_failures_one_more_failure_is_none() {
    let mut life = Life::new(Semantics::ENHANCED);
    life.failures(3);
    life.container("c://2", None);
    assert_eq!(life.failures(2), [UNKNOWN]);
    assert_eq!(life.failures(1), [FAILURE]);
    assert_eq!(life.result("c://1"), None);
}

#[test]
fn a_container_that_does_not_run_is_unknown_and_is_not_probed() {
    for (semantics, expected) in [(Semantics::ENHANCED, UNKNOWN), (Semantics::V1_36, FAILURE)] {
        let mut life = Life::new(semantics);
        life.period(&Outcome::Success);
        life.container("c://1", Some(1));
        assert_eq!(life.period(&failure()), (false, vec![expected]));
    }
}

#[test]
fn a_deletion_does_not_end_liveness() {
    let mut life = Life::new(Semantics::ENHANCED);
    life.failures(1);
    life.prober.mark_deleting(UID);
    life.prober.stop_liveness_and_startup(UID);
    assert_eq!(life.failures(2), [FAILURE]);
    life.prober.remove_pod(UID);
    assert!(!life.period(&failure()).0, "the caller ends it");
    let mut kubelet = Life::new(Semantics::V1_36);
    kubelet.failures(1);
    kubelet.prober.stop_liveness_and_startup(UID);
    assert!(!kubelet.period(&failure()).0);
}

#[test]
fn every_release_has_enhanced_rules_of_its_own() {
    assert_eq!(Semantics::V1_36.enhanced(), Semantics::ENHANCED);
    let (release, enhanced) = (Semantics::V1_38, Semantics::V1_38.enhanced());
    assert_eq!(enhanced.grpc_connect, release.grpc_connect);
    assert!(!enhanced.liveness_failure_holds);
}
