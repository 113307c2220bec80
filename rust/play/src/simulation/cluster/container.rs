//! A container: how it behaves, what it carries, and what a probe of it meets.

use std::time::Duration;

use probelet_core::rng::Rng;
use probelet_core::spec::ProbeType;
use serde::Deserialize;

use super::dependency::{Dependencies, Health, Reply, drift};
use super::flow::Conditions;
use super::random::between_0_and_1;
use super::service::Services;
use super::spread::{Given, Spread, seconds};
use super::tally::Loss;

/// A container's behaviour and the conditions around it, as a caller writes them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    startup: Given,
    pub(super) latency: Given,
    pub(super) probe_latency: Option<Given>,
    /// None: any number.
    concurrency: Option<u32>,
    queue: u32,
    asks: Asks<Box<str>>,
    /// Whether probes have a server of their own.
    pub(super) apart: bool,
    exits_after: Option<Given>,
    pub(super) pause: Option<Pause>,
    pub(super) leak: Option<Leak>,
    /// How much slower the node is.
    pub(super) factor: f64,
    /// How late the prober reads an answer.
    late_ns: u64,
    /// Whether nothing but the node's prober reaches the container.
    cut_off: bool,
    /// Dependencies that the container does not reach.
    cut: Vec<Box<str>>,
}

/// The dependencies that something asks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asks<T> {
    requests: Vec<T>,
    startup: Vec<T>,
    readiness: Vec<T>,
    liveness: Vec<T>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pause {
    lasts_ns: u64,
    every_ns: u64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Leak {
    per_hour_ns: u64,
    /// The leak counts from here on, or from the container's start if that is later.
    since_ns: u64,
}

/// The run of a container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Life {
    started_ns: u64,
    pub(super) serves_ns: u64,
    pub(super) is_stuck: bool,
}

/// What a request meets until `until_ns`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    until_ns: u64,
    work: Work,
    pub(super) conditions: Conditions,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// It takes this long.
    Takes(Spread),
    /// It fails when it is worked on.
    Fails,
    /// Nobody works on it.
    Nobody,
}

/// A container.
#[derive(Debug)]
pub(super) struct Container {
    pub(super) description: Description,
    pub(super) asks: Asks<usize>,
    cut: Vec<usize>,
    pause_phase: f64,
    /// For what happens at a start.
    rng: Rng,
    pub(super) life: Option<Life>,
    /// The Services that send it requests, and how many a second each.
    pub(super) shares: Vec<(usize, f64)>,
    pub(super) queued: f64,
    counted_ns: u64,
    segment: Option<Segment>,
}

impl<T> Asks<T> {
    pub(super) fn of(&self, probe_type: ProbeType) -> &[T] {
        match probe_type {
            ProbeType::Startup => &self.startup,
            ProbeType::Readiness => &self.readiness,
            ProbeType::Liveness => &self.liveness,
        }
    }
}

impl Container {
    pub(super) fn new(seed: u64, given: Description, dependencies: &Dependencies) -> Result<Self, Box<str>> {
        let mut rng = Rng::new(seed);
        let mut made = Self {
            asks: Asks::default(),
            cut: Vec::new(),
            pause_phase: between_0_and_1(&mut rng),
            rng,
            description: given.clone(),
            life: None,
            shares: Vec::new(),
            queued: 0.0,
            counted_ns: 0,
            segment: None,
        };
        made.describe(given, dependencies)?;
        Ok(made)
    }

    /// Takes another description; the caller has counted its requests up to now.
    pub(super) fn describe(&mut self, given: Description, dependencies: &Dependencies) -> Result<(), Box<str>> {
        self.asks = Asks {
            requests: dependencies.numbers(&given.asks.requests)?,
            startup: dependencies.numbers(&given.asks.startup)?,
            readiness: dependencies.numbers(&given.asks.readiness)?,
            liveness: dependencies.numbers(&given.asks.liveness)?,
        };
        self.cut = dependencies.numbers(&given.cut)?;
        self.description = given;
        self.forget_segment();
        Ok(())
    }

    /// Something that this container depends on has changed; the caller has counted its requests up to now.
    pub(super) fn forget_segment(&mut self) {
        self.segment = None;
    }

    /// How late the prober reads an answer.
    pub(super) fn read_late(&self) -> Duration {
        Duration::from_nanos(self.description.late_ns)
    }

    /// The container starts; returns when it serves, and when it ends by itself.
    pub(super) fn start(&mut self, now_ns: u64, more_ns: u64) -> (u64, Option<u64>) {
        let Description { startup, exits_after, factor, .. } = self.description;
        let takes = startup.spread().later(drift(startup.per_day_ns, now_ns)).scaled(factor);
        let takes = takes.at(between_0_and_1(&mut self.rng)) + Duration::from_nanos(more_ns);
        let serves_ns = after(now_ns, takes);
        let u = between_0_and_1(&mut self.rng);
        let ends = exits_after.map(|given| after(now_ns, given.spread().at(u)));
        self.life = Some(Life { started_ns: now_ns, serves_ns, is_stuck: false });
        self.queued = 0.0;
        self.forget_segment();
        (serves_ns, ends)
    }

    /// The container has ended; the requests that it held are lost. The caller has counted them up to now.
    pub(super) fn end(&mut self, now_ns: u64, services: &mut Services, dependencies: &Dependencies) {
        self.lose_held(now_ns, services, dependencies);
        self.life = None;
    }

    /// The container stands still from now on. The caller has counted its requests up to now.
    pub(super) fn stick(&mut self, now_ns: u64, services: &mut Services, dependencies: &Dependencies) {
        self.lose_held(now_ns, services, dependencies);
        if let Some(life) = &mut self.life {
            life.is_stuck = true;
        }
    }

    fn lose_held(&mut self, now_ns: u64, services: &mut Services, dependencies: &Dependencies) {
        let Segment { work, conditions, .. } = self.segment_at(now_ns, services, dependencies);
        if let Work::Takes(takes) = work {
            let busy = (conditions.offered * takes.mean()).min(conditions.workers);
            let wait = conditions.wait(self.queued);
            let held = wait * conditions.capacity.min(f64::MAX) + busy;
            for &(service, rate) in &self.shares {
                if rate > 0.0 && held > 0.0 {
                    services.take_back(service, now_ns, held * rate / conditions.offered, wait, &takes);
                }
            }
        }
        self.queued = 0.0;
        self.forget_segment();
    }

    /// Counts the requests up to now.
    pub(super) fn count_until(&mut self, now_ns: u64, services: &mut Services, dependencies: &Dependencies) {
        if self.shares.is_empty() {
            self.counted_ns = now_ns;
            return;
        }
        while self.counted_ns < now_ns {
            let from_ns = self.counted_ns;
            let segment = self.segment_at(from_ns, services, dependencies);
            self.counted_ns = segment.until_ns.min(now_ns);
            self.count(&segment, from_ns, services);
        }
    }

    fn count(&mut self, segment: &Segment, from_ns: u64, services: &mut Services) {
        let (to_ns, shares) = (self.counted_ns, &self.shares);
        let whole = |loss: Loss, services: &mut Services| {
            for &(service, rate) in shares {
                services.lose(service, from_ns, to_ns, rate, loss);
            }
        };
        // The conditions say when a pause ends as seen from the moment at which they were taken.
        let conditions = segment.conditions_at(from_ns);
        let length = seconds(to_ns - from_ns);
        self.queued = match segment.work {
            Work::Nobody => {
                whole(Loss::NotServing, services);
                0.0
            }
            Work::Fails => {
                whole(Loss::Dependency, services);
                conditions.play(self.queued, length, |_| ())
            }
            Work::Takes(takes) => conditions.play(self.queued, length, |piece| {
                for &(service, rate) in shares {
                    services.serve(service, from_ns, rate, &piece, &takes);
                }
            }),
        };
    }

    pub(super) fn segment_at(&mut self, now_ns: u64, services: &Services, dependencies: &Dependencies) -> Segment {
        if let Some(segment) = self.segment.filter(|segment| now_ns < segment.until_ns) {
            return segment;
        }
        let segment = self.segment_from(now_ns, services, dependencies);
        self.segment = Some(segment);
        segment
    }

    fn segment_from(&self, now_ns: u64, services: &Services, dependencies: &Dependencies) -> Segment {
        let offered = self.shares.iter().map(|(_, rate)| rate).sum();
        let workers = self.description.concurrency.map_or(f64::INFINITY, f64::from);
        let queue = f64::from(self.description.queue);
        let idle = Conditions { offered, capacity: f64::INFINITY, workers, queue, pause: None };
        let nobody = |until_ns| Segment { until_ns, work: Work::Nobody, conditions: idle };
        let Some(life) = self.life.filter(|life| !life.is_stuck && !self.description.cut_off) else {
            return nobody(u64::MAX);
        };
        if now_ns < life.serves_ns {
            return nobody(life.serves_ns);
        }
        let own = self.own(self.description.latency, &life, now_ns);
        let reply = self.ask(&self.asks.requests, now_ns, dependencies);
        let (work, mean) = match reply.health {
            Health::Up => {
                let takes = own.then(reply.takes);
                (Work::Takes(takes), takes.mean())
            }
            Health::Refuses => (Work::Fails, own.mean()),
            // A worker gives up together with its client.
            Health::Hangs => (Work::Fails, services.longest_timeout(&self.shares).max(own.mean())),
        };
        let capacity = if workers.is_finite() { workers / mean.max(SHORTEST) } else { f64::INFINITY };
        let (pause_end, edge) = self.pause_at(now_ns);
        let drifts = reply.drifts || self.description.latency.per_day_ns > 0 || self.description.leak.is_some();
        let step = if drifts { (now_ns / DRIFT_STEP_NS + 1) * DRIFT_STEP_NS } else { u64::MAX };
        let pause = pause_end.map(|end| seconds(end - now_ns));
        let until_ns = edge.min(step);
        Segment { until_ns, work, conditions: Conditions { capacity, pause, ..idle } }.from(now_ns)
    }

    /// The time of a request or probe without queue and dependencies.
    pub(super) fn own(&self, given: Given, life: &Life, now_ns: u64) -> Spread {
        let step_ns = now_ns / DRIFT_STEP_NS * DRIFT_STEP_NS;
        let spread = given.spread().later(drift(given.per_day_ns, step_ns)).later(self.leaked(life, now_ns));
        spread.scaled(self.description.factor)
    }

    /// What a leak has added to the latency, in seconds.
    pub(super) fn leaked(&self, life: &Life, now_ns: u64) -> f64 {
        let Some(leak) = self.description.leak else {
            return 0.0;
        };
        let step_ns = now_ns / DRIFT_STEP_NS * DRIFT_STEP_NS;
        let age_ns = step_ns.saturating_sub(leak.since_ns.max(life.started_ns));
        seconds(leak.per_hour_ns) * (seconds(age_ns) / 3_600.0)
    }

    pub(super) fn ask(&self, numbers: &[usize], now_ns: u64, dependencies: &Dependencies) -> Reply {
        let step_ns = now_ns / DRIFT_STEP_NS * DRIFT_STEP_NS;
        let is_cut = |number| self.description.cut_off || self.cut.contains(&number);
        dependencies.ask(numbers, step_ns, &is_cut)
    }

    /// When the pause at `now_ns` is over, if there is one, and when that next changes.
    pub(super) fn pause_at(&self, now_ns: u64) -> (Option<u64>, u64) {
        let Some(Pause { lasts_ns, every_ns }) = self.description.pause else {
            return (None, u64::MAX);
        };
        let phase = (self.pause_phase * every_ns as f64) as u64;
        let round = (now_ns + every_ns - phase) / every_ns;
        // The first pause begins at the phase, so round 0 has none.
        let begins = (round * every_ns + phase).saturating_sub(every_ns);
        let ends = begins + lasts_ns;
        if round > 0 && now_ns < ends { (Some(ends), ends) } else { (None, (round * every_ns) + phase) }
    }
}

impl Segment {
    /// Notes when the segment was taken; its pause counts from there.
    fn from(mut self, now_ns: u64) -> Self {
        if let Some(pause) = &mut self.conditions.pause {
            *pause += seconds(now_ns);
        }
        self
    }

    fn conditions_at(&self, now_ns: u64) -> Conditions {
        let pause = self.conditions.pause.map(|end| end - seconds(now_ns));
        Conditions { pause, ..self.conditions }
    }
}

fn after(now_ns: u64, takes: Duration) -> u64 {
    now_ns.saturating_add(u64::try_from(takes.as_nanos()).unwrap_or(u64::MAX))
}

/// What drifts and leaks, grows in steps of this length.
const DRIFT_STEP_NS: u64 = 10_000_000_000;
/// A request takes at least a microsecond of a worker.
const SHORTEST: f64 = 1e-6;
