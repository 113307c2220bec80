//! Pieces of work whose instructions are counted: `instructions NAME TIMES` does one of them `TIMES` times and exits.
//!
//! `make bench-instructions` runs each piece under callgrind twice, with two numbers of times. The difference is the
//! work without its set-up, and it is the same on a busy machine.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use probelet_benches::{answer, node, past, pod, prober, recorded, running, step};
use probelet_core::backoff::{Backoff, Curve, Exit};
use probelet_core::bucket::TokenBucket;
use probelet_core::prober::Outcome;
use probelet_core::restart::RestartPolicy;
use probelet_core::rng::Rng;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{Handler, HttpGet, IntOrString};
use probelet_core::time::Instant;
use probelet_core::wheel::TimerWheel;
use probelet_engine::flight_recorder::{Pending, Ring};
use probelet_engine::handler::{Asker, Buffers, probe_once};
use probelet_play::history::{History, PastAttempt};
use probelet_play::recording::Start;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

type Work = fn(u64);

const ALL: [(&str, Work); 10] = [
    ("wheel fire+rearm of 10,000", wheel),
    ("worker run of 1,000", run),
    ("pod added, probed once and removed", come_and_go),
    ("back-off decision", backoff),
    ("token taken", bucket),
    ("HTTP probe, with its target", http),
    ("gRPC probe, with its target", grpc),
    ("attempt remembered in a history", remember),
    ("attempt noted by the flight recorder", note),
    ("attempt noted and written", record),
];

fn wheel(times: u64) {
    const PERIOD: Duration = Duration::from_secs(10);
    let (mut wheel, mut rng) = (TimerWheel::new(), Rng::new(1));
    for token in 0..10_000 {
        wheel.arm(Instant::ZERO + Duration::from_nanos(rng.below(PERIOD.as_nanos() as u64)), token);
    }
    for _ in 0..times {
        let now = wheel.next_deadline().expect("the wheel is never empty");
        let (deadline, token) = wheel.pop(now).expect("the timer is due");
        wheel.arm(deadline + PERIOD, token);
    }
}

fn run(times: u64) {
    let mut prober = node(1000, 10);
    let mut seen = 0;
    while seen < times {
        seen += step(&mut prober).1;
    }
}

fn come_and_go(times: u64) {
    // The pods and their statuses are made before, because their making is the caller's work.
    let pods: Vec<_> = (0..1_000).map(|number| pod(number, 10)).collect();
    let statuses: Vec<_> = pods.iter().enumerate().map(|(number, pod)| running(number, pod)).collect();
    // A prober that began long ago has no start jitter: the worker runs at once.
    let (mut prober, now) = (prober(), Instant::ZERO + Duration::from_secs(3_600));
    let mut attempts = 0;
    for (pod, status) in pods.iter().zip(&statuses).cycle().take(times as usize) {
        prober.define_pod(Arc::clone(pod));
        prober.set_pod_status(&pod.uid, status.clone());
        prober.add_pod(&pod.uid);
        prober.settle(now);
        attempts += answer(&mut prober, now);
        prober.remove_pod(&pod.uid);
        prober.remove_pod_status(&pod.uid);
        prober.forget_pod(&pod.uid);
        prober.settle(now);
        answer(&mut prober, now);
    }
    assert_eq!(attempts, times);
}

fn backoff(times: u64) {
    let mut table = Backoff::new(Curve::default());
    let mut now = Instant::ZERO;
    for _ in 0..times {
        now = now + Duration::from_millis(1);
        black_box(table.decide("app", Some(Exit { finished: now, code: 1 }), RestartPolicy::Always, &[], now));
    }
}

fn bucket(times: u64) {
    let (mut bucket, mut now) = (TokenBucket::new(25, Duration::from_secs(300)), Instant::ZERO);
    for _ in 0..times {
        now = now + Duration::from_secs(100);
        black_box(bucket.take(1, now));
    }
}

fn http(times: u64) {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    probes(times, &[answer], |port| {
        Handler::HttpGet(HttpGet {
            scheme: "HTTP".into(),
            host: "".into(),
            port: IntOrString::Int(port),
            path: "/healthz".into(),
            headers: vec![],
            http2: false,
        })
    });
}

fn grpc(times: u64) {
    let (settings, answer) = health();
    probes(times, &[&settings, &answer], |port| Handler::Grpc { port, service: "".into(), tls: false });
}

fn remember(times: u64) {
    // The attempts are made before, because their making has divisions.
    let attempts: Vec<PastAttempt> = (0..1_024).map(|number| past(number, true)).collect();
    let (mut history, mut at_ms) = (History::default(), 0);
    for attempt in attempts.iter().cycle().take(times as usize) {
        at_ms += 10_000;
        black_box(history.add(&PastAttempt { at_ms, ..*attempt }, ""));
    }
    black_box(&history);
}

/// What the engine's thread does for an attempt while a flight recorder runs.
fn note(times: u64) {
    let (mut pending, mut emptied) = (Pending::default(), Vec::new());
    for number in 0..times {
        pending.attempt(recorded(number));
        if pending.is_crowded() {
            emptied = pending.take(emptied);
            emptied.clear();
        }
    }
    black_box(&pending);
}

/// The same, and what the recorder's own thread does, in blocks of a thousand attempts.
fn record(times: u64) {
    let folder = std::env::temp_dir().join(format!("probelet-bench-{}", std::process::id()));
    let mut ring = Ring::new(&folder, 64 << 20);
    let (mut pending, mut emptied) = (Pending::default(), Vec::new());
    pending.begin(Start::default());
    for number in 0..times {
        pending.attempt(recorded(number));
        if pending.len() >= 1_000 {
            let entries = pending.take(emptied);
            ring.write(&entries).expect("room on the disk");
            emptied = entries;
            emptied.clear();
        }
    }
    std::fs::remove_dir_all(folder).expect("the ring");
}

/// Probes a target of the same thread, which reads and answers with the next of `answers` in turn.
fn probes(times: u64, answers: &[&[u8]], handler: impl Fn(i64) -> Handler) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let asker = Asker { user_agent: "kube-probe/1.36", rules: Semantics::V1_36.handler_rules(), pod_uid: None };
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("the listener is bound").port();
        let (handler, mut buffers) = (handler(port.into()), Buffers::default());
        for _ in 0..times {
            let serve = async {
                let (mut connection, _) = listener.accept().await.expect("a connection");
                let mut asked = [0; 1024];
                for answer in answers {
                    let _ = connection.read(&mut asked).await;
                    connection.write_all(answer).await.expect("the client reads");
                }
                // The client closes first.
                while connection.read(&mut asked).await.is_ok_and(|count| count > 0) {}
            };
            let probe = probe_once(&handler, &[], "127.0.0.1", asker, 30, &mut buffers);
            let (report, ()) = tokio::join!(probe, serve);
            assert_eq!(report.outcome, Outcome::Success);
        }
    });
}

/// What a gRPC server says: its SETTINGS, and the answer to a call, which is a head, the message SERVING, and trailers.
fn health() -> (Vec<u8>, Vec<u8>) {
    let field = |name: &str, value: &str| {
        let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
        [vec![0x40], text(name), text(value)].concat()
    };
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
    };
    let head = [vec![0x88], field("content-type", "application/grpc")].concat();
    let trailers = [field("grpc-status", "0"), field("grpc-message", "")].concat();
    let message = frame(0, 0, 1, &[0, 0, 0, 0, 2, 8, 1]);
    let answer = [frame(1, 4, 1, &head), message, frame(1, 5, 1, &trailers)].concat();
    (frame(4, 0, 0, &[0, 3, 0, 0, 0, 100, 0, 4, 0, 1, 0, 0]), answer)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.as_slice() {
        [name, times] => {
            let (_, work) = ALL.iter().find(|(known, _)| known == name).expect("a name of the list");
            work(times.parse().expect("a number of times"));
        }
        // Without arguments, also under `cargo bench`, print the names.
        _ => ALL.iter().for_each(|(name, _)| println!("{name}")),
    }
}
