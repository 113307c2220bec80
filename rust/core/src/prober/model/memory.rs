//! A worker's memory: what it knows and the runtime does not. A restart of the kubelet loses it; a driver may keep it.
//!
//! [`Prober::memory`](crate::prober::Prober::memory) reads a [`Memory`] from a worker that has seen a container, and
//! [`Prober::recall`](crate::prober::Prober::recall) gives it to another prober. A memory is about one container: a
//! worker that first sees another container, or the same one not running, begins as every new worker does. Counters
//! saturate at the threshold they are compared with, so a worker whose results only confirm what is known has nothing
//! new to keep.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::worker::{Worker, WorkerPhase};
use crate::prober::output::WorkerId;
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
    /// How many runs in a row had `last_result`; saturates at the threshold it is compared with.
    pub result_run: i32,
    /// Whether the worker rests until the container is replaced.
    pub on_hold: bool,
    /// Whether a probe of the container has succeeded once (KEP-950).
    pub has_initialized: bool,
    /// The last runs of a probe with a window of failures, the latest in the lowest bit; a bit is set for a failure.
    pub window: u64,
    /// Prober errors in a row, of a probe whose errors count; saturates where they do.
    pub errors: i32,
    /// Whether a run was in flight whose success would have ended a streak of liveness failures. A prober that recalls
    /// this memory counts the streak from 0, because a container must not be killed for failures with a success between
    /// them.
    pub in_doubt: bool,
    /// Any tick of the worker's grid.
    pub tick: Instant,
    /// The time from one tick to the next; zero in a memory of which the ticks are unknown.
    pub period: Duration,
}

/// The memories that wait for their worker, and the workers that have something new to keep.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memories {
    pub(crate) recalled: BTreeMap<Arc<str>, Vec<Memory>>,
    pub(crate) watched: bool,
    /// A set, because a driver may take it late and worker numbers are used again.
    pub(crate) touched: BTreeSet<WorkerId>,
    /// Whether the driver should keep a touched worker's memory at once, because that worker's attempt begins.
    pub(crate) urgent: bool,
}

/// The part of a worker that a memory holds and a run can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Durable {
    pub(crate) last_result: ProbeResult,
    pub(crate) result_run: i32,
    pub(crate) on_hold: bool,
    pub(crate) has_initialized: bool,
    pub(crate) window: u64,
    pub(crate) errors: i32,
    /// Whether a run is in flight whose success would end a streak of liveness failures.
    pub(crate) in_doubt: bool,
}

impl Worker {
    pub(crate) fn durable(&self) -> Durable {
        let bound = match self.last_result {
            ProbeResult::Failure => self.failure_threshold.max(self.initialization_failure_threshold),
            ProbeResult::Success => self.success_threshold,
            ProbeResult::Unknown => 1,
        };
        let (window, errors) = self.counted();
        Durable {
            last_result: self.last_result,
            result_run: self.result_run.min(bound.max(1)),
            on_hold: self.on_hold,
            has_initialized: self.has_initialized,
            window,
            errors,
            in_doubt: matches!(self.phase, WorkerPhase::InFlight { .. }) && self.has_streak_to_lose(),
        }
    }

    /// Whether the worker counts liveness failures that a success would end. False for a container that has never
    /// succeeded, because a recalled count of 0 would give it its whole allowance again.
    pub(crate) const fn has_streak_to_lose(&self) -> bool {
        let starting = self.initialization_failure_threshold > 0 && !self.has_initialized;
        matches!((self.probe_type, self.last_result), (ProbeType::Liveness, ProbeResult::Failure))
            && self.result_run > 0
            && !self.on_hold
            && !starting
    }
}

impl Memory {
    pub(crate) fn is_of(&self, worker: &Worker) -> bool {
        self.probe_type == worker.probe_type && self.container == *worker.container_name()
    }

    pub(crate) fn fits(&self, container_id: &str) -> bool {
        *self.container_id == *crate::results::canonical(container_id)
    }

    /// The first tick of the memory's grid after `now`.
    pub(crate) fn next_tick(&self, now: Instant) -> Instant {
        let period = self.period.as_nanos().max(1) as u64;
        let phase = self.tick.as_nanos() % period;
        let passed = (now.as_nanos() % period + period - phase) % period;
        now + Duration::from_nanos(period - passed)
    }
}
