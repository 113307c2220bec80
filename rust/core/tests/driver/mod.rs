//! Drives the status layer through random lives: it keeps attempts in flight until a step ends them, and checks the
//! laws at every output. The property tests use it, and so does the fuzz target that plays bytes as lives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use probelet_core::options::ErrorKind;
use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Attempt, Outcome, Output, Prober, ResultRecord, Settings, WorkerId};
use probelet_core::results::ProbeResult;
use probelet_core::semantics::{NotRunning, Semantics};
use probelet_core::spec::{PodSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;

/// The next thing that happens to the pods.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Sync {
        pod: usize,
        states: [u8; 2],
        generation: [u8; 2],
    },
    Terminate {
        pod: usize,
    },
    /// The pod takes another one's probes, unless it ends.
    Change {
        pod: usize,
        like: usize,
    },
    Forget {
        pod: usize,
    },
    Cleanup {
        keep: usize,
    },
    Wait {
        millis: u64,
    },
    Land {
        nth: usize,
        outcome: u8,
    },
    /// Takes back the liveness failure of a container whose worker rests.
    Recheck {
        nth: usize,
    },
}

/// A driver that keeps attempts in flight until the scenario ends them, and checks the laws.
#[derive(Clone)]
pub(crate) struct Driver {
    pub(crate) manager: StatusManager,
    pub(crate) now: Instant,
    flights: Vec<Attempt>,
    started: BTreeMap<WorkerId, (Arc<str>, Arc<str>, ProbeType)>,
    /// The last status that the workers of each pod were given.
    seen: BTreeMap<Arc<str>, PodStatus>,
    /// The run that ended in the previous output, and its result.
    just_ended: Option<(WorkerId, ProbeResult)>,
    /// Workers whose verdict was published, with the container it was about: they rest until they see another
    /// container.
    held: BTreeMap<WorkerId, Arc<str>>,
    pub(crate) outputs: Vec<String>,
    terminating: BTreeSet<Arc<str>>,
}

impl Driver {
    pub(crate) fn new(seed: u64, semantics: Semantics) -> Self {
        let manager = StatusManager::new(Prober::new(settings(seed, semantics), Instant::ZERO), Glue::KUBELET);
        Self {
            manager,
            now: Instant::ZERO,
            flights: Vec::new(),
            started: BTreeMap::new(),
            seen: BTreeMap::new(),
            just_ended: None,
            held: BTreeMap::new(),
            outputs: Vec::new(),
            terminating: BTreeSet::new(),
        }
    }

    pub(crate) fn apply(&mut self, pods: &[PodSpec], step: &Step) {
        match step {
            Step::Sync { pod, states, generation } => {
                let pod = &pods[*pod];
                if self.manager.prober().pod(&pod.uid).is_none() {
                    self.manager.prober_mut().define_pod(Arc::new(pod.clone()));
                }
                self.manager.sync_pod(&pod.uid, facts(pod, *states, *generation, self.now));
            }
            Step::Terminate { pod } => {
                let pod = &pods[*pod];
                self.terminating.insert(Arc::clone(&pod.uid));
                self.manager.sync_terminating_pod(&pod.uid, facts(pod, [0, 0], [0, 0], self.now));
            }
            Step::Change { pod, like } => self.change(&pods[*pod], &pods[*like]),
            Step::Forget { pod } => {
                self.terminating.remove(&pods[*pod].uid);
                self.manager.forget_pod(&pods[*pod].uid);
            }
            Step::Cleanup { keep } => {
                self.manager.prober_mut().cleanup_pods(&BTreeSet::from([&*pods[*keep].uid]));
            }
            Step::Wait { millis } => {
                let end = self.now + Duration::from_millis(*millis);
                let mut moments = 0;
                while let Some(next) = self.manager.prober_mut().next_deadline().filter(|next| *next <= end) {
                    moments += 1;
                    assert!(moments < MOST_MOMENTS, "time stands still");
                    self.now = self.now.max(next);
                    self.settle();
                }
                self.now = end;
            }
            Step::Land { nth, outcome } if !self.flights.is_empty() => {
                let attempt = self.flights.remove(nth % self.flights.len());
                self.manager.prober_mut().handle_attempt(attempt.worker, attempt.run, outcome_of(*outcome), self.now);
            }
            Step::Land { .. } => {}
            Step::Recheck { nth } => self.recheck(*nth),
        }
        self.settle();
    }

    fn change(&mut self, pod: &PodSpec, like: &PodSpec) {
        if self.manager.prober().pod(&pod.uid).is_none() || self.terminating.contains(&pod.uid) {
            return;
        }
        let mut changed = pod.clone();
        for (container, other) in changed.containers.iter_mut().zip(&like.containers) {
            container.probes.clone_from(&other.probes);
        }
        let prober = self.manager.prober_mut();
        prober.define_pod(Arc::new(changed));
        prober.change_probes(&pod.uid);
    }

    fn recheck(&mut self, nth: usize) {
        let is_failed = |worker: &&WorkerId| self.started[worker].2 == ProbeType::Liveness;
        let resting: Vec<WorkerId> = self.held.keys().filter(is_failed).copied().collect();
        if !resting.is_empty() {
            let worker = resting[nth % resting.len()];
            let (pod, container, _) = self.started[&worker].clone();
            if self.manager.prober_mut().recheck(&pod, &container) {
                self.held.remove(&worker);
            }
        }
    }

    /// Forgets every pod and ends every attempt in flight; nothing may be left then.
    pub(crate) fn end(&mut self, pods: &[PodSpec]) {
        for pod in pods {
            self.manager.forget_pod(&pod.uid);
        }
        // A worker in its jitter reacts to nothing before its first run.
        for _ in 0..20 {
            self.apply(pods, &Step::Wait { millis: 4_000 });
            while !self.flights.is_empty() {
                self.apply(pods, &Step::Land { nth: 0, outcome: 0 });
            }
        }
        let prober = self.manager.prober();
        assert_eq!((prober.worker_count(), prober.timer_count(), prober.results().count()), (0, 0, 0), "left behind");
        assert!(self.started.is_empty());
    }

    fn settle(&mut self) {
        self.manager.settle(self.now);
        while let Some(output) = self.manager.poll_output() {
            self.outputs.push(format!("{:?} {output:?}", self.now));
            self.watch(output);
        }
    }

    fn watch(&mut self, output: Output) {
        let just_ended = self.just_ended.take();
        match output {
            Output::Attempt(attempt) => {
                let overlaps = self.flights.iter().any(|other| other.worker == attempt.worker);
                assert!(!overlaps, "two attempts of one worker are in flight");
                assert!(attempt.scheduled <= self.now, "an attempt began before it was due");
                if attempt.attempt == 1 {
                    self.held_workers_rest(attempt.worker);
                    self.only_startup_probes_before_started(attempt.worker);
                }
                self.flights.push(attempt);
            }
            Output::RunFinished { worker, result, .. } => self.just_ended = result.map(|result| (worker, result)),
            Output::Record(record) => self.results_follow_their_runs(just_ended, &record),
            Output::StatusStored { pod_uid, status } => {
                self.seen.insert(pod_uid, *status);
            }
            Output::WorkerStarted { worker } => self.probes_have_one_worker(worker),
            Output::WorkerEnded { worker } => {
                self.started.remove(&worker);
                self.held.remove(&worker);
                assert!(!self.flights.iter().any(|attempt| attempt.worker == worker), "ended with a run in flight");
            }
            _ => {}
        }
    }

    fn probes_have_one_worker(&mut self, worker: WorkerId) {
        // The worker may have ended again in the same moment; then there is nothing to remember.
        let Some(target) = self.manager.prober().target(worker) else {
            return;
        };
        let names = (Arc::clone(&target.pod.uid), Arc::clone(&target.container().name), target.probe_type);
        assert!(!self.started.values().any(|other| *other == names), "two workers of one probe");
        self.started.insert(worker, names);
    }

    /// Checks that a worker on hold does not probe until it sees another container ID. It goes by what the worker
    /// published, not by the worker's own flag.
    fn held_workers_rest(&mut self, worker: WorkerId) {
        let target = self.manager.prober().target(worker).expect("a worker with an attempt");
        if let Some(held) = self.held.remove(&worker) {
            assert_ne!(&*held, target.container_id, "an attempt of a worker on hold");
        }
    }

    /// Checks that liveness and readiness wait until their container has started, and that startup ends then.
    fn only_startup_probes_before_started(&self, worker: WorkerId) {
        let (pod, container, probe_type) = &self.started[&worker];
        let has_started = self.seen[pod].named(container).is_some_and(|container| container.started == Some(true));
        assert_eq!(has_started, *probe_type != ProbeType::Startup, "{probe_type:?} is probed");
    }

    /// Checks that Ready comes from a run that just ended, and in enhanced liveness a failure too; that a run publishes
    /// its own result; and that a verdict puts its worker on hold where the semantics say so.
    fn results_follow_their_runs(&mut self, run: Option<(WorkerId, ProbeResult)>, record: &ResultRecord) {
        let Some(result) = record.result else {
            // The record's worker has seen another container, or has ended.
            self.held
                .retain(|worker, held| self.started[worker].2 != record.probe_type || *held != record.container_id);
            return;
        };
        if record.probe_type == ProbeType::Readiness && result == ProbeResult::Success {
            let was_ready = self
                .seen
                .values()
                .flat_map(|status| &status.containers)
                .any(|container| *container.id == *record.container_id && container.ready);
            let ran = matches!(run, Some((_, ProbeResult::Success)));
            assert!(ran || was_ready, "ready without a run, and without having been ready before the probe came");
        }
        let semantics = *self.manager.prober().semantics();
        if record.probe_type == ProbeType::Liveness
            && result == ProbeResult::Failure
            && semantics.liveness_not_running == NotRunning::Unknown
        {
            assert!(matches!(run, Some((_, ProbeResult::Failure))), "a failure without a run");
        }
        let Some((worker, ran)) = run.filter(|(worker, _)| self.started.contains_key(worker)) else {
            return;
        };
        let probe_type = self.started[&worker].2;
        // This record may be another worker's.
        if record.probe_type != probe_type || result != ran {
            return;
        }
        let holds = match probe_type {
            ProbeType::Liveness => result == ProbeResult::Failure && semantics.liveness_failure_holds,
            ProbeType::Readiness => false,
            ProbeType::Startup => true,
        };
        // A container that does not run fails without a run, and such a failure holds no worker.
        let (pod, container, _) = &self.started[&worker];
        let runs = self.seen[pod].named(container).is_some_and(|container| {
            matches!(container.state, State::Running { .. }) && *container.id == *record.container_id
        });
        if holds && runs {
            self.held.insert(worker, Arc::clone(&record.container_id));
        }
    }
}

/// More deadlines than a dozen workers with periods of seconds can have in a wait of a few seconds.
const MOST_MOMENTS: usize = 10_000;

pub(crate) fn settings(seed: u64, semantics: Semantics) -> Settings {
    Settings { semantics, seed, record: true, extra_runs_per_second: 10, ..Settings::default() }
}

fn facts(pod: &PodSpec, states: [u8; 2], generation: [u8; 2], now: Instant) -> PodStatus {
    let containers = pod.containers.iter().zip(states).zip(generation).map(|((spec, state), generation)| {
        let id = format!("c://{}-{}-{generation}", pod.name, spec.name);
        let started = now.as_nanos() as i64 / 1_000_000_000 * 1_000;
        let state = match state % 6 {
            0..=3 => State::Running { started_at_ms: Some(started) },
            4 => State::Terminated { exit_code: i32::from(state % 2) },
            _ => State::Waiting,
        };
        ContainerStatus::new(Arc::clone(&spec.name), id.into(), state)
    });
    PodStatus { phase: Phase::Running, containers: containers.collect(), regular: pod.regular, ..PodStatus::default() }
}

fn outcome_of(byte: u8) -> Outcome {
    match byte {
        0..=4 => Outcome::Success,
        5 => Outcome::Warning { output: b"moved".as_slice().into() },
        6..=8 => Outcome::Failure { output: b"no".as_slice().into() },
        _ => Outcome::Error { failure: false, error: "boom".into(), kind: ErrorKind::Runtime },
    }
}
