//! The prober: who has probes, when each runs, and what its answers mean (kubelet pkg/kubelet/prober, 1.36).
//!
//! **Law.** Every input carries `now`, which never goes back. An input only changes state; what follows from it happens
//! in [`Prober::settle`], which fires what is due and wakes who was touched, until nothing is left to do at `now`. So
//! inputs that arrive together are seen together. After settling, [`Prober::poll_output`] is drained until it is empty.
//! Same inputs, same outputs, byte for byte.
//!
//! It takes a *supplied* status: whoever drives it says what a pod's status is, and keeps it.

mod attempt;
mod glue;
mod memory;
mod output;
mod phasing;
mod pods;
mod run;
mod snapshot;
mod timers;
mod update;
mod view;
mod worker;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::attempt::{ATTEMPTS_PER_RUN, AttemptTarget};
use self::memory::Memories;
pub use self::memory::Memory;
pub use self::output::{Attempt, Event, Outcome, Output, Reason, Removal, ResultRecord, Streak, Update, WorkerId};
pub use self::phasing::Phasing;
use self::pods::Pods;
pub use self::snapshot::WorkerState;
use self::timers::{Kind, Timer};
use self::worker::{Worker, WorkerPhase};
use crate::results::{ContainerKey, ProbeResult, Results};
use crate::rng::Rng;
use crate::semantics::Semantics;
use crate::slab::Slab;
use crate::spec::ProbeType;
use crate::time::{Instant, WallOffset};
use crate::timer::TimerTable;
use crate::wheel::TimerWheel;

/// How a prober starts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The rules to play by.
    pub semantics: Semantics,
    /// Seeds the jitter of first runs.
    pub seed: u64,
    /// Where the wall clock stands.
    pub wall: WallOffset,
    /// Whether first runs are spread over a period while the prober is younger than it, as a kubelet does.
    pub start_jitter: bool,
    /// Where runs fall.
    pub phasing: Phasing,
    /// Whether to hand out [`Output::Record`] for every set and removal.
    pub record: bool,
}

/// A kubelet of the recorded release, at the Unix epoch.
impl Default for Settings {
    fn default() -> Self {
        Self {
            semantics: Semantics::default(),
            seed: 0,
            wall: WallOffset::default(),
            start_jitter: true,
            phasing: Phasing::Kubelet,
            record: false,
        }
    }
}

/// The prober's whole state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prober {
    semantics: Semantics,
    /// When this prober started: the kubelet jitters first runs while it is younger than the probe's period.
    started: Instant,
    started_wall_ms: i64,
    wall: WallOffset,
    start_jitter: bool,
    phasing: Phasing,
    record: bool,
    rng: Rng,
    pods: Pods,
    workers: Slab<Worker>,
    results: Results,
    memories: Memories,
    wheel: TimerWheel<Timer>,
    driver_timers: TimerTable<u64>,
    /// Ticks in the wheel whose worker has ended or was re-phased.
    dead_ticks: usize,
    /// Counts armed ticks, so that a worker's slot that is used again does not take an old tick for its own.
    timer_generation: u32,
    ready: VecDeque<WorkerId>,
    outputs: VecDeque<Output>,
}

impl Prober {
    /// A prober that starts at `now`.
    pub fn new(settings: Settings, now: Instant) -> Self {
        Self {
            semantics: settings.semantics,
            started: now,
            started_wall_ms: settings.wall.wall_ms(now),
            wall: settings.wall,
            start_jitter: settings.start_jitter,
            phasing: settings.phasing,
            record: settings.record,
            rng: Rng::new(settings.seed),
            pods: Pods::new(),
            workers: Slab::new(),
            results: Results::new(),
            memories: Memories::default(),
            wheel: TimerWheel::new(),
            driver_timers: TimerTable::new(),
            dead_ticks: 0,
            timer_generation: 0,
            ready: VecDeque::new(),
            outputs: VecDeque::new(),
        }
    }

    /// The rules it plays by.
    pub const fn semantics(&self) -> &Semantics {
        &self.semantics
    }

    /// The wall clock was stepped or slewed.
    pub const fn handle_wall_offset(&mut self, wall: WallOffset) {
        self.wall = wall;
    }

    /// Where the wall clock stands.
    pub const fn wall(&self) -> WallOffset {
        self.wall
    }

    /// The next thing for the driver to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        let output = self.outputs.pop_front();
        // A moment in which every worker spoke must not cost its memory for ever.
        if self.outputs.is_empty() && self.outputs.capacity() > KEPT_OUTPUTS {
            self.outputs.shrink_to(KEPT_OUTPUTS);
        }
        output
    }

    /// Lets everything happen that is due at `now`.
    pub fn settle(&mut self, now: Instant) {
        while self.step(now) {}
    }

    /// Lets one thing happen that is due at `now`; false if there is none.
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

    /// The cached result of a container.
    pub fn result(&self, probe_type: ProbeType, container_id: &str) -> Option<ProbeResult> {
        self.results.get(probe_type, self.results.find(container_id)?)
    }

    /// Every cached result, in order of the container IDs.
    pub fn results(&self) -> impl Iterator<Item = (ProbeType, &Arc<str>, ProbeResult)> {
        self.results.iter()
    }

    fn queue(&mut self, id: WorkerId) {
        let worker = &mut self.workers[id];
        if !worker.queued {
            worker.queued = true;
            self.ready.push_back(id);
        }
    }

    fn wake(&mut self, id: WorkerId, now: Instant) {
        let Some(worker) = self.workers.get_mut(id) else {
            return; // It ended while it waited in the queue.
        };
        worker.queued = false;
        match worker.phase {
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

    /// A worker's first run is at once, or, while the prober is younger than the period, after a random part of it; or,
    /// if it goes on where an earlier prober's worker left off, at that one's next tick.
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

    /// Between two runs: what waits already is served at once, else the worker sleeps until its next tick.
    fn rest(&mut self, id: WorkerId, now: Instant) {
        let worker = &mut self.workers[id];
        worker.phase = WorkerPhase::Waiting;
        if worker.stop || worker.triggered || worker.next_tick <= now {
            self.queue(id);
        } else {
            self.arm_tick(id);
        }
    }

    fn end_worker(&mut self, id: WorkerId) {
        self.disarm(id);
        if let Some(key) = self.workers[id].container_key.take() {
            self.remove_result(id, key);
            self.results.release(key);
        }
        self.outputs.push_back(Output::WorkerEnded { worker: id });
        let worker = self.workers.remove(id).expect("it just ran");
        self.pods.forget_worker(worker.pod, id);
    }

    fn set_result(&mut self, id: WorkerId, result: ProbeResult) {
        let worker = &self.workers[id];
        let Some(key) = worker.container_key else {
            return;
        };
        let probe_type = worker.probe_type;
        let changed = self.results.set(probe_type, key, result);
        if self.record {
            self.push_record(probe_type, key, Some(result), changed);
        }
        if changed {
            self.touch(id);
            self.outputs.push_back(Output::Update(Update {
                probe_type,
                container_id: Arc::clone(self.results.id(key)),
                pod_uid: Arc::clone(&self.workers[id].object.uid),
                result,
            }));
        }
    }

    fn remove_result(&mut self, id: WorkerId, key: ContainerKey) {
        if self.results.is_empty(key) {
            return; // The kubelet removes nothing under an empty ID.
        }
        let probe_type = self.workers[id].probe_type;
        let container_id = Arc::clone(self.results.id(key));
        let changed = self.results.remove(probe_type, key);
        if changed {
            let (container_id, pod_uid) = (Arc::clone(&container_id), Arc::clone(&self.workers[id].object.uid));
            self.outputs.push_back(Output::Removed(Removal { probe_type, container_id, pod_uid }));
        }
        if self.record {
            self.outputs.push_back(Output::Record(ResultRecord { probe_type, container_id, result: None, changed }));
        }
    }

    fn push_record(&mut self, probe_type: ProbeType, key: ContainerKey, result: Option<ProbeResult>, changed: bool) {
        let container_id = Arc::clone(self.results.id(key));
        self.outputs.push_back(Output::Record(ResultRecord { probe_type, container_id, result, changed }));
    }
}

/// Outputs that fit without a new allocation: more than a busy turn of the engine hands out.
const KEPT_OUTPUTS: usize = 1024;

/// A container that started this long before the prober counts as running before it (prober_manager.go, 1.36).
pub(crate) const PREEXISTING_GRACE_MS: i64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_in_which_every_worker_spoke_gives_its_memory_back_once_it_is_drained() {
        let mut prober = Prober::new(Settings::default(), Instant::ZERO);
        (0..10_000).for_each(|token| prober.outputs.push_back(Output::Timer { token }));
        let at_its_most = prober.outputs.capacity();
        for token in 0..9_999 {
            assert_eq!(prober.poll_output(), Some(Output::Timer { token }));
        }
        assert_eq!(prober.outputs.capacity(), at_its_most, "not while outputs wait: each would be moved");
        assert!(prober.poll_output().is_some());
        assert_eq!(prober.poll_output(), None);
        assert!(prober.outputs.capacity() <= KEPT_OUTPUTS);
    }
}
