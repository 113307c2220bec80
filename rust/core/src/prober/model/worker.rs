//! One worker: the memory of one probe of one container (kubelet prober/worker.go, 1.36).
//!
//! **Rules**
//! 1. A worker is pure memory. Its tick, a stop, a manual trigger or the end of its attempt wakes it.
//! 2. Ticks lie on a grid that is fixed when the worker starts (after its jitter): start + k * period. Ticks that pass
//!    while a run is in flight collapse into one, which runs right after it; later ticks stay on the grid.
//! 3. A manual trigger starts a new grid at its own moment. At most one trigger waits.
//!    [`Phasing`](super::phasing::Phasing) can set another grid.
//! 4. A worker stops only between runs: it finishes a run in flight and publishes its result first.
//! 5. Of two signals that reach a waiting worker in one moment, the first wakes it. A worker that finds several things
//!    pending when a run ends takes a stop before a trigger before a tick; the kubelet's worker picks at random. It takes
//!    a [change](super::change) of its probe, which no kubelet has, between a stop and a trigger.
//!
//! | phase | woken by | becomes |
//! |---|---|---|
//! | `New` | the settling of the AddPod that made it | `Jitter`, or a run |
//! | `Jitter` | its timer alone, because the kubelet's worker sleeps here | a run |
//! | `Waiting` | tick, trigger, change, stop | a run, `Woken`, or the worker ends |
//! | `Woken` | the settling of the input that sent the signal | a run, `Waiting` after a change, or the worker ends |
//! | `InFlight` | the end of the attempt | the next attempt, `Waiting`, or the worker ends |

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::opted::Opted;
use super::view::View;
use crate::prober::output::Streak;
use crate::results::{ContainerKey, ProbeResult};
use crate::semantics::{LivenessStart, Semantics};
use crate::spec::{PodSpec, ProbeSpec, ProbeType};
use crate::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WorkerPhase {
    New,
    Jitter,
    Waiting,
    Woken { by: Signal },
    InFlight { attempt: u8 },
}

/// What a caller sends to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Signal {
    Stop,
    Trigger,
    /// The pod has other probes now.
    Change,
}

/// The signals that a worker takes when it next waits: one byte, which a run that ends reads once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pending(u8);

impl Pending {
    pub(crate) const fn any(self) -> bool {
        self.0 != 0
    }

    pub(crate) const fn has(self, signal: Signal) -> bool {
        self.0 & 1 << signal as u8 != 0
    }

    pub(crate) const fn add(&mut self, signal: Signal) {
        self.0 |= 1 << signal as u8;
    }

    pub(crate) const fn take(&mut self, signal: Signal) -> bool {
        let had = self.has(signal);
        self.0 &= !(1 << signal as u8);
        had
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Worker {
    pub(crate) pod: u32,
    /// The pod object of the AddPod that made the worker, refreshed by nothing but a [change](super::change).
    pub(crate) object: Arc<PodSpec>,
    pub(crate) container: u32,
    pub(crate) probe_type: ProbeType,
    pub(crate) phase: WorkerPhase,
    /// Whether the object's deletionTimestamp is set. It is not read from `object`, because a caller may set it later.
    pub(crate) deleting: bool,
    pub(crate) on_hold: bool,
    /// The worker takes these when it next waits.
    pub(crate) pending: Pending,
    /// Whether the worker waits in the prober's ready queue.
    pub(crate) queued: bool,
    /// Whether the worker's ticks lie on its own phase.
    pub(crate) is_phased: bool,
    /// Whether the worker has the initial delay that is over, instead of its probe's, until the container is replaced.
    pub(crate) keeps_delay: bool,
    pub(crate) last_result: ProbeResult,
    pub(crate) result_run: i32,
    pub(crate) initial_delay_seconds: i32,
    pub(crate) success_threshold: i32,
    pub(crate) failure_threshold: i32,
    pub(crate) initialization_failure_threshold: i32,
    /// Whether a probe of the container has succeeded once (KEP-950). A prober that recalls no memory gives the
    /// allowance again.
    pub(crate) has_initialized: bool,
    pub(crate) run: u32,
    pub(crate) period_ns: u64,
    pub(crate) container_key: Option<ContainerKey>,
    /// The worker's part of the pod's stored status.
    pub(crate) view: View,
    /// How often the view was refreshed.
    pub(crate) refreshed: u32,
    /// Whether a caller has paused the probe; until when, its pod says.
    pub(crate) has_pause: bool,
    /// Whether the wheel holds a live tick of this worker; `timer_generation` identifies it.
    pub(crate) armed: bool,
    pub(crate) timer_generation: u32,
    pub(crate) next_tick: Instant,
    pub(crate) run_started: Instant,
    /// The opt-ins of the probe, if it has any.
    pub(crate) opted: Option<Box<Opted>>,
}

impl Worker {
    pub(crate) fn new(
        pod: u32,
        object: &Arc<PodSpec>,
        container: usize,
        probe_type: ProbeType,
        deleting: bool,
    ) -> Self {
        let probe = object.containers[container].probe(probe_type).expect("AddPod found the probe");
        Self {
            pod,
            object: Arc::clone(object),
            container: container as u32,
            probe_type,
            phase: WorkerPhase::New,
            deleting,
            on_hold: false,
            pending: Pending::default(),
            queued: false,
            is_phased: false,
            keeps_delay: false,
            last_result: ProbeResult::Success,
            result_run: 0,
            initial_delay_seconds: probe.initial_delay_seconds,
            success_threshold: probe.success_threshold,
            failure_threshold: probe.failure_threshold,
            initialization_failure_threshold: probe.initialization_failure_threshold,
            has_initialized: false,
            run: 0,
            period_ns: probe.period().as_nanos() as u64,
            container_key: None,
            view: View::NoStatus,
            refreshed: 0,
            has_pause: false,
            armed: false,
            timer_generation: 0,
            next_tick: Instant::ZERO,
            run_started: Instant::ZERO,
            opted: probe.options.as_deref().copied().map(Opted::new),
        }
    }

    pub(crate) const fn period(&self) -> Duration {
        Duration::from_nanos(self.period_ns)
    }

    pub(crate) fn container_name(&self) -> &Arc<str> {
        &self.object.containers[self.container as usize].name
    }

    pub(crate) fn probe(&self) -> &ProbeSpec {
        self.object.containers[self.container as usize].probe(self.probe_type).expect("it made the worker")
    }

    /// Whether the worker has been asked to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.pending.has(Signal::Stop) || self.phase == WorkerPhase::Woken { by: Signal::Stop }
    }

    /// The result that a container starts with when the worker first sees it.
    pub(crate) const fn initial_value(&self, liveness: LivenessStart) -> ProbeResult {
        match self.probe_type {
            ProbeType::Liveness => match liveness {
                LivenessStart::Success => ProbeResult::Success,
                LivenessStart::Unknown => ProbeResult::Unknown,
            },
            ProbeType::Readiness => ProbeResult::Failure,
            ProbeType::Startup => ProbeResult::Unknown,
        }
    }

    /// Takes the tick that is due at `now` off the grid and returns when it was due. Ticks missed since then are lost,
    /// as with a Go ticker, whose channel holds one.
    pub(crate) fn take_tick(&mut self, now: Instant) -> Instant {
        let scheduled = self.next_tick;
        let missed = (now.as_nanos() - scheduled.as_nanos()) / self.period_ns;
        self.next_tick = scheduled + Duration::from_nanos(self.period_ns.saturating_mul(missed + 1));
        scheduled
    }

    /// Counts an error-free run that ends at `now`. Returns whether its threshold is reached (worker.go:doProbe, 1.36).
    pub(crate) fn count_run(&mut self, result: ProbeResult, now: Instant) -> bool {
        if self.opted.is_some() {
            return self.count_by_options(result, now);
        }
        self.extend_run(result);
        self.has_initialized |= result == ProbeResult::Success;
        match result {
            ProbeResult::Failure => self.result_run >= self.effective_failure_threshold(),
            ProbeResult::Success => self.result_run >= self.success_threshold,
            ProbeResult::Unknown => true,
        }
    }

    /// Counts how many runs in a row had this result.
    pub(crate) fn extend_run(&mut self, result: ProbeResult) {
        if self.last_result == result {
            self.result_run = self.result_run.saturating_add(1);
        } else {
            self.last_result = result;
            self.result_run = 1;
        }
    }

    /// How many failures in a row reach the threshold now (KEP-950: more of them before the first success).
    pub(crate) const fn effective_failure_threshold(&self) -> i32 {
        match self.patience() {
            Some(patience) => patience,
            None => self.failure_threshold,
        }
    }

    /// The streak of failures with the one that is about to be counted.
    pub(crate) fn streak_with_one_more(&self) -> Streak {
        if let Some(streak) = self.window_with_one_more() {
            return streak;
        }
        let threshold = self.effective_failure_threshold();
        let before = if self.last_result == ProbeResult::Failure { self.result_run } else { 0 };
        Streak { failures: before.saturating_add(1).min(threshold), threshold }
    }

    /// Starts the initial phase of a new container. If the probe has an initialization threshold, runs of the old
    /// container no longer count; without it they count against the new one, as in the kubelet.
    pub(crate) fn begin_initialization(&mut self) {
        if self.initialization_failure_threshold > 0 {
            self.has_initialized = false;
            self.result_run = 0;
        }
        self.forget_runs();
    }

    /// Ends the hold, with counts of which one more failure is a verdict.
    pub(crate) fn stand_before_failure(&mut self) {
        self.on_hold = false;
        self.last_result = ProbeResult::Failure;
        self.result_run = self.effective_failure_threshold() - 1;
        self.fill_window_but_one();
    }

    /// Whether publishing `result` puts the worker on hold until the container is replaced.
    pub(crate) fn holds_after(&self, result: ProbeResult, semantics: &Semantics) -> bool {
        match self.probe_type {
            ProbeType::Liveness => result == ProbeResult::Failure && semantics.liveness_failure_holds,
            ProbeType::Readiness => false,
            ProbeType::Startup => result == ProbeResult::Failure || semantics.startup_success_holds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::ContainerSpec;

    fn worker(period_seconds: i32) -> Worker {
        let probe = ProbeSpec { period_seconds, success_threshold: 2, ..ProbeSpec::default() };
        let container = ContainerSpec { probes: [None, Some(Box::new(probe)), None], ..ContainerSpec::default() };
        let pod = PodSpec { containers: vec![container], regular: 1, ..PodSpec::default() };
        Worker::new(0, &Arc::new(pod), 0, ProbeType::Readiness, false)
    }

    #[test]
    fn missed_ticks_collapse_and_the_grid_stays() {
        let mut worker = worker(2);
        worker.next_tick = Instant::from_millis(2_000);
        assert_eq!(worker.take_tick(Instant::from_millis(2_000)), Instant::from_millis(2_000));
        assert_eq!(worker.next_tick, Instant::from_millis(4_000));
        assert_eq!(worker.take_tick(Instant::from_millis(9_500)), Instant::from_millis(4_000));
        assert_eq!(worker.next_tick, Instant::from_millis(10_000));
    }

    #[test]
    fn the_first_success_counts_as_the_first_of_its_run() {
        let mut worker = worker(1);
        assert!(!worker.count_run(ProbeResult::Success, Instant::ZERO));
        assert!(worker.count_run(ProbeResult::Success, Instant::ZERO));
        assert_eq!(worker.result_run, 2);
    }

    #[test]
    fn a_streak_includes_the_new_failure_and_stops_at_the_threshold() {
        let mut worker = worker(1);
        worker.count_run(ProbeResult::Success, Instant::ZERO);
        let streaks: Vec<i32> = (0..5)
            .map(|_| {
                let streak = worker.streak_with_one_more();
                worker.count_run(ProbeResult::Failure, Instant::ZERO);
                streak.failures
            })
            .collect();
        assert_eq!(streaks, [1, 2, 3, 3, 3]);
    }

    #[test]
    fn another_result_starts_a_new_run() {
        let mut worker = worker(1);
        let reached: Vec<bool> =
            [ProbeResult::Failure, ProbeResult::Failure, ProbeResult::Success, ProbeResult::Failure]
                .map(|result| worker.count_run(result, Instant::ZERO))
                .into();
        assert_eq!(reached, [false; 4]);
        assert_eq!(worker.result_run, 1);
    }
}
