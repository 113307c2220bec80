//! A play of a recording against the world that was recorded: with the recorded settings it gives the same results at the
//! same times; with other thresholds it gives what the same containers do under these thresholds, as far as that can be
//! known.
//!
//! The world is a node with one pod in virtual time. Its prober is the production core; it runs late, syncs after a
//! delay, kills what a probe condemns and starts it again. Containers answer by a script.

use std::collections::BTreeMap;
use std::sync::Arc;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Output, Phasing, Prober, Settings};
use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::{Instant, WallOffset};
use probelet_play::cause::Cause;
use probelet_play::recording::{
    Attempt, Begun, ContainerDefinition, End, HandlerKind, Input, PauseRecord, PodLog, PodRecord, ProbeRecord,
    Published, Start, StatusRecord, Stretch, Told,
};
use probelet_play::whatif::{Assumption, Change, Kill, Lives, play};
use proptest::prelude::*;

/// How the containers of the pod are.
#[derive(Clone, Debug)]
struct Script {
    /// Seconds from a start until the container answers.
    startup: u64,
    /// From second to second: how the container answers then.
    troubles: Vec<(u64, u64, Trouble)>,
    /// Seconds after which a container exits by itself, counted from the pod's start.
    exits: Vec<u64>,
    latency_ms: u64,
    /// Seconds after which somebody pauses a probe, and for how many seconds; with 0 its pause ends.
    pauses: Vec<(u64, u64, ProbeType)>,
    /// How many liveness failures are taken back, so that their kill waits.
    held: usize,
    /// The most that the prober is late, in microseconds.
    late_us: u64,
    jitter: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    Fails,
    Hangs,
    Slow { ms: u64 },
}

#[derive(Clone, Debug)]
enum Due {
    Attempt { worker: u32, run: u32, scheduled: u64, began: u64, end: End },
    Exit { number: u64 },
    Pause { probe_type: ProbeType, until: u64 },
    Recheck,
    Start,
    Sync,
}

/// A node with one pod.
struct RecordedNode<'a> {
    script: &'a Script,
    manager: StatusManager,
    due: BTreeMap<(u64, u64), Due>,
    count: u64,
    now: u64,
    /// The turn before.
    turned: u64,
    /// The container's number; it runs unless it has ended.
    container: u64,
    started: u64,
    is_running: bool,
    /// Liveness failures that were taken back.
    held: usize,
    log: PodLog,
}

impl<'a> RecordedNode<'a> {
    fn new(script: &'a Script, probes: [Option<ProbeRecord>; 3]) -> Self {
        let settings = Settings { wall: WALL, start_jitter: script.jitter, seed: 5, ..Settings::default() };
        let container = ContainerDefinition { name: "app".into(), probes, ..ContainerDefinition::default() };
        let (uid, name) = ("u".into(), "web".into());
        let record = PodRecord { uid, name, containers: vec![container], regular: 1, ..PodRecord::default() };
        let log = PodLog { record, from_us: START, ..PodLog::default() };
        let mut world = Self {
            script,
            manager: StatusManager::new(Prober::new(settings, at(START)), Glue::KUBELET),
            due: BTreeMap::new(),
            count: 0,
            now: START,
            turned: START,
            container: 0,
            started: START,
            is_running: false,
            held: 0,
            log,
        };
        world.manager.prober_mut().define_pod(Arc::new(world.log.record.to_spec()));
        world.arm(START, Due::Start);
        for (number, exit) in script.exits.iter().enumerate() {
            world.arm(START + exit * SECOND, Due::Exit { number: number as u64 + 1 });
        }
        for &(from, length, probe_type) in &script.pauses {
            let from = START + from * SECOND;
            world.arm(from, Due::Pause { probe_type, until: from + length * SECOND });
        }
        world
    }

    fn arm(&mut self, at_us: u64, due: Due) {
        self.count += 1;
        self.due.insert((at_us, self.count), due);
    }

    /// Lets the world turn for so many seconds; returns what its flight recorder has.
    fn recorded(mut self, seconds: u64) -> Stretch {
        let end = START + seconds * SECOND;
        loop {
            let tick = self.manager.prober_mut().next_deadline().map(|tick| tick.as_nanos().div_ceil(1_000));
            let due = self.due.first_key_value().map(|((at, _), _)| *at);
            let Some(next) = tick.into_iter().chain(due).min() else { break };
            let late =
                if self.script.late_us == 0 { 0 } else { next.wrapping_mul(2_654_435_761) % self.script.late_us };
            let now = self.now.max(next + late);
            if now > end {
                break;
            }
            self.turn(now);
        }
        let start = Start { at_us: START, started_us: START, wall_ns: WALL.0, ..start() };
        Stretch { start, end_us: end, walls: vec![(START, WALL.0)], pods: vec![self.log] }
    }

    /// One turn of the engine's loop.
    fn turn(&mut self, now: u64) {
        (self.turned, self.now) = (self.now, now);
        let mut ended = Vec::new();
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Due::Attempt { worker, run, scheduled, began, end } => ended.push((worker, run, scheduled, began, end)),
                Due::Exit { number } if number == self.container => self.exit(),
                Due::Exit { .. } => {}
                Due::Pause { probe_type, until } => {
                    let pause = PauseRecord { container: "app".into(), probe_type, until_us: until };
                    self.call(Input::Pause(pause));
                    self.manager.prober_mut().pause("u", "app", probe_type, at(until), at(now));
                }
                Due::Recheck => {
                    self.call(Input::Recheck("app".into()));
                    self.manager.prober_mut().recheck("u", "app");
                }
                Due::Start => {
                    self.container += 1;
                    (self.started, self.is_running) = (now, true);
                    self.sync();
                }
                Due::Sync => self.sync(),
            }
        }
        for (worker, run, scheduled, began, end) in ended {
            if let Some(target) = self.manager.prober().target(worker) {
                let key = (Box::from(&*target.container().name), target.probe_type);
                let (scheduled_us, began_us, ended_us) = (scheduled, began, now);
                let attempt = Attempt { worker, end, cause: Cause::Ok, scheduled_us, began_us, ended_us };
                self.log.attempts.entry(key).or_default().push(attempt);
            }
            self.manager.prober_mut().handle_attempt(worker, run, end.to_outcome(Cause::Ok), at(now));
        }
        self.manager.settle(at(now));
        let mut begun = Vec::new();
        while let Some(output) = self.manager.poll_output() {
            self.take(output, &mut begun);
        }
        for worker in begun {
            let Some(state) = self.manager.prober().worker_state(worker) else { continue };
            let (container, probe_type) = ((&*state.target.container().name).into(), state.target.probe_type);
            let tick_us = state.next_tick.as_nanos() / 1_000;
            self.log.workers.push(Begun { at_us: now, container, probe_type, tick_us });
        }
    }

    fn take(&mut self, output: Output, begun: &mut Vec<u32>) {
        match output {
            Output::Attempt(attempt) => {
                let timeout = self.manager.prober().target(attempt.worker).map_or(1, |it| it.probe().timeout_seconds);
                let (end, took) = self.answer(timeout as u64 * SECOND);
                let (worker, run, began) = (attempt.worker, attempt.run, self.now);
                let scheduled = attempt.scheduled.as_nanos() / 1_000;
                self.arm(self.now + took, Due::Attempt { worker, run, scheduled, began, end });
            }
            Output::Update(update) => {
                let (probe_type, result) = (update.probe_type, update.result);
                let container_id: Box<str> = (&*update.container_id).into();
                let is_its = *container_id == *self.id();
                self.log.results.push(Published { at_us: self.now, probe_type, container_id, result });
                let fails = is_its && self.is_running && result == ProbeResult::Failure;
                if fails && probe_type == ProbeType::Liveness && self.held < self.script.held {
                    self.held += 1;
                    self.arm(self.now + SYNC_DELAY, Due::Recheck);
                } else if fails && probe_type != ProbeType::Readiness {
                    let number = self.container;
                    self.arm(self.now + GRACE, Due::Exit { number });
                }
            }
            Output::Sync { .. } => self.arm(self.now + SYNC_DELAY, Due::Sync),
            Output::WorkerStarted { worker } => begun.push(worker),
            _ => {}
        }
    }

    /// How the container answers now, and after which time.
    fn answer(&self, timeout: u64) -> (End, u64) {
        let usual = self.script.latency_ms * 1_000;
        if self.now < self.started + self.script.startup * SECOND {
            return (End::Failure, 200);
        }
        let second = (self.now - START) / SECOND;
        let trouble = self.script.troubles.iter().find(|(from, to, _)| (*from..*to).contains(&second));
        let (end, took) = match trouble {
            None => (End::Success, usual),
            Some((_, _, Trouble::Fails)) => (End::Failure, usual),
            Some((_, _, Trouble::Hangs)) => (End::Failure, u64::MAX),
            Some((_, _, Trouble::Slow { ms })) => (End::Success, ms * 1_000),
        };
        if took >= timeout { (End::Failure, timeout) } else { (end, took) }
    }

    fn id(&self) -> String {
        format!("c://{}", self.container)
    }

    fn exit(&mut self) {
        if std::mem::take(&mut self.is_running) {
            self.sync();
            self.arm(self.now + BACK_OFF, Due::Start);
        }
    }

    fn sync(&mut self) {
        let started_at_ms = Some((self.started as i64 * 1_000 + WALL.0) / 1_000_000);
        let state = if self.is_running { State::Running { started_at_ms } } else { State::Terminated { exit_code: 1 } };
        let containers = vec![ContainerStatus::new("app".into(), self.id().into(), state)];
        let facts = PodStatus { phase: Phase::Running, containers, regular: 1, ..PodStatus::default() };
        self.call(Input::Sync(Arc::new(StatusRecord::of(&facts))));
        self.manager.sync_pod("u", facts);
    }

    /// Records a call.
    fn call(&mut self, input: Input) {
        self.log.inputs.push(Told { at_us: self.now, turned_us: self.turned, input });
    }
}

fn start() -> Start {
    Start { glue: Glue::KUBELET, phasing: Phasing::Kubelet, ..Start::default() }
}

const fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

fn probe() -> impl Strategy<Value = ProbeRecord> {
    (0..4, 1..4, 1..8, 1..5).prop_map(|(initial_delay_seconds, timeout_seconds, period_seconds, failure_threshold)| {
        ProbeRecord {
            handler: HandlerKind::Exec,
            initial_delay_seconds,
            timeout_seconds,
            period_seconds,
            success_threshold: 1,
            failure_threshold,
            initialization_failure_threshold: 0,
            options: None,
        }
    })
}

fn script(late_us: u64, held: std::ops::Range<usize>) -> impl Strategy<Value = Script> {
    let trouble =
        prop_oneof![Just(Trouble::Fails), Just(Trouble::Hangs), (1..4_000_u64).prop_map(|ms| Trouble::Slow { ms }),];
    let troubles = prop::collection::vec((0..300_u64, 1..60_u64, trouble), 0..5);
    let exits = prop::collection::vec(5..300_u64, 0..3);
    let pauses = prop::collection::vec((0..300_u64, 0..60_u64, prop::sample::select(&ProbeType::ALL)), 0..3);
    (0..20_u64, troubles, exits, 1..40_u64, pauses, any::<bool>(), held).prop_map(
        move |(startup, troubles, exits, latency_ms, pauses, jitter, held)| {
            let troubles = troubles.into_iter().map(|(from, length, trouble)| (from, from + length, trouble)).collect();
            Script { startup, troubles, exits, latency_ms, pauses, held, late_us, jitter }
        },
    )
}

fn probes() -> impl Strategy<Value = [Option<ProbeRecord>; 3]> {
    let maybe = || prop::option::weighted(0.7, probe());
    (maybe(), maybe(), maybe()).prop_map(|(startup, readiness, liveness)| {
        let startup = startup.map(|probe| ProbeRecord { failure_threshold: 4 * probe.failure_threshold, ..probe });
        [startup, readiness, liveness]
    })
}

fn kills(stretch: &Stretch) -> Vec<Kill> {
    let log = &stretch.pods[0];
    Lives::of(log).kills(&log.results)
}

proptest! {
    #[test]
    fn without_changes_a_play_gives_what_happened(script in script(3_000, 0..5), probes in probes()) {
        let stretch = RecordedNode::new(&script, probes).recorded(SECONDS);
        for assumption in [Assumption::Healthy, Assumption::Failing] {
            let played = play(&stretch, &stretch.pods[0], &[], assumption);
            let log = &stretch.pods[0];
            for probe_type in ProbeType::ALL {
                let of = |results: &[Published]| {
                    results.iter().filter(|it| it.probe_type == probe_type).cloned().collect::<Vec<_>>()
                };
                let (played, real) = (of(&played.published), of(&log.results));
                prop_assert_eq!(played.len(), real.len(), "{:?} {:?}", played, real);
                for (played, real) in played.iter().zip(&real) {
                    // What no attempt brings comes when the run was due, and in reality when the prober came to it.
                    let its = log.attempts.iter().filter(|((_, of), _)| *of == probe_type).flat_map(|(_, all)| all);
                    let is_answer = its.into_iter().any(|attempt| attempt.ended_us == real.at_us);
                    let late = if is_answer { 0 } else { 2 * script.late_us };
                    prop_assert!(played.at_us.abs_diff(real.at_us) <= late, "{played:?} {real:?}");
                    prop_assert_eq!(&Published { at_us: real.at_us, ..played.clone() }, real);
                }
            }
            prop_assert_eq!(played.counts.unknown, 0);
        }
    }

    /// Thresholds do not move attempts, so a recording has the answers for as long as the container has the same fate.
    #[test]
    fn with_another_threshold_a_play_gives_what_the_same_containers_do(
        script in script(0, 0..1), probes in probes(), threshold in 1..9,
    ) {
        let mut other = probes;
        let Some(liveness) = &mut other[2] else { return Ok(()) };
        liveness.failure_threshold = threshold;
        let change = Change { container: "app".into(), probe_type: ProbeType::Liveness, probe: Some(*liveness) };
        // If the startup probe is what goes on failing, liveness waits for it.
        let patience = other.iter().flatten().map(patience).sum::<u64>();
        let real = RecordedNode::new(&script, probes).recorded(SECONDS);
        let direct = RecordedNode::new(&script, other).recorded(SECONDS);
        let first = |kills: &[Kill]| kills.iter().find(|kill| *kill.container_id == *"c://1").cloned();
        let (was, wanted) = (first(&kills(&real)), first(&kills(&direct)));
        let [healthy, failing] = [Assumption::Healthy, Assumption::Failing]
            .map(|assumption| first(&play(&real, &real.pods[0], std::slice::from_ref(&change), assumption).kills));
        let known = match (&was, &wanted) {
            (None, _) => true,
            (Some(was), Some(wanted)) => wanted.at_us <= was.at_us,
            (Some(_), None) => false,
        };
        if known {
            prop_assert_eq!(&healthy, &wanted);
            prop_assert_eq!(&failing, &wanted);
        } else {
            // It would have lived on: one assumption says that it recovers, the other says when it would be killed.
            let was = was.expect("it was killed");
            prop_assert_eq!(healthy, None);
            let Some(failing) = failing else {
                // The recording ends before as many failures have come.
                prop_assert!(was.at_us + patience > START + SECONDS * SECOND, "{was:?}");
                return Ok(());
            };
            prop_assert!(failing.at_us > was.at_us, "{failing:?} {was:?}");
            if let Some(wanted) = wanted {
                prop_assert!(failing.at_us <= wanted.at_us + patience, "{failing:?} {wanted:?}");
            }
        }
    }
}

/// The longest time that a probe takes to kill a container that goes on failing.
fn patience(probe: &ProbeRecord) -> u64 {
    let gap = probe.period_seconds.max(probe.timeout_seconds);
    let seconds = probe.initial_delay_seconds + probe.period_seconds + probe.failure_threshold * gap + gap;
    u64::from(seconds.unsigned_abs()) * SECOND
}

const SECOND: u64 = 1_000_000;
const SECONDS: u64 = 250;
/// The engine's clock begins a day before.
const START: u64 = 86_400 * SECOND;
const WALL: WallOffset = WallOffset(1_700_000_000_123_456_789);
const GRACE: u64 = 2 * SECOND;
const BACK_OFF: u64 = 7 * SECOND;
const SYNC_DELAY: u64 = 4_000;
