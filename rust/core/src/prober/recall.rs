//! How memories are taken of workers and given to others.

use std::sync::Arc;

use super::model::memory::Memory;
use super::model::view::{Seen, View};
use super::model::worker::WorkerPhase;
use super::output::WorkerId;
use super::state::Prober;
use crate::results::ProbeResult;
use crate::spec::ProbeType;
use crate::time::Instant;

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
