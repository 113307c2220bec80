//! The process of the sample, traced: its way to its program, and the filter that it has there.

use std::fs::read;
use std::io::{Error, ErrorKind};
use std::time::Instant;

use probelet_enter_protocol::request::{INSTRUCTION_BYTES, INSTRUCTIONS_MAX};

use super::patience::wait;
use crate::sys::{check, check_long};

/// A process that this program traces; it is killed with the tracer, and when this is dropped.
pub(super) struct Traced(i32);

impl Traced {
    pub(super) fn seize(process: i32) -> Result<Self, String> {
        let options = libc::PTRACE_O_EXITKILL | libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACEEXIT;
        // SAFETY: the calls take numbers.
        let seized = check_long(unsafe { libc::ptrace(libc::PTRACE_SEIZE, process, 0, options) });
        seized.map(|_| Self(process)).map_err(|error| format!("runc's process cannot be traced: {error}"))
    }

    /// Waits until the process has executed its program, or is about to end because it could not: either way its filter
    /// is complete.
    pub(super) fn run_to_its_program(&self) -> Result<(), String> {
        let began = Instant::now();
        loop {
            match self.next_stop() {
                Ok(None) => wait(began, "runc's process")?,
                Ok(Some((libc::PTRACE_EVENT_EXEC | libc::PTRACE_EVENT_EXIT, _))) => return Ok(()),
                // Go interrupts its own threads by signals.
                Ok(Some((0, signal))) => self.go_on(signal)?,
                Ok(Some(_)) => self.go_on(0)?,
                Err(error) => return Err(format!("runc's process ended: {error}")),
            }
        }
    }

    /// The flags and the instructions of the only filter that the process has.
    pub(super) fn filter(&self) -> Result<Vec<u8>, String> {
        let mut message = self.flags()?.to_le_bytes().to_vec();
        let count = self.read_filter(0, None).map_err(|error| format!("its filter cannot be read: {error}"))?;
        let mut instructions = vec![0; INSTRUCTIONS_MAX * INSTRUCTION_BYTES];
        if count * INSTRUCTION_BYTES > instructions.len() {
            return Err(format!("its filter has {count} instructions"));
        }
        self.read_filter(0, Some(&mut instructions)).map_err(|error| format!("its filter cannot be read: {error}"))?;
        message.extend(&instructions[..count * INSTRUCTION_BYTES]);
        match self.read_filter(1, None) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(message),
            Err(error) => Err(format!("its filters cannot be counted: {error}")),
            // The second one is of whatever started probelet.
            Ok(_) => Err("it has more than one filter".to_owned()),
        }
    }

    /// Without SPEC_ALLOW the kernel may take speculation away from a process that loads a filter; whether it does, and
    /// whether runc asks it not to, is seen in the process.
    fn flags(&self) -> Result<u32, String> {
        let failed = |error: Error| format!("its flags cannot be read: {error}");
        let its = read(format!("/proc/{}/status", self.0)).map_err(failed)?;
        let is_as_before = speculation(&its) == speculation(&read("/proc/self/status").map_err(failed)?);
        let mut metadata = Metadata { filter: 0, flags: 0 };
        let size = size_of::<Metadata>();
        // SAFETY: the pointer is to a structure of that size, which lives until the call returns.
        check_long(unsafe { libc::ptrace(PTRACE_SECCOMP_GET_METADATA, self.0, size, &raw mut metadata) })
            .map_err(failed)?;
        let flags = metadata.flags | if is_as_before { libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW } else { 0 };
        u32::try_from(flags).map_err(|_| format!("its filter has the flags {flags:#x}"))
    }

    /// The number of instructions of a filter, counted from the first that was loaded; with `into`, also the instructions.
    fn read_filter(&self, index: usize, into: Option<&mut [u8]>) -> Result<usize, Error> {
        let pointer = into.map_or(std::ptr::null_mut(), <[u8]>::as_mut_ptr);
        // SAFETY: the kernel writes as many instructions as it has counted; the buffer takes as many as a filter can have.
        let count = check_long(unsafe { libc::ptrace(PTRACE_SECCOMP_GET_FILTER, self.0, index, pointer) })?;
        usize::try_from(count).map_err(|_| Error::from(ErrorKind::InvalidData))
    }

    /// The event and the signal of a stop, if the process has stopped.
    fn next_stop(&self) -> Result<Option<(i32, i32)>, Error> {
        let mut status = 0;
        // SAFETY: the pointer is to a number, which lives until the call returns.
        let found = check(unsafe { libc::waitpid(self.0, &raw mut status, libc::__WALL | libc::WNOHANG) })?;
        if found == 0 {
            return Ok(None);
        }
        if libc::WIFSTOPPED(status) {
            Ok(Some((status >> 16, libc::WSTOPSIG(status))))
        } else {
            Err(Error::from_raw_os_error(libc::ESRCH))
        }
    }

    fn go_on(&self, signal: i32) -> Result<(), String> {
        // SAFETY: the call takes numbers.
        let gone_on = check_long(unsafe { libc::ptrace(libc::PTRACE_CONT, self.0, 0, signal) });
        gone_on.map(drop).map_err(|error| format!("runc's process cannot go on: {error}"))
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let mut status = 0;
        // SAFETY: the calls take numbers, and a pointer to one. A process that is traced is nobody else's before it is
        // reaped here, so the PID is its own.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            // A process that has stopped on its way to its end goes on only when its tracer says so.
            loop {
                libc::ptrace(libc::PTRACE_CONT, self.0, 0, 0);
                if libc::waitpid(self.0, &raw mut status, libc::__WALL) != self.0 || !libc::WIFSTOPPED(status) {
                    return;
                }
            }
        }
    }
}

/// The lines that say what the processor may guess for a process.
fn speculation(status: &[u8]) -> Vec<&[u8]> {
    status.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"Speculation")).collect()
}

/// `struct seccomp_metadata` (linux/ptrace.h).
#[repr(C)]
struct Metadata {
    filter: u64,
    flags: u64,
}

const PTRACE_SECCOMP_GET_FILTER: libc::c_uint = 0x420c;
const PTRACE_SECCOMP_GET_METADATA: libc::c_uint = 0x420d;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_of_speculation_are_compared() {
        let status =
            b"Name:\tx\nSpeculation_Store_Bypass:\tvulnerable\nSpeculationIndirectBranch:\talways enabled\nCpus:\t3\n";
        let expected: [&[u8]; 2] =
            [b"Speculation_Store_Bypass:\tvulnerable", b"SpeculationIndirectBranch:\talways enabled"];
        assert_eq!(speculation(status), expected);
    }
}
