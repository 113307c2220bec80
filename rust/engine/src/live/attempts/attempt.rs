//! One attempt of a live worker, from its start to the values that the core, the status and the metrics get.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::options::ErrorKind;
use probelet_core::prober::{Attempt, Outcome, WorkerId};
use probelet_core::time::Instant;
use probelet_play::cause::Cause;
use probelet_play::history::{OutcomeKind, shown};

use super::plan::Plan;
use crate::attempt::report::Report;
use crate::attempt::starvation::{Spent, Starving};
use crate::net::connect::Ahead;
use crate::stats::LastAttempt;

/// Identifies an attempt.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Ticket {
    pub(in super::super) worker: WorkerId,
    pub(in super::super) run: u32,
    pub(in super::super) scheduled: Instant,
}

impl Ticket {
    pub(in super::super) const fn of(attempt: &Attempt) -> Self {
        Self { worker: attempt.worker, run: attempt.run, scheduled: attempt.scheduled }
    }
}

/// An attempt over a socket that is about to begin.
#[derive(Debug)]
pub(in super::super) struct Start {
    pub(in super::super) ticket: Ticket,
    pub(in super::super) plan: Arc<Plan>,
    /// The attempt's connection, if it was asked for ahead, and when.
    pub(in super::super) ahead: Option<(Ahead, Instant)>,
}

impl Start {
    /// Asks for the attempt's connection now; false if there is none to wait beside. Only the address of an ordinary HTTP
    /// probe is known without asking anybody.
    pub(in super::super) fn connect(&mut self, now: Instant) -> bool {
        let ahead = self.plan.plain.as_ref().map(|plain| Ahead::to(plain.address));
        let is_asked_for = ahead.as_ref().is_some_and(|ahead| ahead.connection.is_ok());
        self.ahead = ahead.map(|ahead| (ahead, now));
        is_asked_for
    }
}

/// An attempt that is over.
#[derive(Debug)]
pub(in super::super) struct EndedAttempt {
    pub(in super::super) ticket: Ticket,
    /// When the attempt's time began: when it might send.
    pub(in super::super) began: Instant,
    /// How long the attempt's connection waited for others before that.
    pub(in super::super) held: Duration,
    pub(in super::super) spent: Spent,
    pub(in super::super) report: Report,
}

impl EndedAttempt {
    /// The end of an attempt that a panic cut short: a prober error, as the kubelet swallows it (worker.go:doProbe,
    /// 1.36).
    pub(in super::super) fn of_panic(ticket: Ticket, what: &str, now: Instant) -> Self {
        let outcome = Outcome::Error { failure: false, error: what.into(), kind: ErrorKind::Own };
        let report = Report::new(outcome, Cause::Request);
        Self { ticket, began: now, held: Duration::ZERO, spent: ELSEWHERE, report }
    }

    /// Decides whether the prober itself caused the failure.
    pub(in super::super) fn judge(&mut self, law: &Starving) {
        let Report { outcome, cause, .. } = &mut self.report;
        *cause = law.cause(*cause, self.spent);
        if *cause == Cause::Starved {
            *outcome = law.outcome(*cause, std::mem::replace(outcome, Outcome::Unknown));
        }
    }

    pub(in super::super) const fn is_success(&self) -> bool {
        matches!(self.report.outcome, Outcome::Success | Outcome::Warning { .. })
    }

    pub(in super::super) fn last_attempt(&self, now: Instant, wall_ms: i64) -> LastAttempt {
        let message = match &self.report.outcome {
            Outcome::Success | Outcome::Unknown => Box::default(),
            Outcome::Warning { output } | Outcome::Failure { output } => shown(output),
            Outcome::Error { error, .. } => shown(error.as_bytes()),
        };
        LastAttempt {
            at_ms: wall_ms,
            outcome: OutcomeKind::of(&self.report.outcome),
            cause: self.report.cause,
            message,
            duration: now.since(self.began),
            lateness: self.began.since(self.ticket.scheduled),
            overdue: self.spent.overdue,
            timings: self.report.timings,
        }
    }
}

/// The time of an attempt whose deadline another thread or process keeps.
pub(in super::super) const ELSEWHERE: Spent =
    Spent { timeout: Duration::ZERO, took: Duration::ZERO, overdue: Duration::ZERO };
