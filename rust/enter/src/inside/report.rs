//! What the forks tell the event loop, through a pipe that closes when the program starts.

use std::io::Error;
use std::os::fd::RawFd;

use probelet_enter_protocol::answer::Step;

use crate::sys::write;

/// A step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    pub(crate) step: Step,
    pub(crate) errno: i32,
}

impl Failed {
    /// A step that found something wrong without a system call.
    pub(crate) fn because(step: Step, errno: i32) -> Self {
        Self { step, errno }
    }
}

/// Turns the error of a system call into the failure of a step.
pub(crate) fn at(step: Step) -> impl Fn(Error) -> Failed {
    move |error| Failed { step, errno: error.raw_os_error().unwrap_or(0) }
}

/// One report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The PID of the second fork.
    Forked(i32),
    /// The next call starts the program.
    Starting,
    /// A step failed, by its number: the program will not start.
    Failed { step: u8, errno: i32 },
}

pub(crate) const REPORT_BYTES: usize = 6;

const FORKED: u8 = 1;
const STARTING: u8 = 2;
const FAILED: u8 = 3;

fn report(status: RawFd, kind: u8, step: u8, number: i32) {
    let [a, b, c, d] = number.to_le_bytes();
    // If nobody reads any more, nobody waits for this command either.
    let _ = write(status, &[kind, step, a, b, c, d]);
}

pub(crate) fn report_fork(status: RawFd, pid: i32) {
    report(status, FORKED, 0, pid);
}

pub(crate) fn report_start(status: RawFd) {
    report(status, STARTING, 0, 0);
}

pub(crate) fn report_failure(status: RawFd, failed: Failed) {
    report(status, FAILED, failed.step as u8, failed.errno);
}

/// Reads a report; None if it is none. The second fork runs in the container, but its own code writes the report.
pub(crate) fn read_report(bytes: [u8; REPORT_BYTES]) -> Option<Message> {
    let [kind, step, a, b, c, d] = bytes;
    let number = i32::from_le_bytes([a, b, c, d]);
    match kind {
        FORKED => Some(Message::Forked(number)),
        STARTING => Some(Message::Starting),
        FAILED => Some(Message::Failed { step, errno: number }),
        _ => None,
    }
}
