//! Laws that hold in random lives of random pods (docs/dev/architecture.md, "The law of the core").

use std::sync::Arc;
use std::time::Duration;

use probelet_core::options::{FailureWindow, ProbeOptions};
use probelet_core::prober::{Memory, Prober};
use probelet_core::restart::RestartPolicy;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ContainerSpec, PodSpec, ProbeSpec};
use probelet_core::time::Instant;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::driver::{Driver, Step};

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..PODS, any::<[u8; 2]>(), prop::array::uniform2(0..3_u8))
            .prop_map(|(pod, states, generation)| Step::Sync { pod, states, generation }),
        1 => (0..PODS).prop_map(|pod| Step::Terminate { pod }),
        2 => (0..PODS, 0..PODS).prop_map(|(pod, like)| Step::Change { pod, like }),
        1 => (0..PODS).prop_map(|pod| Step::Forget { pod }),
        1 => (0..PODS).prop_map(|keep| Step::Cleanup { keep }),
        8 => (0..4_000_u64).prop_map(|millis| Step::Wait { millis }),
        1 => any::<usize>().prop_map(|nth| Step::Recheck { nth }),
        12 => (any::<usize>(), 0..10_u8).prop_map(|(nth, outcome)| Step::Land { nth, outcome }),
    ]
}

fn options() -> impl Strategy<Value = Option<Box<ProbeOptions>>> {
    let failures = prop::option::of((1..=WINDOW).prop_map(|at| FailureWindow::new(WINDOW, at)));
    let paces = prop::array::uniform3(prop::option::weighted(0.3, (1..2_000_u64).prop_map(Duration::from_millis)));
    let options = (failures, 0..3_i32, paces).prop_map(|(failures, errors, [period, until_ready, when_failing])| {
        let slow = until_ready;
        Box::new(ProbeOptions {
            failures,
            failure_after_errors: errors,
            slow,
            period,
            until_ready,
            when_failing,
            ..ProbeOptions::default()
        })
    });
    prop::option::weighted(0.3, options)
}

fn probe() -> impl Strategy<Value = Option<Box<ProbeSpec>>> {
    let numbers = (0..4_i32, 1..4_i32, 1..3_i32, 1..4_i32, 0..6_i32);
    prop::option::weighted(
        0.8,
        (numbers, options()).prop_map(|((delay, period, success, failure, initial), options)| {
            Box::new(ProbeSpec {
                initial_delay_seconds: delay,
                period_seconds: period,
                success_threshold: success,
                failure_threshold: failure,
                initialization_failure_threshold: initial,
                options,
                ..ProbeSpec::default()
            })
        }),
    )
}

fn pod(index: usize) -> impl Strategy<Value = PodSpec> {
    let container = |name: &'static str| {
        prop::array::uniform3(probe()).prop_map(move |probes| ContainerSpec {
            name: name.into(),
            probes,
            ..ContainerSpec::default()
        })
    };
    let policy = prop_oneof![Just(RestartPolicy::Always), Just(RestartPolicy::Never), Just(RestartPolicy::OnFailure)];
    (container("a"), container("b"), any::<bool>(), policy).prop_map(move |(a, mut b, sidecar, restart_policy)| {
        if sidecar {
            b.restart_policy = Some(RestartPolicy::Always);
        }
        PodSpec {
            uid: format!("u{index}").into(),
            name: format!("p{index}").into(),
            namespace: "ns".into(),
            restart_policy,
            containers: vec![a, b],
            regular: if sidecar { 1 } else { 2 },
            ..PodSpec::default()
        }
    })
}

/// How a life begins: the seed of its jitter, and its rules.
type Beginning = (u64, Semantics);

fn scenario() -> impl Strategy<Value = (Beginning, Vec<PodSpec>, Vec<Step>)> {
    let pods: Vec<_> = (0..PODS).map(pod).collect();
    let semantics = prop_oneof![Just(Semantics::V1_36), Just(Semantics::ENHANCED)];
    ((any::<u64>(), semantics), pods, prop::collection::vec(step(), 1..120))
}

/// Lets another prober take over; returns what the old one and the new one know of the containers that still run.
fn succeed(driver: &Driver, pods: &[PodSpec]) -> (Vec<Memory>, Vec<Memory>) {
    let old = driver.manager.prober();
    let runs = |memory: &Memory| {
        let status = old.pod_status(&memory.pod_uid).and_then(|status| status.with_id(&memory.container));
        status.is_some_and(|status| status.state.is_running() && *status.id == *memory.container_id)
    };
    let mut known = memories(old);
    let given = known.clone();
    for memory in &mut known {
        if std::mem::take(&mut memory.in_doubt) {
            memory.result_run = 0;
            memory.window = memory.window << 1 & ((1 << WINDOW) - 1);
        }
    }
    let mut new = Prober::new(crate::driver::settings(1, *old.semantics()), driver.now);
    given.into_iter().for_each(|memory| new.recall(memory));
    for pod in pods.iter().filter(|pod| old.pod(&pod.uid).is_some()) {
        new.define_pod(Arc::new(pod.clone()));
        new.set_pod_status(&pod.uid, old.pod_status(&pod.uid).cloned().unwrap_or_default());
        new.add_pod(&pod.uid);
    }
    new.settle(driver.now);
    known.retain(runs);
    let mut taken_over = memories(&new);
    let name = |memory: &Memory| (Arc::clone(&memory.pod_uid), Arc::clone(&memory.container), memory.probe_type);
    taken_over.retain(|memory| known.iter().any(|other| name(other) == name(memory)));
    (known, taken_over)
}

/// The workers' memories, ordered by name. A memory's tick is cut to its grid.
fn memories(prober: &Prober) -> Vec<Memory> {
    let mut memories: Vec<Memory> = prober.worker_ids(None).into_iter().filter_map(|id| prober.memory(id)).collect();
    for memory in &mut memories {
        memory.tick = Instant::from_nanos(memory.tick.as_nanos() % memory.period.as_nanos() as u64);
    }
    memories.sort_by_key(|memory| (Arc::clone(&memory.pod_uid), Arc::clone(&memory.container), memory.probe_type));
    memories
}

const PODS: usize = 3;

/// The length of every window of failures here.
const WINDOW: u32 = 5;

/// Runs a law on random lives. A failure names its seed and the command that plays it again.
fn holds<S: Strategy>(lives: S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let seed = match std::env::var(SEED) {
        Ok(seed) => seed.parse().expect("PROBELET_SEED is a whole number"),
        Err(_) => TestRunner::default().rng().next_u64(),
    };
    let config = Config { rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    if let Err(error) = TestRunner::new(config).run(&lives, law) {
        panic!("{error}\nplay it again: {SEED}={seed} cargo test -p probelet-core --test all laws");
    }
}

#[test]
fn laws_hold_and_nothing_is_left_behind() {
    holds(scenario(), |((seed, semantics), pods, steps)| {
        let mut driver = Driver::new(seed, semantics);
        for step in &steps {
            driver.apply(&pods, step);
        }
        driver.end(&pods);
        Ok(())
    });
}

#[test]
fn same_inputs_give_the_same_outputs_across_a_snapshot() {
    holds((scenario(), any::<usize>()), |(((seed, semantics), pods, steps), cut)| {
        let mut whole = Driver::new(seed, semantics);
        let mut halved = Driver::new(seed, semantics);
        for (index, step) in steps.iter().enumerate() {
            if index == cut % steps.len() {
                let bytes = postcard::to_stdvec(&halved.manager).expect("plain data");
                halved.manager = postcard::from_bytes(&bytes).expect("the bytes were just written");
            }
            whole.apply(&pods, step);
            halved.apply(&pods, step);
        }
        prop_assert_eq!(whole.outputs, halved.outputs);
        Ok(())
    });
}

#[test]
fn a_successor_knows_what_its_predecessor_knew() {
    holds(scenario(), |((seed, semantics), pods, steps)| {
        let mut driver = Driver::new(seed, semantics);
        // A change that waits for the end of a run is not known to a successor yet.
        for step in steps.iter().filter(|step| !matches!(step, Step::Change { .. })) {
            driver.apply(&pods, step);
        }
        let (known, taken_over) = succeed(&driver, &pods);
        prop_assert_eq!(known, taken_over);
        Ok(())
    });
}

const SEED: &str = "PROBELET_SEED";
