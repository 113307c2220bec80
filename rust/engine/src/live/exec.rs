//! Exec attempts, which Python carries out, or the helper if it can enter the container.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::Outcome;
use probelet_core::spec::{Handler, PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;
use probelet_enter_protocol::answer;
use probelet_golang::text::{quote_whole, seconds};
use probelet_play::cause::Cause;

use super::attempts::{ELSEWHERE, EndedAttempt, Ticket};
use crate::attempt::report::Report;

/// An exec attempt for Python to carry out.
#[derive(Clone, Debug)]
pub struct ExecAttempt {
    /// The number that an answer must repeat.
    pub id: u64,
    /// The pod.
    pub pod: Arc<PodSpec>,
    /// The container's index in [`PodSpec::containers`].
    pub container: usize,
    /// The probe's type.
    pub probe_type: ProbeType,
    /// The container's ID.
    pub container_id: Box<str>,
    /// When the attempt was due.
    pub due: Instant,
    /// Why the helper did not start the command; None if it was not asked.
    pub refusal: Option<Refusal>,
}

impl ExecAttempt {
    /// The container's name.
    pub fn container(&self) -> &str {
        &self.pod.containers[self.container].name
    }

    /// The command.
    ///
    /// # Panics
    /// The probe is of another kind.
    pub fn argv(&self) -> &[Box<str>] {
        match &self.probe().handler {
            Handler::Exec { command } => command,
            _ => panic!("it was handed out as an exec attempt"),
        }
    }

    /// `timeoutSeconds`.
    pub fn timeout_seconds(&self) -> i32 {
        self.probe().timeout_seconds
    }

    fn probe(&self) -> &ProbeSpec {
        self.pod.containers[self.container].probe(self.probe_type).expect("it made the worker")
    }
}

/// Why the helper did not start a command, by its numbers: the refusal, the step that failed, and the system's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub why: u8,
    /// The step; 0 for none.
    pub step: u8,
    /// The system's error number; 0 for none.
    pub errno: i32,
}

impl Refusal {
    /// A refusal without a step and without an error of the system.
    pub(super) const fn of(why: answer::Refusal) -> Self {
        Self { why: why as u8, step: 0, errno: 0 }
    }
}

/// What became of a command that Python gave to the helper.
#[derive(Clone, Debug)]
pub struct EnteredExec {
    /// The attempt's number.
    pub id: u64,
    /// How it ended, or why it did not start. None if an earlier [`EnteredExec`] had it.
    pub outcome: Option<Result<ExecEnd, Refusal>>,
    /// Whether every process of the command has ended. If not, another [`EnteredExec`] says so later: what was killed at
    /// its timeout may be held, for example by a file system.
    pub is_over: bool,
}

/// What the engine keeps of an exec attempt until Python answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExecFlight {
    pub(super) ticket: Ticket,
    pub(super) began: Instant,
}

impl ExecFlight {
    /// The attempt is over. The client of the runtime keeps its deadline, so the engine's loop took none of its time.
    pub(super) fn end(self, end: ExecEnd) -> EndedAttempt {
        let Self { ticket, began } = self;
        EndedAttempt { ticket, began, held: Duration::ZERO, spent: ELSEWHERE, report: end.report() }
    }
}

/// The kubelet's words for a command that took too long.
pub(super) fn timed_out(argv: &[Box<str>], timeout_seconds: i32) -> Box<[u8]> {
    let (command, after) = (quote_whole(argv.join(" ").as_bytes()), seconds(timeout_seconds.into()));
    format!("command timed out: {command} timed out after {after}").into_bytes().into()
}

/// How an exec attempt ended, as the runtime or the helper reported it.
#[derive(Clone, Debug)]
pub enum ExecEnd {
    /// The runtime or the helper reported an error.
    Error(Box<str>),
    /// The command ended by itself.
    Exit {
        /// Its exit code.
        code: i32,
        /// The command's output.
        output: Box<[u8]>,
    },
    /// The client gave the command up and was late itself; the text is the client's.
    Starved(Box<[u8]>),
    /// The command ran into its timeout; the text is the client's.
    Timeout(Box<[u8]>),
}

impl ExecEnd {
    /// What the core learns of it, and why the attempt ended so.
    pub(super) fn report(self) -> Report {
        let (outcome, cause) = match self {
            Self::Exit { code: 0, .. } => (Outcome::Success, Cause::Ok),
            Self::Exit { output, .. } => (Outcome::Failure { output }, Cause::ExecExit),
            Self::Starved(output) => (Outcome::Failure { output }, Cause::Starved),
            Self::Timeout(output) => (Outcome::Failure { output }, Cause::ExecTimeout),
            Self::Error(error) => (Outcome::Error { failure: false, error, own: false }, Cause::Cri),
        };
        Report::new(outcome, cause)
    }
}
