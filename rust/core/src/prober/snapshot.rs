//! Read-only views of the workers.

use super::attempt::AttemptTarget;
use super::model::worker::WorkerPhase;
use super::output::WorkerId;
use super::state::Prober;
use crate::options::FailureWindow;
use crate::results::ProbeResult;
use crate::time::Instant;

/// A worker's state, for a status document.
#[derive(Clone, Copy, Debug)]
pub struct WorkerState<'a> {
    /// The worker's number.
    pub id: WorkerId,
    /// What the worker probes.
    pub target: AttemptTarget<'a>,
    /// The cached result of its container.
    pub result: Option<ProbeResult>,
    /// The length of the current run of equal results.
    pub result_run: i32,
    /// How many failures in a row reach the threshold now. A probe may ask for more of them before the first success.
    pub failure_threshold: i32,
    /// The failures in the window, of a probe that counts them so.
    pub window: Option<(FailureWindow, u32)>,
    /// Prober errors in a row, of a probe whose errors count.
    pub errors_in_a_row: i32,
    /// Whether the worker waits for another container.
    pub on_hold: bool,
    /// Whether a run is in flight.
    pub in_flight: bool,
    /// Whether the worker has been asked to stop.
    pub stopping: bool,
    /// The worker's next tick.
    pub next_tick: Instant,
}

impl Prober {
    /// One worker's state; None if the worker has ended.
    pub fn worker_state(&self, id: WorkerId) -> Option<WorkerState<'_>> {
        let worker = self.workers.get(id)?;
        let (window, errors_in_a_row) = worker.counted();
        let options = worker.opted.as_ref().map(|opted| opted.options);
        Some(WorkerState {
            id,
            target: self.target(id)?,
            result: worker.container_key.and_then(|key| self.results.get(worker.probe_type, key)),
            result_run: worker.result_run,
            failure_threshold: worker.effective_failure_threshold(),
            window: options.and_then(|options| options.failures).map(|failures| (failures, window.count_ones())),
            errors_in_a_row,
            on_hold: worker.on_hold,
            in_flight: matches!(worker.phase, WorkerPhase::InFlight { .. }),
            stopping: worker.is_stopping(),
            next_tick: worker.opted.as_ref().and_then(|opted| opted.extra).unwrap_or(worker.next_tick),
        })
    }

    /// The numbers of all workers, or of one pod's workers.
    pub fn worker_ids(&self, uid: Option<&str>) -> Vec<WorkerId> {
        match uid {
            None => self.workers.iter().map(|(id, _)| id).collect(),
            Some(uid) => self.pods.find(uid).map(|index| self.pods[index].workers.clone()).unwrap_or_default(),
        }
    }

    /// The workers with an attempt in flight, each with the number of its run: [`Prober::handle_attempt`] takes both.
    pub fn in_flight(&self) -> impl Iterator<Item = (WorkerId, u32)> {
        let in_flight = self.workers.iter().filter(|(_, worker)| matches!(worker.phase, WorkerPhase::InFlight { .. }));
        in_flight.map(|(id, worker)| (id, worker.run))
    }

    /// The states of all workers, or of one pod's workers.
    pub fn worker_states(&self, uid: Option<&str>) -> Vec<WorkerState<'_>> {
        self.worker_ids(uid).into_iter().filter_map(|id| self.worker_state(id)).collect()
    }

    /// How many workers there are.
    pub const fn worker_count(&self) -> usize {
        self.workers.len()
    }

    /// How many timers are armed, including the driver's own.
    pub fn timer_count(&self) -> usize {
        // A counter of its own would cost every run.
        self.wheel.len() - self.dead_ticks - self.driver_timers.dead()
    }
}
