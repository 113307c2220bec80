//! A request on its way to the helper, and whose attempt it is.

use std::sync::Arc;

use probelet_enter_protocol::request::Words;

use crate::live::attempts::Ticket;
use crate::live::exec::{ExecAttempt, timed_out};

/// A command for the helper. Only the engine's thread sends it.
#[derive(Debug)]
pub(in super::super) struct DirectStart {
    pub(super) id: u64,
    pub(super) attempt: Attempt,
    pub(super) words: Words,
    pub(super) description: Arc<[u8]>,
}

/// Whose attempt a command is.
#[derive(Debug)]
pub(super) enum Attempt {
    /// The engine's, which gives its outcome to the core.
    Engine(Ticket, ExecAttempt),
    /// Python's, which has taken it from a batch and gives its outcome to the engine as that of any other.
    Python(PythonsCommand),
}

/// What the words of a timeout name.
#[derive(Debug)]
pub(super) struct PythonsCommand {
    pub(super) argv: Vec<Box<str>>,
    pub(super) timeout_seconds: i32,
}

impl Attempt {
    /// The kubelet's words for a command that took too long.
    pub(super) fn timed_out(&self) -> Box<[u8]> {
        match self {
            Self::Engine(_, exec) => timed_out(exec.argv(), exec.timeout_seconds()),
            Self::Python(command) => timed_out(&command.argv, command.timeout_seconds),
        }
    }
}
