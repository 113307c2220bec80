//! One attempt of a live worker, from its start to what the core, the status and the metrics hear of it.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::{Attempt, AttemptTarget, Outcome, WorkerId};
use probelet_core::semantics::GrpcConnect;
use probelet_core::spec::{PodSpec, ProbeType};
use probelet_core::time::Instant;

use super::pool::Crew;
use super::{ExecEnd, ExecFlight};
use crate::attempt::cause::Cause;
use crate::attempt::starvation::{Spent, Starving};
use crate::attempt::timings::Phases;
use crate::handler::{Asker, Scratch};
use crate::stats::worker::LastRun;

/// Which attempt it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    worker: WorkerId,
    run: u32,
    scheduled: Instant,
}

/// An attempt that is about to begin. It owns what it needs: the worker may be told to stop meanwhile.
#[derive(Debug)]
pub(crate) struct Start {
    ticket: Ticket,
    pod: Arc<PodSpec>,
    container: usize,
    probe_type: ProbeType,
    pod_ip: Option<Arc<str>>,
    user_agent: Arc<str>,
    grpc_connect: GrpcConnect,
}

impl Start {
    pub(crate) fn of(attempt: Attempt, target: &AttemptTarget<'_>, user_agent: &Arc<str>) -> Self {
        let Attempt { worker, run, scheduled, .. } = attempt;
        Self {
            ticket: Ticket { worker, run, scheduled },
            pod: Arc::clone(target.pod),
            container: target.container_index,
            probe_type: target.probe_type,
            pod_ip: target.pod_ip.map(Arc::clone),
            user_agent: Arc::clone(user_agent),
            grpc_connect: target.grpc_connect,
        }
    }

    pub(crate) const fn ticket(&self) -> Ticket {
        self.ticket
    }
}

/// An attempt that is over.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) worker: WorkerId,
    pub(crate) run: u32,
    pub(crate) scheduled: Instant,
    pub(crate) began: Instant,
    pub(crate) spent: Spent,
    pub(crate) outcome: Outcome,
    pub(crate) cause: Cause,
    pub(crate) phases: Phases,
}

impl Ended {
    pub(crate) fn of_exec(flight: ExecFlight, end: ExecEnd) -> Self {
        let (outcome, cause) = match end {
            ExecEnd::Exit { code: 0, .. } => (Outcome::Success, Cause::Ok),
            ExecEnd::Exit { output, .. } => (Outcome::Failure { output }, Cause::ExecExit),
            ExecEnd::Starved(output) => (Outcome::Failure { output }, Cause::Starved),
            ExecEnd::Timeout(output) => (Outcome::Failure { output }, Cause::ExecTimeout),
            ExecEnd::Error(error) => (Outcome::Error { failure: false, error }, Cause::Cri),
        };
        let ExecFlight { worker, run, scheduled, began } = flight;
        Self { worker, run, scheduled, began, spent: ELSEWHERE, outcome, cause, phases: Phases::default() }
    }

    /// What an attempt comes to whose code panics: a prober error, as the kubelet swallows it (worker.go:doProbe, 1.36).
    pub(crate) fn of_panic(ticket: Ticket, now: Instant) -> Self {
        Self {
            worker: ticket.worker,
            run: ticket.run,
            scheduled: ticket.scheduled,
            began: now,
            spent: ELSEWHERE,
            outcome: Outcome::Error { failure: false, error: "the probe's handler panicked".into() },
            cause: Cause::Request,
            phases: Phases::default(),
        }
    }

    /// Says whose fault it is.
    pub(crate) fn judge(&mut self, law: &Starving) {
        self.cause = law.cause(self.cause, self.spent);
        if self.cause == Cause::Starved {
            self.outcome = law.outcome(self.cause, std::mem::replace(&mut self.outcome, Outcome::Unknown));
        }
    }

    pub(crate) const fn is_success(&self) -> bool {
        matches!(self.outcome, Outcome::Success | Outcome::Warning { .. })
    }

    pub(crate) fn last_run(&self, now: Instant, wall_ms: i64) -> LastRun {
        let (outcome, message) = match &self.outcome {
            Outcome::Success => ("success", Box::default()),
            Outcome::Warning { output } => ("warning", shown(output)),
            Outcome::Failure { output } => ("failure", shown(output)),
            Outcome::Error { error, .. } => ("error", shown(error.as_bytes())),
            Outcome::Unknown => ("failure", Box::default()),
        };
        LastRun {
            at_ms: wall_ms,
            outcome,
            cause: self.cause,
            message,
            duration: now.since(self.began),
            lateness: self.began.since(self.scheduled),
            overdue: self.spent.overdue,
            phases: self.phases,
        }
    }
}

/// Carries out an attempt over a socket.
pub(crate) async fn perform(start: Start, scratch: &mut Scratch, crew: &Crew) -> Ended {
    let Ticket { worker, run, scheduled } = start.ticket;
    let began = crew.clock.now();
    let overdue = crew.overdue(began);
    let container = &start.pod.containers[start.container];
    let probe = container.probe(start.probe_type).expect("it made the worker");
    let asker = Asker { user_agent: &start.user_agent, grpc_connect: start.grpc_connect };
    let pod_ip = start.pod_ip.as_deref().unwrap_or_default();
    let (outcome, cause, phases) =
        crate::handler::attempt(&probe.handler, &container.ports, pod_ip, asker, probe.timeout_seconds, scratch).await;
    let over = crew.clock.now();
    let spent = Spent {
        timeout: Duration::from_secs(u64::try_from(probe.timeout_seconds).unwrap_or(0)),
        took: over.since(began),
        overdue: crew.overdue(over).saturating_sub(overdue),
    };
    Ended { worker, run, scheduled, began, spent, outcome, cause, phases }
}

/// The start of an output, as text: what a person reads in a status.
fn shown(output: &[u8]) -> Box<str> {
    String::from_utf8_lossy(&output[..output.len().min(SHOWN_BYTES)]).into()
}

/// Of an attempt whose deadline is not this thread's.
const ELSEWHERE: Spent = Spent { timeout: Duration::ZERO, took: Duration::ZERO, overdue: Duration::ZERO };
/// Bytes of a message that the status keeps per worker; the event has all of it.
const SHOWN_BYTES: usize = 256;
