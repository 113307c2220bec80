//! A node full of pods for the benchmarks: each pod one running container with one readiness probe.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::{Outcome, Output, Phasing, Prober, Settings, WorkerId};
use probelet_core::restart::RestartPolicy;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ContainerSpec, Handler, HttpGet, IntOrString, PodSpec, ProbeSpec};
use probelet_core::time::{Instant, WallOffset};
use probelet_play::cause::Cause;
use probelet_play::history::{OutcomeKind, PastAttempt};
use probelet_play::recording::{Attempt, End};

/// A prober at the clock's zero that has no pods yet.
pub fn prober() -> Prober {
    let settings = Settings {
        semantics: Semantics::V1_36,
        seed: 1,
        wall: WallOffset::default(),
        start_jitter: true,
        phasing: Phasing::Kubelet,
        extra_runs_per_second: 0,
        record: false,
    };
    Prober::new(settings, Instant::ZERO)
}

/// Pod number `n` with a readiness probe of this period.
pub fn pod(n: usize, period_seconds: i32) -> Arc<PodSpec> {
    let http = HttpGet {
        scheme: "HTTP".into(),
        host: "".into(),
        port: IntOrString::Int(8080),
        path: "/readyz".into(),
        headers: Vec::new(),
        http2: false,
    };
    let probe = ProbeSpec {
        handler: Handler::HttpGet(http),
        initial_delay_seconds: 0,
        timeout_seconds: 1,
        period_seconds,
        success_threshold: 1,
        failure_threshold: 3,
        initialization_failure_threshold: 0,
        options: None,
    };
    let container = ContainerSpec {
        name: "app".into(),
        image: "".into(),
        ports: Vec::new(),
        restart_policy: None,
        restart_rules: Vec::new(),
        probes: [None, Some(Box::new(probe)), None],
    };
    Arc::new(PodSpec {
        uid: format!("00000000-0000-4000-8000-{n:012}").into(),
        name: format!("pod-{n}").into(),
        namespace: "bench".into(),
        restart_policy: RestartPolicy::Always,
        containers: vec![container],
        regular: 1,
        deleting: false,
        api_ready: false,
    })
}

/// The status of pod number `n` once it runs.
pub fn running(n: usize, pod: &PodSpec) -> PodStatus {
    let state = State::Running { started_at_ms: Some(0) };
    let mut container =
        ContainerStatus::new(Arc::clone(&pod.containers[0].name), format!("process://{n:064x}").into(), state);
    container.started = Some(true);
    PodStatus {
        phase: Phase::Running,
        pod_ip: "127.1.0.1".into(),
        containers: vec![container],
        regular: 1,
        ..PodStatus::default()
    }
}

/// A prober with `pods` running pods and their workers.
pub fn node(pods: usize, period_seconds: i32) -> Prober {
    let mut prober = prober();
    for n in 0..pods {
        let pod = pod(n, period_seconds);
        prober.define_pod(Arc::clone(&pod));
        prober.set_pod_status(&pod.uid, running(n, &pod));
        prober.add_pod(&pod.uid);
    }
    prober.settle(Instant::ZERO);
    answer(&mut prober, Instant::ZERO);
    prober
}

/// Drains the outputs and answers every attempt with success; returns how many there were.
pub fn answer(prober: &mut Prober, now: Instant) -> u64 {
    answer_each(prober, now, |_| ())
}

fn answer_each(prober: &mut Prober, now: Instant, mut ended: impl FnMut(WorkerId)) -> u64 {
    let mut attempts = 0;
    while let Some(output) = prober.poll_output() {
        if let Output::Attempt(attempt) = output {
            attempts += 1;
            prober.handle_attempt(attempt.worker, attempt.run, Outcome::Success, now);
            ended(attempt.worker);
        }
    }
    attempts
}

/// Moves the clock to the next deadline and does everything that is due then; returns the new time and the number of
/// attempts.
pub fn step(prober: &mut Prober) -> (Instant, u64) {
    step_each(prober, |_, _| ())
}

/// The same, and calls `ended` for each attempt.
pub fn step_each(prober: &mut Prober, mut ended: impl FnMut(WorkerId, Instant)) -> (Instant, u64) {
    let now = prober.next_deadline().expect("a node with probes never sleeps for ever");
    prober.settle(now);
    let attempts = answer_each(prober, now, |worker| ended(worker, now));
    prober.settle(now);
    (now, attempts)
}

/// Attempts of a thousand workers with a period of ten seconds, late and taking as long as on a busy node.
pub fn recorded(number: u64) -> Attempt {
    let scheduled_us = 86_400_000_000 + number * 10_000;
    let began_us = scheduled_us + 300 + number % 700;
    let ended_us = began_us + 900 + number % 3_000;
    let worker = u32::try_from(number % 1_000).expect("less than a thousand");
    Attempt { worker, end: End::Success, cause: Cause::Ok, scheduled_us, began_us, ended_us }
}

/// Attempts of one worker with a period of ten seconds.
pub fn past(number: u32, is_good: bool) -> PastAttempt {
    let (outcome, cause) =
        if is_good { (OutcomeKind::Success, Cause::Ok) } else { (OutcomeKind::Failure, Cause::Status) };
    let at_ms = 1_700_000_000_000 + i64::from(number) * 10_000;
    let (duration, lateness) =
        (Duration::from_micros(900 + u64::from(number) % 3_000), Duration::from_micros(300 + u64::from(number) % 700));
    PastAttempt { at_ms, outcome, cause, duration, lateness }
}
