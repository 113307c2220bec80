//! Probes that change while their container runs: what stays, what begins anew, and what never follows.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::options::{FailureWindow, ProbeOptions};
use probelet_core::prober::{Attempt, Outcome, Output, Phasing, Prober, Settings};
use probelet_core::results::ProbeResult;
use probelet_core::spec::{PodSpec, ProbeSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;
use proptest::prelude::*;

use crate::single::{UID, failure, pod, running, settings};
use ProbeResult::{Failure, Success};

/// A container that has run for an hour and has started, with probes that the test changes.
struct Life {
    manager: StatusManager,
    now: Instant,
    attempts: Vec<(Duration, Attempt)>,
    /// What was published, but for the value that a container begins with.
    published: Vec<(ProbeType, ProbeResult)>,
    syncs: usize,
    ended: usize,
}

impl Life {
    fn new(probes: impl IntoIterator<Item = (ProbeType, ProbeSpec)>) -> Self {
        Self::with(settings(), probes)
    }

    fn with(settings: Settings, probes: impl IntoIterator<Item = (ProbeType, ProbeSpec)>) -> Self {
        let manager = StatusManager::new(Prober::new(settings, Instant::ZERO), Glue::KUBELET);
        let mut life = Self { manager, now: START, attempts: vec![], published: vec![], syncs: 0, ended: 0 };
        life.define(pod(probes));
        // Before the first status, so that a startup probe is not taken for one that has passed.
        life.manager.prober_mut().add_pod(UID);
        life.sync();
        life.published.clear();
        life.syncs = 0;
        life
    }

    fn define(&mut self, pod: Arc<PodSpec>) {
        self.manager.prober_mut().define_pod(pod);
    }

    fn change(&mut self, probes: impl IntoIterator<Item = (ProbeType, ProbeSpec)>) {
        self.define(pod(probes));
        assert!(self.manager.prober_mut().change_probes(UID));
        self.settle();
    }

    fn settle(&mut self) {
        self.manager.settle(self.now);
        while let Some(output) = self.manager.poll_output() {
            match output {
                Output::Attempt(attempt) => self.attempts.push((self.now.since(START), attempt)),
                Output::Update(update) => self.published.push((update.probe_type, update.result)),
                Output::Sync { .. } => self.syncs += 1,
                Output::RunFinished { .. } => self.ended += 1,
                _ => {}
            }
        }
    }

    /// Lets time pass, and every attempt be answered at once.
    fn play(&mut self, seconds: u64, answer: impl Fn() -> Outcome) {
        let end = self.now + Duration::from_secs(seconds);
        self.settle();
        loop {
            while self.ended < self.attempts.len() {
                self.answer(answer());
            }
            match self.manager.prober_mut().next_deadline().filter(|next| *next < end) {
                Some(next) => self.now = self.now.max(next),
                None => break,
            }
            self.settle();
        }
        // What is due at the end comes with what happens next.
        self.now = end;
    }

    fn answer(&mut self, outcome: Outcome) {
        let (_, attempt) = self.attempts[self.ended];
        self.manager.prober_mut().handle_attempt(attempt.worker, attempt.run, outcome, self.now);
        self.settle();
    }

    /// Plays until the next attempt is in flight.
    fn begin(&mut self) {
        for _ in 0..1_000 {
            if self.attempts.len() > self.ended {
                return;
            }
            self.now = self.manager.prober_mut().next_deadline().expect("a worker waits").max(self.now);
            self.settle();
        }
        panic!("no run has begun")
    }

    /// One run with this answer.
    fn run(&mut self, is_well: bool) {
        self.begin();
        self.answer(if is_well { Outcome::Success } else { failure() });
    }

    fn moments(&self) -> Vec<u64> {
        self.attempts.iter().map(|(at, _)| at.as_secs()).collect()
    }

    /// The caller syncs, as a result or a change asks for.
    fn sync(&mut self) {
        self.manager.sync_pod(UID, running("c://1", Instant::ZERO));
        self.settle();
    }

    fn status(&self) -> (bool, bool) {
        let container = &self.manager.prober().pod_status(UID).expect("it was synced").containers[0];
        (container.started == Some(true), container.ready)
    }
}

const START: Instant = Instant::from_millis(3_600_000);

fn liveness(failure_threshold: i32) -> (ProbeType, ProbeSpec) {
    (ProbeType::Liveness, ProbeSpec { failure_threshold, ..ProbeSpec::default() })
}

fn every(period_seconds: i32) -> (ProbeType, ProbeSpec) {
    (ProbeType::Liveness, ProbeSpec { period_seconds, ..ProbeSpec::default() })
}

fn windowed(of: u32, at: u32) -> (ProbeType, ProbeSpec) {
    let failures = Some(FailureWindow::new(of, at));
    let options = Some(Box::new(ProbeOptions { failures, ..ProbeOptions::default() }));
    (ProbeType::Liveness, ProbeSpec { options, ..ProbeSpec::default() })
}

#[test]
fn failures_in_a_row_go_on_towards_the_new_threshold() {
    let mut life = Life::new([liveness(5)]);
    (0..3).for_each(|_| life.run(false));
    life.change([liveness(4)]);
    assert_eq!(life.published, []);
    life.run(false);
    assert_eq!(life.published, [(ProbeType::Liveness, Failure)]);
}

#[test]
fn a_threshold_below_the_count_acts_at_the_next_failure_and_not_at_once() {
    let mut life = Life::new([liveness(10)]);
    (0..6).for_each(|_| life.run(false));
    life.change([liveness(2)]);
    assert_eq!(life.published, []);
    life.run(true);
    assert_eq!(life.published, [], "a success ends the row");
    life.run(false);
    assert_eq!(life.published, []);
    life.run(false);
    assert_eq!(life.published, [(ProbeType::Liveness, Failure)]);
}

#[test]
fn an_attempt_in_flight_ends_by_the_old_probe() {
    let mut life = Life::new([liveness(3)]);
    life.run(false);
    life.begin();
    life.change([(
        ProbeType::Liveness,
        ProbeSpec { failure_threshold: 2, timeout_seconds: 9, ..ProbeSpec::default() },
    )]);
    let in_flight = life.attempts[1].1.worker;
    let timeout = |life: &Life| life.manager.prober().target(in_flight).expect("it lives").probe().timeout_seconds;
    assert_eq!(timeout(&life), 1, "its tries ask what the old probe asks");
    life.answer(failure());
    assert_eq!((timeout(&life), &*life.published), (9, &[][..]), "two failures are below the old threshold");
    life.run(false);
    assert_eq!(life.published, [(ProbeType::Liveness, Failure)]);
}

#[test]
fn the_last_of_several_changes_is_taken() {
    let mut life = Life::new([liveness(3)]);
    life.begin();
    life.change([liveness(9)]);
    life.change([]);
    life.change([liveness(1)]);
    life.answer(Outcome::Success);
    life.run(false);
    assert_eq!(life.published, [(ProbeType::Liveness, Failure)]);
}

#[test]
fn a_shorter_period_begins_at_the_change_and_a_longer_one_after_the_next_tick() {
    let mut life = Life::new([every(60)]);
    life.play(5, || Outcome::Success);
    life.change([every(10)]);
    life.play(30, || Outcome::Success);
    assert_eq!(life.moments(), [0, 15, 25]);
    life.change([every(20)]);
    life.play(30, || Outcome::Success);
    assert_eq!(life.moments(), [0, 15, 25, 35, 55]);
}

#[test]
fn another_field_leaves_the_ticks_where_they_are() {
    let mut life = Life::new([liveness(3)]);
    life.play(5, || Outcome::Success);
    life.change([liveness(4)]);
    life.play(20, || Outcome::Success);
    assert_eq!(life.moments(), [0, 10, 20]);
}

#[test]
fn a_worker_on_a_phase_takes_a_new_one_with_a_new_period() {
    let mut life = Life::with(Settings { phasing: Phasing::Spread, ..settings() }, [every(10)]);
    life.play(60, || Outcome::Success);
    life.change([every(7)]);
    let from = life.attempts.len();
    life.play(100, || Outcome::Success);
    let seconds: Vec<f64> = life.attempts[from..].iter().map(|(at, _)| at.as_secs_f64()).collect();
    assert!(seconds[1] - seconds[0] >= 7.0, "{seconds:?}");
    assert!(seconds[2..].windows(2).all(|pair| (pair[1] - pair[0] - 7.0).abs() < 1e-6), "{seconds:?}");
}

#[test]
fn an_initial_delay_that_is_over_is_not_waited_again_but_by_the_next_container() {
    let delayed = || [(ProbeType::Liveness, ProbeSpec { initial_delay_seconds: 7_200, ..ProbeSpec::default() })];
    let mut life = Life::new([liveness(3)]);
    life.change(delayed());
    life.play(30, || Outcome::Success);
    assert_eq!(life.moments(), [0, 10, 20]);
    life.manager.sync_pod(UID, running("c://2", life.now));
    life.play(3_600, || Outcome::Success);
    assert_eq!(life.moments(), [0, 10, 20], "the next container waits");
}

#[test]
fn an_initial_delay_that_is_not_over_becomes_the_new_one() {
    let delayed =
        |initial_delay_seconds| [(ProbeType::Liveness, ProbeSpec { initial_delay_seconds, ..ProbeSpec::default() })];
    let mut life = Life::new(delayed(7_200));
    life.play(15, || Outcome::Success);
    life.change(delayed(3_630));
    life.play(30, || Outcome::Success);
    assert_eq!(life.moments(), [30, 40]);
}

#[test]
fn a_window_begins_anew_with_its_length_only() {
    let mut life = Life::new([windowed(10, 3)]);
    [true, false, false].into_iter().for_each(|is_well| life.run(is_well));
    life.change([windowed(10, 4)]);
    life.run(false);
    assert_eq!(life.published, []);
    life.run(false);
    assert_eq!(life.published, [(ProbeType::Liveness, Failure)], "four of the same window");

    let mut life = Life::new([windowed(10, 3)]);
    [true, false, false].into_iter().for_each(|is_well| life.run(is_well));
    life.change([windowed(9, 3)]);
    (0..2).for_each(|_| life.run(false));
    assert_eq!(life.published, []);
    life.run(false);
    assert_eq!(life.published, [(ProbeType::Liveness, Failure)]);
}

#[test]
fn halves_and_wholes_keep_their_worth() {
    let readiness = |slow| {
        let options = ProbeOptions { slow, ..ProbeOptions::default() };
        [(
            ProbeType::Readiness,
            ProbeSpec { success_threshold: 3, options: Some(Box::new(options)), ..ProbeSpec::default() },
        )]
    };
    let mut life = Life::new(readiness(None));
    (0..2).for_each(|_| life.run(true));
    life.change(readiness(Some(Duration::from_secs(1))));
    assert_eq!(life.published, []);
    life.run(true);
    assert_eq!(life.published, [(ProbeType::Readiness, Success)]);
}

#[test]
fn a_startup_probe_that_has_succeeded_never_runs_again() {
    let startup = |period_seconds| (ProbeType::Startup, ProbeSpec { period_seconds, ..ProbeSpec::default() });
    let mut life = Life::new([startup(10)]);
    life.run(true);
    life.sync();
    life.change([startup(2)]);
    life.play(100, || Outcome::Success);
    life.sync();
    assert_eq!((life.moments(), life.status()), (vec![0], (true, true)));
}

#[test]
fn a_startup_probe_that_comes_to_a_container_that_has_started_never_runs() {
    let mut life = Life::new([liveness(3)]);
    life.run(true);
    life.sync();
    life.change([liveness(3), (ProbeType::Startup, ProbeSpec::default())]);
    life.sync();
    life.play(15, || Outcome::Success);
    assert_eq!((life.moments(), life.status().0), (vec![0, 10], true), "the liveness probe goes on");
}

#[test]
fn without_its_startup_probe_a_container_has_started() {
    let mut life = Life::new([liveness(3), (ProbeType::Startup, ProbeSpec::default())]);
    life.run(false);
    assert!(!life.status().0);
    life.change([liveness(3)]);
    assert_eq!(life.syncs, 1);
    life.sync();
    assert!(life.status().0);
    life.begin();
}

#[test]
fn without_its_readiness_probe_a_container_is_ready() {
    let mut life = Life::new([(ProbeType::Readiness, ProbeSpec::default())]);
    life.run(false);
    life.begin();
    life.change([]);
    assert_eq!((life.syncs, life.status().1), (0, false), "the run in flight ends first");
    life.answer(failure());
    assert_eq!(life.syncs, 1);
    life.sync();
    assert_eq!((life.status().1, life.manager.prober().worker_count()), (true, 0));
    life.play(100, failure);
    assert_eq!(life.attempts.len(), 2);
}

#[test]
fn a_readiness_probe_that_comes_takes_nothing_away_before_its_verdict() {
    let mut life = Life::new([]);
    assert!(life.status().1);
    life.change([(ProbeType::Readiness, ProbeSpec::default())]);
    life.sync();
    assert!(life.status().1);
    assert_eq!(life.attempts.len(), 1, "it runs at once");
    (0..3).for_each(|_| life.run(false));
    assert_eq!((life.published.last(), life.status().1), (Some(&(ProbeType::Readiness, Failure)), false));
}

#[test]
fn a_liveness_probe_that_comes_begins_as_ever() {
    let mut life = Life::new([(ProbeType::Readiness, ProbeSpec::default())]);
    life.run(true);
    life.change([(ProbeType::Readiness, ProbeSpec::default()), liveness(2)]);
    life.run(false);
    assert_eq!(life.published.last(), Some(&(ProbeType::Liveness, Success)));
    life.play(15, failure);
    assert!(life.published.contains(&(ProbeType::Liveness, Failure)));
}

#[test]
fn a_hold_stays() {
    let mut life = Life::new([liveness(1)]);
    life.run(false);
    life.change([liveness(5)]);
    life.play(100, || Outcome::Success);
    assert_eq!((life.attempts.len(), &*life.published), (1, &[(ProbeType::Liveness, Failure)][..]));
}

#[test]
fn a_pod_that_nobody_defined_has_nothing_to_change() {
    assert!(!Prober::new(settings(), START).change_probes("other"));
}

/// What happens next to the container's probe.
#[derive(Clone, Debug)]
enum Step {
    Run {
        is_well: bool,
    },
    /// The probe changes; `in_flight` says whether while an attempt is, which ends then.
    Change {
        threshold: i32,
        of: Option<u32>,
        period: i32,
        in_flight: Option<bool>,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any::<bool>().prop_map(|is_well| Step::Run { is_well }),
        1 => (1..6_i32, prop::option::of(1..8_u32), 1..30_i32, prop::option::of(any::<bool>())).prop_map(
            |(threshold, of, period, in_flight)| Step::Change { threshold, of, period, in_flight }
        ),
    ]
}

/// The rules played beside the worker: when is a kill due by counts that anybody can make?
struct Model {
    threshold: i32,
    of: Option<u32>,
    in_a_row: i32,
    window: Vec<bool>,
    /// Whether the container has not succeeded yet.
    is_new: bool,
    killed: bool,
}

impl Model {
    fn at(&self, of: u32) -> usize {
        self.threshold.unsigned_abs().clamp(1, of) as usize
    }

    fn change(&mut self, threshold: i32, of: Option<u32>) {
        if self.of != of {
            self.window.clear();
        }
        (self.threshold, self.of) = (threshold, of);
    }

    fn run(&mut self, is_well: bool) {
        self.in_a_row = if is_well { 0 } else { self.in_a_row + 1 };
        if is_well && self.is_new {
            self.window.clear();
        }
        self.is_new &= !is_well;
        self.window.push(!is_well);
        let failed = match self.of {
            None => self.in_a_row >= self.threshold,
            Some(of) => self.window.iter().rev().take(of as usize).filter(|failed| **failed).count() >= self.at(of),
        };
        self.killed |= failed && !is_well;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A container is killed when the counts that the rules keep say so under the thresholds in force, and never
    /// otherwise; every attempt ends once, and the next one is never further away than a period, the old or the new.
    #[test]
    fn a_kill_is_what_the_counts_say(steps in prop::collection::vec(step(), 1..60)) {
        let spec = |threshold: i32, of: Option<u32>, period_seconds: i32| {
            let (_, probe) = of.map_or_else(|| liveness(threshold), |of| windowed(of, threshold.unsigned_abs()));
            [(ProbeType::Liveness, ProbeSpec { period_seconds, ..probe })]
        };
        let mut life = Life::new(spec(3, None, 10));
        let mut model = Model { threshold: 3, of: None, in_a_row: 0, window: vec![], is_new: true, killed: false };
        let mut period = 10;
        life.run(true);
        model.run(true);
        for step in steps {
            if model.killed {
                break;
            }
            let asked_at = life.now;
            let longest = Duration::from_secs(period as u64);
            match step {
                Step::Run { is_well } => {
                    life.run(is_well);
                    model.run(is_well);
                    prop_assert!(life.now.since(asked_at) <= longest);
                }
                Step::Change { threshold, of, period: next, in_flight } => {
                    if let Some(is_well) = in_flight {
                        life.begin();
                        life.change(spec(threshold, of, next));
                        life.answer(if is_well { Outcome::Success } else { failure() });
                        model.run(is_well);
                    } else {
                        life.change(spec(threshold, of, next));
                    }
                    if !model.killed {
                        model.change(threshold, of);
                    }
                    period = period.max(next);
                }
            }
            prop_assert_eq!(life.attempts.len(), life.ended);
            let kills = life.published.iter().filter(|(_, result)| *result == Failure).count();
            prop_assert_eq!(kills, usize::from(model.killed));
        }
        let runs: Vec<u32> = life.attempts.iter().map(|(_, attempt)| attempt.run).collect();
        prop_assert!(runs.iter().copied().eq(1..=runs.len() as u32));
    }
}
