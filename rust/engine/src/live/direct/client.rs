//! The helper's client on the engine's thread: sends requests, reads answers, and kills a helper that hangs.

use std::collections::{HashMap, HashSet};
use std::io::{self, ErrorKind, IoSlice, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use probelet_core::time::Instant;
use probelet_enter_protocol::ANSWER_BYTES_MAX;
use probelet_enter_protocol::answer::{self, Answer};
use probelet_enter_protocol::request::ping;
use probelet_golang::text::TEXT_BYTES_MAX;
use rustix::process::{Signal, pidfd_send_signal};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::request::{Attempt, DirectStart};
use super::shared::{DirectExecs, HelperProcess};
use crate::attempt::starvation::Spent;
use crate::live::attempts::{EndedAttempt, Ticket};
use crate::live::exec::{EnteredExec, ExecAttempt, ExecEnd, Refusal};
use crate::net::async_fd::watched;

/// The client of the helper in use, and its attempts in flight.
#[derive(Default)]
pub(in super::super) struct HelperClient {
    helper: Option<Connected>,
    /// [`DirectExecs::changes`] when `helper` was taken from there.
    changes: u64,
    /// The attempts in flight: at most one per worker.
    flights: HashMap<u64, Flight>,
    /// Python's commands that were killed and have not ended.
    held: HashSet<u64>,
    /// News of Python's commands.
    pub(in super::super) entered: Vec<EnteredExec>,
    /// Attempts that have ended.
    pub(in super::super) ended: Vec<EndedAttempt>,
    /// Attempts that the helper did not carry out, for Python.
    pub(in super::super) refused: Vec<(Ticket, Instant, ExecAttempt)>,
    /// Lines for the log.
    pub(in super::super) notices: Vec<String>,
    due: Vec<DirectStart>,
    answer: Vec<u8>,
}

/// An attempt that the helper carries out.
struct Flight {
    attempt: Attempt,
    began: Instant,
    /// How long the loop had been overdue then, in total.
    overdue: Duration,
}

/// What the engine's thread knows of the moment.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LoopTime {
    pub(in super::super) now: Instant,
    /// How long the loop was overdue until now, in total.
    pub(in super::super) overdue: Duration,
}

struct Connected {
    process: Arc<HelperProcess>,
    socket: AsyncFd<OwnedFd>,
    alive: Signs,
}

/// Signs of life. The machine's clock counts, because a test puts the engine's forward.
struct Signs {
    /// Since when the helper owes a sign: the moment of the last one or of the last idleness.
    since: std::time::Instant,
    /// How long the loop had been overdue then.
    overdue: Duration,
    is_asked: bool,
}

impl Signs {
    fn new(overdue: Duration) -> Self {
        Self { since: std::time::Instant::now(), overdue, is_asked: false }
    }

    /// Whether a ping's time has passed, less the time that the engine's own loop was late.
    fn is_owed(&self, overdue: Duration) -> bool {
        self.since.elapsed().saturating_sub(overdue.saturating_sub(self.overdue)) >= PING
    }
}

impl HelperClient {
    /// Waits until the helper may have said something; None without a helper.
    pub(in super::super) fn readable(&self) -> Option<impl Future<Output = ()>> {
        // A reader that finds nothing clears the readiness itself.
        self.helper.as_ref().map(|helper| async { drop(helper.socket.readable().await) })
    }

    /// Whether the helper has to answer.
    pub(in super::super) fn is_busy(&self) -> bool {
        !self.flights.is_empty() || !self.due.is_empty()
    }

    /// Takes up a change of the helper. The attempts of the one before have ended.
    pub(in super::super) fn follow(&mut self, shared: &mut DirectExecs, time: LoopTime) {
        if self.changes == shared.changes && self.helper.is_none() && shared.helper.is_some() {
            // Its socket has ended: attempts must not go there, and its owner will see its process end.
            shared.lose_helper("");
            self.changes = shared.changes;
        }
        shared.late.drain(..).for_each(|start| self.refuse(start.id, start.attempt, time.now, None));
        if self.changes == shared.changes {
            return;
        }
        self.changes = shared.changes;
        self.lose(&shared.why, time);
        self.helper = shared.helper.as_ref().and_then(|process| Connected::new(process, time.overdue).ok());
    }

    /// Takes the attempts that are to go to the helper.
    pub(in super::super) fn take_due(&mut self, shared: &mut DirectExecs) {
        std::mem::swap(&mut self.due, &mut shared.starts);
    }

    /// Sends the attempts that were taken. False if Python has to carry some of them out.
    pub(in super::super) fn send_due(&mut self, time: LoopTime) -> bool {
        let mut due = std::mem::take(&mut self.due);
        due.drain(..).for_each(|start| self.start(start, time));
        self.due = due;
        self.refused.is_empty() && self.entered.is_empty()
    }

    fn start(&mut self, start: DirectStart, time: LoopTime) {
        let DirectStart { id, attempt, words, description } = start;
        let parts = [&words.head, &*description, &words.command].map(IoSlice::new);
        let sent = self.helper.as_ref().map(|helper| send(&helper.socket, &parts));
        if let Some(Ok(())) = sent {
            if self.flights.is_empty()
                && let Some(helper) = &mut self.helper
            {
                helper.alive = Signs::new(time.overdue);
            }
            self.flights.insert(id, Flight { attempt, began: time.now, overdue: time.overdue });
        } else {
            self.refuse(id, attempt, time.now, sent.is_some().then_some(FULL));
        }
    }

    /// The helper does not carry out an attempt. The engine's goes to Python, without a reason if the helper was not asked.
    fn refuse(&mut self, id: u64, attempt: Attempt, began: Instant, refusal: Option<Refusal>) {
        match attempt {
            Attempt::Engine(ticket, exec) => self.refused.push((ticket, began, ExecAttempt { refusal, ..exec })),
            Attempt::Python(_) => {
                let why = refusal.unwrap_or(Refusal::of(answer::Refusal::Helper));
                self.entered.push(EnteredExec { id, outcome: Some(Err(why)), is_over: true });
            }
        }
    }

    /// Reads the answers that have come, at most [`ANSWERS_PER_TURN`], and looks whether the helper still turns.
    pub(in super::super) fn read(&mut self, time: LoopTime) {
        if self.helper.is_none() {
            return;
        }
        let mut message = std::mem::take(&mut self.answer);
        message.resize(ANSWER_BYTES_MAX, 0);
        for _ in 0..ANSWERS_PER_TURN {
            let Some(helper) = &mut self.helper else { break };
            let received =
                helper.socket.try_io(Interest::READABLE, |socket| (&*SockRef::from(socket)).read(&mut message));
            match received {
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => self.lose("its socket was closed", time),
                Ok(length) => {
                    helper.alive = Signs::new(time.overdue);
                    match Answer::read(&message[..length]) {
                        Some(answer) => self.take(answer, time),
                        None => self.kill("it gave an answer that is none", time),
                    }
                }
            }
        }
        self.answer = message;
        self.watch(time);
    }

    /// While attempts are in flight, the helper has to answer a ping within [`PING`]. An answer that waited in the socket
    /// counts, because the loop and not the helper is late then.
    fn watch(&mut self, time: LoopTime) {
        let Some(helper) = &mut self.helper else { return };
        if self.flights.is_empty() || !helper.alive.is_owed(time.overdue) {
            return;
        }
        if helper.alive.is_asked {
            self.kill("it answered no ping for 1 s", time);
            return;
        }
        // A socket that takes no ping is full of requests that the helper does not read.
        let _ = send(&helper.socket, &[IoSlice::new(&ping())]);
        helper.alive = Signs { is_asked: true, ..Signs::new(time.overdue) };
    }

    fn take(&mut self, answer: Answer<'_>, time: LoopTime) {
        match answer {
            Answer::Alive => {}
            Answer::Refused { id, why, step, errno } => {
                if let Some(Flight { attempt, began, .. }) = self.flights.remove(&id) {
                    self.refuse(id, attempt, began, Some(Refusal { why, step, errno }));
                }
            }
            Answer::Ended { id, code, stdout, stderr } => self.end(id, true, time, |attempt| {
                // Nobody reads the output of a success of the engine's.
                let kept = if code == 0 && matches!(attempt, Attempt::Engine(..)) { 0 } else { TEXT_BYTES_MAX };
                ExecEnd::Exit { code, output: stdout.iter().chain(stderr).take(kept).copied().collect() }
            }),
            Answer::TimedOut { id } => self.end(id, false, time, |attempt| ExecEnd::Timeout(attempt.timed_out())),
            Answer::Stuck { id } => self.give_back(id),
            Answer::Over { id } => {
                if self.held.remove(&id) {
                    self.entered.push(EnteredExec { id, outcome: None, is_over: true });
                }
            }
            Answer::Unable(why) => {
                let why = String::from_utf8_lossy(why).into_owned();
                self.notices.push(format!("the helper of exec probes ends: {why}"));
                self.lose(&why, time);
            }
        }
    }

    /// The program did not start within its timeout. Nothing has run, so the runtime is asked, as about every command that
    /// the helper does not start: the wait for what holds up both ways is the runtime's.
    fn give_back(&mut self, id: u64) {
        let Some(Flight { attempt, began, .. }) = self.flights.remove(&id) else { return };
        let is_pythons = matches!(attempt, Attempt::Python(_));
        self.refuse(id, attempt, began, Some(Refusal::of(answer::Refusal::Stuck)));
        if is_pythons {
            self.held.insert(id);
            self.entered.last_mut().expect("it was just refused").is_over = false;
        }
    }

    /// An attempt has ended. Of one that was killed, [`Answer::Over`] says when no process is left.
    fn end(&mut self, id: u64, is_over: bool, time: LoopTime, end: impl FnOnce(&Attempt) -> ExecEnd) {
        let Some(Flight { attempt, began, overdue }) = self.flights.remove(&id) else { return };
        let end = end(&attempt);
        match attempt {
            Attempt::Engine(ticket, exec) => self.ended.push(ended(ticket, &exec, end, (began, overdue), time)),
            Attempt::Python(_) => {
                if !is_over {
                    self.held.insert(id);
                }
                self.entered.push(EnteredExec { id, outcome: Some(Ok(end)), is_over });
            }
        }
    }

    /// Ends the helper; its owner replaces it.
    fn kill(&mut self, why: &str, time: LoopTime) {
        if let Some(helper) = &self.helper {
            // A process that has ended already is as good.
            let _ = pidfd_send_signal(&helper.process.pidfd, Signal::KILL);
            self.notices.push(format!("the helper of exec probes is killed: {why}"));
        }
        self.lose(why, time);
    }

    fn lose(&mut self, why: &str, time: LoopTime) {
        self.helper = None;
        let lost: Vec<u64> = self.flights.keys().copied().collect();
        for id in lost {
            let error = || format!("the helper of exec probes was lost: {why}").into();
            self.end(id, true, time, |_| ExecEnd::Error(error()));
        }
        // The kernel kills what a lost helper left running, and nobody could say when it has ended.
        self.entered.extend(self.held.drain().map(|id| EnteredExec { id, outcome: None, is_over: true }));
    }
}

impl Connected {
    fn new(process: &Arc<HelperProcess>, overdue: Duration) -> io::Result<Self> {
        // A descriptor for this loop: the next loop after a panic registers its own.
        let socket = process.socket.try_clone()?;
        SockRef::from(&socket).set_nonblocking(true)?;
        Ok(Self { process: Arc::clone(process), socket: watched(socket)?, alive: Signs::new(overdue) })
    }
}

/// The end of an attempt of the engine's that began at a moment when the loop had been overdue for so long. The helper keeps
/// the deadline, so a timeout is the command's, however late the engine reads of it.
fn ended(
    ticket: Ticket,
    exec: &ExecAttempt,
    end: ExecEnd,
    (began, overdue): (Instant, Duration),
    time: LoopTime,
) -> EndedAttempt {
    let spent = Spent {
        timeout: Duration::from_secs(u64::try_from(exec.timeout_seconds()).unwrap_or(0)),
        took: time.now.since(began),
        overdue: time.overdue.saturating_sub(overdue),
    };
    EndedAttempt { ticket, began, held: Duration::ZERO, spent, report: end.report() }
}

fn send(socket: &AsyncFd<OwnedFd>, parts: &[IoSlice<'_>]) -> io::Result<()> {
    SockRef::from(socket.get_ref()).send_vectored_with_flags(parts, libc::MSG_NOSIGNAL).map(drop)
}

/// The helper's socket takes no more requests.
const FULL: Refusal = Refusal { why: answer::Refusal::Busy as u8, step: 0, errno: libc::EAGAIN };
/// So many answers take a fraction of a millisecond; then other attempts have their turn.
const ANSWERS_PER_TURN: usize = 64;
/// A helper that answers no ping for so long is killed.
const PING: Duration = Duration::from_secs(1);
