//! A process that has used up its file descriptors: no container is to blame, and the rest of the process keeps a share.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use probelet_core::prober::{Outcome, Phasing};
use probelet_core::semantics::Semantics;
use probelet_core::spec::{Handler, HttpGet, IntOrString};
use probelet_core::status::Glue;
use probelet_engine::attempt::starvation::Starving;
use probelet_engine::handler::{Asker, Buffers, probe_once};
use probelet_engine::live::{Engine, Options};
use probelet_play::cause::Cause;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const LIMIT: u64 = 64;

/// Gives the process of this test few descriptors; the tests here take turns.
fn with_few_descriptors() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(LIMIT), maximum }).expect("less than before");
    turn
}

/// Takes every descriptor of the process but `left`.
fn taken(left: usize) -> Vec<File> {
    let mut files: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    // The lowest numbers become free, which no engine has reserved.
    files.split_off(left)
}

/// A target that answers each request. Its thread has a table of descriptors of its own.
fn target() -> u16 {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        // SAFETY: no descriptor that another thread uses is closed here.
        assert_eq!(unsafe { libc::unshare(libc::CLONE_FILES) }, 0);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        tell.send(listener.local_addr().expect("the listener is bound").port()).expect("the test waits");
        for connection in listener.incoming() {
            let mut connection = connection.expect("a connection");
            if connection.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {
                let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            }
        }
    });
    told.recv().expect("a port")
}

fn get(port: u16, scheme: &str, host: &str) -> Handler {
    Handler::HttpGet(HttpGet {
        scheme: scheme.into(),
        host: host.into(),
        port: IntOrString::Int(port.into()),
        path: "/".into(),
        headers: vec![],
        http2: false,
    })
}

const ASKER: Asker<'static> =
    Asker { user_agent: "kube-probe/1.36", rules: Semantics::V1_36.handler_rules(), pod_uid: None };

#[test]
fn an_attempt_that_lacks_a_descriptor_is_a_prober_error_whichever_one_it_lacks() {
    let _turn = with_few_descriptors();
    let port = target();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let tcp = |host: &str| Handler::TcpSocket { host: host.into(), port: IntOrString::Int(port.into()) };
    let grpc = |tls| Handler::Grpc { port: port.into(), service: "".into(), tls };
    let handlers =
        [get(port, "HTTP", ""), get(port, "HTTP", "localhost"), get(port, "HTTPS", ""), tcp(""), tcp("localhost")];
    for handler in handlers.into_iter().chain([grpc(false), grpc(true)]) {
        let taken = taken(0);
        let report = runtime.block_on(probe_once(&handler, &[], "127.0.0.1", ASKER, 30, &mut Buffers::default()));
        drop(taken);
        assert!(matches!(report.outcome, Outcome::Error { failure: false, .. }), "{handler:?}: {:?}", report.outcome);
        assert_eq!(report.cause, Cause::Starved, "{handler:?}");
    }
    // One descriptor is enough for the socket and none is left to wait with; for a name the resolver lacks more.
    for handler in [get(port, "HTTP", ""), get(port, "HTTP", "localhost")] {
        let mut causes = Vec::new();
        for left in 0..12 {
            let taken = taken(left);
            let report = runtime.block_on(probe_once(&handler, &[], "127.0.0.1", ASKER, 30, &mut Buffers::default()));
            drop(taken);
            assert!(
                matches!(report.outcome, Outcome::Error { failure: false, .. } | Outcome::Success),
                "{left} left, {handler:?}: {:?}",
                report.outcome
            );
            causes.push(report.cause);
        }
        assert_eq!((causes[0], causes[11]), (Cause::Starved, Cause::Ok), "{causes:?}");
    }
}

#[test]
fn targets_that_do_not_answer_leave_the_process_a_quarter_of_its_descriptors() {
    let _turn = with_few_descriptors();
    // The kernel accepts for a listener that never does.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("the listener is bound").port();
    let options = Options {
        semantics: Semantics::V1_36,
        seed: 1,
        user_agent: "kube-probe/1.36".into(),
        start_jitter: false,
        phasing: Phasing::Kubelet,
        extra_runs_per_second: 0,
        wake_slack: std::time::Duration::ZERO,
        glue: Glue::NONE,
        starving: Starving::default(),
        journal: None,
        recorder: None,
    };
    // An engine's own descriptors come from the reserve too, so that one is counted without them.
    drop(Engine::start(options).expect("an engine"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let handler = get(port, "HTTP", "");
    let mut buffers: Vec<_> = (0..LIMIT).map(|_| Buffers::default()).collect();
    let mut starved = 0;
    let mut waiting = Vec::new();
    for buffers in &mut buffers {
        let mut attempt = Box::pin(probe_once(&handler, &[], "127.0.0.1", ASKER, 30, buffers));
        let _entered = runtime.enter();
        match attempt.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            std::task::Poll::Ready(report) => {
                assert_eq!(report.cause, Cause::Starved, "{:?}", report.outcome);
                starved += 1;
            }
            std::task::Poll::Pending => waiting.push(attempt),
        }
    }
    let left = taken(0).len() as u64;
    assert!(left >= LIMIT / 4 && !waiting.is_empty(), "{left} left, {} attempts, {starved} starved", waiting.len());
}
