//! One command from its forks to its end.

use std::io::{Error, ErrorKind, Read, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use probelet_enter_protocol::answer::{Refusal, Refused, Step};

use super::output::Output;
use super::private_memory::PrivateMemory;
use crate::check::leaf::Leaf;
use crate::inside::{Message, REPORT_BYTES, read_report};
use crate::sys::{check, pidfd_open};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With an exit code, as a shell and a runtime count it: 128 more than the signal that ended it.
    Exit(i32),
    /// It was killed at its timeout.
    TimedOut,
    /// Its timeout was over before the program had started.
    Stuck,
    /// The program did not start.
    Refused(Refused),
}

/// A command in flight, or one that cannot be ended.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) id: u64,
    /// The ID of the container.
    container: Box<[u8]>,
    pub(crate) deadline: Instant,
    /// When its processes were killed.
    killed: Option<Instant>,
    /// The first fork, until it was reaped.
    first: Option<i32>,
    /// The second fork, which becomes the program, until it was reaped. Its PID is its process group's.
    second: Option<(i32, OwnedFd)>,
    /// The cgroup of its own, if it has one.
    leaf: Option<Leaf>,
    /// The pipe of reports; closed when the program has started, or never will.
    status: Option<std::fs::File>,
    is_starting: bool,
    failure: Option<Refused>,
    exit_code: Option<i32>,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
    /// The answer, until it was sent.
    pub(crate) end: Option<End>,
    pub(crate) is_answered: bool,
}

impl Command {
    pub(crate) fn new(
        (id, container): (u64, &[u8]),
        deadline: Instant,
        (first, leaf): (i32, Option<Leaf>),
        status: OwnedFd,
        outputs: (Output, Output),
    ) -> Self {
        Self {
            id,
            container: container.into(),
            deadline,
            killed: None,
            first: Some(first),
            second: None,
            leaf,
            status: Some(status.into()),
            is_starting: false,
            failure: None,
            exit_code: None,
            stdout: outputs.0,
            stderr: outputs.1,
            end: None,
            is_answered: false,
        }
    }

    pub(crate) fn status_fd(&self) -> Option<RawFd> {
        self.status.as_ref().map(AsRawFd::as_raw_fd)
    }

    pub(crate) fn pidfd(&self) -> Option<RawFd> {
        self.second.as_ref().map(|(_, pidfd)| pidfd.as_raw_fd())
    }

    /// Reads reports. True if the second fork has become known.
    ///
    /// A fork that a process of a container has got hold of could report anything: what is no report, and a PID that is
    /// not a child of this program, fails the command and nothing else.
    pub(crate) fn read_status(&mut self) -> bool {
        match self.read_reports() {
            Ok(is_known) => is_known,
            Err(error) => {
                self.fail(&error);
                false
            }
        }
    }

    fn fail(&mut self, error: &Error) {
        let errno = error.raw_os_error().unwrap_or(libc::EPROTO);
        self.failure = Some(Refused { refusal: Refusal::Setup, step: Step::Fork as u8, errno });
    }

    fn read_reports(&mut self) -> Result<bool> {
        let mut is_known = false;
        while let Some(status) = &mut self.status {
            let mut bytes = [0; REPORT_BYTES];
            match status.read(&mut bytes) {
                Ok(0) => self.status = None,
                Ok(_) => match read_report(bytes) {
                    Some(Message::Forked(pid)) if self.second.is_none() => {
                        // Nobody has reaped it, so the PID is still its own.
                        let pidfd = pidfd_open(pid)?;
                        ended_child(&pidfd)?;
                        self.second = Some((pid, pidfd));
                        is_known = true;
                    }
                    Some(Message::Starting) => self.is_starting = true,
                    Some(Message::Failed { step, errno }) => {
                        self.failure = Some(Refused { refusal: Step::refusal(step), step, errno });
                    }
                    Some(Message::Forked(_)) | None => return Err(Error::from(ErrorKind::InvalidData)),
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(is_known)
    }

    /// Looks whether the program has ended. It stays a zombie until `reap`, so that no other process can get the PID
    /// that its process group is killed by.
    pub(crate) fn look_for_exit(&mut self) {
        match self.second.as_ref().map(|(_, pidfd)| ended_child(pidfd)) {
            Some(Ok(code)) => self.exit_code = code,
            Some(Err(error)) => self.fail(&error),
            None => {}
        }
    }

    /// Decides how the command ended, if it did.
    pub(crate) fn decide(&mut self, now: Instant) {
        if self.end.is_some() {
            return;
        }
        let has_started = self.is_starting && self.failure.is_none() && self.status.is_none();
        if let Some(refused) = self.failure {
            self.end = Some(End::Refused(refused));
        } else if self.status.is_none() && !self.is_starting {
            // Killed on its way, for example because the container has no memory left.
            let refused = Refused { refusal: Refusal::Setup, step: Step::Death as u8, errno: 0 };
            self.end = Some(End::Refused(refused));
        } else if let (true, true, Some(code)) =
            (has_started, self.stdout.is_over() && self.stderr.is_over(), self.exit_code)
        {
            self.end = Some(End::Exit(code));
        } else if now >= self.deadline {
            self.end = Some(if has_started { End::TimedOut } else { End::Stuck });
        }
        if self.end.is_some_and(|end| !matches!(end, End::Exit(_))) {
            self.kill();
        }
    }

    /// Kills the forks and everything in the leaf and in the process group of the command, and reads no more of it.
    ///
    /// A second fork that is not known yet ends by itself, because it waits for the first.
    pub(crate) fn kill(&mut self) {
        self.killed.get_or_insert_with(Instant::now);
        // A report that has just come may name the second fork. What it cannot name is killed with the first.
        self.read_status();
        // SAFETY: the calls take numbers. The processes are children that nobody has reaped, so that their PIDs, and the
        // process group of the second, are still their own.
        unsafe {
            if let Some(first) = self.first {
                libc::kill(first, libc::SIGKILL);
            }
            if let Some((second, _)) = self.second {
                libc::kill(second, libc::SIGKILL);
                libc::kill(-second, libc::SIGKILL);
            }
        }
        if let Some(leaf) = &self.leaf {
            leaf.kill();
        }
        self.stdout.close();
        self.stderr.close();
        self.status = None;
    }

    /// Whether it is a command of this container that was killed a while ago and has not ended.
    pub(crate) fn is_held_in(&self, container: &[u8], now: Instant) -> bool {
        *self.container == *container
            && self.killed.is_some_and(|killed| now.saturating_duration_since(killed) >= DYING_TIME_MAX)
    }

    /// Reaps the forks that have ended. True if none is left: until then the command counts.
    pub(crate) fn reap(&mut self) -> bool {
        if self.first.is_some_and(has_been_reaped) {
            self.first = None;
        }
        if self.second.as_ref().is_some_and(|(pid, _)| has_been_reaped(*pid)) {
            self.second = None;
        }
        self.first.is_none() && self.second.is_none()
    }

    /// The first fork ends as soon as it has told of the second.
    pub(crate) fn reap_first(&mut self) {
        if self.second.is_some() && self.first.is_some_and(has_been_reaped) {
            self.first = None;
        }
    }

    pub(crate) fn read_outputs(&mut self, scratch: &mut PrivateMemory) {
        self.stdout.read(scratch);
        self.stderr.read(scratch);
    }
}

/// A process that was killed ends within this time, on a busy machine too, unless something holds it.
const DYING_TIME_MAX: Duration = Duration::from_secs(1);

/// The exit code of a child that has ended, as a shell and a runtime count it. The child is not reaped.
///
/// # Errors
/// The process is no child of this program.
fn ended_child(pidfd: &OwnedFd) -> Result<Option<i32>> {
    let mut found = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the structure is of plain numbers, zero until the call writes it; the fields are those of a child.
    unsafe {
        check(libc::waitid(libc::P_PIDFD, pidfd.as_raw_fd().unsigned_abs(), found.as_mut_ptr(), options))?;
        let found = found.assume_init();
        let code = if found.si_code == libc::CLD_EXITED { found.si_status() } else { 128 + found.si_status() };
        Ok((found.si_pid() != 0).then_some(code))
    }
}

/// Reaps a child; true if it had ended. Never waits: a child may be held by a file system for ever.
fn has_been_reaped(pid: i32) -> bool {
    // SAFETY: the call takes numbers and a null pointer.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{pipe, write};

    /// A command whose forks never were, and the end of the pipe through which they would report.
    fn command() -> (Command, OwnedFd) {
        let (status, reports) = pipe().unwrap();
        let output = || Output::new(pipe().unwrap().0).unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut command = Command::new((7, b"c1"), deadline, (0, None), status, (output(), output()));
        command.first = None;
        (command, reports)
    }

    fn outcome(command: &mut Command) -> Option<End> {
        command.decide(Instant::now());
        command.end
    }

    /// As if a process in a container had got hold of a fork: init is nobody this program may kill.
    #[test]
    fn a_forged_report_of_another_process_fails_the_command_and_kills_nothing() {
        let (mut command, reports) = command();
        let pid = std::os::unix::process::parent_id().to_le_bytes();
        write(reports.as_raw_fd(), &[[1, 0].as_slice(), &pid].concat()).unwrap();
        assert!(!command.read_status());
        assert!(command.pidfd().is_none());
        assert!(matches!(outcome(&mut command), Some(End::Refused(why)) if why.refusal == Refusal::Setup));
    }

    #[test]
    fn what_is_no_report_fails_the_command() {
        for bytes in [[0; REPORT_BYTES], [9; REPORT_BYTES]] {
            let (mut command, reports) = command();
            write(reports.as_raw_fd(), &bytes).unwrap();
            assert!(!command.read_status());
            assert!(matches!(outcome(&mut command), Some(End::Refused(_))));
        }
    }

    #[test]
    fn a_fork_that_dies_before_the_program_starts_has_run_nothing() {
        let (mut command, reports) = command();
        drop(reports);
        command.read_status();
        let why = Refused { refusal: Refusal::Setup, step: Step::Death as u8, errno: 0 };
        assert_eq!(outcome(&mut command), Some(End::Refused(why)));
    }

    #[test]
    fn a_command_that_outlives_its_kill_holds_up_its_container_and_no_other() {
        let (mut command, _reports) = command();
        let now = Instant::now();
        assert!(!command.is_held_in(b"c1", now + Duration::from_secs(60)), "it was not killed");
        command.kill();
        assert!(!command.is_held_in(b"c1", now), "it may be dying");
        let later = Instant::now() + DYING_TIME_MAX;
        assert!(command.is_held_in(b"c1", later));
        assert!(!command.is_held_in(b"c2", later));
    }

    #[test]
    fn a_timeout_counts_against_a_program_only_if_it_has_started() {
        let late = Instant::now() + Duration::from_secs(61);
        let (mut command, reports) = command();
        command.decide(late);
        assert_eq!(command.end, Some(End::Stuck));
        drop(reports);
        let (mut started, reports) = self::command();
        write(reports.as_raw_fd(), &[2, 0, 0, 0, 0, 0]).unwrap();
        drop(reports);
        started.read_status();
        started.decide(late);
        assert_eq!(started.end, Some(End::TimedOut));
    }
}
