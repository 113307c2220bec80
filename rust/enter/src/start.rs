//! The start of a command: checks, pipes, fork.

use std::io::Error;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use probelet_enter_protocol::answer::{Refusal, Refused, Step};
use probelet_enter_protocol::request::Run;

use crate::attempt::command::Command;
use crate::attempt::output::Output;
use crate::check::identity::{Own, find};
use crate::inside::{Descriptors, enter};
use crate::sys::{check, pipe};

/// Starts a command, or says why not.
pub(crate) fn start(run: &Run<'_>, own: &Own, null: &OwnedFd) -> Result<Command, Refused> {
    let found = find(&run.container, own)?;
    let ((stdout, to_stdout), (stderr, to_stderr), (status, to_status)) = pipes().map_err(|error| of_fork(&error))?;
    let outputs =
        (Output::new(stdout).map_err(|error| of_fork(&error))?, Output::new(stderr).map_err(|error| of_fork(&error))?);
    let deadline = Instant::now() + Duration::from_millis(run.timeout_ms.into());
    let descriptors = Descriptors { null, stdout: to_stdout, stderr: to_stderr, status: to_status };
    // SAFETY: this program has one thread, so that its memory is whole in the fork.
    match check(unsafe { libc::fork() }).map_err(|error| of_fork(&error))? {
        0 => enter(run, &found, &descriptors),
        first => Ok(Command::new((run.id, run.container.id), deadline, (first, found.joined.leaf), status, outputs)),
    }
}

type Pipe = (OwnedFd, OwnedFd);

fn pipes() -> Result<(Pipe, Pipe, Pipe), Error> {
    Ok((pipe()?, pipe()?, pipe()?))
}

fn of_fork(error: &Error) -> Refused {
    Refused { step: Step::Fork as u8, ..Refused::of(Refusal::Setup, error) }
}
