//! The prober's wheel: its workers' ticks and its driver's timers.
//!
//! The wheel cannot cancel. A tick whose worker has ended, or was woken by something else, stays in the wheel as a dead
//! entry until it fires or a sweep drops it.

use super::model::timer::{Kind, Timer};
use super::model::worker::WorkerPhase;
use super::output::WorkerId;
use super::state::Prober;
use crate::time::Instant;
use crate::timer::{SWEEP_SLACK, TimerId};

impl Prober {
    /// Arms a timer of the driver on the prober's wheel.
    pub fn arm(&mut self, deadline: Instant, token: u64) -> TimerId {
        let id = self.driver_timers.insert(token);
        self.wheel.arm(deadline, Timer::new(Kind::Driver(id)));
        id
    }

    /// Disarms a driver's timer; returns false if it has fired or was disarmed before.
    pub fn cancel(&mut self, timer: TimerId) -> bool {
        let live = self.driver_timers.cancel(timer);
        self.sweep();
        live
    }

    /// When [`Prober::settle`] has something to do without another input.
    pub fn next_deadline(&mut self) -> Option<Instant> {
        if self.ready.is_empty() { self.wheel.next_deadline() } else { Some(Instant::ZERO) }
    }

    /// Where the workers lie that [`Prober::settle`] will read at `now`. Of thousands of workers none is in the processor's
    /// caches, and a driver can ask for all of them at once.
    pub fn places_due(&self, now: Instant) -> impl Iterator<Item = &impl Sized> {
        self.wheel.due(now).filter_map(|timer| match timer.kind() {
            Kind::Tick { worker, .. } => self.workers.place(worker),
            Kind::Driver(_) => None,
        })
    }

    /// Whether the phases of workers put them together at `at`, so that a driver gains nothing by waiting for more.
    pub fn is_on_phase_grid(&self, at: Instant) -> bool {
        self.phasing.is_on_grid(at)
    }

    /// Handles a worker's timer that is due: its tick, or the end of its jitter.
    pub(super) fn tick(&mut self, id: WorkerId, generation: u32, now: Instant) {
        let live = self.workers.get_mut(id).filter(|worker| worker.armed && worker.timer_generation == generation);
        let Some(worker) = live else {
            self.dead_ticks -= 1;
            return;
        };
        worker.armed = false;
        if matches!(worker.phase, WorkerPhase::InFlight { .. }) {
            worker.give_tick_to_extra_run(now);
            return; // The run that is under way finds it when it ends.
        }
        if worker.next_tick > now {
            self.extra_tick(id, now);
            return;
        }
        let scheduled = worker.take_tick(now);
        self.run(id, scheduled, now);
    }

    /// Handles an extra run that is due before the worker's next tick.
    #[cold]
    fn extra_tick(&mut self, id: WorkerId, now: Instant) {
        let worker = &mut self.workers[id];
        let Some(opted) = &mut worker.opted else {
            unreachable!("only a worker with options has a timer before its tick")
        };
        let due = opted.extra.unwrap_or(now);
        let granted = if opted.is_granted { Some(now) } else { self.extra.take(now, worker.next_tick) };
        match granted {
            Some(at) if at <= now => {
                opted.is_extra = true;
                self.run(id, due, now);
            }
            Some(at) => {
                (opted.extra, opted.is_granted) = (Some(at), true);
                self.arm_at(id, at);
            }
            None => {
                opted.extra = None;
                self.arm_tick(id);
            }
        }
    }

    pub(super) fn arm_tick(&mut self, id: WorkerId) {
        self.arm_at(id, self.workers[id].next_tick);
    }

    pub(super) fn arm_at(&mut self, id: WorkerId, at: Instant) {
        self.timer_generation = self.timer_generation.wrapping_add(1);
        let worker = &mut self.workers[id];
        worker.armed = true;
        worker.timer_generation = self.timer_generation;
        let tick = Kind::Tick { worker: id, generation: worker.timer_generation };
        self.wheel.arm(at, Timer::new(tick));
    }

    pub(super) fn disarm(&mut self, id: WorkerId) {
        if std::mem::take(&mut self.workers[id].armed) {
            self.dead_ticks += 1;
            self.sweep();
        }
    }

    /// Drops dead entries once they outnumber the live ones.
    fn sweep(&mut self) {
        if self.dead_ticks <= self.workers.len() + SWEEP_SLACK && !self.driver_timers.is_crowded() {
            return;
        }
        let (workers, names) = (&self.workers, &self.driver_timers);
        self.wheel.retain(|timer| match timer.kind() {
            Kind::Driver(id) => names.is_live(id),
            Kind::Tick { worker, generation } => {
                workers.get(worker).is_some_and(|worker| worker.armed && worker.timer_generation == generation)
            }
        });
        self.dead_ticks = 0;
        self.driver_timers.swept();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::podstatus::{ContainerStatus, Phase, PodStatus, State};
    use crate::prober::{Outcome, Output, Settings};
    use crate::spec::{ContainerSpec, PodSpec, ProbeSpec};

    /// A prober of pods whose containers run, are not ready, and were probed once. A pod's new status triggers its
    /// worker.
    fn unready(pods: usize) -> Prober {
        let mut prober = Prober::new(Settings { start_jitter: false, ..Settings::default() }, Instant::ZERO);
        for pod in 0..pods {
            let probe = ProbeSpec { period_seconds: 3_600, ..ProbeSpec::default() };
            let probes = [None, Some(Box::new(probe)), None];
            let container = ContainerSpec { name: "c".into(), probes, ..ContainerSpec::default() };
            let uid: Arc<str> = format!("u{pod}").into();
            let spec = PodSpec { uid: Arc::clone(&uid), containers: vec![container], regular: 1, ..PodSpec::default() };
            prober.define_pod(Arc::new(spec));
            prober.add_pod(&uid);
            trigger(&mut prober, pod);
        }
        settle(&mut prober, Instant::ZERO);
        prober
    }

    fn trigger(prober: &mut Prober, pod: usize) {
        let state = State::Running { started_at_ms: Some(0) };
        let container = ContainerStatus::new("c".into(), format!("c://{pod}").into(), state);
        let (phase, containers) = (Phase::Running, vec![container]);
        let mut status = PodStatus { phase, containers, regular: 1, ..PodStatus::default() };
        prober.update_pod_status(&format!("u{pod}"), &mut status);
        prober.set_pod_status(&format!("u{pod}"), status);
    }

    /// Answers every attempt that is due at `now`; returns how many there were.
    fn settle(prober: &mut Prober, now: Instant) -> usize {
        let mut attempts = 0;
        prober.settle(now);
        while let Some(output) = prober.poll_output() {
            if let Output::Attempt(attempt) = output {
                attempts += 1;
                prober.handle_attempt(attempt.worker, attempt.run, Outcome::Unknown, now);
                prober.settle(now);
            }
        }
        attempts
    }

    const FAR: Duration = Duration::from_secs(1_000_000);

    #[test]
    fn a_cancelled_timer_is_silent_and_cancelled_once() {
        let mut prober = unready(0);
        let (fires, is_cancelled) = (prober.arm(Instant::ZERO, 7), prober.arm(Instant::ZERO, 8));
        assert!(prober.cancel(is_cancelled));
        assert!(!prober.cancel(is_cancelled));
        prober.settle(Instant::ZERO);
        assert_eq!(prober.poll_output(), Some(Output::Timer { token: 7 }));
        assert_eq!(prober.poll_output(), None);
        assert!(!prober.cancel(fires), "it has fired");
    }

    #[test]
    fn timers_of_the_driver_and_armed_ticks_are_counted() {
        let mut prober = unready(3);
        assert_eq!(prober.timer_count(), 3);
        prober.arm(Instant::ZERO + FAR, 7);
        prober.arm(Instant::ZERO + FAR, 8);
        assert_eq!(prober.timer_count(), 5);
    }

    #[test]
    fn counting_looks_at_no_worker() {
        let prober = unready(100);
        crate::visits::reset();
        assert_eq!((prober.worker_count(), prober.timer_count()), (100, 100));
        assert_eq!(crate::visits::counted(), 0);
        assert_eq!(prober.workers.iter().filter(|(_, worker)| worker.armed).count(), 100);
        assert_eq!(crate::visits::counted(), 100, "looking is counted");
    }

    #[test]
    fn a_worker_that_a_step_left_halfway_is_taken_up() {
        let mut prober = unready(2);
        prober.disarm(0);
        let due = Instant::ZERO + Duration::from_secs(3_600);
        prober.take_up_stranded(Instant::ZERO);
        assert_eq!((prober.timer_count(), settle(&mut prober, due)), (2, 2));
        prober.disarm(0);
        prober.take_up_stranded(due + Duration::from_secs(7_200));
        assert_eq!(
            settle(&mut prober, due + Duration::from_secs(7_200)),
            2,
            "a tick that has passed is served at once"
        );
    }

    #[test]
    fn inputs_do_not_wait_for_the_timers_that_wait_for_each_other() {
        let mut prober = unready(3);
        let due = Instant::ZERO + Duration::from_secs(3_600);
        let places = [Instant::ZERO, due].map(|at| prober.places_due(at).count());
        assert_eq!(places, [0, 6], "the trigger of `unready` left each worker a dead tick");
        trigger(&mut prober, 1);
        while prober.step_inputs(due) {}
        let attempts: Vec<_> = std::iter::from_fn(|| prober.poll_output()).collect();
        assert!(matches!(&attempts[..], [Output::Attempt(attempt)] if attempt.worker == 1), "{attempts:?}");
        assert_eq!(prober.next_deadline(), Some(due));
        assert_eq!(settle(&mut prober, due), 2);
    }

    #[test]
    fn endless_triggers_leave_few_dead_ticks_and_every_live_one() {
        let mut prober = unready(8);
        let mut now = Instant::ZERO;
        let mut most = 0;
        for _ in 0..1_000 {
            now = now + Duration::from_millis(1);
            (0..8).for_each(|pod| trigger(&mut prober, pod));
            assert_eq!(settle(&mut prober, now), 8, "every trigger runs");
            assert_eq!(prober.wheel.len(), 8 + prober.dead_ticks);
            most = most.max(prober.dead_ticks);
        }
        assert_eq!(most, 8 + SWEEP_SLACK, "a sweep waits until it pays");
        let end = now + Duration::from_secs(3_600);
        assert_eq!(settle(&mut prober, end), 8, "a sweep drops no live tick");
        assert_eq!((prober.dead_ticks, prober.wheel.len()), (0, 8), "a dead tick leaves the wheel when it is due");
    }

    #[test]
    fn endless_cancelling_leaves_few_dead_timers_and_every_live_one() {
        let mut prober = unready(1);
        prober.arm(Instant::ZERO, 7);
        let mut most = 0;
        for token in 0..10_000 {
            let id = prober.arm(Instant::ZERO + FAR, token);
            prober.cancel(id);
            most = most.max(prober.wheel.len());
        }
        let dead = 1; // The tick that the trigger of `unready` replaced.
        assert_eq!(most, 2 + 1 + dead + SWEEP_SLACK, "a sweep waits until it pays");
        prober.settle(Instant::ZERO);
        assert_eq!(prober.poll_output(), Some(Output::Timer { token: 7 }));
        assert_eq!(prober.timer_count(), 1);
    }
}
