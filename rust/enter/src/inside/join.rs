//! The first fork: joins the cgroups and the namespaces, and forks into the PID namespace.

use std::io::Error;
use std::os::fd::{AsRawFd, OwnedFd};

use probelet_enter_protocol::answer::Step;
use probelet_enter_protocol::request::Run;

use super::confine::confine_and_start;
use super::report::{Failed, at, report_failure, report_fork};
use crate::check::cgroups::Cgroup;
use crate::check::identity::Found;
use crate::sys::{blocking_pipe, check, check_long, close_all_but, open, place_at, write};

/// What a fork keeps of this program's descriptors; it closes everything else first.
#[derive(Debug)]
pub(crate) struct Descriptors<'a> {
    pub(crate) null: &'a OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) status: OwnedFd,
}

/// Runs in the first fork and never returns.
pub(crate) fn enter(run: &Run<'_>, found: &Found, descriptors: &Descriptors<'_>) -> ! {
    let status = descriptors.status.as_raw_fd();
    match join(run, found, descriptors) {
        // The second fork goes on only after the report of its PID: nobody could end it otherwise.
        Ok(Forked::Parent(pid, gate)) => {
            report_fork(status, pid);
            let _ = write(gate.as_raw_fd(), b"1");
        }
        Ok(Forked::Child(gate)) => {
            if !has_opened(&gate) {
                // SAFETY: the call takes a number.
                unsafe { libc::_exit(EXIT_CODE) }
            }
            match confine_and_start(run, status) {
                Ok(never) => match never {},
                Err(failed) => report_failure(status, failed),
            }
        }
        Err(failed) => report_failure(status, failed),
    }
    // SAFETY: the call takes a number. Nothing of this program may run in a fork of it, such as destructors.
    unsafe { libc::_exit(EXIT_CODE) }
}

/// Nobody looks at the code of a fork that did not start its program.
const EXIT_CODE: i32 = 125;

enum Forked {
    Parent(i32, OwnedFd),
    Child(OwnedFd),
}

/// Waits until the first fork has written; false if it was killed before.
fn has_opened(gate: &OwnedFd) -> bool {
    let mut byte = 0u8;
    // SAFETY: the pointer is to one byte, which lives until the call returns.
    unsafe { libc::read(gate.as_raw_fd(), (&raw mut byte).cast(), 1) == 1 }
}

fn join(run: &Run<'_>, found: &Found, descriptors: &Descriptors<'_>) -> Result<Forked, Failed> {
    keep_only(found, descriptors)?;
    // As runc: while /proc is still the host's.
    set_oom_score(run.container.oom_score_adj)?;
    // Before the namespaces, so that whatever the container's file systems do to this fork is the container's to pay.
    for cgroup in &found.joined.cgroups {
        cgroup.join().map_err(at(Step::Cgroup))?;
    }
    set_priorities(run.container.nice)?;
    // SAFETY: the call takes numbers.
    check(unsafe { libc::setns(found.pidfd.as_raw_fd(), run.container.namespaces) }).map_err(at(Step::Namespaces))?;
    // A first process that has changed its root would be confined more narrowly than a command that has not.
    if place_at(libc::AT_FDCWD, c"/").map_err(at(Step::Root))? != found.root {
        return Err(Failed::because(Step::Root, libc::EXDEV));
    }
    fork_beside()
}

/// Puts /dev/null and the pipes where a program expects them, and closes every descriptor that is not needed.
fn keep_only(found: &Found, descriptors: &Descriptors<'_>) -> Result<(), Failed> {
    let standard = [descriptors.null, &descriptors.stdout, &descriptors.stderr];
    for (fd, number) in standard.iter().zip(0..) {
        // SAFETY: the call takes numbers. 0 to 2 are /dev/null in this program, so no other descriptor is lost.
        check(unsafe { libc::dup2(fd.as_raw_fd(), number) }).map_err(at(Step::Descriptors))?;
    }
    let cgroups = found.joined.cgroups.iter().flat_map(Cgroup::descriptors);
    let kept = [&found.pidfd, &descriptors.status].into_iter().chain(cgroups);
    close_all_but(kept.map(AsRawFd::as_raw_fd)).map_err(at(Step::Descriptors))
}

fn set_oom_score(score: i32) -> Result<(), Failed> {
    let failed = at(Step::OomScore);
    let file = open(c"/proc/self/oom_score_adj", libc::O_WRONLY).map_err(&failed)?;
    write(file.as_raw_fd(), score.to_string().as_bytes()).map_err(failed)
}

/// Gives up what probelet's own unit may have set (Nice=, CPUSchedulingPolicy=, IOSchedulingClass=, CPUAffinity=): a
/// command has the runtime's nice value and otherwise the defaults; where the runtime or the specification has others,
/// the runtime runs the command. The kernel limits the CPUs to those of the cgroup that was joined before.
fn set_priorities(nice: i32) -> Result<(), Failed> {
    let failed = at(Step::Priority);
    let parameters = libc::sched_param { sched_priority: 0 };
    let every_cpu = [u8::MAX; 1024];
    // SAFETY: the pointers are to values of the right size, which live until the calls return.
    unsafe {
        check(libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters)).map_err(&failed)?;
        check(libc::setpriority(libc::PRIO_PROCESS, 0, nice)).map_err(&failed)?;
        check_long(libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, 0)).map_err(&failed)?;
        check_long(libc::syscall(libc::SYS_sched_setaffinity, 0, every_cpu.len(), every_cpu.as_ptr()))
            .map_err(&failed)?;
        check(libc::prctl(libc::PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0)).map_err(failed)?;
    }
    Ok(())
}

const IOPRIO_WHO_PROCESS: i32 = 1;
/// The kernel's default.
const TIMER_SLACK_NS: u64 = 50_000;

/// Forks a sibling (CLONE_PARENT, as in runc), so that this program itself sees the end of the command.
fn fork_beside() -> Result<Forked, Failed> {
    let (read, write) = blocking_pipe().map_err(at(Step::Fork))?;
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
    // SAFETY: this is a fork: without CLONE_VM the child has memory of its own. This program has one thread.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match pid {
        -1 => Err(at(Step::Fork)(Error::last_os_error())),
        0 => Ok(Forked::Child(read)),
        pid => Ok(Forked::Parent(i32::try_from(pid).unwrap_or(-1), write)),
    }
}
