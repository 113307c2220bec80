//! The state that the engine's thread and its callers share.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use probelet_core::prober::{Outcome, WorkerId};
use probelet_core::status::StatusManager;
use probelet_core::time::Instant;
use probelet_play::cause::Cause;
use probelet_play::recording::Note;
use tokio::sync::Notify;

use super::attempts::{EndedAttempt, PlanTable, Start, Ticket};
use super::batch::{Batch, Notice};
use super::direct::{DirectExecs, HelperClient, LoopTime};
use super::exec::{ExecAttempt, ExecFlight};
use super::flight_recorder::FlightRecorder;
use super::journal::{Gone, JournalSync};
use super::mailbox::Mailbox;
use super::starvation_log::StarvationLog;
use super::suspects::SuspectAddresses;
#[cfg(test)]
use super::tests::trap::Trap;
use super::time::clock::Clock;
use super::time::wake_up::CallerTimers;
use super::turn::Turn;
use crate::attempt::starvation::Starving;
use crate::net::namespace::SocketMaker;
use crate::stats::engine::EngineStats;
use crate::stats::worker::StatsTable;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) state: Mutex<State>,
    pub(super) mailbox: Mailbox,
    pub(super) suspects: Arc<SuspectAddresses>,
    /// Only the engine's thread locks the journal, and it does so before it locks the state.
    pub(super) journal: Option<Mutex<JournalSync>>,
    /// Rung when a caller has changed the state or closes the engine.
    pub(super) bell: Notify,
    pub(super) closing: AtomicBool,
    pub(super) user_agent: Arc<str>,
    pub(super) starving: Starving,
    /// How late a probe may begin so that it shares a wake-up with others.
    pub(super) wake_slack: Duration,
    /// Whether a flight recorder notes what happens. It never changes, so callers read it without the lock.
    pub(super) is_recording: bool,
    /// Makes sockets in the network namespaces of pods. Started for the first of them; most nodes need none.
    pub(super) socket_maker: Mutex<Option<SocketMaker>>,
    #[cfg(test)]
    pub(super) trap: Trap,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) manager: StatusManager,
    pub(super) worker_stats: StatsTable,
    pub(super) plans: PlanTable,
    pub(super) engine_stats: EngineStats,
    pub(super) starvation_log: StarvationLog,
    /// Outputs that were handed out and not yet posted.
    pub(super) outgoing: Batch,
    /// Whether somebody reads the turns of a batch.
    pub(super) watches_turns: bool,
    pub(super) execs: HashMap<u64, ExecFlight>,
    pub(super) next_exec: u64,
    /// Exec attempts that need no Python.
    pub(super) direct: DirectExecs,
    /// Attempts over a socket whose plans were asked for.
    pub(super) planned: Vec<Ticket>,
    /// Attempts over a socket that are to begin. Only the engine's thread can begin them.
    pub(super) starts: Vec<Start>,
    /// When that thread wakes by itself; None: only when its bell rings.
    pub(super) looks_at: Option<Instant>,
    pub(super) caller_timers: CallerTimers,
    /// Workers that have ended since the journal last took changes.
    pub(super) gone: Gone,
    /// Tokens of callers that wait for the journal since the engine's last turn.
    pub(super) journal_tokens: Vec<u64>,
    /// What the flight recorder has not written yet. Boxed, because most engines have none.
    pub(super) recorder: Option<Box<FlightRecorder>>,
}

impl Shared {
    /// Ignores poisoning: the loop recovers after a panic, and going on is better than a node without a prober.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lock_journal(&self) -> Option<MutexGuard<'_, JournalSync>> {
        self.journal.as_ref().map(|journal| journal.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    pub(super) fn is_due_before_the_thread_looks(&mut self) -> bool {
        let next = self.manager.prober_mut().next_deadline();
        let starts = !self.starts.is_empty() || !self.direct.starts.is_empty();
        starts || next.is_some_and(|next| self.looks_at.is_none_or(|looks_at| next < looks_at))
    }

    /// Notes a call that a pod's owner is about to make.
    pub(super) fn note(&mut self, note: Option<Note>) {
        if let (Some(recorder), Some(note)) = (&mut self.recorder, note) {
            recorder.note(note);
        }
    }

    /// Ends every attempt over a socket as a prober error, because after a panic of the loop no task carries it out any
    /// more, and the attempts of the helper, whose client is gone. Other exec attempts stay with Python, or on their way to
    /// it. Takes up workers that the panic stopped halfway.
    pub(super) fn recover(&mut self, law: &Starving, now: Instant, wall_ms: i64) {
        self.planned.clear();
        self.starts.clear();
        self.outgoing.entered.extend(self.direct.recover());
        let execs: HashSet<WorkerId> = self.execs.values().map(|flight| flight.ticket.worker).collect();
        let in_flight: Vec<(WorkerId, u32)> = self.manager.prober().in_flight().collect();
        for (worker, run) in in_flight.into_iter().filter(|(worker, _)| !execs.contains(worker)) {
            let ticket = Ticket { worker, run, scheduled: now };
            self.finish(EndedAttempt::of_panic(ticket, "the prober's own loop panicked", now), law, now, wall_ms);
        }
        self.engine_stats.in_flight = self.execs.len() as u64;
        self.manager.prober_mut().take_up_stranded(now);
    }

    /// Counts an attempt that has ended, stores it as its worker's latest, and gives its outcome to the core.
    pub(super) fn finish(&mut self, mut ended: EndedAttempt, law: &Starving, now: Instant, wall_ms: i64) {
        ended.judge(law);
        if let Some(row) = self.worker_stats.row(ended.ticket.worker).filter(|_| ended.report.cause == Cause::Starved) {
            self.starvation_log.note(&ended, row);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.attempt(&ended, now);
        }
        let outcome: Outcome = ended.report.outcome.clone();
        let (lateness, took) = (ended.began.since(ended.ticket.scheduled), now.since(ended.began));
        self.engine_stats.count_attempt(ended.report.cause, ended.is_success(), lateness, took);
        let worker = ended.ticket.worker;
        let is_turn = self.worker_stats.remember(worker, ended.last_attempt(now, wall_ms), ended.held);
        if is_turn && self.watches_turns {
            let (row, last) = (self.worker_stats.row(worker), self.worker_stats.last(worker));
            self.outgoing.push_turn(row.zip(last).map(|(row, last)| Turn::of(row, last)));
        }
        self.manager.prober_mut().handle_attempt(ended.ticket.worker, ended.ticket.run, outcome, now);
    }

    /// Takes what the helper's client has brought: attempts that have ended, attempts for Python, lines for the log.
    pub(super) fn take_from_helper(&mut self, client: &mut HelperClient, law: &Starving, time: LoopTime, wall_ms: i64) {
        client.follow(&mut self.direct, time);
        self.direct.in_flight -= (client.ended.len() + client.refused.len()) as u64;
        self.direct.attempts += client.ended.len() as u64;
        for ended in client.ended.drain(..) {
            self.finish(ended, law, time.now, wall_ms);
        }
        for (ticket, began, exec) in client.refused.drain(..) {
            self.give_to_python(ticket, began, exec);
        }
        for entered in client.entered.drain(..) {
            if entered.is_over {
                self.direct.entered.remove(&entered.id);
            }
            self.outgoing.entered.push(entered);
        }
        self.outgoing.notices.extend(client.notices.drain(..).map(Notice::warning));
    }

    /// Python carries out an exec attempt that began at `began`.
    pub(super) fn give_to_python(&mut self, ticket: Ticket, began: Instant, exec: ExecAttempt) {
        self.execs.insert(exec.id, ExecFlight { ticket, began });
        self.outgoing.execs.push(exec);
    }
}
