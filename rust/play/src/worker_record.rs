//! What a worker knows, as files have it. Times are wall-clock times, because no other clock outlives a process.

use std::time::Duration;

use probelet_core::prober::Memory;
use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use probelet_core::time::{Instant, WallOffset};
use serde::{Deserialize, Serialize};

/// Identifies a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WorkerKey {
    /// The pod's UID.
    pub pod_uid: Box<str>,
    /// The container's name.
    pub container: Box<str>,
    /// The probe's type.
    pub probe_type: ProbeType,
}

/// A worker's [`Memory`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// [`Memory::container_id`].
    pub container_id: Box<str>,
    /// [`Memory::result`].
    pub result: Option<ProbeResult>,
    /// [`Memory::last_result`].
    pub last_result: ProbeResult,
    /// [`Memory::result_run`].
    pub result_run: i32,
    /// [`Memory::on_hold`].
    pub on_hold: bool,
    /// [`Memory::has_initialized`].
    pub has_initialized: bool,
    /// [`Memory::window`]. Files have it beside the record, and only where it is not 0.
    #[serde(skip)]
    pub window: u64,
    /// [`Memory::errors`]. Files have it beside the record, and only where it is not 0.
    #[serde(skip)]
    pub errors: i32,
    /// [`Memory::in_doubt`].
    pub in_doubt: bool,
    /// One of the worker's ticks, Unix nanoseconds.
    pub tick_ns: i64,
    /// From one tick to the next.
    pub period: Duration,
}

impl WorkerKey {
    /// The key of a memory's worker.
    pub fn of(memory: &Memory) -> Self {
        Self {
            pod_uid: (&*memory.pod_uid).into(),
            container: (&*memory.container).into(),
            probe_type: memory.probe_type,
        }
    }
}

impl WorkerRecord {
    /// The record of a memory, its ticks moved to the wall clock.
    pub fn of(memory: &Memory, wall: WallOffset) -> Self {
        Self {
            container_id: (&*memory.container_id).into(),
            result: memory.result,
            last_result: memory.last_result,
            result_run: memory.result_run,
            on_hold: memory.on_hold,
            has_initialized: memory.has_initialized,
            window: memory.window,
            errors: memory.errors,
            in_doubt: memory.in_doubt,
            tick_ns: to_wall(memory.tick, wall),
            period: memory.period,
        }
    }

    /// The memory again, its ticks moved to the engine's clock.
    pub fn to_memory(&self, key: &WorkerKey, wall: WallOffset) -> Memory {
        let period = i64::try_from(self.period.as_nanos()).unwrap_or(i64::MAX).max(1);
        let tick = self.tick_ns.saturating_sub(wall.0).rem_euclid(period);
        Memory {
            pod_uid: (&*key.pod_uid).into(),
            container: (&*key.container).into(),
            probe_type: key.probe_type,
            container_id: (&*self.container_id).into(),
            result: self.result,
            last_result: self.last_result,
            result_run: self.result_run,
            on_hold: self.on_hold,
            has_initialized: self.has_initialized,
            window: self.window,
            errors: self.errors,
            in_doubt: self.in_doubt,
            tick: Instant::from_nanos(tick.unsigned_abs()),
            period: self.period,
        }
    }
}

/// A moment of the engine's clock in Unix nanoseconds.
pub fn to_wall(at: Instant, wall: WallOffset) -> i64 {
    wall.0.saturating_add(i64::try_from(at.as_nanos()).unwrap_or(i64::MAX))
}
