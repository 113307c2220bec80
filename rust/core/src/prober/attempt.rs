//! The end of an attempt: another try, the event, the thresholds and the hold (kubelet prober/prober.go:probe and
//! worker.go:doProbe, 1.36).

use std::sync::Arc;

use super::model::worker::WorkerPhase;
use super::output::{Attempt, Event, Outcome, Output, Reason, Streak, WorkerId};
use super::state::Prober;
use crate::results::ProbeResult;
use crate::semantics::HandlerRules;
use crate::spec::{ContainerSpec, Handler, PodSpec, ProbeSpec, ProbeType};
use crate::time::Instant;

/// What a driver needs to carry out an attempt. The driver reads it when the attempt starts, because the pod's IP and
/// the container's ID are those of the status at that moment.
#[derive(Clone, Copy, Debug)]
pub struct AttemptTarget<'a> {
    /// The pod.
    pub pod: &'a Arc<PodSpec>,
    /// The container's index in [`PodSpec::containers`].
    pub container_index: usize,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// The first pod IP, which may be empty; None without a status.
    pub pod_ip: Option<&'a Arc<str>>,
    /// The container's ID; empty before the worker saw one.
    pub container_id: &'a str,
    /// The rules of the kubelet's release for the handler.
    pub rules: HandlerRules,
}

impl<'a> AttemptTarget<'a> {
    /// The container.
    pub fn container(&self) -> &'a ContainerSpec {
        &self.pod.containers[self.container_index]
    }

    /// The probe.
    pub fn probe(&self) -> &'a ProbeSpec {
        self.container().probe(self.probe_type).expect("it made the worker")
    }

    /// Whether the attempt runs a command in the container.
    pub fn is_exec(&self) -> bool {
        matches!(self.probe().handler, Handler::Exec { .. })
    }
}

impl Prober {
    /// What the worker's attempts probe; None if the worker has ended.
    pub fn target(&self, id: WorkerId) -> Option<AttemptTarget<'_>> {
        let worker = self.workers.get(id)?;
        Some(AttemptTarget {
            pod: &worker.object,
            container_index: worker.container as usize,
            probe_type: worker.probe_type,
            pod_ip: self.pods[worker.pod].status.as_ref().map(|status| &status.pod_ip),
            container_id: worker.container_key.map_or("", |key| self.results.id(key)),
            rules: self.semantics.handler_rules(),
        })
    }

    /// A number that changes when [`Prober::target`] may have changed; None if the worker has ended. A driver that keeps
    /// what it made of the target asks for this instead, because a target lies in half a dozen cache lines.
    pub fn target_version(&self, id: WorkerId) -> Option<u32> {
        self.workers.get(id).map(|worker| worker.refreshed)
    }

    /// Where the result of a worker lies that [`Prober::handle_attempt`] will replace, for a driver that asks the processor
    /// for it while the attempt is in flight.
    pub fn result_place(&self, id: WorkerId) -> Option<&impl Sized> {
        self.results.place(self.workers.get(id)?.container_key?)
    }

    /// Handles the end of an attempt. Ignores the outcome unless `run` is the run in flight.
    pub fn handle_attempt(&mut self, id: WorkerId, run: u32, outcome: Outcome, now: Instant) {
        let Some(worker) = self.workers.get_mut(id) else {
            return;
        };
        let WorkerPhase::InFlight { attempt } = worker.phase else {
            return;
        };
        if worker.run != run {
            return;
        }
        if matches!(outcome, Outcome::Error { .. }) && attempt < ATTEMPTS_PER_RUN {
            worker.phase = WorkerPhase::InFlight { attempt: attempt + 1 };
            worker.note_next_try(now);
            let next = Attempt { worker: id, run, attempt: attempt + 1, scheduled: now };
            self.outputs.push_back(Output::Attempt(next));
            return;
        }
        let started = worker.run_started;
        // Without a driver that keeps memories, a run need not know whether it changed one.
        let before = self.memories.watched.then(|| worker.durable());
        let result = self.conclude(id, outcome);
        self.outputs.push_back(Output::RunFinished { worker: id, result, started });
        if let Some(result) = result {
            self.publish_at_threshold(id, result, now);
        }
        self.rest(id, now);
        if before.is_some_and(|before| self.workers[id].durable() != before) {
            self.touch(id);
        }
    }

    /// Turns the outcome into the run's result and pushes its event; None for a prober error, which is no result.
    fn conclude(&mut self, id: WorkerId, outcome: Outcome) -> Option<ProbeResult> {
        if matches!(outcome, Outcome::Success) {
            return Some(ProbeResult::Success); // Before anything of the worker is read: nearly every run ends so.
        }
        let worker = &mut self.workers[id];
        if worker.only_looks() && !matches!(outcome, Outcome::Warning { .. }) {
            return (!matches!(outcome, Outcome::Error { .. })).then_some(ProbeResult::Failure);
        }
        if !matches!(outcome, Outcome::Error { .. }) {
            worker.end_errors();
        }
        let (reason, what, text, result): (_, _, &[u8], _) = match &outcome {
            Outcome::Success | Outcome::Unknown => return Some(ProbeResult::Failure),
            Outcome::Warning { output } => (Reason::ProbeWarning, "warning", output, Some(ProbeResult::Success)),
            Outcome::Failure { output } => (Reason::Unhealthy, "failed", output, Some(ProbeResult::Failure)),
            Outcome::Error { failure, error, kind } => {
                let what = if *failure { ERRORED_AND_FAILED } else { ERRORED };
                (Reason::Unhealthy, what, error.as_bytes(), worker.count_error(*kind))
            }
        };
        let title = worker.probe_type.title();
        let message = [format!("{title} probe {what}: ").as_bytes(), text].concat();
        let streak = (result == Some(ProbeResult::Failure)).then(|| self.workers[id].streak_with_one_more());
        self.push_event(id, reason, message, streak);
        result
    }

    fn push_event(&mut self, id: WorkerId, reason: Reason, message: Vec<u8>, streak: Option<Streak>) {
        let worker = &self.workers[id];
        self.outputs.push_back(Output::Event(Event {
            pod_uid: Arc::clone(&worker.object.uid),
            field_path: worker.object.field_path(worker.container as usize).into(),
            reason,
            message: message.into(),
            streak,
        }));
    }

    /// D11 to D13: counts the run. At its threshold, publishes the result and may put the worker on hold.
    fn publish_at_threshold(&mut self, id: WorkerId, result: ProbeResult, now: Instant) {
        let worker = &mut self.workers[id];
        if !worker.count_run(result, now) {
            return;
        }
        if worker.holds_after(result, &self.semantics) {
            worker.on_hold = true;
            worker.result_run = 0;
            worker.forget_window();
        }
        self.set_result(id, result);
    }
}

const ERRORED_AND_FAILED: &str = "errored and resulted in failure state";
const ERRORED: &str = "errored and resulted in unknown state";

/// How many attempts a run makes while each ends in a prober error (prober.go:maxProbeRetries, 1.36).
pub const ATTEMPTS_PER_RUN: u8 = 3;
