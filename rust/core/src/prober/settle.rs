//! Settling: wakes the workers that inputs touched and fires the timers that are due.

use std::time::Duration;

use super::model::timer::Kind;
use super::model::worker::{Worker, WorkerPhase};
use super::output::{Output, WorkerId};
use super::state::Prober;
use crate::time::Instant;

impl Prober {
    /// Does everything that is due at `now`.
    pub fn settle(&mut self, now: Instant) {
        while self.step(now) {}
    }

    /// Does one thing that is due at `now`; returns false if nothing is due.
    pub(crate) fn step(&mut self, now: Instant) -> bool {
        if let Some(id) = self.ready.pop_front() {
            self.wake(id, now);
        } else if let Some((_, timer)) = self.wheel.pop(now) {
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

    pub(super) fn queue(&mut self, id: WorkerId) {
        let worker = &mut self.workers[id];
        if !worker.queued {
            worker.queued = true;
            self.ready.push_back(id);
        }
    }

    fn wake(&mut self, id: WorkerId, now: Instant) {
        let Some(worker) = self.workers.get_mut(id) else {
            return; // The worker ended while it waited in the queue.
        };
        worker.queued = false;
        match worker.phase {
            WorkerPhase::New | WorkerPhase::Jitter if worker.stop && self.pods[worker.pod].is_forgotten() => {
                self.end_worker(id);
            }
            WorkerPhase::New => self.first_run(id, now),
            WorkerPhase::Jitter | WorkerPhase::InFlight { .. } => {}
            WorkerPhase::Waiting if worker.stop => self.end_worker(id),
            WorkerPhase::Waiting if worker.triggered => {
                worker.triggered = false;
                worker.take_trigger(self.semantics.trigger_resets_ticker, now);
                self.disarm(id);
                self.touch(id);
                self.run(id, now, now);
            }
            WorkerPhase::Waiting if worker.next_tick <= now && !worker.armed => {
                let scheduled = worker.take_tick(now);
                self.run(id, scheduled, now);
            }
            WorkerPhase::Waiting => {}
        }
    }

    /// Starts a worker. It runs at once, or, while the prober is younger than the period, after a random part of the
    /// period. A worker that resumes an earlier prober's memory waits for its next tick instead.
    fn first_run(&mut self, id: WorkerId, now: Instant) {
        if self.resume(id, now) {
            return;
        }
        let worker = &mut self.workers[id];
        if self.start_jitter && worker.period() > now.since(self.started) {
            let jitter = Duration::from_nanos(self.rng.below(worker.period_ns));
            worker.phase = WorkerPhase::Jitter;
            worker.next_tick = now + jitter;
            self.arm_tick(id);
        } else {
            worker.next_tick = now + worker.period();
            self.run(id, now, now);
        }
    }

    /// Waits for the next run. A pending stop, trigger or tick wakes the worker at once; otherwise it sleeps until its
    /// next tick.
    pub(super) fn rest(&mut self, id: WorkerId, now: Instant) {
        let worker = &mut self.workers[id];
        worker.phase = WorkerPhase::Waiting;
        if worker.stop || worker.triggered || worker.next_tick <= now {
            self.queue(id);
        } else {
            self.arm_tick(id);
        }
    }

    /// Takes up the workers that a step left halfway: one that neither runs nor has a tick nor waits for its turn would
    /// never be woken. A driver that goes on after a panic calls this; otherwise there are none.
    pub fn take_up_stranded(&mut self, now: Instant) {
        let is_stranded = |worker: &Worker| !worker.armed && !worker.queued;
        let stranded = self.workers.iter().filter(|(_, worker)| is_stranded(worker)).map(|(id, _)| id);
        for id in stranded.collect::<Vec<WorkerId>>() {
            match self.workers[id].phase {
                WorkerPhase::New => self.queue(id),
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
