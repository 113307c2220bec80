//! A prober in virtual time: the core, the attempts under way, and a clock that waits for nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::{Attempt, Outcome, Output, Phasing, Prober, Settings, WorkerId};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{PodSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::{Instant, WallOffset};
use probelet_core::wheel::TimerWheel;

use super::answers::{Answer, Answers, Scripts};
use super::handlers::Handlers;
use super::record::Record;
use super::script::{Script, Step};
use super::virtual_cluster::text;
use super::worker_script::{Flight, WorkerScript, command, late_output};
use crate::cause::Cause;
use crate::history::shown;
use crate::pods::PodCalls;
use crate::recording::Note;

/// The latest virtual time and the longest warm-up: 69 years. From there the core's clock has room for another 500.
pub const TIME_MS_MAX: i64 = 1 << 41;

/// How a simulation starts.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The rules to play by.
    pub semantics: Semantics,
    /// Seeds the jitter.
    pub seed: u64,
    /// How long before t = 0 the prober started, at most [`TIME_MS_MAX`].
    pub warmup: Duration,
    /// When the prober starts, after t = 0; None: `warmup` before it.
    pub starts: Option<Duration>,
    /// What is done with results.
    pub glue: Glue,
    /// Where runs fall.
    pub phasing: Phasing,
    /// Whether to write records.
    pub record: bool,
    /// Whether probes that are not exec ask a real socket. If not, they are scripted as exec probes are.
    pub sockets: bool,
}

/// What a simulation stops at, beside the end of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop<'a> {
    /// Nothing.
    Never,
    /// The request to sync a pod.
    Sync,
    /// A change of a result of this type; with an ID only of that container.
    Update(ProbeType, Option<&'a str>),
}

impl Stop<'_> {
    fn is_at(self, output: &Output) -> bool {
        match (self, output) {
            (Self::Sync, Output::Sync { .. }) => true,
            (Self::Update(probe_type, container_id), Output::Update(update)) => {
                probe_type == update.probe_type && container_id.is_none_or(|id| *id == *update.container_id)
            }
            _ => false,
        }
    }
}

/// A prober in virtual time.
#[derive(Debug)]
pub struct Simulation {
    pub(super) manager: StatusManager,
    /// By the worker's number.
    worker_scripts: Vec<WorkerScript>,
    pub(super) zero: Instant,
    pub(super) now: Instant,
    /// When attempts end. If two attempts end together, the attempt that began first comes first.
    attempt_ends: TimerWheel<WorkerId>,
    scripts: Vec<Script>,
    script_names: BTreeMap<Box<str>, u32>,
    script_changes: u32,
    defined: BTreeMap<Arc<str>, usize>,
    pub(super) record: bool,
    /// Whether events, updates and syncs are kept where nothing else is.
    pub(super) keeps_changes: bool,
    /// Whether turns are kept with them.
    pub(super) watches_turns: bool,
    /// Whether the events of the attempt that ended last are like those of the one before.
    pub(super) repeats_itself: bool,
    sockets: bool,
    handlers: Box<dyn Handlers>,
    pub(super) records: Vec<Record>,
    pub(super) runs: u64,
}

impl PodCalls for Simulation {
    fn read<T>(&self, read: impl FnOnce(&StatusManager) -> T) -> T {
        read(&self.manager)
    }

    fn change<T>(&mut self, _note: Option<Note>, change: impl FnOnce(&mut StatusManager) -> T) -> T {
        change(&mut self.manager)
    }

    /// The order of first definitions also fixes how long a pod's attempts take by default.
    fn define_pod(&mut self, pod: PodSpec) {
        let index = self.defined.len();
        self.defined.entry(Arc::clone(&pod.uid)).or_insert(index);
        self.prober().define_pod(Arc::new(pod));
    }
}

impl Simulation {
    /// A prober with nothing to do, at t = 0. `handlers` are those of probes over sockets.
    pub fn new(scene: Scene, handlers: Box<dyn Handlers>) -> Self {
        let zero = Instant::ZERO + scene.warmup;
        let starts = scene.starts.map_or(Instant::ZERO, |starts| zero + starts);
        let settings = Settings {
            semantics: scene.semantics,
            seed: scene.seed,
            wall: WallOffset(-(zero.as_nanos() as i64)),
            start_jitter: true,
            phasing: scene.phasing,
            extra_runs_per_second: 0,
            record: scene.record,
        };
        Self {
            manager: StatusManager::new(Prober::new(settings, starts), scene.glue),
            worker_scripts: Vec::new(),
            zero,
            now: zero.max(starts),
            attempt_ends: TimerWheel::new(),
            scripts: Vec::new(),
            script_names: BTreeMap::new(),
            script_changes: 0,
            defined: BTreeMap::new(),
            record: scene.record,
            keeps_changes: false,
            watches_turns: false,
            repeats_itself: false,
            sockets: scene.sockets,
            handlers,
            records: Vec::new(),
            runs: 0,
        }
    }

    /// Scripts the attempts of `pod/container/type`, or of `namespace/pod/container/type`, which comes first.
    pub fn script(&mut self, key: &str, steps: Vec<Step>) {
        let number = self.script_number(key);
        self.scripts[number as usize] = Script::new(steps);
        self.script_changes = self.script_changes.wrapping_add(1);
    }

    /// The prober, for its inputs; what follows from them happens at the next [`Simulation::settle`].
    pub const fn prober(&mut self) -> &mut Prober {
        self.manager.prober_mut()
    }

    /// Virtual milliseconds since t = 0.
    pub fn now_ms(&self) -> i64 {
        self.to_ms(self.now)
    }

    /// Error-free runs and prober errors so far.
    pub const fn runs(&self) -> u64 {
        self.runs
    }

    /// Names and counts of every live worker, as a JSON list.
    pub fn counts_json(&self) -> Vec<u8> {
        let prober = self.manager.prober();
        let counted = prober.worker_states(None).into_iter();
        let rows: Vec<_> = counted
            .filter_map(|state| Some(self.worker_scripts.get(state.id as usize)?.counts.to_json(&state.target)))
            .collect();
        serde_json::to_vec(&rows).expect("plain data")
    }

    /// The point `t_ms` on the prober's clock, for a `t_ms` between -[`TIME_MS_MAX`] and [`TIME_MS_MAX`].
    pub fn at(&self, t_ms: i64) -> Instant {
        let nanos = self.zero.as_nanos() as i64 + t_ms * 1_000_000;
        Instant::from_nanos(u64::try_from(nanos).unwrap_or_default())
    }

    /// Takes what was written since the last time.
    pub fn take_records(&mut self) -> Vec<Record> {
        self.drain(Stop::Never, &mut Scripts);
        std::mem::take(&mut self.records)
    }

    /// What was written since the last time, as a JSON list.
    pub fn records_json(&mut self) -> Vec<u8> {
        serde_json::to_vec(&self.take_records()).expect("plain data")
    }

    /// Lets everything happen that is due now.
    pub fn settle(&mut self) {
        self.play_on(self.now, Stop::Never, &mut Scripts);
    }

    /// Plays on until `t_ms`, the activity of that moment included.
    pub fn run_until(&mut self, t_ms: i64) {
        self.play_on(self.at(t_ms), Stop::Never, &mut Scripts);
    }

    /// Plays on until a result of that type changes, at most until `t_ms`; says whether one did. With a container's ID
    /// only that container's result counts.
    pub fn run_until_update(&mut self, t_ms: i64, probe_type: ProbeType, container_id: Option<&str>) -> bool {
        self.play_on(self.at(t_ms), Stop::Update(probe_type, container_id), &mut Scripts)
    }

    pub(super) fn play_on<A: Answers>(&mut self, end: Instant, until: Stop, answers: &mut A) -> bool {
        if end < self.now {
            return false; // That moment is over.
        }
        loop {
            while self.manager.step(self.now) {
                if self.drain(until, answers) {
                    return true;
                }
            }
            self.drain(Stop::Never, answers);
            match self.next_event().filter(|next| *next <= end) {
                None => break,
                Some(next) => self.now = self.now.max(next),
            }
            while let Some((_, worker)) = self.attempt_ends.pop(self.now) {
                self.end_attempt(worker);
                if self.drain(until, answers) {
                    return true;
                }
            }
        }
        self.now = self.now.max(end);
        false
    }

    /// When something happens without a further input, in virtual milliseconds.
    pub fn next_ms(&mut self) -> Option<i64> {
        let next = self.next_event()?;
        Some(self.to_ms(next.max(self.now)))
    }

    pub(super) fn next_event(&mut self) -> Option<Instant> {
        [self.manager.prober_mut().next_deadline(), self.attempt_ends.next_deadline()].into_iter().flatten().min()
    }

    /// Ends a worker's attempt.
    fn end_attempt(&mut self, worker: WorkerId) {
        if let Some(flight) = self.worker_scripts[worker as usize].flight.take() {
            self.records.extend(flight.record.map(|record| *record));
            self.repeats_itself = flight.repeats_itself;
            if let Some((cause, overdue)) = flight.answered.filter(|_| self.watches_turns) {
                self.note_turn(worker, cause, overdue, &flight.outcome);
            }
            self.manager.prober_mut().handle_attempt(worker, flight.run, flight.outcome, self.now);
        }
    }

    /// Notes an attempt if it is a turn, by the rule of a live engine's history.
    fn note_turn(&mut self, worker: WorkerId, cause: Cause, overdue: Duration, outcome: &Outcome) {
        let is_bad = cause != Cause::Ok;
        if !self.worker_scripts[worker as usize].take_turn(is_bad) {
            return;
        }
        let Some(target) = self.manager.prober().target(worker) else {
            return; // Its pod is gone.
        };
        let message = if let Outcome::Failure { output } = outcome { shown(output) } else { "".into() };
        let turn = Record::Turns {
            t_ms: self.to_ms(self.now),
            pod_uid: (&*target.pod.uid).into(),
            container: (&*target.container().name).into(),
            r#type: target.probe_type.name(),
            is_good: !is_bad,
            cause: cause.name(),
            overdue_ms: overdue.as_secs_f64() * 1_000.0,
            message,
        };
        self.records.push(turn);
    }

    /// Carries out what the prober asks for; says whether there was something to stop at. An attempt that takes no time
    /// ends before anything else happens.
    fn drain<A: Answers>(&mut self, until: Stop, answers: &mut A) -> bool {
        let mut stops = false;
        while let Some(output) = self.manager.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    let ends = self.launch(attempt, answers);
                    if ends > self.now {
                        self.attempt_ends.arm(ends, attempt.worker);
                    } else {
                        self.end_attempt(attempt.worker);
                    }
                }
                Output::RunFinished { worker, result, .. } => {
                    self.runs += 1;
                    self.worker_scripts[worker as usize].counts.count(result);
                }
                Output::WorkerStarted { worker } => self.enrol(worker, answers),
                Output::ProbeChanged { worker } => self.enrol_again(worker),
                Output::WorkerEnded { .. } => {}
                Output::Removed(_) => {} // A recording has it as a `Record`.
                output => {
                    stops |= until.is_at(&output);
                    self.write(output);
                }
            }
        }
        stops
    }

    fn enrol<A: Answers>(&mut self, worker: WorkerId, answers: &mut A) {
        let Some(target) = self.manager.prober().target(worker) else {
            return; // It has ended again.
        };
        let pod_index = self.defined.get(&target.pod.uid).copied().unwrap_or_default();
        let scripted = WorkerScript { probe: answers.enrol(&target), ..WorkerScript::new(&target, pod_index) };
        let index = worker as usize;
        if index >= self.worker_scripts.len() {
            // Numbers are given out in order; one that was skipped is of a worker that has ended again.
            self.worker_scripts.resize_with(index + 1, || WorkerScript::new(&target, pod_index));
        }
        self.worker_scripts[index] = scripted;
    }

    /// Scripts the attempts of a worker with another probe; its counts and its attempt on its way stay.
    fn enrol_again(&mut self, worker: WorkerId) {
        let Some(target) = self.manager.prober().target(worker) else {
            return; // It has ended again.
        };
        let pod_index = self.defined.get(&target.pod.uid).copied().unwrap_or_default();
        let WorkerScript { delay, timeout, is_exec, .. } = WorkerScript::new(&target, pod_index);
        let scripted = &mut self.worker_scripts[worker as usize];
        (scripted.delay, scripted.timeout, scripted.is_exec) = (delay, timeout, is_exec);
        (scripted.script, scripted.steady) = (None, None);
    }

    /// Begins an attempt; returns when it ends.
    fn launch<A: Answers>(&mut self, attempt: Attempt, answers: &mut A) -> Instant {
        let scripted = &self.worker_scripts[attempt.worker as usize];
        let (timeout, delay) = (scripted.timeout, scripted.delay);
        if let Some(probe) = scripted.probe {
            let Answer { takes, cause, overdue, is_news } = answers.answer(probe, self.since_zero_ns(self.now));
            let target = if cause == Cause::Ok { None } else { self.manager.prober().target(attempt.worker) };
            let outcome = target.map_or(Outcome::Success, |target| text::outcome(cause, &target, timeout));
            let answered = Some((cause, overdue));
            let flight = Flight { run: attempt.run, outcome, record: None, repeats_itself: !is_news, answered };
            self.worker_scripts[attempt.worker as usize].flight = Some(flight);
            return self.now + takes;
        }
        if self.sockets && !scripted.is_exec {
            let target = self.manager.prober().target(attempt.worker).expect("it has an attempt");
            let outcome = self.handlers.probe(&target);
            return self.fly(attempt, self.now, outcome, None);
        }
        if let Some((takes, _)) = scripted.steady.filter(|(_, changes)| *changes == self.script_changes) {
            return self.fly(attempt, self.now + takes, Outcome::Success, None);
        }
        let known = scripted.script.filter(|(_, changes)| *changes == self.script_changes);
        let script = known.map_or_else(|| self.script_of(attempt.worker), |(number, _)| number) as usize;
        let target = self.manager.prober().target(attempt.worker).expect("it has an attempt");
        let played = self.scripts[script].play(|| late_output(&target, &*self.handlers), timeout, delay);
        // Without records nobody can tell one success from another, and the script need not be asked again.
        let steady = self.scripts[script].steady(delay).filter(|_| !self.record);
        self.worker_scripts[attempt.worker as usize].steady = steady.map(|takes| (takes, self.script_changes));
        let ends = self.now + played.takes;
        let record = self.record.then(|| {
            Box::new(Record::Probes {
                t_ms: self.to_ms(self.now),
                end_ms: self.to_ms(ends),
                pod: (&*target.pod.name).into(),
                pod_uid: (&*target.pod.uid).into(),
                container: (&*target.container().name).into(),
                r#type: target.probe_type.name(),
                container_id: target.container_id.into(),
                n: played.number,
                attempt: attempt.attempt,
                outcome: played.word,
                timeout_s: target.probe().timeout_seconds,
                command: command(&target).to_vec(),
            })
        });
        self.fly(attempt, ends, played.outcome, record)
    }

    /// The number of a worker's script, which may be an empty one; asked for once after a change of scripts.
    fn script_of(&mut self, worker: WorkerId) -> u32 {
        let target = self.manager.prober().target(worker).expect("it has an attempt");
        let short = format!("{}/{}/{}", target.pod.name, target.container().name, target.probe_type.name());
        let full = format!("{}/{short}", target.pod.namespace);
        let number = self.script_names.get(&*full).copied().unwrap_or_else(|| self.script_number(&short));
        self.worker_scripts[worker as usize].script = Some((number, self.script_changes));
        number
    }

    fn script_number(&mut self, key: &str) -> u32 {
        if let Some(&number) = self.script_names.get(key) {
            return number;
        }
        let number = u32::try_from(self.scripts.len()).expect("fewer than 2^32 scripts");
        self.scripts.push(Script::default());
        self.script_names.insert(key.into(), number);
        number
    }

    fn fly(&mut self, attempt: Attempt, ends: Instant, outcome: Outcome, record: Option<Box<Record>>) -> Instant {
        let flight = Flight { run: attempt.run, outcome, record, repeats_itself: false, answered: None };
        self.worker_scripts[attempt.worker as usize].flight = Some(flight);
        ends
    }

    /// Nanoseconds since t = 0; 0 before it.
    pub(super) fn since_zero_ns(&self, at: Instant) -> u64 {
        at.as_nanos().saturating_sub(self.zero.as_nanos())
    }

    pub(super) fn to_ms(&self, at: Instant) -> i64 {
        let nanos = i128::from(at.as_nanos()) - i128::from(self.zero.as_nanos());
        (nanos / 1_000_000) as i64 // A difference of two u64, in milliseconds, has 45 bits.
    }
}
