//! Exec attempts that go to a scripted helper on a real socket, beside a mailbox that nobody but the test reads.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use probelet_core::spec::{Handler, IntOrString};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use socket2::{Domain, Socket, Type};

use super::super::batch::Batch;
use super::super::direct::HelperProcess;
use super::super::engine::Engine;
use super::super::exec::{EnteredExec, ExecEnd, Refusal};
use super::rig::{PATIENCE, add, container_id, options};
use super::trap::Moment;

const SECOND: Duration = Duration::from_secs(1);
const DESCRIPTION: &[u8] = b"the container in the helper's form";

/// A helper's end of the socket, and a process that stands for it.
struct Helper {
    socket: Socket,
    process: Child,
}

impl Helper {
    /// Gives the engine a helper that the test plays.
    fn new(engine: &Engine) -> Self {
        let (ours, socket) = Socket::pair(Domain::UNIX, Type::SEQPACKET, None).expect("a pair");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let process = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("a process");
        let pidfd: OwnedFd = pidfd_open(Pid::from_child(&process), PidfdFlags::empty()).expect("a child");
        engine.use_helper(HelperProcess::duplicate(ours.as_fd(), pidfd.as_fd()).expect("descriptors"));
        Self { socket, process }
    }

    /// The next request: its number and its bytes after that.
    fn request(&self) -> (u64, Vec<u8>) {
        loop {
            let mut message = [0; 1024];
            let length = (&self.socket).read(&mut message).expect("a request in time");
            if message[0] == 1 {
                return (u64::from_le_bytes(message[1..9].try_into().unwrap()), message[9..length].to_vec());
            }
        }
    }

    fn answer(&self, kind: u8, id: u64, rest: &[u8]) {
        self.socket.send(&[&[kind], id.to_le_bytes().as_slice(), rest].concat()).expect("a reader");
    }

    fn exit(&self, id: u64, code: i32, output: &[u8]) {
        let length = u32::try_from(output.len()).unwrap().to_le_bytes();
        self.answer(4, id, &[code.to_le_bytes().as_slice(), &length, output].concat());
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.process.kill();
        self.process.wait().expect("a child");
    }
}

fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < end, "{what} in time");
        std::thread::yield_now();
    }
}

/// An engine with a helper, and one pod that is probed by a command in a described container.
fn entered() -> (Engine, Helper) {
    let engine = Engine::start(options()).expect("a thread");
    let helper = Helper::new(&engine);
    engine.describe_container("c://0-0", DESCRIPTION);
    add(&engine, 0, exec(&["true", "-v"]));
    (engine, helper)
}

fn exec(command: &[&str]) -> Handler {
    Handler::Exec { command: command.iter().map(|&word| word.into()).collect() }
}

/// The next exec attempt that comes in a batch.
fn batched(engine: &Engine) -> Batch {
    let mut batch = Batch::default();
    until("a batch with an exec attempt", || {
        batch = engine.mailbox().drain();
        !batch.execs.is_empty()
    });
    batch
}

/// The last attempt of the only worker, once so many have ended.
fn last(engine: &Engine, attempts: u64) -> String {
    until("the end of an attempt", || engine.direct_counts().0 == attempts);
    String::from_utf8(engine.probe_states(None, 0)).unwrap()
}

#[test]
fn a_run_that_changes_nothing_goes_to_the_helper_and_back_without_a_batch() {
    let (engine, helper) = entered();
    for attempts in 1..=5 {
        let (id, request) = helper.request();
        assert_eq!(engine.direct_counts(), (attempts - 1, 1));
        let words = [2, 0, 0, 0, 4, 0, 0, 0, b't', b'r', b'u', b'e', 2, 0, 0, 0, b'-', b'v'];
        assert_eq!(request, [1_000u32.to_le_bytes().as_slice(), DESCRIPTION, &words].concat());
        helper.exit(id, 0, b"fine");
        assert!(last(&engine, attempts).contains(r#""outcome":"success""#));
        let batch = engine.mailbox().drain();
        assert_eq!((batch.updates.len(), batch.is_empty()), (usize::from(attempts == 1), attempts > 1));
        engine.advance(SECOND);
    }
    assert!(engine.metrics().contains("\nprobelet_probe_attempts_total{cause=\"ok\"} 5\n"));
}

#[test]
fn failures_have_the_words_of_the_runtimes_client() {
    let (engine, helper) = entered();
    let (id, _) = helper.request();
    helper.exit(id, 3, b"why");
    let states = last(&engine, 1);
    assert!(states.contains(r#""cause":"exec_exit""#) && states.contains(r#""message":"why""#), "{states}");
    engine.advance(SECOND);
    let (id, _) = helper.request();
    helper.answer(5, id, b"");
    helper.answer(8, id, b"");
    let states = last(&engine, 2);
    assert!(states.contains(r#""cause":"exec_timeout""#), "{states}");
    assert!(states.contains(r#"command timed out: \"true -v\" timed out after 1s"#), "{states}");
}

#[test]
fn a_program_that_did_not_start_before_its_timeout_is_pythons() {
    let (engine, helper) = entered();
    let (id, _) = helper.request();
    helper.answer(6, id, b"");
    let batch = batched(&engine);
    let [attempt] = &batch.execs[..] else { panic!("one attempt") };
    assert_eq!((attempt.id, attempt.refusal.map(|refusal| refusal.why)), (id, Some(13)));
    assert_eq!(engine.direct_counts(), (0, 0));
}

#[test]
fn what_the_helper_refuses_is_pythons_with_the_reason() {
    let (engine, helper) = entered();
    let (id, _) = helper.request();
    helper.answer(7, id, &[9, 16, 1, 0, 0, 0]);
    let batch = batched(&engine);
    let [attempt] = &batch.execs[..] else { panic!("one attempt") };
    assert_eq!((attempt.id, attempt.refusal), (id, Some(Refusal { why: 9, step: 16, errno: 1 })));
    assert_eq!(engine.direct_counts(), (0, 0));
    engine.finish_execs(vec![(id, ExecEnd::Exit { code: 0, output: [].into() })]);
    assert!(last(&engine, 0).contains(r#""outcome":"success""#));
    // It is still described; the next attempt is the helper's again, until Python forgets the container.
    engine.advance(SECOND);
    let (id, _) = helper.request();
    engine.forget_container("c://0-0");
    helper.exit(id, 0, b"");
    last(&engine, 1);
    engine.advance(SECOND);
    assert_eq!(batched(&engine).execs[0].refusal, None);
}

#[test]
fn an_attempt_that_no_request_can_hold_and_one_of_an_unknown_container_are_pythons() {
    for (described, handler) in
        [("c://1-0", exec(&["true"])), ("c://0-0", exec(&["a\0b"])), ("c://0-0", exec(&["a", &"x".repeat(1 << 17)]))]
    {
        let engine = Engine::start(options()).expect("a thread");
        let _helper = Helper::new(&engine);
        engine.describe_container(described, DESCRIPTION);
        add(&engine, 0, handler);
        assert_eq!(batched(&engine).execs[0].refusal, None);
    }
}

#[test]
fn a_lost_helper_makes_its_attempts_prober_errors_and_the_next_ones_are_pythons() {
    let (engine, helper) = entered();
    helper.request();
    drop(helper);
    let states = last(&engine, 1);
    assert!(states.contains(r#""outcome":"error""#), "{states}");
    assert!(states.contains("the helper of exec probes was lost: its socket was closed"), "{states}");
    // The core tries again at once.
    batched(&engine);
    // Its owner sees the end of the process later.
    engine.lose_helper("it ended (1)");
    assert_eq!(engine.direct_counts(), (1, 0));
}

#[test]
fn another_helper_needs_every_description_anew() {
    let (engine, helper) = entered();
    helper.request();
    let another = Helper::new(&engine);
    assert!(last(&engine, 1).contains("another helper has taken its place"));
    let batch = batched(&engine);
    engine.describe_container("c://0-0", DESCRIPTION);
    engine.finish_execs(vec![(batch.execs[0].id, ExecEnd::Exit { code: 0, output: [].into() })]);
    engine.advance(SECOND);
    let (id, _) = another.request();
    another.exit(id, 0, b"");
    last(&engine, 2);
}

/// A helper that reads nothing: its socket takes a few requests, and the others are Python's.
#[test]
fn a_socket_that_is_full_is_a_reason_to_go_over_the_runtime() {
    const PODS: usize = 2_000;
    let engine = Engine::start(options()).expect("a thread");
    let helper = Helper::new(&engine);
    for pod in 0..PODS {
        engine.describe_container(&container_id(pod, 0), DESCRIPTION);
        add(&engine, pod, exec(&["true"]));
    }
    let mut refused = 0;
    until("every attempt is somewhere", || {
        let batch = engine.mailbox().drain();
        let full = Some(Refusal { why: 8, step: 0, errno: libc::EAGAIN });
        assert!(batch.execs.iter().all(|attempt| attempt.refusal == full));
        refused += batch.execs.len();
        refused + engine.direct_counts().1 as usize == PODS && refused > 0
    });
    let (id, _) = helper.request();
    helper.exit(id, 0, b"");
    last(&engine, 1);
}

#[test]
fn a_helper_that_answers_no_ping_is_killed() {
    let (engine, mut helper) = entered();
    helper.request();
    until("the helper's end", || helper.process.try_wait().expect("a child").is_some());
    let states = last(&engine, 1);
    assert!(states.contains("was lost: it answered no ping for 1 s"), "{states}");
    let notices = batched(&engine).notices;
    assert!(notices.iter().any(|notice| notice.is_warning && notice.text.contains("answered no ping")), "{notices:?}");
}

#[test]
fn a_helper_that_gives_no_answer_of_the_protocol_is_killed() {
    let (engine, mut helper) = entered();
    let (id, _) = helper.request();
    helper.answer(99, id, b"");
    until("the helper's end", || helper.process.try_wait().expect("a child").is_some());
    assert!(last(&engine, 1).contains("it gave an answer that is none"));
}

/// News of commands of Python's, once there are so many.
fn entered_execs(engine: &Engine, count: usize) -> Vec<EnteredExec> {
    let mut found = Vec::new();
    until("news of Python's commands", || {
        found.extend(engine.mailbox().drain().entered);
        found.len() >= count
    });
    found
}

fn enter(engine: &Engine, id: u64) {
    engine.enter_exec(id, DESCRIPTION, vec!["true".into(), "-v".into()], 1).expect("a helper");
}

#[test]
fn a_command_of_pythons_ends_in_a_batch_and_nothing_of_it_is_the_engines() {
    let engine = Engine::start(options()).expect("a thread");
    let helper = Helper::new(&engine);
    enter(&engine, 7);
    let (id, request) = helper.request();
    let words = [2, 0, 0, 0, 4, 0, 0, 0, b't', b'r', b'u', b'e', 2, 0, 0, 0, b'-', b'v'];
    assert_eq!((id, request), (7, [1_000u32.to_le_bytes().as_slice(), DESCRIPTION, &words].concat()));
    helper.exit(7, 0, b"fine");
    let [ended] = &entered_execs(&engine, 1)[..] else { panic!("one end") };
    let Some(Ok(ExecEnd::Exit { code: 0, output })) = &ended.outcome else { panic!("{ended:?}") };
    assert_eq!((ended.id, ended.is_over, &**output), (7, true, b"fine".as_slice()));
    enter(&engine, 8);
    helper.request();
    helper.answer(7, 8, &[9, 16, 1, 0, 0, 0]);
    let refused = entered_execs(&engine, 1).remove(0);
    assert!(matches!(refused.outcome, Some(Err(Refusal { why: 9, step: 16, errno: 1 }))) && refused.is_over);
    assert_eq!(engine.direct_counts(), (0, 0));
}

/// Neither the first turn of the loop nor another helper before it takes the command for one of an earlier helper.
#[test]
fn a_command_that_comes_before_the_loops_first_turn_is_carried_out() {
    for id in 1..=20 {
        let engine = Engine::start(options()).expect("a thread");
        let helper = Helper::new(&engine);
        enter(&engine, id);
        assert_eq!(helper.request().0, id);
        helper.exit(id, 0, b"");
        assert!(matches!(entered_execs(&engine, 1)[0].outcome, Some(Ok(ExecEnd::Exit { code: 0, .. }))));
    }
}

#[test]
fn a_command_of_pythons_that_was_killed_is_over_when_the_helper_says_so_or_is_lost() {
    let engine = Engine::start(options()).expect("a thread");
    let helper = Helper::new(&engine);
    for id in [1, 2] {
        enter(&engine, id);
        helper.request();
        helper.answer(5, id, b"");
    }
    for timeout in entered_execs(&engine, 2) {
        let Some(Ok(ExecEnd::Timeout(text))) = &timeout.outcome else { panic!("{timeout:?}") };
        assert!(text.starts_with(b"command timed out: \"true -v\"") && !timeout.is_over);
    }
    helper.answer(8, 1, b"");
    let over = entered_execs(&engine, 1).remove(0);
    assert!((over.id, over.is_over) == (1, true) && over.outcome.is_none());
    drop(helper);
    let over = entered_execs(&engine, 1).remove(0);
    assert!((over.id, over.is_over) == (2, true) && over.outcome.is_none());
}

#[test]
fn a_command_that_no_helper_can_have_is_refused_at_once() {
    let engine = Engine::start(options()).expect("a thread");
    let refused = |argv: &[&str]| {
        let argv = argv.iter().map(|&word| word.into()).collect();
        engine.enter_exec(7, DESCRIPTION, argv, 1).unwrap_err().why
    };
    assert_eq!(refused(&["true"]), 1);
    let _helper = Helper::new(&engine);
    assert_eq!((refused(&[]), refused(&["a\0"]), refused(&[&"x".repeat(1 << 17)])), (10, 12, 11));
}

/// The helper has to answer pings also while only Python's commands run.
#[test]
fn a_helper_that_hangs_with_a_command_of_pythons_is_killed() {
    let engine = Engine::start(options()).expect("a thread");
    let mut helper = Helper::new(&engine);
    enter(&engine, 7);
    helper.request();
    until("the helper's end", || helper.process.try_wait().expect("a child").is_some());
    let lost = entered_execs(&engine, 1).remove(0);
    let Some(Ok(ExecEnd::Error(why))) = lost.outcome else { panic!("{lost:?}") };
    assert_eq!(&*why, "the helper of exec probes was lost: it answered no ping for 1 s");
}

/// The loop panics while a command of Python's runs: Python learns its end, because no other loop knows it.
#[test]
fn a_panic_of_the_loop_ends_pythons_commands() {
    let engine = Engine::start(options()).expect("a thread");
    let helper = Helper::new(&engine);
    enter(&engine, 7);
    helper.request();
    let (sprung, panicked) = channel();
    engine.shared.trap.set(Moment::Launching, sprung);
    add(&engine, 1, Handler::TcpSocket { host: "127.0.0.1".into(), port: IntOrString::Int(1) });
    panicked.recv_timeout(PATIENCE).expect("the trap is sprung");
    let ended = entered_execs(&engine, 1).remove(0);
    assert!(ended.is_over && matches!(ended.outcome, Some(Ok(ExecEnd::Error(_)))));
    enter(&engine, 8);
    assert_eq!(helper.request().0, 8);
}

/// The loop panics while a command runs: its answer then finds nobody, and the attempt that follows goes to the helper.
#[test]
fn a_panic_of_the_loop_leaves_the_helper_in_use() {
    let (engine, helper) = entered();
    let (before, _) = helper.request();
    let (sprung, panicked) = channel();
    engine.shared.trap.set(Moment::Launching, sprung);
    add(&engine, 1, Handler::TcpSocket { host: "127.0.0.1".into(), port: IntOrString::Int(1) });
    panicked.recv_timeout(PATIENCE).expect("the trap is sprung");
    let (id, _) = helper.request();
    assert!(id > before);
    helper.exit(before, 1, b"too late");
    helper.exit(id, 0, b"");
    last(&engine, 1);
    assert!(engine.metrics().contains("\nprobelet_probe_attempts_total{cause=\"ok\"} 1\n"));
}
