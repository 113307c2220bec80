//! A prober that continues where another stopped, and what a restart without memories does to a container (KEP-950,
//! "Stateless kubelet").

use std::sync::Arc;

use probelet_core::podstatus::PodStatus;
use probelet_core::prober::{Memory, Outcome, Output, Prober};
use probelet_core::results::ProbeResult;
use probelet_core::spec::{PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use crate::single::{UID, failure, pod, running, settings};

/// One container with one probe, under one prober after another. The first run is at once and fails.
struct Rig {
    pod: Arc<PodSpec>,
    prober: Prober,
    now: Instant,
    outcome: Outcome,
    attempts: usize,
    updates: Vec<(ProbeType, ProbeResult)>,
}

impl Rig {
    fn new(probe_type: ProbeType, failure_threshold: i32, initialization_failure_threshold: i32) -> Self {
        let probe = ProbeSpec { failure_threshold, initialization_failure_threshold, ..ProbeSpec::default() };
        let pod = pod([(probe_type, probe)]);
        let now = Instant::from_millis(1_000_000);
        let mut rig = Self { pod, prober: prober(now), now, outcome: failure(), attempts: 0, updates: Vec::new() };
        rig.begin("c://1");
        rig
    }

    /// The pod's first two syncs; returns the status of the first, at which the kubelet has no worker yet.
    fn begin(&mut self, id: &str) -> PodStatus {
        self.prober.define_pod(Arc::clone(&self.pod));
        let mut status = running(id, self.now);
        self.prober.update_pod_status(UID, &mut status);
        self.prober.set_pod_status(UID, status.clone());
        self.prober.add_pod(UID);
        self.settle();
        let mut second = status.clone();
        self.prober.update_pod_status(UID, &mut second);
        self.prober.set_pod_status(UID, second);
        self.settle();
        status
    }

    fn settle(&mut self) {
        self.prober.settle(self.now);
        while let Some(output) = self.prober.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    self.attempts += 1;
                    self.prober.handle_attempt(attempt.worker, attempt.run, self.outcome.clone(), self.now);
                }
                Output::Update(update) => self.updates.push((update.probe_type, update.result)),
                _ => {}
            }
        }
    }

    /// Runs until `more` further attempts were made, all with this outcome.
    fn attempts(&mut self, more: usize, outcome: Outcome) {
        self.outcome = outcome;
        let wanted = self.attempts + more;
        for _ in 0..PATIENCE {
            if self.attempts >= wanted {
                return;
            }
            self.now = self.prober.next_deadline().expect("a worker").max(self.now);
            self.settle();
        }
        panic!("{wanted} attempts are not made within {PATIENCE} deadlines");
    }

    /// Begins the next run after a driver has taken all memories.
    fn begin_run(&mut self) {
        self.prober.take_touched();
        self.now = self.prober.next_deadline().expect("a tick");
        self.prober.settle(self.now);
    }

    fn memories(&self) -> Vec<Memory> {
        self.prober.worker_ids(None).into_iter().filter_map(|id| self.prober.memory(id)).collect()
    }

    /// Lets another prober take over three seconds later.
    fn restart(&mut self, memories: Vec<Memory>, id: &str) -> PodStatus {
        self.now = self.now + std::time::Duration::from_secs(3);
        self.prober = prober(self.now);
        memories.into_iter().for_each(|memory| self.prober.recall(memory));
        self.updates.clear();
        self.begin(id)
    }

    /// How many more failures it takes until Failure is published.
    fn failures_left(&mut self) -> usize {
        let before = self.attempts;
        while self.updates.last().is_none_or(|(_, result)| *result != ProbeResult::Failure) {
            assert!(self.attempts - before < PATIENCE, "no failure reaches the threshold");
            self.attempts(1, failure());
        }
        self.attempts - before
    }
}

/// More deadlines than any test here waits through.
const PATIENCE: usize = 1_000;

fn prober(now: Instant) -> Prober {
    let mut prober = Prober::new(settings(), now);
    prober.watch_memories();
    prober
}

#[test]
fn a_streak_of_failures_continues_after_a_restart() {
    let mut rig = Rig::new(ProbeType::Liveness, 3, 0);
    rig.attempts(1, failure());
    let memories = rig.memories();
    rig.restart(memories, "c://1");
    assert_eq!(rig.updates, [(ProbeType::Liveness, ProbeResult::Success)], "the published result is published again");
    assert_eq!(rig.failures_left(), 1);
}

#[test]
fn without_memory_every_counter_starts_anew() {
    let mut rig = Rig::new(ProbeType::Liveness, 3, 0);
    rig.attempts(1, failure());
    rig.restart(Vec::new(), "c://1");
    assert_eq!(rig.failures_left(), 2, "the first run came at once");
    assert_eq!(rig.attempts, 5);
}

#[test]
fn another_container_begins_without_the_old_memory() {
    let mut rig = Rig::new(ProbeType::Liveness, 3, 0);
    rig.attempts(1, failure());
    let memories = rig.memories();
    let attempts = rig.attempts;
    rig.outcome = Outcome::Success;
    rig.restart(memories, "c://2");
    assert_eq!(rig.attempts, attempts + 1, "its first run does not wait for the old container's tick");
    assert_eq!(rig.failures_left(), 3);
}

#[test]
fn a_worker_on_hold_stays_on_hold_and_publishes_its_verdict_again() {
    let mut rig = Rig::new(ProbeType::Liveness, 1, 0);
    let (memories, attempts) = (rig.memories(), rig.attempts);
    rig.restart(memories, "c://1");
    assert_eq!(rig.updates, [(ProbeType::Liveness, ProbeResult::Failure)], "the restart is asked for again");
    rig.now = rig.now + std::time::Duration::from_secs(60);
    rig.settle();
    assert_eq!(rig.attempts, attempts);
}

#[test]
fn a_hold_is_not_passed_on_to_another_container() {
    let mut rig = Rig::new(ProbeType::Liveness, 1, 0);
    let (memories, attempts) = (rig.memories(), rig.attempts);
    assert!(memories[0].on_hold);
    rig.outcome = Outcome::Success;
    rig.restart(memories, "c://2");
    assert_eq!(rig.attempts, attempts + 1);
    assert_eq!(rig.updates, [(ProbeType::Liveness, ProbeResult::Success)]);
}

#[test]
fn a_run_in_flight_may_have_ended_the_streak_of_failures() {
    let mut rig = Rig::new(ProbeType::Liveness, 3, 0);
    rig.attempts(1, failure());
    rig.begin_run();
    assert!(rig.prober.is_urgent(), "the driver must keep it before the attempt begins");
    let memories = rig.memories();
    assert_eq!((memories[0].result_run, memories[0].in_doubt), (2, true));
    rig.restart(memories.clone(), "c://1");
    assert_eq!(rig.failures_left(), 3);
    rig.restart(memories, "c://1");
    rig.begin_run();
    assert!(!rig.prober.is_urgent() && !rig.memories()[0].in_doubt, "there is no streak left to lose");
}

#[test]
fn kep_950_a_starting_container_has_no_streak_that_a_success_would_end() {
    for (success_before, in_doubt) in [(false, false), (true, true)] {
        let mut rig = Rig::new(ProbeType::Liveness, 3, 10);
        if success_before {
            rig.attempts(1, Outcome::Success);
        }
        rig.attempts(1, failure());
        rig.begin_run();
        assert_eq!((rig.prober.is_urgent(), rig.memories()[0].in_doubt), (in_doubt, in_doubt));
    }
}

#[test]
fn ready_does_not_flap() {
    let mut rig = Rig::new(ProbeType::Readiness, 3, 0);
    rig.attempts(1, Outcome::Success);
    let memories = rig.memories();
    let status = rig.restart(memories, "c://1");
    assert!(status.containers[0].ready, "in the very first status");
    let status = rig.restart(Vec::new(), "c://1");
    assert!(status.containers[0].ready, "before AddPod there is no readiness worker");
    assert_eq!(rig.updates[0], (ProbeType::Readiness, ProbeResult::Failure), "without memory it flaps");
}

#[test]
fn the_first_status_uses_the_memory_of_its_probe_and_container() {
    let readiness = Rig::new(ProbeType::Readiness, 1, 0).memories().remove(0);
    assert_eq!(readiness.result, Some(ProbeResult::Failure));
    let startup = Memory { probe_type: ProbeType::Startup, result: Some(ProbeResult::Success), ..readiness.clone() };
    let elsewhere = Memory { container_id: "c://2".into(), result: Some(ProbeResult::Success), ..readiness.clone() };
    let mut prober = prober(Instant::ZERO);
    prober.define_pod(pod(
        [ProbeType::Readiness, ProbeType::Startup].map(|probe_type| (probe_type, ProbeSpec::default()))
    ));
    for memory in [elsewhere, readiness, startup] {
        prober.recall(memory);
    }
    let mut status = running("c://1", Instant::ZERO);
    prober.update_pod_status(UID, &mut status);
    assert_eq!((status.containers[0].started, status.containers[0].ready), (Some(true), false));
}

#[test]
fn a_container_that_has_not_started_gets_no_second_allowance() {
    let mut rig = Rig::new(ProbeType::Startup, 30, 0);
    rig.attempts(29, failure());
    let memories = rig.memories();
    let status = rig.restart(memories, "c://1");
    assert_eq!(status.containers[0].started, Some(false), "in the very first status");
    assert_eq!(rig.failures_left(), 1);
}

#[test]
fn kep_950_a_starting_container_does_not_get_its_attempts_again() {
    let mut rig = Rig::new(ProbeType::Liveness, 2, 10);
    rig.attempts(8, failure());
    let memories = rig.memories();
    rig.restart(memories, "c://1");
    assert_eq!(rig.failures_left(), 1);
    let mut rig = Rig::new(ProbeType::Liveness, 2, 10);
    rig.attempts(8, failure());
    rig.restart(Vec::new(), "c://1");
    assert_eq!(rig.failures_left(), 9, "a stateless prober allows all ten again; the first came at once");
}

#[test]
fn kep_950_a_running_container_stays_initialized() {
    for (kept, expected) in [(true, 2), (false, 1)] {
        let mut rig = Rig::new(ProbeType::Liveness, 2, 10);
        rig.attempts(1, Outcome::Success);
        let memories = if kept { rig.memories() } else { Vec::new() };
        rig.outcome = failure();
        rig.restart(memories, "c://1");
        if kept {
            assert_eq!(rig.failures_left(), expected);
        } else {
            rig.attempts(1, Outcome::Success);
            assert!(rig.memories()[0].has_initialized, "the next success sets it again");
        }
    }
}

#[test]
fn kep_950_a_deadlocked_container_is_not_tolerated_longer() {
    let mut rig = Rig::new(ProbeType::Liveness, 2, 10);
    rig.attempts(1, Outcome::Success);
    rig.attempts(1, failure());
    let memories = rig.memories();
    rig.restart(memories.clone(), "c://1");
    assert_eq!(rig.failures_left(), 1);
    rig.outcome = failure();
    rig.restart(Vec::new(), "c://1");
    assert_eq!(rig.failures_left(), 9, "a stateless prober tolerates ten");
}

#[test]
fn ticks_stay_on_their_grid() {
    let mut rig = Rig::new(ProbeType::Liveness, 3, 0);
    rig.attempts(2, Outcome::Success);
    let grid = rig.now;
    let memories = rig.memories();
    rig.restart(memories, "c://1");
    rig.attempts(1, Outcome::Success);
    assert_eq!(rig.now, grid + std::time::Duration::from_secs(10));
}

#[test]
fn a_result_that_confirms_the_memory_leaves_nothing_to_keep() {
    for outcome in [Outcome::Success, failure()] {
        let mut rig = Rig::new(ProbeType::Readiness, 3, 0);
        rig.attempts(3, outcome.clone());
        assert!(rig.prober.has_touched());
        assert_eq!(rig.prober.take_touched().len(), 1);
        rig.attempts(50, outcome);
        assert!(!rig.prober.has_touched());
    }
}

#[test]
fn a_memory_that_no_worker_takes_can_be_dropped() {
    let mut rig = Rig::new(ProbeType::Liveness, 3, 0);
    rig.attempts(1, failure());
    let memories = rig.memories();
    let mut prober = prober(rig.now);
    memories.iter().cloned().for_each(|memory| prober.recall(memory));
    assert_eq!(prober.forget_recalled(), memories);
    assert_eq!(prober.forget_recalled(), []);
    memories.iter().cloned().for_each(|memory| prober.recall(memory));
    prober.forget_pod(UID);
    assert_eq!(prober.forget_recalled(), [], "a memory goes with its pod");
}

/// What a status that a caller has set says of a container: started, and ready.
fn said(mut status: PodStatus, ready: bool) -> PodStatus {
    status.containers[0].started = Some(true);
    status.containers[0].ready = ready;
    status
}

#[test]
fn probes_begin_with_what_the_status_says_of_a_container_that_runs() {
    for (probe_type, ready, result) in [
        (ProbeType::Startup, false, Some(ProbeResult::Success)),
        (ProbeType::Readiness, true, Some(ProbeResult::Success)),
        (ProbeType::Readiness, false, Some(ProbeResult::Failure)),
        (ProbeType::Liveness, true, Some(ProbeResult::Success)),
    ] {
        let mut rig = Rig::new(probe_type, 3, 0);
        rig.now = rig.now + std::time::Duration::from_secs(3);
        rig.prober = prober(rig.now);
        rig.prober.define_pod(Arc::clone(&rig.pod));
        rig.prober.set_pod_status(UID, said(running("c://1", rig.now), ready));
        rig.prober.recall_status(UID);
        rig.prober.add_pod(UID);
        // Without an attempt: the next one is a tick away.
        rig.prober.settle(rig.now);
        assert_eq!(rig.prober.result(probe_type, "c://1"), result, "{probe_type:?} {ready}");
        let mut next = running("c://1", rig.now);
        rig.prober.update_pod_status(UID, &mut next);
        assert_eq!(next.containers[0].started, Some(true));
    }
}

#[test]
fn a_status_counts_more_than_a_memory_that_knows_of_no_success() {
    let mut rig = Rig::new(ProbeType::Readiness, 1, 0);
    let old = rig.memories();
    assert_eq!(old[0].result, Some(ProbeResult::Failure));
    rig.prober = prober(rig.now);
    old.into_iter().for_each(|memory| rig.prober.recall(memory));
    rig.prober.define_pod(Arc::clone(&rig.pod));
    rig.prober.set_pod_status(UID, said(running("c://1", rig.now), true));
    rig.prober.recall_status(UID);
    rig.prober.add_pod(UID);
    rig.prober.settle(rig.now);
    assert_eq!(rig.prober.result(ProbeType::Readiness, "c://1"), Some(ProbeResult::Success));
    assert!(rig.prober.forget_recalled().is_empty());
}

#[test]
fn a_memory_that_says_the_same_keeps_its_ticks() {
    let mut rig = Rig::new(ProbeType::Readiness, 1, 0);
    rig.attempts(1, Outcome::Success);
    let known = rig.memories();
    rig.prober = prober(rig.now);
    known.iter().cloned().for_each(|memory| rig.prober.recall(memory));
    rig.prober.define_pod(Arc::clone(&rig.pod));
    rig.prober.set_pod_status(UID, said(running("c://1", rig.now), true));
    rig.prober.recall_status(UID);
    assert_eq!(rig.prober.forget_recalled(), known);
}
