//! One run: the ordered decision table (kubelet prober/worker.go:doProbe, 1.36). The first rule that matches decides.
//!
//! | rule | test | publishes | then |
//! |---|---|---|---|
//! | D1 | the pod has no status | | continue |
//! | D2 | phase Failed or Succeeded | | stop |
//! | D3 | no status of that container with an ID | | continue |
//! | D4 | another container ID than before | removes the old, sets the initial value | go on |
//! | D5 | on hold | | continue |
//! | D6 | not running | Failure, or Unknown ([`Semantics::liveness_not_running`]) | continue if it would be restarted, else stop |
//! | D7 | being deleted, liveness ([`Semantics::deletion_ends_liveness`]) or startup | Success | stop |
//! | D8 | initial delay not over | | continue |
//! | D9 | started and startup; not started and not startup | | continue |
//! | | paused by a caller | | continue |
//! | D10 | otherwise | | probe |
//!
//! [`Semantics::liveness_not_running`]: crate::semantics::Semantics::liveness_not_running
//! [`Semantics::deletion_ends_liveness`]: crate::semantics::Semantics::deletion_ends_liveness
//!
//! The rest of the table (D11 counting, D12 thresholds, D13 publishing and hold) follows the end of the attempt.

use super::model::view::{Seen, View};
use super::model::worker::{Worker, WorkerPhase};
use super::output::{Attempt, Output, WorkerId};
use super::state::Prober;
use crate::podstatus::{PodStatus, State};
use crate::restart::RestartPolicy;
use crate::results::ProbeResult;
use crate::semantics::{FirstPublish, NewContainer, NotRunning};
use crate::spec::{PodSpec, ProbeType};
use crate::time::Instant;

enum Verdict {
    Continue,
    Probe,
    Stop,
}

impl Prober {
    /// Makes one pass of the worker at `now`; the pass was due at `scheduled`.
    pub(super) fn run(&mut self, id: WorkerId, scheduled: Instant, now: Instant) {
        match self.judge(id, now) {
            Verdict::Continue => self.rest(id, now),
            Verdict::Stop => self.end_worker(id),
            Verdict::Probe => {
                let worker = &mut self.workers[id];
                worker.phase = WorkerPhase::InFlight { attempt: 1 };
                worker.run = worker.run.wrapping_add(1);
                worker.run_started = now;
                worker.take_phase(self.phasing, now);
                let run = worker.run;
                // As a Go ticker, which takes its next place when it fires: of two workers whose ticks fall together,
                // the same one stays first, however long its runs take.
                self.arm_tick(id);
                self.touch_if_in_doubt(id);
                self.outputs.push_back(Output::Attempt(Attempt { worker: id, run, attempt: 1, scheduled }));
            }
        }
    }

    fn judge(&mut self, id: WorkerId, now: Instant) -> Verdict {
        let worker = &self.workers[id];
        let seen = match worker.view {
            View::NoStatus => return Verdict::Continue,    // D1
            View::Terminal => return Verdict::Stop,        // D2
            View::NoContainer => return Verdict::Continue, // D3
            View::Container(seen) => seen,
        };
        let replaced = !seen.well_formed || worker.container_key != Some(seen.key);
        if replaced {
            self.adopt(id, seen); // D4
        }
        let worker = &self.workers[id];
        if worker.on_hold {
            return Verdict::Continue; // D5
        }
        let State::Running { started_at_ms } = seen.state else {
            return self.judge_not_running(id, seen.state); // D6
        };
        let ends = match worker.probe_type {
            ProbeType::Liveness => self.semantics.deletion_ends_liveness,
            ProbeType::Readiness => false,
            ProbeType::Startup => true,
        };
        if worker.deleting && ends {
            self.set_result(id, ProbeResult::Success);
            return Verdict::Stop; // D7
        }
        let running_for = self.wall.seconds_since(started_at_ms.unwrap_or(ZERO_TIME_MS), now);
        if running_for < i64::from(worker.initial_delay_seconds) {
            if worker.opted.is_some() {
                self.workers[id].look_after_delay(started_at_ms.unwrap_or(ZERO_TIME_MS), self.wall);
            }
            return Verdict::Continue; // D8
        }
        if seen.started == (worker.probe_type == ProbeType::Startup) {
            return Verdict::Continue; // D9
        }
        if worker.has_pause && self.is_paused(worker, now) {
            return Verdict::Continue;
        }
        Verdict::Probe // D10
    }

    fn is_paused(&self, worker: &Worker, now: Instant) -> bool {
        let pause = self.pods[worker.pod].pause(worker.container_name(), worker.probe_type);
        pause.is_some_and(|pause| pause.until > now)
    }

    /// D4: takes on a container that is new to this worker. In the kubelet `result_run` and `last_result` stay.
    pub(super) fn adopt(&mut self, id: WorkerId, seen: Seen) {
        let old = self.workers[id].container_key.take();
        if let Some(old) = old {
            self.remove_result(id, old);
            self.results.release(old);
        }
        self.results.hold_again(seen.key);
        let worker = &mut self.workers[id];
        worker.container_key = Some(seen.key);
        worker.on_hold = false;
        worker.take_delay();
        if self.semantics.new_container == NewContainer::DropsRuns {
            worker.result_run = 0;
        }
        worker.begin_initialization();
        self.touch(id);
        if old.is_none() && self.remember(id, seen) {
            return;
        }
        let worker = &self.workers[id];
        let sidecar = worker.object.is_sidecar(worker.container as usize);
        let started_sidecar = sidecar && worker.probe_type == ProbeType::Startup && seen.started;
        let initial = worker.initial_value(self.semantics.liveness_start);
        let first_publish = self.semantics.first_publish;
        if first_publish == FirstPublish::NothingButStartedSidecars && started_sidecar {
            self.set_result(id, ProbeResult::Success);
        }
        if first_publish == FirstPublish::Initial || !self.is_preexisting(seen.state) {
            self.set_result(id, initial);
        }
    }

    /// Whether a container was running long before this prober started (worker.go:doProbe, 1.36).
    pub(super) fn is_preexisting(&self, state: State) -> bool {
        match state {
            State::Running { started_at_ms: Some(at) } => at < self.started_wall_ms - PREEXISTING_GRACE_MS,
            _ => false,
        }
    }

    fn judge_not_running(&mut self, id: WorkerId, state: State) -> Verdict {
        let key = self.workers[id].container_key;
        if key.is_some_and(|key| !self.results.is_empty(key)) {
            let reports_unknown = self.workers[id].probe_type == ProbeType::Liveness
                && self.semantics.liveness_not_running == NotRunning::Unknown;
            self.set_result(id, if reports_unknown { ProbeResult::Unknown } else { ProbeResult::Failure });
        }
        let State::Terminated { exit_code } = state else {
            return Verdict::Continue;
        };
        let worker = &self.workers[id];
        let (pod, index) = (&worker.object, worker.container as usize);
        let restarts = if self.semantics.restart_rules {
            let status = self.pods[worker.pod].status.as_ref().expect("D1 continues without a status");
            let all = self.semantics.restart_all_containers;
            pod.restart_of(index).after_exit(exit_code, all) || all && restarts_all_containers(pod, status)
        } else {
            pod.restart_policy != RestartPolicy::Never || pod.is_sidecar(index)
        };
        if restarts { Verdict::Continue } else { Verdict::Stop }
    }
}

/// Whether a restart of all the pod's containers is due (kubelet container/helpers.go, 1.36; KEP-5532).
fn restarts_all_containers(pod: &PodSpec, status: &PodStatus) -> bool {
    status.all_containers_restarting
        || status.containers.iter().any(|container| {
            let State::Terminated { exit_code } = container.state else {
                return false;
            };
            pod.index_of(&container.name).is_some_and(|index| pod.restart_of(index).restarts_all(exit_code))
        })
}

/// A container that started earlier than this before the prober counts as running before it (prober_manager.go, 1.36).
const PREEXISTING_GRACE_MS: i64 = 10_000;
/// Go's zero `time.Time`, year 1: a running container without `startedAt` has been running for ever.
const ZERO_TIME_MS: i64 = -62_135_596_800_000;
