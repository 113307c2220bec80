//! A v1.Pod, a v1.Probe and restart rules from JSON: the decoder refuses them, or a prober can use them to the end.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::port::resolve;
use probelet_core::prober::{Outcome, Output, Prober, Settings};
use probelet_core::semantics::TextPorts;
use probelet_core::spec::{Handler, PodSpec, ProbeType};
use probelet_core::status::{Glue, StatusManager};
use probelet_core::time::Instant;
use probelet_play::json::{StatusDocument, decode_pod, decode_probe, decode_rules};

/// How many steps a pod's life has: enough for several runs of every probe with the default period.
const STEPS: usize = 40;

/// Plays one input.
pub fn play(json: &[u8]) {
    let _ = decode_probe(json);
    let _ = decode_rules(json);
    let Ok(pod) = decode_pod(json) else { return };
    assert_eq!(decode_pod(json).expect("the same bytes decode again"), pod);
    assert!(pod.regular <= pod.containers.len());
    for (index, container) in pod.containers.iter().enumerate() {
        let _ = pod.field_path(index);
        for probe in ProbeType::ALL.into_iter().filter_map(|probe_type| container.probe(probe_type)) {
            if let Handler::HttpGet(get) = &probe.handler {
                let _ = resolve(&get.port, &container.ports, TextPorts::MayBeNumbers);
            }
        }
    }
    live(pod);
}

/// Plays a short life under a prober, which must neither panic nor spin, whatever the numbers in the pod are.
fn live(pod: PodSpec) {
    let settings = Settings { start_jitter: false, ..Settings::default() };
    let mut manager = StatusManager::new(Prober::new(settings, Instant::ZERO), Glue::KUBELET);
    let pod = Arc::new(pod);
    manager.prober_mut().define_pod(Arc::clone(&pod));
    manager.sync_pod(&pod.uid, running(&pod));
    let mut now = Instant::ZERO;
    for step in 0..STEPS {
        manager.settle(now);
        let mut started = Vec::new();
        while let Some(output) = manager.poll_output() {
            if let Output::Attempt(attempt) = output {
                started.push(attempt);
            }
        }
        for attempt in started {
            let outcome = if step % 3 == 0 { Outcome::Failure { output: Box::default() } } else { Outcome::Success };
            manager.prober_mut().handle_attempt(attempt.worker, attempt.run, outcome, now);
        }
        manager.settle(now);
        now = manager.prober_mut().next_deadline().map_or(now + Duration::from_secs(1), |next| next.max(now));
    }
    if let Some(status) = manager.prober().pod_status(&pod.uid) {
        let _ = StatusDocument::of(Some(&pod), status).to_json();
    }
    manager.forget_pod(&pod.uid);
}

fn running(pod: &PodSpec) -> PodStatus {
    let containers = pod.containers.iter().enumerate().map(|(index, spec)| {
        let state = State::Running { started_at_ms: Some(0) };
        ContainerStatus::new(Arc::clone(&spec.name), format!("c://{index}").into(), state)
    });
    PodStatus { phase: Phase::Running, containers: containers.collect(), regular: pod.regular, ..PodStatus::default() }
}
