//! `schedule: spread` beside the kubelet's own way, on the same pods.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Outcome, Output, Phasing, Prober, Settings};
use probelet_core::spec::{ContainerSpec, PodSpec, ProbeSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;
use proptest::prelude::*;

/// A pod of one container, the time when the pod is added, and the later time when its container starts.
#[derive(Clone, Debug)]
struct Life {
    pod: Arc<PodSpec>,
    added: Instant,
    started: Instant,
    /// How many first runs of the startup probe fail.
    slow_runs: u8,
}

/// The times at which attempts began, by pod and type.
type Attempts = BTreeMap<(Arc<str>, ProbeType), Vec<u64>>;

fn probe(initial_delay_seconds: i32, period_seconds: i32) -> ProbeSpec {
    ProbeSpec { initial_delay_seconds, period_seconds, failure_threshold: 9, ..ProbeSpec::default() }
}

fn pod(number: usize, probes: [Option<ProbeSpec>; 3]) -> Arc<PodSpec> {
    Arc::new(PodSpec {
        uid: format!("00000000-0000-4000-8000-{number:012}").into(),
        name: format!("p{number}").into(),
        namespace: "ns".into(),
        containers: vec![ContainerSpec {
            name: "app".into(),
            probes: probes.map(|probe| probe.map(Box::new)),
            ..ContainerSpec::default()
        }],
        regular: 1,
        ..PodSpec::default()
    })
}

fn status(life: &Life, is_running: bool) -> PodStatus {
    let at = life.started.as_nanos() as i64 / 1_000_000;
    let state = if is_running { State::Running { started_at_ms: Some(at) } } else { State::Waiting };
    let id = if is_running { format!("c://{}", life.pod.uid) } else { String::new() };
    PodStatus {
        phase: Phase::Running,
        containers: vec![ContainerStatus::new("app".into(), id.into(), state)],
        regular: 1,
        ..PodStatus::default()
    }
}

/// Plays the lives until `end`; attempts are answered at once.
fn play(lives: &[Life], phasing: Phasing, start_jitter: bool, end: Duration) -> Attempts {
    let settings = Settings { seed: 7, start_jitter, phasing, ..Settings::default() };
    let mut manager = StatusManager::new(Prober::new(settings, Instant::ZERO), Glue::KUBELET);
    let mut inputs: Vec<_> =
        lives.iter().flat_map(|life| [(life.added, life, false), (life.started, life, true)]).collect();
    inputs.sort_by_key(|(at, ..)| *at);
    let mut inputs = inputs.into_iter().peekable();
    let slow_runs: BTreeMap<_, _> = lives.iter().map(|life| (Arc::clone(&life.pod.uid), life.slow_runs)).collect();
    let mut attempts = Attempts::new();
    for _ in 0..MOST_MOMENTS {
        let deadline = manager.prober_mut().next_deadline();
        let now = inputs.peek().map(|(at, ..)| *at).into_iter().chain(deadline).min();
        let Some(now) = now.filter(|now| *now <= Instant::ZERO + end) else { return attempts };
        while let Some((_, life, is_running)) = inputs.next_if(|(at, ..)| *at == now) {
            manager.prober_mut().define_pod(Arc::clone(&life.pod));
            manager.sync_pod(&life.pod.uid, status(life, is_running));
        }
        manager.settle(now);
        while let Some(output) = manager.poll_output() {
            let Output::Attempt(attempt) = output else { continue };
            let target = manager.prober().target(attempt.worker).expect("a worker with an attempt");
            let (uid, probe_type) = (Arc::clone(&target.pod.uid), target.probe_type);
            let seen = attempts.entry((Arc::clone(&uid), probe_type)).or_default();
            seen.push(now.as_nanos());
            let is_slow = probe_type == ProbeType::Startup && seen.len() <= slow_runs[&uid].into();
            let outcome = if is_slow { Outcome::Unknown } else { Outcome::Success };
            manager.prober_mut().handle_attempt(attempt.worker, attempt.run, outcome, now);
            manager.settle(now);
        }
    }
    panic!("time stands still: {MOST_MOMENTS} deadlines before {end:?}");
}

/// More moments than any test here has: six pods with three probes a second each, or a thousand pods with a probe in
/// ten seconds, are far below.
const MOST_MOMENTS: usize = 100_000;

fn life(number: usize) -> impl Strategy<Value = Life> {
    let probe = || prop::option::weighted(0.7, (0..20_i32, 1..12_i32).prop_map(|(delay, period)| probe(delay, period)));
    (prop::array::uniform3(probe()), 0..30_000_u64, 1..9_000_u64, 0..4_u8).prop_map(
        move |(probes, added, starts_after, slow_runs)| {
            let added = Instant::from_millis(added);
            let started = added + Duration::from_millis(starts_after);
            Life { pod: pod(number, probes), added, started, slow_runs }
        },
    )
}

proptest! {
    #[test]
    fn the_first_attempt_is_the_kubelets_and_no_later_one_comes_early(
        lives in (0..6_usize).prop_flat_map(|pods| (0..pods).map(life).collect::<Vec<_>>()),
        start_jitter in any::<bool>(),
    ) {
        let end = Duration::from_secs(120);
        let kubelet = play(&lives, Phasing::Kubelet, start_jitter, end);
        let spread = play(&lives, Phasing::Spread, start_jitter, end);
        let first = |attempts: &Attempts| attempts.iter().map(|(key, at)| (key.clone(), at[0])).collect::<Vec<_>>();
        prop_assert_eq!(first(&kubelet), first(&spread));
        for life in &lives {
            for probe_type in [ProbeType::Readiness, ProbeType::Liveness] {
                let Some(at) = spread.get(&(Arc::clone(&life.pod.uid), probe_type)) else { continue };
                let probe = life.pod.containers[0].probe(probe_type).expect("a probe with attempts");
                let period = probe.period().as_nanos() as u64;
                let delay = u64::from(probe.initial_delay_seconds.unsigned_abs()) * 1_000_000_000;
                prop_assert!(at[0] >= life.started.as_nanos() / 1_000_000_000 * 1_000_000_000 + delay);
                // A status update during the start jitter leaves a manual trigger, and the kubelet's worker runs for it
                // right after its first run. That is the same instant here, where answers take no time.
                let mut at = at.clone();
                at.dedup();
                let gaps: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
                prop_assert!(gaps.first().is_none_or(|&gap| (period..2 * period).contains(&gap)), "{gaps:?}");
                prop_assert!(gaps.iter().skip(1).all(|&gap| gap == period), "{gaps:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn a_phase_depends_on_uid_container_and_type_alone_and_lies_on_the_grid(
        one in life(3),
        (added, starts_after) in (0..30_000_u64, 1..9_000_u64),
        neighbours in (4..8_usize).prop_flat_map(|pods| (4..pods).map(life).collect::<Vec<_>>()),
    ) {
        let end = Duration::from_secs(120);
        let added = Instant::from_millis(added);
        let elsewhere = Life { added, started: added + Duration::from_millis(starts_after), slow_runs: 0, ..one.clone() };
        let alone = play(std::slice::from_ref(&one), Phasing::Spread, false, end);
        let together = [vec![elsewhere], neighbours].concat();
        let attempts = play(&together, Phasing::Spread, true, end);
        for ((uid, probe_type), at) in &attempts {
            let life = together.iter().find(|life| life.pod.uid == *uid).expect("a life that was played");
            let probe = life.pod.containers[0].probe(*probe_type).expect("a probe with attempts");
            let phase = |at: &[u64]| at.last().expect("attempts") % probe.period().as_nanos() as u64;
            if *probe_type == ProbeType::Startup || at.len() < 3 {
                continue;
            }
            // Periods are whole seconds, so phases of different periods lie on one grid of the prober's clock.
            prop_assert_eq!(at.last().expect("attempts") % 10_000_000, 0);
            if let Some(alone) = alone.get(&(Arc::clone(uid), *probe_type)).filter(|alone| alone.len() >= 3) {
                prop_assert_eq!(phase(at), phase(alone));
            }
        }
    }
}

#[test]
fn a_rollout_of_a_thousand_pods_is_probed_apart_from_the_second_run_on() {
    let now = Instant::from_millis(3_600_000);
    let lives: Vec<_> = (0..1_000)
        .map(|number| Life {
            pod: pod(number, [None, Some(probe(0, 10)), None]),
            added: now,
            started: now + Duration::from_millis(1),
            slow_runs: 0,
        })
        .collect();
    let peak = |phasing| {
        let attempts = play(&lives, phasing, true, Duration::from_secs(3_660));
        let mut buckets = BTreeMap::new();
        for at in attempts.values().flat_map(|at| &at[2..]) {
            *buckets.entry(at / 10_000_000).or_insert(0) += 1;
        }
        buckets.into_values().max().expect("probes")
    };
    assert_eq!(peak(Phasing::Kubelet), 1_000);
    // A thousand probes fall onto a thousand moments of the grid: one each on average, and by chance a few.
    assert!(peak(Phasing::Spread) <= 8, "{}", peak(Phasing::Spread));
}

#[test]
fn the_phases_are_on_a_grid_of_ten_milliseconds() {
    let prober = |phasing| Prober::new(Settings { phasing, ..Settings::default() }, Instant::ZERO);
    let (spread, kubelet) = (prober(Phasing::Spread), prober(Phasing::Kubelet));
    for (nanos, is_on_grid) in [(0, true), (30_000_000, true), (35_000_000, false), (30_000_001, false)] {
        let at = Instant::from_nanos(nanos);
        assert_eq!((spread.is_on_phase_grid(at), kubelet.is_on_phase_grid(at)), (is_on_grid, false), "{nanos}");
    }
}
