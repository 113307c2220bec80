//! What a worker knows that the runtime does not: what a restart of the kubelet loses, and what a driver may keep for it.
//!
//! A [`Memory`] can be taken of every worker that has seen a container and be given to another prober with
//! [`Prober::recall`]. It is about one container: a worker that first sees another one, or the same one not running,
//! begins as every new worker does. Counters saturate at the threshold that reads them, so that a worker whose results
//! only confirm what is known has nothing new to keep.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Prober;
use super::output::WorkerId;
use super::view::{Seen, View};
use super::worker::{Worker, WorkerPhase};
use crate::results::ProbeResult;
use crate::spec::ProbeType;
use crate::time::Instant;

/// What one worker knows of the container it probes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The pod's UID.
    pub pod_uid: Arc<str>,
    /// The container's name.
    pub container: Arc<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Arc<str>,
    /// The cached result.
    pub result: Option<ProbeResult>,
    /// The result of the last run.
    pub last_result: ProbeResult,
    /// How many runs in a row had it, up to the threshold that this is compared with.
    pub result_run: i32,
    /// Whether the worker rests until the container is replaced.
    pub on_hold: bool,
    /// Whether the container has answered well once (KEP-950).
    pub has_initialized: bool,
    /// Whether a run was in flight whose result may have ended a row of liveness failures. Whoever goes on begins the row
    /// anew: nobody is killed for failures that had a success between them.
    pub in_doubt: bool,
    /// Any of its ticks.
    pub tick: Instant,
    /// From one tick to the next.
    pub period: Duration,
}

/// Which memories wait for their worker, and which workers have something new to keep.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Memories {
    recalled: BTreeMap<Arc<str>, Vec<Memory>>,
    watched: bool,
    touched: Vec<WorkerId>,
    /// Whether one of them has to be kept before its attempt begins.
    urgent: bool,
}

/// The part of a worker that a memory holds and a run can change.
pub(super) type Durable = (ProbeResult, i32, bool, bool, bool);

impl Worker {
    pub(super) fn durable(&self) -> Durable {
        let bound = match self.last_result {
            ProbeResult::Failure => self.failure_threshold.max(self.initialization_failure_threshold),
            ProbeResult::Success => self.success_threshold,
            ProbeResult::Unknown => 1,
        };
        let in_doubt = matches!(self.phase, WorkerPhase::InFlight { .. }) && self.has_row_to_lose();
        (self.last_result, self.result_run.min(bound.max(1)), self.on_hold, self.has_initialized, in_doubt)
    }

    /// Whether failures are counted that a success would end. Not those of a container that has never been well: it
    /// would be given its whole allowance again.
    const fn has_row_to_lose(&self) -> bool {
        let starting = self.initialization_failure_threshold > 0 && !self.has_initialized;
        matches!((self.probe_type, self.last_result), (ProbeType::Liveness, ProbeResult::Failure))
            && self.result_run > 0
            && !self.on_hold
            && !starting
    }
}

impl Prober {
    /// Takes what an earlier prober knew. It waits until its worker is made or its pod is forgotten.
    pub fn recall(&mut self, memory: Memory) {
        self.memories.recalled.entry(Arc::clone(&memory.pod_uid)).or_default().push(memory);
    }

    /// Drops the memories that no worker has asked for.
    pub fn forget_recalled(&mut self) -> Vec<Memory> {
        std::mem::take(&mut self.memories.recalled).into_values().flatten().collect()
    }

    /// Notes from now on which workers have something new to keep.
    pub const fn watch_memories(&mut self) {
        self.memories.watched = true;
    }

    /// Whether a worker has something new to keep.
    pub const fn has_touched(&self) -> bool {
        !self.memories.touched.is_empty()
    }

    /// Whether one of them is to be kept before the attempts begin that were asked for.
    pub const fn is_urgent(&self) -> bool {
        self.memories.urgent
    }

    /// The workers that have something new to keep since this was last asked, each once. Some may be gone.
    pub fn take_touched(&mut self) -> Vec<WorkerId> {
        let touched = std::mem::take(&mut self.memories.touched);
        self.memories.urgent = false;
        for id in &touched {
            if let Some(worker) = self.workers.get_mut(*id) {
                worker.touched = false;
            }
        }
        touched
    }

    /// What a worker knows; none before it has seen a container with an ID.
    pub fn memory(&self, id: WorkerId) -> Option<Memory> {
        let worker = self.workers.get(id)?;
        let key = worker.container_key.filter(|key| !self.results.is_empty(*key))?;
        let (last_result, result_run, on_hold, has_initialized, in_doubt) = worker.durable();
        Some(Memory {
            pod_uid: Arc::clone(&worker.object.uid),
            container: Arc::clone(worker.container_name()),
            probe_type: worker.probe_type,
            container_id: Arc::clone(self.results.id(key)),
            result: self.results.get(worker.probe_type, key),
            last_result,
            result_run,
            on_hold,
            has_initialized,
            in_doubt,
            tick: worker.next_tick,
            period: worker.period(),
        })
    }

    pub(super) fn touch(&mut self, id: WorkerId) {
        if !self.memories.watched {
            return;
        }
        let worker = &mut self.workers[id];
        if !std::mem::replace(&mut worker.touched, true) {
            self.memories.touched.push(id);
        }
    }

    /// A run begins: what it may undo is said to be in doubt.
    pub(super) fn touch_if_in_doubt(&mut self, id: WorkerId) {
        if self.memories.watched && self.workers[id].has_row_to_lose() {
            self.memories.urgent = true;
            self.touch(id);
        }
    }

    /// The result an earlier prober had published for a container whose worker has not come yet: without it the first
    /// status after a restart would show a container that has not started as started.
    pub(super) fn recalled_result(&self, uid: &str, probe_type: ProbeType, container_id: &str) -> Option<ProbeResult> {
        let memories = self.memories.recalled.get(uid)?;
        memories
            .iter()
            .find(|memory| memory.probe_type == probe_type && *memory.container_id == *container_id)
            .and_then(|memory| memory.result)
    }

    /// A worker that goes on where another prober's left off: it sees its container at once and waits for its tick.
    pub(super) fn resume(&mut self, id: WorkerId, now: Instant) -> bool {
        let Some(memory) = self.recalled_of(id) else {
            return false;
        };
        let worker = &self.workers[id];
        let View::Container(seen) = worker.view else {
            return false;
        };
        if !memory.fits(self.results.id(seen.key)) || !seen.state.is_running() {
            return false;
        }
        let next_tick = (memory.period == worker.period()).then(|| memory.next_tick(now));
        self.adopt(id, seen);
        let worker = &mut self.workers[id];
        worker.next_tick = next_tick.unwrap_or(now);
        worker.phase = WorkerPhase::Waiting;
        self.touch(id);
        self.rest(id, now);
        true
    }

    /// Takes on what is known of the container, the first a new worker sees; false if that is nothing.
    pub(super) fn remember(&mut self, id: WorkerId, seen: Seen) -> bool {
        let Some(memory) = self.take_recalled(id) else {
            return false;
        };
        if !memory.fits(self.results.id(seen.key)) || !seen.state.is_running() {
            return false;
        }
        let worker = &mut self.workers[id];
        worker.last_result = memory.last_result;
        worker.result_run = if memory.in_doubt { 0 } else { memory.result_run };
        worker.on_hold = memory.on_hold;
        worker.has_initialized = memory.has_initialized;
        if let Some(result) = memory.result {
            self.set_result(id, result);
        }
        true
    }

    pub(super) fn forget_recalled_of(&mut self, uid: &str) {
        self.memories.recalled.remove(uid);
    }

    fn recalled_of(&self, id: WorkerId) -> Option<&Memory> {
        let worker = &self.workers[id];
        self.memories.recalled.get(&worker.object.uid)?.iter().find(|memory| memory.is_of(worker))
    }

    fn take_recalled(&mut self, id: WorkerId) -> Option<Memory> {
        let worker = &self.workers[id];
        let memories = self.memories.recalled.get_mut(&worker.object.uid)?;
        let position = memories.iter().position(|memory| memory.is_of(worker))?;
        let memory = memories.swap_remove(position);
        if memories.is_empty() {
            self.memories.recalled.remove(&memory.pod_uid);
        }
        Some(memory)
    }
}

impl Memory {
    fn is_of(&self, worker: &Worker) -> bool {
        self.probe_type == worker.probe_type && self.container == *worker.container_name()
    }

    fn fits(&self, container_id: &str) -> bool {
        *self.container_id == *crate::results::canonical(container_id)
    }

    /// The first tick of its grid after `now`.
    fn next_tick(&self, now: Instant) -> Instant {
        let period = self.period.as_nanos().max(1) as u64;
        let phase = self.tick.as_nanos() % period;
        let passed = (now.as_nanos() % period + period - phase) % period;
        now + Duration::from_nanos(period - passed)
    }
}
