//! What a worker knows that the runtime does not: what a restart of the kubelet loses, and what a driver may keep for it.
//!
//! A [`Memory`] can be taken of every worker that has seen a container and be given to another prober with
//! [`Prober::recall`](crate::prober::Prober::recall). It is about one container: a worker that first sees another one, or the same one not running,
//! begins as every new worker does. Counters saturate at the threshold that reads them, so that a worker whose results
//! only confirm what is known has nothing new to keep.

use std::collections::BTreeMap;
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
pub(crate) struct Memories {
    pub(crate) recalled: BTreeMap<Arc<str>, Vec<Memory>>,
    pub(crate) watched: bool,
    pub(crate) touched: Vec<WorkerId>,
    /// Whether one of them has to be kept before its attempt begins.
    pub(crate) urgent: bool,
}

/// The part of a worker that a memory holds and a run can change.
pub(crate) type Durable = (ProbeResult, i32, bool, bool, bool);

impl Worker {
    pub(crate) fn durable(&self) -> Durable {
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
    pub(crate) const fn has_row_to_lose(&self) -> bool {
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

    /// The first tick of its grid after `now`.
    pub(crate) fn next_tick(&self, now: Instant) -> Instant {
        let period = self.period.as_nanos().max(1) as u64;
        let phase = self.tick.as_nanos() % period;
        let passed = (now.as_nanos() % period + period - phase) % period;
        now + Duration::from_nanos(period - passed)
    }
}
