//! Reads memories from workers and gives recalled memories to new workers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::model::memory::{Durable, Memory};
use super::model::view::{Seen, View};
use super::model::worker::WorkerPhase;
use super::output::WorkerId;
use super::state::Prober;
use crate::podstatus::ContainerStatus;
use crate::results::{ProbeResult, canonical};
use crate::spec::ProbeType;
use crate::time::Instant;

impl Prober {
    /// Takes an earlier prober's memory. It waits until its worker is made or its pod is forgotten.
    pub fn recall(&mut self, memory: Memory) {
        self.memories.recalled.entry(Arc::clone(&memory.pod_uid)).or_default().push(memory);
    }

    /// Recalls for the workers that AddPod will make what the pod's status says of containers that run: one that has started
    /// has passed its startup probe, one that is ready its readiness probe. A memory that says otherwise goes, because the
    /// caller has set the status from newer facts.
    pub fn recall_status(&mut self, uid: &str) {
        let Some(index) = self.pods.find(uid) else {
            return;
        };
        let pod = &self.pods[index];
        let (Some(object), Some(status)) = (pod.object.clone(), pod.status.clone()) else {
            return;
        };
        for container in status.containers.iter().filter(|found| found.state.is_running() && !found.id.is_empty()) {
            let probed = object.index_of(&container.name).map(|index| &object.containers[index]);
            let says = [(ProbeType::Startup, container.started == Some(true)), (ProbeType::Readiness, container.ready)];
            for (probe_type, has_passed) in says {
                if has_passed && probed.is_some_and(|spec| spec.probe(probe_type).is_some()) {
                    self.recall_success(&object.uid, probe_type, container);
                }
            }
        }
    }

    pub(super) fn recall_success(&mut self, uid: &Arc<str>, probe_type: ProbeType, container: &ContainerStatus) {
        if self.recalled_result(uid, probe_type, &container.id) == Some(ProbeResult::Success) {
            return;
        }
        let memories = self.memories.recalled.entry(Arc::clone(uid)).or_default();
        memories.retain(|memory| memory.probe_type != probe_type || memory.container != container.name);
        memories.push(Memory {
            pod_uid: Arc::clone(uid),
            container: Arc::clone(&container.name),
            probe_type,
            container_id: canonical(&container.id).into(),
            result: Some(ProbeResult::Success),
            last_result: ProbeResult::Success,
            result_run: 1,
            on_hold: false,
            has_initialized: true,
            window: 0,
            errors: 0,
            in_doubt: false,
            tick: Instant::ZERO,
            period: Duration::ZERO,
        });
    }

    /// Drops the memories that no worker has taken, and returns them.
    pub fn forget_recalled(&mut self) -> Vec<Memory> {
        std::mem::take(&mut self.memories.recalled).into_values().flatten().collect()
    }

    /// Notes, from now on, which workers have something new to keep.
    pub const fn watch_memories(&mut self) {
        self.memories.watched = true;
    }

    /// Whether a worker has something new to keep.
    pub fn has_touched(&self) -> bool {
        !self.memories.touched.is_empty()
    }

    /// Whether the driver must keep a touched worker's memory before it starts the attempts among the outputs.
    pub const fn is_urgent(&self) -> bool {
        self.memories.urgent
    }

    /// Returns the workers that have something new to keep since the last call. Some may have ended.
    pub fn take_touched(&mut self) -> BTreeSet<WorkerId> {
        self.memories.urgent = false;
        std::mem::take(&mut self.memories.touched)
    }

    /// A worker's memory; None before it has seen a container with an ID.
    pub fn memory(&self, id: WorkerId) -> Option<Memory> {
        let worker = self.workers.get(id)?;
        let key = worker.container_key.filter(|key| !self.results.is_empty(*key))?;
        let Durable { last_result, result_run, on_hold, has_initialized, window, errors, in_doubt } = worker.durable();
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
            window,
            errors,
            in_doubt,
            tick: worker.next_tick,
            period: worker.period(),
        })
    }

    /// The memories of all workers, and the memories that no worker has taken yet.
    pub fn memories(&self) -> impl Iterator<Item = Memory> {
        let of_workers = self.workers.iter().filter_map(|(id, _)| self.memory(id));
        of_workers.chain(self.memories.recalled.values().flatten().cloned())
    }

    pub(super) fn touch(&mut self, id: WorkerId) {
        if self.memories.watched {
            self.memories.touched.insert(id);
        }
    }

    /// Touches a worker whose beginning run may end a streak of failures: until the run ends, its memory says
    /// `in_doubt`.
    pub(super) fn touch_if_in_doubt(&mut self, id: WorkerId) {
        if self.memories.watched && self.workers[id].has_streak_to_lose() {
            self.memories.urgent = true;
            self.touch(id);
        }
    }

    /// The result that an earlier prober published for a container whose worker does not exist yet. Without it the
    /// first status after a restart would call a container started that has not started.
    pub(super) fn recalled_result(&self, uid: &str, probe_type: ProbeType, container_id: &str) -> Option<ProbeResult> {
        let memories = self.memories.recalled.get(uid)?;
        memories
            .iter()
            .find(|memory| memory.probe_type == probe_type && *memory.container_id == *container_id)
            .and_then(|memory| memory.result)
    }

    /// Starts a worker where an earlier prober's left off: it sees its container at once and waits for its tick.
    /// Returns false if the worker has no memory of this container, or the container does not run.
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
        let next_tick = match memory.period {
            // It knows no ticks.
            Duration::ZERO => self.jitter(id, now).map_or(now, |jitter| now + jitter),
            period if period == worker.period() => memory.next_tick(now),
            _ => now,
        };
        self.adopt(id, seen);
        let worker = &mut self.workers[id];
        worker.next_tick = next_tick;
        worker.phase = WorkerPhase::Waiting;
        worker.look_at_pace(now);
        self.touch(id);
        self.rest(id, now);
        true
    }

    /// Restores a new worker's memory of the first container it sees. Returns false if it has none, or if the memory is
    /// of another container or the container does not run.
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
        worker.recall_counted(memory.window, memory.errors, memory.in_doubt);
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
