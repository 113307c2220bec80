//! When a worker runs: jitter, grid, trigger and initial delay (kubelet prober/worker.go:run and doProbe, 1.36).

use std::time::Duration;

use probelet_core::podstatus::State;
use probelet_core::prober::{Attempt, Output, Prober, Settings};
use probelet_core::spec::{ProbeSpec, ProbeType};
use probelet_core::time::{Instant, WallOffset};

use crate::single::{UID, failure, pod, running, settings};

/// A readiness probe whose container has been running since zero, under a prober that gets the time from the test.
struct Clock {
    prober: Prober,
}

impl Clock {
    fn new(settings: Settings, probe: ProbeSpec) -> Self {
        let mut prober = Prober::new(settings, Instant::ZERO);
        prober.define_pod(pod([(ProbeType::Readiness, probe)]));
        let mut status = running("c://1", Instant::ZERO);
        status.containers[0].started = Some(true);
        prober.set_pod_status(UID, status);
        Self { prober }
    }

    fn every(period_seconds: i32) -> Self {
        let mut clock = Self::new(settings(), ProbeSpec { period_seconds, ..ProbeSpec::default() });
        clock.prober.add_pod(UID);
        clock
    }

    /// The attempt that begins at this moment.
    fn attempt(&mut self, millis: u64) -> Option<Attempt> {
        self.prober.settle(Instant::from_millis(millis));
        let mut attempts = std::iter::from_fn(|| self.prober.poll_output()).filter_map(|output| match output {
            Output::Attempt(attempt) => Some(attempt),
            _ => None,
        });
        let first = attempts.next();
        assert_eq!(attempts.next(), None, "two attempts at once");
        first
    }

    fn answer(&mut self, attempt: Attempt, millis: u64) {
        let now = Instant::from_millis(millis);
        self.prober.handle_attempt(attempt.worker, attempt.run, failure(), now);
    }

    /// Waits for the next attempt, answers it at once and returns when it began (milliseconds).
    fn run(&mut self) -> u64 {
        loop {
            let due = self.prober.next_deadline().expect("a worker waits").as_nanos() / 1_000_000;
            // A tick that a trigger has replaced is a deadline without an attempt.
            if let Some(attempt) = self.attempt(due) {
                self.answer(attempt, due);
                return due;
            }
        }
    }

    /// UpdatePodStatus finds the container started and not ready, so it triggers the worker.
    fn trigger(&mut self) {
        let mut status = self.prober.pod_status(UID).expect("the status was set").clone();
        self.prober.update_pod_status(UID, &mut status);
    }
}

#[test]
fn the_next_run_follows_a_long_run_at_once_and_the_grid_stays() {
    let mut clock = Clock::every(10);
    let slow = clock.attempt(0).expect("the first run is at once");
    assert_eq!(clock.attempt(25_000), None, "one at a time");
    clock.answer(slow, 25_000);
    let next = clock.attempt(25_000).expect("two ticks have passed, one is kept");
    assert_eq!(next.scheduled, Instant::from_millis(10_000));
    clock.answer(next, 26_000);
    assert_eq!([clock.run(), clock.run()], [30_000, 40_000]);
}

#[test]
fn a_trigger_while_a_run_is_in_flight_is_served_right_after_it() {
    let mut clock = Clock::every(10);
    let slow = clock.attempt(0).expect("the first run is at once");
    clock.trigger();
    clock.trigger();
    assert_eq!(clock.attempt(3_000), None, "one at a time");
    clock.answer(slow, 4_000);
    let triggered = clock.attempt(4_000).expect("one trigger waits");
    clock.answer(triggered, 4_000);
    assert_eq!(clock.attempt(4_000), None, "not two");
    assert_eq!(clock.run(), 14_000, "a new grid began with it");
}

#[test]
fn a_young_prober_spreads_first_runs_over_the_period() {
    let probe = ProbeSpec { period_seconds: 10, ..ProbeSpec::default() };
    for (age, is_jittered) in [(0, true), (9_999, true), (10_000, false), (60_000, false)] {
        let mut later = 0;
        for seed in 0..20 {
            let mut clock = Clock::new(Settings { start_jitter: true, seed, ..settings() }, probe.clone());
            clock.prober.add_pod(UID);
            let first = match clock.attempt(age) {
                Some(attempt) => attempt.scheduled,
                None => clock.prober.next_deadline().expect("its jitter ends"),
            };
            let waits = first.since(Instant::from_millis(age));
            assert!(first >= Instant::from_millis(age) && waits < probe.period(), "{waits:?}");
            later += usize::from(waits > Duration::ZERO);
        }
        assert_eq!(later, if is_jittered { 20 } else { 0 }, "after {age} ms");
    }
}

#[test]
fn an_initial_delay_is_over_by_the_wall_clock() {
    let probe = ProbeSpec { period_seconds: 10, initial_delay_seconds: 60, ..ProbeSpec::default() };
    let mut clock = Clock::new(settings(), probe);
    clock.prober.add_pod(UID);
    assert_eq!((clock.attempt(0), clock.attempt(10_000)), (None, None));
    let stepped = WallOffset(40_000_000_000);
    clock.prober.handle_wall_offset(stepped);
    assert_eq!(clock.prober.wall(), stepped);
    assert_eq!(clock.attempt(19_999), None, "a step of the wall clock wakes no worker");
    assert!(clock.attempt(20_000).is_some());
}

#[test]
fn a_container_that_runs_without_a_start_time_has_been_running_for_ever() {
    let probe = ProbeSpec { initial_delay_seconds: 3_600, ..ProbeSpec::default() };
    let mut clock = Clock::new(settings(), probe);
    let mut status = clock.prober.pod_status(UID).expect("the status was set").clone();
    status.containers[0].state = State::Running { started_at_ms: None };
    clock.prober.set_pod_status(UID, status);
    clock.prober.add_pod(UID);
    assert!(clock.attempt(0).is_some());
}
