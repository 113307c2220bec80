//! Where the prober's outputs go: to Python, to the tasks, into the statistics.

use std::sync::Arc;

use probelet_core::prober::{Output, WorkerId};
use probelet_core::time::{Instant, WallOffset};

use super::attempts::{How, Start, Ticket};
use super::exec::ExecAttempt;
use super::state::{Shared, State};
#[cfg(test)]
use super::tests::trap::Moment;
use crate::prefetch::prefetch;

impl State {
    /// Hands out every output that waits. Posts the batch under the state's lock, so that Python reads the later of two
    /// results last, whichever thread hands them out. Until then the batch is part of the state, so that a panic in
    /// between does not lose it.
    pub(super) fn hand_out_all(&mut self, shared: &Shared, now: Instant, wall: WallOffset) {
        while let Some(output) = self.manager.poll_output() {
            self.hand_out(output, shared, now, wall);
            #[cfg(test)]
            shared.trap.spring(Moment::HandingOut, || !self.planned.is_empty() && !self.outgoing.execs.is_empty());
        }
        self.make_starts();
        self.outgoing.notices.extend(self.starvation_log.say(now));
        self.outgoing.answers.extend(shared.suspects.take());
        shared.mailbox.post(std::mem::take(&mut self.outgoing));
    }

    /// Makes the attempts over a socket, once the memory of their plans has come, and asks for the results that they will
    /// replace.
    fn make_starts(&mut self) {
        for ticket in self.planned.drain(..) {
            if let Some(result) = self.manager.prober().result_place(ticket.worker) {
                prefetch(result);
            }
            if let Some(plan) = self.plans.get(ticket.worker) {
                plan.prefetch_request();
                self.engine_stats.count_start();
                self.starts.push(Start { ticket, plan: Arc::clone(plan), ahead: None });
            }
        }
    }

    fn hand_out(&mut self, output: Output, shared: &Shared, now: Instant, wall: WallOffset) {
        let batch = &mut self.outgoing;
        match output {
            Output::Attempt(attempt) => {
                let prober = self.manager.prober();
                let ticket = Ticket::of(&attempt);
                match self.plans.of(attempt.worker, prober, &shared.user_agent) {
                    None => {}
                    Some(How::Exec) => {
                        let target = prober.target(attempt.worker).expect("it has a plan");
                        self.engine_stats.count_start();
                        self.next_exec += 1;
                        let exec = ExecAttempt {
                            id: self.next_exec,
                            pod: Arc::clone(target.pod),
                            container: target.container_index,
                            probe_type: target.probe_type,
                            container_id: target.container_id.into(),
                            due: attempt.scheduled,
                            refusal: None,
                        };
                        if let Err(exec) = self.direct.take(ticket, exec) {
                            self.give_to_python(ticket, now, exec);
                        }
                    }
                    Some(How::Socket(plan)) => {
                        prefetch(&**plan);
                        self.worker_stats.expect(attempt.worker);
                        self.planned.push(ticket);
                    }
                }
            }
            Output::Event(event) => batch.push_event(wall.wall_ms(now), event),
            Output::RunFinished { worker, result, started } => {
                if let Some(probe_type) = self.worker_stats.count(worker, result, now.since(started)) {
                    self.engine_stats.count_run(probe_type, result);
                }
            }
            Output::Sync { pod_uid } => batch.push_sync(pod_uid),
            Output::Timer { token } => batch.timers.push(token),
            Output::Update(update) => {
                if let Some(recorder) = &mut self.recorder {
                    recorder.result(&update, now);
                }
                batch.push_update(update.into());
            }
            Output::ProbeChanged { worker } => self.probe_changed(worker),
            Output::Removed(removal) => batch.push_update(removal.into()),
            Output::WorkerEnded { worker } => {
                if let Some(row) = self.worker_stats.row(worker).filter(|_| shared.journal.is_some()) {
                    self.gone.insert(row.key());
                }
                self.worker_stats.close(worker);
                self.plans.close(worker);
                if let Some(recorder) = &mut self.recorder {
                    recorder.worker_ended(worker, now);
                }
            }
            Output::WorkerStarted { worker } => self.worker_started(worker),
            Output::Record(_) | Output::StatusStored { .. } | Output::StatusUpdated { .. } => {
                debug_assert!(false, "a live engine records nothing");
            }
        }
    }

    fn worker_started(&mut self, worker: WorkerId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.worker_started(worker);
        }
        if let Some(target) = self.manager.prober().target(worker) {
            self.worker_stats.open(worker, &target);
        }
    }

    fn probe_changed(&mut self, worker: WorkerId) {
        if let Some(target) = self.manager.prober().target(worker) {
            self.worker_stats.change(worker, &target);
        }
    }
}
