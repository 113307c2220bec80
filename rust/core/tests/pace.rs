//! Runs between the ordinary ones: when they come, what their failures mean, and what the budget leaves of them.

use std::time::Duration;

use probelet_core::options::ProbeOptions;
use probelet_core::prober::{ExtraRuns, Outcome, Output, Prober, Settings};
use probelet_core::results::ProbeResult;
use probelet_core::spec::{PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;
use proptest::prelude::*;

use crate::single::{UID, failure, pod, running, settings};

/// Containers that have started, each with one probe. Times are milliseconds from the containers' start.
struct Node {
    prober: Prober,
    now: u64,
    /// When the runs of each pod began.
    runs: Vec<Vec<u64>>,
    published: Vec<(u64, ProbeResult)>,
    events: usize,
}

impl Node {
    fn new(pods: usize, probe_type: ProbeType, probe: &ProbeSpec, budget: u32) -> Self {
        Self::of(&vec![probe; pods], probe_type, budget)
    }

    /// A pod for each probe.
    fn of(probes: &[&ProbeSpec], probe_type: ProbeType, budget: u32) -> Self {
        let pods = probes.len();
        let settings = Settings { extra_runs_per_second: budget, ..settings() };
        let prober = Prober::new(settings, Instant::from_millis(START));
        let mut node = Self { prober, now: 0, runs: vec![vec![]; pods], published: vec![], events: 0 };
        for (number, &probe) in probes.iter().enumerate() {
            let (definition, uid) = (pod([(probe_type, probe.clone())]), uid(number));
            node.prober.define_pod(PodSpec { uid: uid.as_str().into(), ..(*definition).clone() }.into());
            node.run_container(&uid, probe_type);
            node.prober.add_pod(&uid);
        }
        node
    }

    fn run_container(&mut self, uid: &str, probe_type: ProbeType) {
        let mut status = running(&format!("c://{uid}"), Instant::from_millis(START));
        status.containers[0].started = Some(probe_type != ProbeType::Startup);
        self.prober.set_pod_status(uid, status);
    }

    /// Plays until `end`; `answers` says whether a run that begins at a time finds its container well.
    fn play(&mut self, end: u64, answers: impl Fn(usize, u64) -> bool) -> &mut Self {
        loop {
            self.settle(&answers);
            let next = self.prober.next_deadline().map_or(u64::MAX, |at| at.as_nanos().div_ceil(1_000_000) - START);
            if next > end {
                self.now = end;
                return self;
            }
            self.now = self.now.max(next);
        }
    }

    fn settle(&mut self, answers: &impl Fn(usize, u64) -> bool) {
        let now = Instant::from_millis(START + self.now);
        self.prober.settle(now);
        while let Some(output) = self.prober.poll_output() {
            match output {
                Output::Attempt(attempt) => {
                    assert!(attempt.scheduled <= now, "an attempt began before it was due");
                    let target = self.prober.target(attempt.worker).expect("it runs");
                    let number = target.pod.uid.rsplit_once('-').map_or(0, |(_, number)| number.parse().expect("ours"));
                    self.runs[number].push(self.now);
                    let outcome = if answers(number, self.now) { Outcome::Success } else { failure() };
                    self.prober.handle_attempt(attempt.worker, attempt.run, outcome, now);
                    self.prober.settle(now);
                }
                Output::Update(update) => self.published.push((self.now, update.result)),
                Output::Event(_) => self.events += 1,
                _ => {}
            }
        }
    }

    /// When the runs of the first pod began.
    fn first(&self) -> &[u64] {
        &self.runs[0]
    }
}

fn uid(number: usize) -> String {
    format!("{UID}-{number}")
}

/// The containers begin then, on the prober's clock.
const START: u64 = 1_000_000;

fn probe(options: ProbeOptions) -> ProbeSpec {
    ProbeSpec { options: Some(Box::new(options)), ..ProbeSpec::default() }
}

fn millis(millis: u64) -> Option<Duration> {
    Some(Duration::from_millis(millis))
}

fn until_ready(every: u64) -> ProbeSpec {
    probe(ProbeOptions { until_ready: millis(every), ..ProbeOptions::default() })
}

fn when_failing(every: u64) -> ProbeSpec {
    probe(ProbeOptions { when_failing: millis(every), ..ProbeOptions::default() })
}

fn every(period: u64) -> ProbeSpec {
    probe(ProbeOptions { period: millis(period), ..ProbeOptions::default() })
}

#[test]
fn a_container_is_looked_at_often_until_it_is_ready() {
    let mut node = Node::new(1, ProbeType::Readiness, &until_ready(100), 0);
    node.play(35_000, |_, now| now >= 250);
    assert_eq!(node.first(), [0, 100, 200, 300, 10_000, 20_000, 30_000]);
    assert_eq!(node.published, [(0, ProbeResult::Failure), (300, ProbeResult::Success)]);
    assert_eq!(node.events, 1, "the failures between the ordinary runs are nobody's business");
}

/// What a node has to carry beside its ordinary probes: 100 pods that ask 20 times a second. The limit is half of that.
#[test]
fn ordinary_probes_beside_two_thousand_extra_ones_a_second_run_when_they_would_alone() {
    let (ordinary, fast) = (ProbeSpec::default(), every(50));
    let mut alone = Node::new(1_000, ProbeType::Liveness, &ordinary, 1_000);
    alone.play(30_000, |_, _| true);
    let probes = [vec![&ordinary; 1_000], vec![&fast; 100]].concat();
    let mut beside = Node::of(&probes, ProbeType::Liveness, 1_000);
    beside.play(30_000, |_, _| true);
    assert_eq!(beside.runs[..1_000], alone.runs);
    for second in 0..29 {
        let runs = beside.runs[1_000..].iter().flatten().filter(|at| **at / 1_000 == second).count();
        assert!(
            (900..=1_200).contains(&runs),
            "{runs} in second {second}: the limit, and the ordinary ones among them"
        );
    }
    let shares: Vec<usize> = beside.runs[1_000..].iter().map(Vec::len).collect();
    assert!(shares.iter().max() <= shares.iter().min().map(|least| least + 2).as_ref(), "a fair share: {shares:?}");
}

#[test]
fn looking_often_takes_no_time_from_a_container_that_starts() {
    let mut node = Node::new(1, ProbeType::Startup, &until_ready(50), 0);
    node.play(60_000, |_, _| false);
    assert_eq!(node.published, [(0, ProbeResult::Unknown), (20_000, ProbeResult::Failure)]);
    assert_eq!(node.first().len(), 401, "one in 50 ms until the third ordinary failure");
}

#[test]
fn a_period_of_milliseconds_does_not_hide_the_ordinary_runs_of_a_container_that_starts() {
    let options = ProbeOptions { period: millis(500), until_ready: millis(100), ..ProbeOptions::default() };
    let mut node = Node::new(1, ProbeType::Startup, &probe(options), 0);
    node.play(60_000, |_, _| false);
    assert_eq!(node.published, [(0, ProbeResult::Unknown), (20_000, ProbeResult::Failure)]);
}

#[test]
fn a_slow_extra_run_stands_for_the_tick_that_it_would_delay() {
    let spec = ProbeSpec { period_seconds: 1, failure_threshold: 2, ..until_ready(100) };
    let mut node = Node::new(1, ProbeType::Startup, &spec, 0);
    let at = |millis| Instant::from_millis(START + millis);
    let mut begun = Vec::new();
    for (now, ends) in [(0, true), (100, false), (1_000, false), (1_200, true)] {
        node.prober.settle(at(now));
        while let Some(output) = node.prober.poll_output() {
            match output {
                Output::Attempt(attempt) => begun.push(attempt),
                Output::Update(update) => node.published.push((now, update.result)),
                _ => {}
            }
        }
        if ends {
            let attempt = begun.last().expect("an attempt is in flight");
            node.prober.handle_attempt(attempt.worker, attempt.run, failure(), at(now));
        }
    }
    node.now = 1_200;
    node.play(1_200, |_, _| false);
    assert_eq!(node.published, [(0, ProbeResult::Unknown), (1_200, ProbeResult::Failure)]);
    assert_eq!(begun.len(), 2);
}

#[test]
fn a_container_is_looked_at_when_its_delay_is_over() {
    let spec = ProbeSpec { initial_delay_seconds: 5, ..until_ready(1_000) };
    let mut node = Node::new(1, ProbeType::Readiness, &spec, 0);
    node.play(12_000, |_, _| true);
    assert_eq!(node.first(), [5_000, 10_000]);
}

#[test]
fn a_container_that_begins_is_looked_at_without_a_tick() {
    let mut node = Node::new(1, ProbeType::Liveness, &until_ready(1_000), 0);
    node.play(2_000, |_, _| true);
    let mut status = running("c://other", Instant::from_millis(START + 2_000));
    status.containers[0].started = Some(true);
    node.prober.set_pod_status(&uid(0), status);
    node.play(4_500, |_, now| now > 3_500);
    assert_eq!(node.first(), [0, 2_000, 3_000, 4_000]);
}

#[test]
fn failures_come_sooner_after_a_failure() {
    let mut node = Node::new(1, ProbeType::Liveness, &when_failing(1_000), 0);
    node.play(60_000, |_, now| now < 10_000);
    assert_eq!(node.first(), [0, 10_000, 11_000, 12_000]);
    assert_eq!(node.published.last(), Some(&(12_000, ProbeResult::Failure)));
}

#[test]
fn after_a_success_the_ordinary_period_holds_again() {
    let mut node = Node::new(1, ProbeType::Readiness, &when_failing(2_000), 0);
    node.play(40_000, |_, now| !(10_000..13_000).contains(&now));
    assert_eq!(node.first(), [0, 10_000, 12_000, 14_000, 20_000, 30_000, 40_000]);
}

#[test]
fn a_period_of_milliseconds_is_even() {
    let mut node = Node::new(1, ProbeType::Readiness, &every(750), 0);
    node.play(9_000, |_, _| true);
    assert_eq!(node.first(), (0..=12).map(|run| run * 750).collect::<Vec<_>>());
}

#[test]
fn what_is_below_the_floor_becomes_the_floor() {
    let mut node = Node::new(1, ProbeType::Readiness, &every(1), 0);
    node.play(1_000, |_, _| true);
    assert_eq!(node.first().len(), 21);
}

#[test]
fn a_budget_that_binds_gives_everybody_the_same() {
    let mut node = Node::new(10, ProbeType::Readiness, &every(50), 20);
    node.play(100_000, |_, _| true);
    let counts: Vec<usize> = node.runs.iter().map(Vec::len).collect();
    let (least, most) = (counts.iter().min().expect("ten"), counts.iter().max().expect("ten"));
    assert!(most - least <= 1, "{counts:?}");
    let all: usize = counts.iter().sum();
    assert!((2_000..2_030).contains(&all), "{all} runs in 100 s at 20 a second");
    assert!(node.prober.extra_runs().late > 1_900, "{:?}", node.prober.extra_runs());
}

#[test]
fn without_a_budget_left_the_ordinary_period_remains() {
    let spec = ProbeSpec { period_seconds: 1, ..every(50) };
    let mut node = Node::new(40, ProbeType::Readiness, &spec, 1);
    node.play(30_000, |_, _| true);
    for runs in &node.runs {
        assert!(runs.windows(2).all(|pair| pair[1] - pair[0] <= 1_000), "{runs:?}");
    }
    assert!(node.prober.extra_runs().left_out > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Whatever the options and the budget, a run comes no later than the kubelet's, and never sooner than the pace.
    #[test]
    fn extra_runs_take_nothing_from_the_ordinary_ones(
        paces in prop::array::uniform3(prop::option::of(50..5_000_u64)), budget in 0..30_u32, period in 1..6_i32,
        seed in any::<u64>(),
    ) {
        let [own, until_ready, when_failing] = paces.map(|pace| pace.and_then(millis));
        let options = ProbeOptions { period: own, until_ready, when_failing, ..ProbeOptions::default() };
        let spec = ProbeSpec { period_seconds: period, ..probe(options) };
        let mut node = Node::new(3, ProbeType::Readiness, &spec, budget);
        node.play(60_000, |number, now| (seed ^ now).rotate_left(number as u32 * 7).is_multiple_of(3));
        let pace = paces.into_iter().flatten().min().unwrap_or(u64::MAX).min(period as u64 * 1_000);
        for runs in &node.runs {
            prop_assert!(runs.windows(2).all(|pair| pair[1] - pair[0] <= period as u64 * 1_000), "{runs:?}");
            let moving = own.is_some() && until_ready.is_none();
            prop_assert!(!moving || runs.windows(2).all(|pair| pair[1] - pair[0] >= pace), "{runs:?}");
        }
        let ExtraRuns { in_time, late, .. } = node.prober.extra_runs();
        if budget > 0 {
            prop_assert!(in_time + late <= u64::from(budget) * 61);
        }
    }

    /// Looking often finds out sooner that a container is well, and never that it is not.
    #[test]
    fn looking_often_never_ends_a_container_sooner(every in 50..3_000_u64, well_at in 0..80_000_u64, threshold in 1..6_i32) {
        let of = |options: Option<Box<ProbeOptions>>| {
            let spec = ProbeSpec { failure_threshold: threshold, options, ..ProbeSpec::default() };
            let mut node = Node::new(1, ProbeType::Startup, &spec, 0);
            node.play(90_000, |_, now| now >= well_at);
            node.published.last().copied()
        };
        let (ordinary, often) = (of(None), of(until_ready(every).options));
        match (ordinary, often) {
            (Some((_, ProbeResult::Failure)), Some((_, ProbeResult::Success))) => {}
            (Some((before, result)), Some((after, same))) => {
                prop_assert_eq!(result, same);
                prop_assert!(result == ProbeResult::Success && after <= before || after == before);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}
