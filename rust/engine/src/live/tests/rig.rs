//! A live engine with pods that are probed every second, and a reader of its mailbox.

use std::net::TcpListener;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use probelet_core::podstatus::{ContainerStatus, Phase, PodStatus, State};
use probelet_core::prober::Phasing;
use probelet_core::semantics::Semantics;
use probelet_core::spec::{ContainerSpec, Handler, IntOrString, PodSpec, ProbeSpec};
use probelet_core::status::Glue;
use probelet_play::pods::PodCalls;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::engine::{Engine, Options};
use super::super::exec::ExecEnd;
use super::super::flight_recorder::RecorderOptions;
use super::super::journal::JournalOptions;
use crate::attempt::starvation::Starving;

/// What a test sees.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A pod was probed.
    Probe(usize),
    /// A result became known.
    Known,
    /// A pod's result is no longer cached: its worker has ended, or has another container.
    Gone,
    /// A token of a timer, or of a wait for the journal.
    Token(u64),
    /// A line for the log.
    Notice(String),
}

pub(super) struct Rig {
    pub(super) engine: Arc<Engine>,
    seen: Receiver<Seen>,
    is_over: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Rig {
    /// An engine with `sockets` pods that are probed over TCP, numbered from 0, and `execs` more by commands.
    pub(super) fn new(sockets: usize, execs: usize, journal: Option<JournalOptions>) -> Self {
        Self::with(sockets, execs, Options { journal, ..options() })
    }

    /// As [`Self::new`], and any two pods' probes begin in one turn: one of two phases follows the other by at most half
    /// of their period of a second, and for so long the first waits.
    pub(super) fn in_one_turn(sockets: usize, execs: usize) -> Self {
        Self::with(sockets, execs, Options { wake_slack: Duration::from_millis(500), ..options() })
    }

    /// As [`Self::new`], with a flight recorder.
    pub(super) fn recorded(sockets: usize, execs: usize, recorder: RecorderOptions) -> Self {
        Self::with(sockets, execs, Options { recorder: Some(recorder), ..options() })
    }

    fn with(sockets: usize, execs: usize, options: Options) -> Self {
        let engine = Arc::new(Engine::start(options).expect("a thread"));
        let (tell, seen) = channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let reader = std::thread::spawn({
            let (engine, tell, is_over) = (Arc::clone(&engine), tell.clone(), Arc::clone(&is_over));
            move || read(&engine, &tell, &is_over)
        });
        for pod in 0..sockets {
            add(&engine, pod, target(pod, tell.clone()));
        }
        let rig = Self { engine, seen, is_over, reader: Some(reader) };
        rig.add_execs(sockets..sockets + execs);
        rig
    }

    /// Adds pods that are probed by commands.
    pub(super) fn add_execs(&self, pods: Range<usize>) {
        pods.for_each(|pod| add(&self.engine, pod, Handler::Exec { command: vec!["true".into()] }));
    }

    /// Lets a pod that is probed be asked otherwise from now on.
    pub(super) fn change(&self, pod: usize, handler: Handler) {
        PodCalls::define_pod(&mut &*self.engine, spec(pod, handler));
        assert!(PodCalls::change_probes(&mut &*self.engine, &uid(pod)));
    }

    /// Removes pods.
    pub(super) fn remove(&self, pods: Range<usize>) {
        pods.for_each(|pod| PodCalls::remove_pod(&mut &*self.engine, &uid(pod)));
    }

    /// Waits until each of the first pods has been probed so often from now on.
    pub(super) fn probed(&self, pods: usize, times: usize) {
        let mut left = vec![times; pods];
        let end = Instant::now() + PATIENCE;
        while left.iter().any(|&left| left > 0) {
            if let Seen::Probe(pod) = self.next(end)
                && let Some(left) = left.get_mut(pod)
            {
                *left = left.saturating_sub(1);
            }
        }
    }

    /// Waits for a line that contains `part`.
    pub(super) fn noticed(&self, part: &str) {
        let end = Instant::now() + PATIENCE;
        while !matches!(self.next(end), Seen::Notice(text) if text.contains(part)) {}
    }

    /// Gives each of the first pods another container.
    pub(super) fn restart(&self, pods: usize, life: usize) {
        (0..pods).for_each(|pod| start(&self.engine, pod, life));
    }

    /// Waits until so many results have become known.
    pub(super) fn known(&self, results: usize) {
        let (mut left, end) = (results, Instant::now() + PATIENCE);
        while left > 0 {
            left -= usize::from(matches!(self.next(end), Seen::Known));
        }
    }

    /// Waits for a token.
    pub(super) fn token(&self, token: u64) {
        let end = Instant::now() + PATIENCE;
        while self.next(end) != Seen::Token(token) {}
    }

    /// Waits until the results of so many pods are no longer cached.
    pub(super) fn gone(&self, pods: usize) {
        let (mut left, end) = (pods, Instant::now() + PATIENCE);
        while left > 0 {
            left -= usize::from(matches!(self.next(end), Seen::Gone));
        }
    }

    /// Other pods go on being probed, so the wait as a whole has an end.
    fn next(&self, end: Instant) -> Seen {
        assert!(Instant::now() < end, "it happens in time");
        self.seen.recv_timeout(PATIENCE).expect("something happens in time")
    }

    /// Ends the reader of the mailbox and returns the engine, which has then no other owner.
    pub(super) fn into_engine(mut self) -> Engine {
        self.is_over.store(true, Ordering::SeqCst);
        self.reader.take().expect("one").join().expect("a reader that does not panic");
        let Self { engine, .. } = self;
        Arc::into_inner(engine).expect("the reader has ended")
    }
}

/// An engine that keeps nothing on disk.
pub(super) fn options() -> Options {
    Options {
        semantics: Semantics::default(),
        seed: 0,
        user_agent: "kube-probe/1.36".into(),
        start_jitter: false,
        phasing: Phasing::Kubelet,
        extra_runs_per_second: 0,
        wake_slack: Duration::ZERO,
        glue: Glue::NONE,
        starving: Starving::default(),
        journal: None,
        recorder: None,
    }
}

pub(super) fn uid(pod: usize) -> String {
    format!("pod{pod}")
}

/// A server that hangs up at once and says that `pod` was probed.
fn target(pod: usize, tell: Sender<Seen>) -> Handler {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = IntOrString::Int(listener.local_addr().expect("it is bound").port().into());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            drop(connection);
            if tell.send(Seen::Probe(pod)).is_err() {
                return;
            }
        }
    });
    Handler::TcpSocket { host: "".into(), port }
}

/// Adds a pod whose container `c://POD-0` is probed every second.
pub(super) fn add(engine: &Engine, pod: usize, handler: Handler) {
    engine.take_pod(spec(pod, handler));
    start(engine, pod, 0);
}

fn spec(pod: usize, handler: Handler) -> PodSpec {
    let uid = uid(pod);
    let probe = ProbeSpec { handler, period_seconds: 1, timeout_seconds: 1, ..ProbeSpec::default() };
    let probes = [None, Some(Box::new(probe)), None];
    let container = ContainerSpec { name: "c".into(), image: "web:1".into(), probes, ..ContainerSpec::default() };
    PodSpec {
        uid: uid.as_str().into(),
        name: uid.as_str().into(),
        namespace: "default".into(),
        containers: vec![container],
        regular: 1,
        ..PodSpec::default()
    }
}

/// The ID of a pod's container.
pub(super) fn container_id(pod: usize, life: usize) -> String {
    format!("c://{pod}-{life}")
}

/// A pod's container runs.
fn start(engine: &Engine, pod: usize, life: usize) {
    let state = State::Running { started_at_ms: Some(0) };
    let mut container = ContainerStatus::new("c".into(), container_id(pod, life).into(), state);
    container.started = Some(true);
    let containers = vec![container];
    let pod_ip = "127.0.0.1".into();
    engine.take_pod_status(
        &uid(pod),
        PodStatus { phase: Phase::Running, pod_ip, containers, regular: 1, ..PodStatus::default() },
    );
}

/// Reads the mailbox as Python does, and answers exec attempts.
fn read(engine: &Engine, tell: &Sender<Seen>, is_over: &AtomicBool) {
    while !is_over.load(Ordering::SeqCst) {
        // SAFETY: the engine lives as long as this borrow of it, and its mailbox keeps the descriptor open.
        let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(engine.mailbox().fd()) };
        let look = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&look)).expect("a descriptor");
        let batch = engine.mailbox().drain();
        for exec in batch.execs {
            let pod = exec.pod.uid.trim_start_matches("pod").parse().expect("a number");
            let _ = tell.send(Seen::Probe(pod));
            engine.finish_execs(vec![(exec.id, ExecEnd::Exit { code: 0, output: [].into() })]);
        }
        for change in batch.updates {
            let _ = tell.send(if change.result.is_none() { Seen::Gone } else { Seen::Known });
        }
        for token in batch.timers {
            let _ = tell.send(Seen::Token(token));
        }
        for notice in batch.notices {
            let _ = tell.send(Seen::Notice(notice.text));
        }
    }
}

/// Longer than anything takes on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
