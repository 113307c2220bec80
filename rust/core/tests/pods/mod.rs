//! Pods of several containers under the prober's manager (kubelet prober/prober_manager.go, 1.36).

mod ended;
mod order;
mod published;
mod recheck;
mod update;
mod workers;

use std::sync::Arc;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Outcome, Output, Prober, Settings};
use probelet_core::restart::RestartPolicy;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ContainerSpec, PodSpec, ProbeType};
use probelet_core::time::{Instant, WallOffset};

/// A pod with the containers `a` and `b`, the sidecar `s` and the init container `i`, each with `probes`, and a sidecar
/// `t` without probes.
fn pod(uid: &str, probes: &[ProbeType]) -> Arc<PodSpec> {
    let container = |name: &str, restart_policy, probes: &[ProbeType]| {
        let mut container = ContainerSpec { name: name.into(), restart_policy, ..ContainerSpec::default() };
        for probe_type in probes {
            container.probes[*probe_type as usize] = Some(Box::default());
        }
        container
    };
    let containers = vec![
        container("a", None, probes),
        container("b", None, probes),
        container("s", Some(RestartPolicy::Always), probes),
        container("i", None, probes),
        container("t", Some(RestartPolicy::Always), &[]),
    ];
    Arc::new(PodSpec { uid: uid.into(), containers, regular: 2, ..PodSpec::default() })
}

/// The pod's status while everything runs; container IDs contain the UID.
fn status(uid: &str, started: bool) -> PodStatus {
    let containers = ["a", "b", "s", "i", "t"].map(|name| {
        let state = State::Running { started_at_ms: Some(0) };
        let mut container = ContainerStatus::new(name.into(), format!("c://{uid}-{name}").into(), state);
        container.started = Some(started);
        container
    });
    PodStatus { phase: Phase::Running, containers: containers.into(), regular: 2, ..PodStatus::default() }
}

fn prober(semantics: Semantics, record: bool) -> Prober {
    let settings = Settings { semantics, start_jitter: false, record, ..Settings::default() };
    Prober::new(settings, Instant::ZERO)
}

/// A prober that starts a minute after the containers, which have been running since the Unix epoch.
fn restarted(semantics: Semantics) -> Prober {
    let wall = WallOffset(60_000_000_000);
    Prober::new(Settings { semantics, wall, start_jitter: false, ..Settings::default() }, Instant::ZERO)
}

fn add(prober: &mut Prober, uid: &str, probes: &[ProbeType], started: bool) {
    prober.define_pod(pod(uid, probes));
    prober.set_pod_status(uid, status(uid, started));
    assert!(prober.add_pod(uid));
}

/// Settles and answers every attempt with a success; returns the attempts as `container type`, and the other outputs.
fn settle(prober: &mut Prober, now: Instant) -> (Vec<String>, Vec<Output>) {
    let (mut attempts, mut others) = (Vec::new(), Vec::new());
    prober.settle(now);
    while let Some(output) = prober.poll_output() {
        if let Output::Attempt(attempt) = output {
            let target = prober.target(attempt.worker).expect("the worker has an attempt");
            attempts.push(format!("{} {:?}", target.container().name, target.probe_type));
            prober.handle_attempt(attempt.worker, attempt.run, Outcome::Success, now);
            prober.settle(now);
        } else {
            others.push(output);
        }
    }
    (attempts, others)
}

/// The workers that have not been asked to stop, as `container type`.
fn working(prober: &Prober, uid: &str) -> Vec<String> {
    let states = prober.worker_states(Some(uid));
    let continuing = states.iter().filter(|state| !state.stopping);
    continuing.map(|state| format!("{} {:?}", state.target.container().name, state.target.probe_type)).collect()
}
