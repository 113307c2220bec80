//! Exec attempts, which Python carries out.

use std::sync::Arc;
use std::time::Duration;

use probelet_core::prober::Outcome;
use probelet_core::spec::{Handler, PodSpec, ProbeSpec, ProbeType};
use probelet_core::time::Instant;

use super::attempt::{ELSEWHERE, EndedAttempt, Ticket};
use crate::attempt::cause::Cause;
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

/// What the engine keeps of an exec attempt until Python answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExecFlight {
    pub(super) ticket: Ticket,
    pub(super) began: Instant,
}

impl ExecFlight {
    /// The attempt is over. The client of the runtime keeps its deadline, so the engine's loop took none of its time.
    pub(super) fn end(self, end: ExecEnd) -> EndedAttempt {
        let (outcome, cause) = match end {
            ExecEnd::Exit { code: 0, .. } => (Outcome::Success, Cause::Ok),
            ExecEnd::Exit { output, .. } => (Outcome::Failure { output }, Cause::ExecExit),
            ExecEnd::Starved(output) => (Outcome::Failure { output }, Cause::Starved),
            ExecEnd::Timeout(output) => (Outcome::Failure { output }, Cause::ExecTimeout),
            ExecEnd::Error(error) => (Outcome::Error { failure: false, error }, Cause::Cri),
        };
        let (report, Self { ticket, began }) = (Report::new(outcome, cause), self);
        EndedAttempt { ticket, began, held: Duration::ZERO, spent: ELSEWHERE, report }
    }
}

/// How an exec attempt ended, as the CRI runtime reported it.
#[derive(Clone, Debug)]
pub enum ExecEnd {
    /// The runtime reported an error.
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
