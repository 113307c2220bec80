//! A pod in virtual time: the production core, the recorded calls, and recorded or assumed answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::{Attempt, Output, Prober, Settings, Update};
use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use probelet_core::status::StatusManager;
use probelet_core::time::{Instant, WallOffset};

use super::answers::{Answers, Question, SAME};
use super::change::{Change, changed};
use super::lives::{Kill, Lives};
use crate::cause::Cause;
use crate::recording::{End, Input, PauseRecord, PodLog, PodRecord, PodState, Published, Start, StatusRecord};
use crate::worker_record::WorkerKey;

/// What is played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script<'a> {
    pub(super) start: &'a Start,
    pub(super) log: &'a PodLog,
    pub(super) changes: &'a [Change],
    pub(super) lives: &'a Lives,
    /// The verdicts that really ended containers.
    pub(super) kills: &'a [Kill],
    pub(super) end_us: u64,
}

/// A play under way.
#[derive(Clone, Debug)]
pub(super) struct Player<'a> {
    script: Script<'a>,
    manager: StatusManager,
    now: Instant,
    /// Attempts on their way, by their ends and then in the order in which they began.
    flights: BTreeMap<(Instant, u64), Flight>,
    launched: u64,
    pub(super) answers: Answers<'a>,
    /// What the last call said of the containers.
    facts: Option<&'a StatusRecord>,
    /// Whether the last sync was one of a pod that is not ending.
    is_synced: bool,
    /// When the recording ends; never for a container that is taken to live on.
    end_us: u64,
    /// Whether a result asks for a sync that nobody made in reality.
    wants_sync: bool,
    pub(super) published: Vec<Published>,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    worker: u32,
    run: u32,
    end: End,
    cause: Cause,
}

impl<'a> Player<'a> {
    pub(super) fn new(script: Script<'a>, answers: Answers<'a>) -> Self {
        let start = script.start;
        let settings = Settings {
            semantics: start.semantics,
            seed: 0,
            wall: WallOffset(start.wall_ns),
            // The recording says when each worker began.
            start_jitter: false,
            phasing: start.phasing,
            extra_runs_per_second: 0,
            record: false,
        };
        let prober = Prober::new(settings, at(start.started_us));
        let mut player = Self {
            script,
            manager: StatusManager::new(prober, start.glue),
            now: at(script.log.from_us),
            flights: BTreeMap::new(),
            launched: 0,
            answers,
            facts: None,
            is_synced: false,
            end_us: script.end_us,
            wants_sync: false,
            published: Vec::new(),
        };
        match &script.log.state {
            Some(state) => player.restore(state),
            None => player.define(&script.log.record),
        }
        player
    }

    /// Begins in the middle of a pod's life.
    fn restore(&mut self, state: &'a PodState) {
        let uid = &*state.record.uid;
        self.define(&state.record);
        if state.is_supplied {
            self.manager.supply(uid);
        }
        if let Some(status) = &state.status {
            self.prober().set_pod_status(uid, status.to_status());
        }
        (self.facts, self.is_synced) = (state.facts.as_ref(), !state.is_supplied);
        let wall = WallOffset(self.script.start.wall_ns);
        for worker in &state.workers {
            let (pod_uid, container) = (uid.into(), worker.container.clone());
            let key = WorkerKey { pod_uid, container, probe_type: worker.probe_type };
            if let Some(memory) = &worker.memory {
                self.prober().recall(memory.to_memory(&key, wall));
            }
        }
        if !state.workers.is_empty() {
            self.prober().add_pod(uid);
        }
        let has_gates = state.workers.iter().any(|worker| worker.probe_type != ProbeType::Readiness);
        let should = state.record.containers.iter().any(|it| it.probes[0].is_some() || it.probes[2].is_some());
        if should && !has_gates {
            // The pod was ending.
            self.prober().stop_liveness_and_startup(uid);
        }
    }

    const fn prober(&mut self) -> &mut Prober {
        self.manager.prober_mut()
    }

    fn uid(&self) -> &'a str {
        &self.script.log.record.uid
    }

    fn define(&mut self, record: &PodRecord) {
        let spec = changed(record, self.script.changes).to_spec();
        self.prober().define_pod(Arc::new(spec));
    }

    /// Applies a call.
    pub(super) fn apply(&mut self, input: &'a Input) {
        let uid = self.uid();
        if let Some(facts) = input.facts() {
            self.facts = Some(facts);
            self.is_synced = matches!(input, Input::Sync(_) | Input::SetStatus(_));
        }
        match input {
            Input::Add => drop(self.prober().add_pod(uid)),
            Input::ChangeProbes => drop(self.prober().change_probes(uid)),
            Input::Define(record) => self.define(record),
            Input::Forget => self.manager.forget_pod(uid),
            Input::Remove => self.prober().remove_pod(uid),
            Input::RemoveStatus => self.prober().remove_pod_status(uid),
            Input::SetStatus(status) => self.prober().set_pod_status(uid, status.to_status()),
            Input::StopLivenessAndStartup => self.prober().stop_liveness_and_startup(uid),
            Input::Sync(facts) => drop(self.manager.sync_pod(uid, facts.to_status())),
            Input::SyncTerminated(facts) => drop(self.manager.sync_terminated_pod(uid, facts.to_status())),
            Input::SyncTerminating(facts) => drop(self.manager.sync_terminating_pod(uid, facts.to_status())),
            Input::Take => {
                self.manager.supply(uid);
                self.prober().add_pod(uid);
            }
            Input::TakeStatus(status) => {
                self.manager.supply(uid);
                self.prober().set_pod_status(uid, status.to_status());
            }
            Input::Update(status) => self.prober().update_pod_status(uid, &mut status.to_status()),
            Input::Pause(PauseRecord { container, probe_type, until_us }) => {
                let now = self.now;
                self.prober().pause(uid, container, *probe_type, at(*until_us), now);
            }
            Input::Recheck(container) => drop(self.prober().recheck(uid, container)),
        }
    }

    /// The wall clock's offset changes.
    pub(super) fn set_wall(&mut self, wall_ns: i64) {
        self.prober().handle_wall_offset(WallOffset(wall_ns));
    }

    /// A worker that begins now makes its first run at its tick.
    pub(super) fn expect(&mut self, container: &str, probe_type: ProbeType, tick_us: u64) {
        let uid = self.uid();
        self.prober().expect_first_run(uid, container, probe_type, at(tick_us));
    }

    /// Plays on until a call at `at_us`. The engine's last turn before was at `turned_us`: what was due later was done
    /// after the call, because the engine came to it late. Only attempts that Python carries out end between turns.
    pub(super) fn play_until(&mut self, turned_us: u64, at_us: u64) {
        let (turned, end) = (at(turned_us.min(at_us)), at(at_us));
        loop {
            let tick = self.prober().next_deadline().filter(|tick| *tick <= turned);
            let flight = self.flights.first_key_value().map(|((ends, _), _)| *ends).filter(|ends| *ends < end);
            let Some(next) = tick.into_iter().chain(flight).min() else { break };
            self.now = self.now.max(next);
            if next <= turned {
                self.settle();
            } else {
                self.end_attempts();
                self.drain();
            }
        }
        self.now = self.now.max(end);
    }

    /// Does what is due now. Calls of this moment come before attempts that end in it, as in the engine.
    pub(super) fn settle(&mut self) {
        self.end_attempts();
        loop {
            while self.manager.step(self.now) {
                self.drain();
            }
            self.drain();
            if !std::mem::take(&mut self.wants_sync) {
                return;
            }
            let uid = self.uid();
            if let Some(facts) = self.facts.filter(|_| self.is_synced) {
                let _ = self.manager.sync_pod(uid, facts.to_status());
            }
        }
    }

    /// Plays on without further calls until a probe ends this container, for `limit` at most; returns when.
    pub(super) fn play_to_the_kill(mut self, container_id: &str, limit: Duration) -> Option<Kill> {
        let end = self.now + limit;
        self.end_us = u64::MAX;
        let from = self.published.len();
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.settle();
            let is_verdict = |it: &&Published| {
                it.result == ProbeResult::Failure
                    && it.probe_type != ProbeType::Readiness
                    && *it.container_id == *container_id
            };
            if let Some(verdict) = self.published[from..].iter().find(is_verdict) {
                let (at_us, probe_type, container_id) = (verdict.at_us, verdict.probe_type, container_id.into());
                return Some(Kill { at_us, probe_type, container_id });
            }
        }
        None
    }

    fn next(&mut self) -> Option<Instant> {
        let flight = self.flights.first_key_value().map(|((ends, _), _)| *ends);
        flight.into_iter().chain(self.prober().next_deadline()).min()
    }

    fn end_attempts(&mut self) {
        while let Some(entry) = self.flights.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let Flight { worker, run, end, cause } = entry.remove();
            let now = self.now;
            self.prober().handle_attempt(worker, run, end.to_outcome(cause), now);
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.manager.poll_output() {
            match output {
                Output::Attempt(attempt) => self.launch(attempt),
                Output::Update(update) => self.publish(&update),
                _ => {}
            }
        }
    }

    fn launch(&mut self, attempt: Attempt) {
        let Some(target) = self.manager.prober().target(attempt.worker) else { return };
        let life = self.script.lives.get(target.container_id);
        let kill = self.script.kills.iter().find(|kill| *kill.container_id == *target.container_id);
        let answer = self.answers.ask(Question {
            container: &target.container().name,
            probe_type: target.probe_type,
            now_us: micros(self.now),
            scheduled_us: micros(attempt.scheduled),
            timeout_seconds: target.probe().timeout_seconds,
            since_us: life.map_or(0, |life| life.since_us),
            ended_us: life.and_then(|life| life.ended_us),
            until_us: kill.map(|kill| kill.at_us),
            end_us: self.end_us,
        });
        self.launched += 1;
        let flight = Flight { worker: attempt.worker, run: attempt.run, end: answer.end, cause: answer.cause };
        self.flights.insert((at(answer.ends_us).max(self.now), self.launched), flight);
        // An attempt that takes no time ends before anything else happens.
        self.end_attempts();
    }

    fn publish(&mut self, update: &Update) {
        let at_us = micros(self.now);
        let is_real = |it: &&Published| {
            it.result == update.result
                && it.probe_type == update.probe_type
                && *it.container_id == *update.container_id
                && it.at_us.abs_diff(at_us) <= SAME.as_micros() as u64
        };
        self.wants_sync |= self.script.start.glue.sync && self.script.log.results.iter().find(is_real).is_none();
        self.published.push(Published {
            at_us,
            probe_type: update.probe_type,
            container_id: (&*update.container_id).into(),
            result: update.result,
        });
    }
}

const fn at(us: u64) -> Instant {
    Instant::from_nanos(us.saturating_mul(1_000))
}

const fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1_000
}
