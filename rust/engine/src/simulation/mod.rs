//! The production core under a virtual clock with scripted outcomes. Hours in milliseconds, the same every time.
//!
//! Time is counted in milliseconds from t = 0, which lies on a whole second of the wall clock; the prober started
//! `warmup` earlier, so that the jitter of a young kubelet does not apply.

mod record;
mod script;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use probelet_core::podstatus::PodStatus;
use probelet_core::prober::{Attempt, AttemptTarget, Outcome, Output, Prober, Settings, WorkerId};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{Handler, PodSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::{Instant, WallOffset};

pub use self::record::Record;
pub use self::script::{Played, Script, Step, decode_steps, timeout_text};
use crate::book::Book;
use crate::handler::{Asker, Scratch, attempt};
use crate::wire::StatusDocument;

/// How a simulation starts.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The rules to play by.
    pub semantics: Semantics,
    /// Seeds the jitter.
    pub seed: u64,
    /// How long before t = 0 the prober started.
    pub warmup: Duration,
    /// What is done with results.
    pub glue: Glue,
    /// Whether to write records.
    pub record: bool,
    /// Whether probes that are not exec ask a real socket. If not, they are scripted as exec probes are.
    pub sockets: bool,
    /// `User-Agent` of probes over real sockets.
    pub user_agent: String,
}

/// A prober in virtual time.
#[derive(Debug)]
pub struct Simulation {
    manager: StatusManager,
    book: Book,
    zero: Instant,
    now: Instant,
    flights: BinaryHeap<Reverse<Flight>>,
    launched: u64,
    scripts: BTreeMap<Box<str>, Script>,
    defined: BTreeMap<Arc<str>, usize>,
    record: bool,
    sockets: bool,
    user_agent: String,
    records: Vec<Record>,
    runs: u64,
}

/// An attempt on its way; ordered by when it ends, then by when it began.
#[derive(Debug)]
struct Flight {
    ends: Instant,
    order: u64,
    worker: WorkerId,
    run: u32,
    outcome: Outcome,
    /// Written down when the attempt ends, as the recordings do.
    record: Option<Box<Record>>,
}

impl Simulation {
    /// A prober with nothing to do, at t = 0.
    pub fn new(scene: Scene) -> Self {
        let zero = Instant::ZERO + scene.warmup;
        let settings = Settings {
            semantics: scene.semantics,
            seed: scene.seed,
            wall: WallOffset(-(zero.as_nanos() as i64)),
            start_jitter: true,
            record: scene.record,
        };
        Self {
            manager: StatusManager::new(Prober::new(settings, Instant::ZERO), scene.glue),
            book: Book::default(),
            zero,
            now: zero,
            flights: BinaryHeap::new(),
            launched: 0,
            scripts: BTreeMap::new(),
            defined: BTreeMap::new(),
            record: scene.record,
            sockets: scene.sockets,
            user_agent: scene.user_agent,
            records: Vec::new(),
            runs: 0,
        }
    }

    /// Scripts the exec attempts of `pod/container/type`.
    pub fn script(&mut self, key: &str, steps: Vec<Step>) {
        self.scripts.insert(key.into(), Script::new(steps));
    }

    /// Makes a pod known. The order of first definitions fixes how long its attempts take by default.
    pub fn define_pod(&mut self, pod: PodSpec) {
        let index = self.defined.len();
        self.defined.entry(Arc::clone(&pod.uid)).or_insert(index);
        self.prober().define_pod(Arc::new(pod));
    }

    /// The prober, for its inputs; what follows from them happens at the next [`Simulation::settle`].
    pub const fn prober(&mut self) -> &mut Prober {
        self.manager.prober_mut()
    }

    /// The status layer, for its inputs.
    pub const fn manager(&mut self) -> &mut StatusManager {
        &mut self.manager
    }

    /// Virtual milliseconds since t = 0.
    pub fn now_ms(&self) -> i64 {
        self.to_ms(self.now)
    }

    /// Error-free runs and prober errors so far.
    pub const fn runs(&self) -> u64 {
        self.runs
    }

    /// What was counted per worker.
    pub const fn book(&self) -> &Book {
        &self.book
    }

    /// The point `t_ms` on the prober's clock.
    pub fn at(&self, t_ms: i64) -> Instant {
        let nanos = self.zero.as_nanos() as i64 + t_ms * 1_000_000;
        Instant::from_nanos(u64::try_from(nanos).unwrap_or_default())
    }

    /// Takes what was written since the last time.
    pub fn take_records(&mut self) -> Vec<Record> {
        self.drain(None);
        std::mem::take(&mut self.records)
    }

    /// What was written since the last time, as a JSON list.
    pub fn records_json(&mut self) -> Vec<u8> {
        serde_json::to_vec(&self.take_records()).expect("plain data")
    }

    /// UpdatePodStatus on a copy of a status.
    pub fn update_pod_status(&mut self, uid: &str, mut status: PodStatus) -> PodStatus {
        self.prober().update_pod_status(uid, &mut status);
        status
    }

    /// Lets everything happen that is due now.
    pub fn settle(&mut self) {
        self.play_on(self.now, None);
    }

    /// Plays on until `t_ms`, the activity of that moment included.
    pub fn run_until(&mut self, t_ms: i64) {
        self.play_on(self.at(t_ms), None);
    }

    /// Plays on until a result of that type changes, at most until `t_ms`; says whether one did.
    pub fn run_until_update(&mut self, t_ms: i64, probe_type: ProbeType) -> bool {
        self.play_on(self.at(t_ms), Some(probe_type))
    }

    fn play_on(&mut self, end: Instant, until: Option<ProbeType>) -> bool {
        if end < self.now {
            return false; // That moment is over.
        }
        loop {
            while self.manager.step(self.now) {
                if self.drain(until) {
                    return true;
                }
            }
            self.drain(None);
            match self.next_event().filter(|next| *next <= end) {
                None => break,
                Some(next) => self.now = self.now.max(next),
            }
            while self.flights.peek().is_some_and(|Reverse(flight)| flight.ends <= self.now) {
                self.land();
                if self.drain(until) {
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

    fn next_event(&mut self) -> Option<Instant> {
        let landing = self.flights.peek().map(|Reverse(flight)| flight.ends);
        [self.manager.prober_mut().next_deadline(), landing].into_iter().flatten().min()
    }

    /// Ends the attempt that is due first.
    fn land(&mut self) {
        if let Some(Reverse(flight)) = self.flights.pop() {
            self.records.extend(flight.record.map(|record| *record));
            self.manager.prober_mut().handle_attempt(flight.worker, flight.run, flight.outcome, self.now);
        }
    }

    /// Carries out what the prober asks for; says whether a result of the given type changed.
    fn drain(&mut self, watched: Option<ProbeType>) -> bool {
        let mut changed = false;
        while let Some(output) = self.manager.poll_output() {
            match output {
                Output::Attempt(attempt) => self.launch(attempt),
                Output::RunFinished { worker, result, started } => {
                    self.runs += 1;
                    self.book.count(worker, result, self.now.since(started));
                }
                Output::WorkerStarted { worker } => {
                    if let Some(target) = self.manager.prober().target(worker) {
                        self.book.open(worker, &target);
                    }
                }
                Output::WorkerEnded { worker } => self.book.close(worker),
                output => {
                    if let Output::Update(update) = &output {
                        changed |= watched == Some(update.probe_type);
                    }
                    self.write(output);
                }
            }
        }
        changed
    }

    fn launch(&mut self, attempt: Attempt) {
        let Some(target) = self.manager.prober().target(attempt.worker) else {
            return;
        };
        let (pod, container, probe_type) = (&target.pod.name, &target.container.name, target.probe_type);
        let command: &[Box<str>] = match &target.probe.handler {
            Handler::Exec { command } => command,
            _ if self.sockets => {
                let outcome = self.ask(&target);
                self.fly(attempt, self.now, outcome, None);
                return;
            }
            _ => &[],
        };
        let pod_index = self.defined.get(&target.pod.uid).copied().unwrap_or_default();
        let delay = default_delay(probe_type as usize, target.container_index, pod_index);
        let timeout = Duration::from_secs(target.probe.timeout_seconds.max(0).unsigned_abs().into());
        // Without scripts and records nobody can tell one attempt from another: the fast path of benches.
        let played = if self.scripts.is_empty() && !self.record {
            Script::default().play(command, timeout, delay)
        } else {
            let key = format!("{pod}/{container}/{}", probe_type.name());
            self.scripts.entry(key.into()).or_default().play(command, timeout, delay)
        };
        let ends = self.now + played.takes;
        let record = self.record.then(|| {
            Box::new(Record::Probes {
                t_ms: self.to_ms(self.now),
                end_ms: self.to_ms(ends),
                pod: (&**pod).into(),
                container: (&**container).into(),
                r#type: probe_type.name(),
                container_id: target.container_id.into(),
                n: played.number,
                attempt: attempt.attempt,
                outcome: played.word,
                timeout_s: target.probe.timeout_seconds,
                command: command.to_vec(),
            })
        });
        self.fly(attempt, ends, played.outcome, record);
    }

    /// Carries out an attempt over a real socket; the virtual clock stands still meanwhile.
    fn ask(&self, target: &AttemptTarget<'_>) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.expect("a reactor for the simulation's sockets");
        let (ports, timeout) = (&target.container.ports, target.probe.timeout_seconds);
        let asker = Asker { user_agent: &self.user_agent, grpc_connect: target.grpc_connect };
        let (pod_ip, mut scratch) = (target.pod_ip.map_or("", |ip| ip), Scratch::default());
        runtime.block_on(attempt(&target.probe.handler, ports, pod_ip, asker, timeout, &mut scratch)).0
    }

    fn fly(&mut self, attempt: Attempt, ends: Instant, outcome: Outcome, record: Option<Box<Record>>) {
        self.launched += 1;
        let Attempt { worker, run, .. } = attempt;
        let flight = Flight { ends, order: self.launched, worker, run, outcome, record };
        self.flights.push(Reverse(flight));
    }

    fn write(&mut self, output: Output) {
        if !self.record {
            return;
        }
        let t_ms = self.to_ms(self.now);
        let record = match output {
            Output::Record(record) => Record::Results {
                t_ms,
                r#type: record.probe_type.name(),
                op: if record.result.is_some() { "set" } else { "remove" },
                container_id: (&*record.container_id).into(),
                result: record.result.map(|result| result.name()),
                changed: record.changed,
            },
            Output::Update(update) => Record::Updates {
                t_ms,
                r#type: update.probe_type.name(),
                pod_uid: (&*update.pod_uid).into(),
                container_id: (&*update.container_id).into(),
                result: update.result.name(),
            },
            Output::Event(event) => Record::Events {
                t_ms,
                pod: self.manager.prober().pod(&event.pod_uid).map_or("".into(), |pod| (&*pod.name).into()),
                field_path: event.field_path,
                r#type: "Warning",
                reason: event.reason.name(),
                raw: std::str::from_utf8(&event.message).is_err().then(|| event.message.clone()),
                message: String::from_utf8_lossy(&event.message).into_owned(),
            },
            Output::StatusUpdated { pod_uid, argument, filled } => Record::Updated {
                t_ms,
                pod_uid: (&*pod_uid).into(),
                argument: Box::new(StatusDocument::of(None, &argument)),
                filled: Box::new(StatusDocument::of(None, &filled)),
            },
            Output::StatusStored { pod_uid, status } => Record::Stored {
                t_ms,
                pod_uid: (&*pod_uid).into(),
                status: Box::new(StatusDocument::of(None, &status)),
            },
            Output::Sync { pod_uid } => Record::Syncs { t_ms, pod_uid: (&*pod_uid).into() },
            Output::Timer { token } => Record::Timers { t_ms, token },
            Output::Attempt(_)
            | Output::RunFinished { .. }
            | Output::WorkerStarted { .. }
            | Output::WorkerEnded { .. } => unreachable!("drained before"),
        };
        self.records.push(record);
    }

    fn to_ms(&self, at: Instant) -> i64 {
        (at.as_nanos() as i64 - self.zero.as_nanos() as i64) / 1_000_000
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.ends, self.order).cmp(&(other.ends, other.order))
    }
}

/// How long an answer takes unless a script says so: different for every worker, so that probes begun together end
/// apart, and in the order in which the recordings have them.
const fn default_delay(type_index: usize, container_index: usize, pod_index: usize) -> Duration {
    Duration::from_millis(2 + type_index as u64 + 3 * container_index as u64 + 31 * pod_index as u64)
}
