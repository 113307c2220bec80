//! Settling: wakes the workers that inputs touched and fires the timers that are due.

use std::time::Duration;

use super::model::timer::Kind;
use super::model::worker::{Signal, Worker, WorkerPhase};
use super::output::{Output, WorkerId};
use super::state::{FirstRun, Prober};
use crate::spec::ProbeType;
use crate::time::Instant;

impl Prober {
    /// Does everything that is due at `now`.
    pub fn settle(&mut self, now: Instant) {
        while self.step(now) {}
    }

    /// Does one thing that an input has caused; returns false if there is nothing.
    #[inline]
    pub(crate) fn step_inputs(&mut self, now: Instant) -> bool {
        let is_ready = !self.ready.is_empty();
        if is_ready {
            self.wake_next(now);
        }
        is_ready
    }

    /// Does one thing that is due at `now`; returns false if nothing is due.
    pub(crate) fn step(&mut self, now: Instant) -> bool {
        if self.step_inputs(now) {
            return true;
        }
        if let Some((_, timer)) = self.wheel.pop(now) {
            match timer.kind() {
                Kind::Driver(id) => {
                    if let Some(token) = self.driver_timers.fire(id) {
                        self.outputs.push_back(Output::Timer { token });
                    }
                }
                Kind::Tick { worker, generation } => self.tick(worker, generation, now),
            }
        } else {
            return false;
        }
        true
    }

    /// Queues a worker. The last one queued takes its turn first, then the others in order: Go's scheduler keeps the
    /// goroutine that became ready last in a place before its queue (runtime/proc.go:runqput), and the kubelet's worker
    /// goes on without a break while something is pending.
    pub(super) fn queue(&mut self, id: WorkerId) {
        let worker = &mut self.workers[id];
        if !worker.queued {
            worker.queued = true;
            self.ready.push_back(id);
            self.last_is_next = true;
        }
    }

    fn wake_next(&mut self, now: Instant) {
        let last_is_next = std::mem::take(&mut self.last_is_next);
        let next = if last_is_next { self.ready.pop_back() } else { self.ready.pop_front() };
        self.wake(next.expect("a worker is ready"), now);
    }

    /// Sends a worker a signal. The first signal that reaches a waiting worker wakes it; the worker finds any other one
    /// when it next waits.
    pub(super) fn signal(&mut self, id: WorkerId, signal: Signal) {
        let worker = &mut self.workers[id];
        if worker.phase == WorkerPhase::Waiting && !worker.queued {
            worker.phase = WorkerPhase::Woken { by: signal };
            self.queue(id);
        } else {
            worker.pending.add(signal);
        }
    }

    /// Wakes the stopped workers that sleep before their first run, if nobody keeps their pod any more.
    pub(super) fn wake_sleepers_of_a_forgotten_pod(&mut self, index: u32) {
        if !self.pods[index].is_forgotten() {
            return;
        }
        for id in self.pods[index].workers.clone() {
            let worker = &self.workers[id];
            if worker.pending.has(Signal::Stop) && matches!(worker.phase, WorkerPhase::New | WorkerPhase::Jitter) {
                self.queue(id);
            }
        }
    }

    fn wake(&mut self, id: WorkerId, now: Instant) {
        let Some(worker) = self.workers.get_mut(id) else {
            return; // The worker ended while it waited in the queue.
        };
        worker.queued = false;
        match worker.phase {
            WorkerPhase::New | WorkerPhase::Jitter
                if worker.pending.has(Signal::Stop) && self.pods[worker.pod].is_forgotten() =>
            {
                self.end_worker(id);
            }
            WorkerPhase::New => self.first_run(id, now),
            WorkerPhase::Woken { by: Signal::Stop } => self.end_worker(id),
            WorkerPhase::Woken { by: Signal::Trigger } => self.run_triggered(id, now),
            WorkerPhase::Woken { by: Signal::Change } => self.take_change(id, now),
            WorkerPhase::Waiting if worker.pending.has(Signal::Stop) => self.end_worker(id),
            WorkerPhase::Waiting if worker.pending.take(Signal::Change) => self.take_change(id, now),
            WorkerPhase::Waiting if worker.pending.take(Signal::Trigger) => self.run_triggered(id, now),
            WorkerPhase::Waiting if worker.next_tick <= now && !worker.armed => {
                let scheduled = worker.take_tick(now);
                self.run(id, scheduled, now);
            }
            WorkerPhase::Jitter | WorkerPhase::Waiting | WorkerPhase::InFlight { .. } => {}
        }
    }

    fn run_triggered(&mut self, id: WorkerId, now: Instant) {
        self.workers[id].take_trigger(self.semantics.trigger_resets_ticker, now);
        self.disarm(id);
        self.touch(id);
        self.run(id, now, now);
    }

    /// Starts a worker. It runs at once, or after its jitter. A worker that resumes an earlier prober's memory waits for its
    /// next tick instead.
    fn first_run(&mut self, id: WorkerId, now: Instant) {
        if self.resume(id, now) {
            return;
        }
        if let Some(at) = self.take_first_run(id).filter(|at| *at > now) {
            let worker = &mut self.workers[id];
            (worker.phase, worker.next_tick) = (WorkerPhase::Jitter, at);
            self.arm_tick(id);
            return;
        }
        let jitter = self.jitter(id, now);
        let worker = &mut self.workers[id];
        if let Some(jitter) = jitter {
            worker.phase = WorkerPhase::Jitter;
            worker.next_tick = now + jitter;
            self.arm_tick(id);
        } else {
            worker.next_tick = now + worker.period();
            self.run(id, now, now);
        }
    }

    /// How long a new worker waits before its first run: a random part of its period while the prober is younger than that.
    pub(super) fn jitter(&mut self, id: WorkerId, now: Instant) -> Option<Duration> {
        let worker = &self.workers[id];
        let is_young = self.start_jitter && worker.period() > now.since(self.started);
        is_young.then(|| Duration::from_nanos(self.rng.below(worker.period_ns)))
    }

    /// Lets the next worker of this probe begin at `at`, as if the jitter of a young prober had chosen that moment, so
    /// that a recording of a prober can be played with its phases.
    pub fn expect_first_run(&mut self, uid: &str, container: &str, probe_type: ProbeType, at: Instant) {
        self.first_runs.push(FirstRun { pod_uid: uid.into(), container: container.into(), probe_type, at });
    }

    fn take_first_run(&mut self, id: WorkerId) -> Option<Instant> {
        if self.first_runs.is_empty() {
            return None;
        }
        let worker = &self.workers[id];
        let is_its = |expected: &FirstRun| {
            expected.probe_type == worker.probe_type
                && expected.pod_uid == worker.object.uid
                && expected.container == *worker.container_name()
        };
        let position = self.first_runs.iter().position(is_its)?;
        Some(self.first_runs.remove(position).at)
    }

    /// Waits for the next run. A pending stop, trigger or tick wakes the worker at once; otherwise it sleeps until its
    /// next tick.
    pub(super) fn rest(&mut self, id: WorkerId, now: Instant) {
        let worker = &mut self.workers[id];
        if worker.opted.is_some() {
            self.rest_with_options(id, now);
            return;
        }
        worker.phase = WorkerPhase::Waiting;
        if worker.pending.any() || worker.next_tick <= now {
            self.queue(id);
        } else if !worker.armed {
            self.arm_tick(id);
        }
    }

    #[cold]
    fn rest_with_options(&mut self, id: WorkerId, now: Instant) {
        let worker = &mut self.workers[id];
        let (tick, extra) = (worker.next_tick, worker.plan_extra(now));
        worker.phase = WorkerPhase::Waiting;
        if worker.pending.any() || worker.next_tick <= now {
            self.queue(id);
        } else if extra.is_some() || worker.next_tick != tick || !worker.armed {
            let at = extra.unwrap_or(worker.next_tick);
            self.disarm(id);
            self.arm_at(id, at);
        }
    }

    /// Takes up the workers that a step left halfway: one that neither runs nor has a tick nor waits for its turn would
    /// never be woken. A driver that goes on after a panic calls this; otherwise there are none.
    pub fn take_up_stranded(&mut self, now: Instant) {
        let is_stranded = |worker: &Worker| !worker.armed && !worker.queued;
        let stranded = self.workers.iter().filter(|(_, worker)| is_stranded(worker)).map(|(id, _)| id);
        for id in stranded.collect::<Vec<WorkerId>>() {
            match self.workers[id].phase {
                WorkerPhase::New | WorkerPhase::Woken { .. } => self.queue(id),
                WorkerPhase::Jitter | WorkerPhase::Waiting => self.rest(id, now),
                WorkerPhase::InFlight { .. } => {}
            }
        }
    }

    pub(super) fn end_worker(&mut self, id: WorkerId) {
        self.disarm(id);
        if let Some(key) = self.workers[id].container_key.take() {
            self.remove_result(id, key);
            self.results.release(key);
        }
        self.outputs.push_back(Output::WorkerEnded { worker: id });
        let worker = self.workers.remove(id).expect("the worker just ran");
        self.pods.forget_worker(worker.pod, id);
    }
}
