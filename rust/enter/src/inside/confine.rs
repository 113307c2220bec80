//! The second fork: gives up everything that the container's processes do not have, and starts the program.
//!
//! The order is that of runc's `setns_init_linux.go` and `finalizeNamespace` (`init_linux.go`).

use std::convert::Infallible;
use std::ffi::CString;
use std::os::fd::RawFd;

use probelet_enter_protocol::LIMITS;
use probelet_enter_protocol::answer::Step;
use probelet_enter_protocol::request::{Container, Run};

use super::capabilities::{apply_sets, drop_bounding_set};
use super::environment::environment;
use super::program::{find_program, start_program};
use super::report::{Failed, at, report_start};
use super::seccomp::load_filter;
use crate::sys::{check, check_long, close_all_but, prctl};

pub(super) fn confine_and_start(run: &Run<'_>, status: RawFd) -> Result<Infallible, Failed> {
    let container = &run.container;
    close_all_but([status].into_iter()).map_err(at(Step::Descriptors))?;
    // SAFETY: the calls take numbers.
    check(unsafe { libc::setsid() }).map_err(at(Step::Session))?;
    join_keyring(container.id)?;
    default_signals();
    if container.no_new_privileges {
        prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0).map_err(at(Step::NoNewPrivileges))?;
    }
    // SAFETY: the call takes a number and cannot fail.
    unsafe { libc::umask(container.umask) };
    set_limits(&container.limits)?;
    // As runc: without no_new_privs the kernel takes a filter only from a process with CAP_SYS_ADMIN.
    if !container.no_new_privileges {
        load_filter(container.seccomp)?;
    }
    let cwd = CString::new(container.cwd).map_err(|_| Failed::because(Step::Cwd, libc::EINVAL))?;
    let is_there = change_directory(&cwd)?;
    let environment = environment(container.environment, container.uid)?;
    drop_bounding_set(container.capabilities.bounding)?;
    prctl(libc::PR_SET_KEEPCAPS, 1, 0).map_err(at(Step::Capabilities))?;
    become_user(container)?;
    if !is_there && !change_directory(&cwd)? {
        return Err(Failed::because(Step::Cwd, libc::EACCES));
    }
    verify_directory()?;
    prctl(libc::PR_SET_KEEPCAPS, 0, 0).map_err(at(Step::Capabilities))?;
    apply_sets(&container.capabilities)?;
    // The change of the user has set it to fs.suid_dumpable: without this, a process of that user could look inside.
    prctl(libc::PR_SET_DUMPABLE, 0, 0).map_err(at(Step::Dumpable))?;
    // If this program is killed, nobody is left who would end the command at its timeout. If it was killed just before,
    // the next report meets a pipe without a reader, and SIGPIPE ends this fork.
    prctl(libc::PR_SET_PDEATHSIG, u64::from(libc::SIGKILL.unsigned_abs()), 0).map_err(at(Step::Death))?;
    let program = find_program(run.argv, &environment)?;
    report_start(status);
    // As runc: with no_new_privs at the last moment, so that the filter may forbid what confining takes.
    if container.no_new_privileges {
        load_filter(container.seccomp)?;
    }
    Err(start_program(&program, run.argv, &environment))
}

/// The keyring of the container, by the name that runc gives it (`setns_init_linux.go:getSessionRingName`).
fn join_keyring(id: &[u8]) -> Result<(), Failed> {
    const KEYCTL_JOIN_SESSION_KEYRING: i32 = 1;
    let name = CString::new([b"_ses.", id].concat()).map_err(|_| Failed::because(Step::Keyring, libc::EINVAL))?;
    // SAFETY: the name ends in NUL.
    let joined = check_long(unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name.as_ptr()) });
    match joined {
        // A kernel without keyrings has none to keep apart.
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => Ok(()),
        joined => joined.map(drop).map_err(at(Step::Keyring)),
    }
}

/// Rust ignores SIGPIPE, and the program that started probelet may have ignored or blocked signals; a program in a container
/// expects neither. The calls are the kernel's own, because the C library keeps two signals for itself.
fn default_signals() {
    const SIGNALS: i64 = 64;
    const SET_BYTES: usize = 8;
    // The default disposition and the empty set: zeros, on every architecture.
    let zeros = [0u64; 8];
    for signal in 1..=SIGNALS {
        // SAFETY: the pointer is to a value at least as large as the kernel's structure. SIGKILL and SIGSTOP refuse,
        // which is as well, because nobody can have changed them.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, zeros.as_ptr(), 0, SET_BYTES) };
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, zeros.as_ptr(), 0, SET_BYTES) };
}

fn set_limits(limits: &[(u64, u64); LIMITS]) -> Result<(), Failed> {
    for ((soft, hard), resource) in limits.iter().zip(0..) {
        let limit = libc::rlimit { rlim_cur: *soft, rlim_max: *hard };
        // SAFETY: the pointer is to a structure that lives until the call returns.
        check(unsafe { libc::setrlimit(resource, &raw const limit) }).map_err(at(Step::Limits))?;
    }
    Ok(())
}

/// Whether the directory could be entered. As runc: one that this user may not enter is tried again as the container's.
fn change_directory(cwd: &CString) -> Result<bool, Failed> {
    // SAFETY: the path ends in NUL.
    match check(unsafe { libc::chdir(cwd.as_ptr()) }) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => Ok(false),
        Err(error) => Err(at(Step::Cwd)(error)),
    }
}

/// A working directory outside of the container's root is a way out of it (CVE-2024-21626): the kernel then says
/// `(unreachable)`, and the C library refuses.
fn verify_directory() -> Result<(), Failed> {
    let mut path = vec![0u8; PATH_BYTES];
    // SAFETY: the pointer and the length are those of the buffer.
    let found = unsafe { libc::getcwd(path.as_mut_ptr().cast(), path.len()) };
    if found.is_null() {
        return Err(at(Step::Cwd)(std::io::Error::last_os_error()));
    }
    if path.first() == Some(&b'/') { Ok(()) } else { Err(Failed::because(Step::Cwd, libc::ENOENT)) }
}

const PATH_BYTES: usize = 4096;

/// Gives the pipes to the container's user, so that its programs can open /dev/stdout, and becomes that user.
fn become_user(container: &Container<'_>) -> Result<(), Failed> {
    let groups: Vec<u32> = container.groups.collect();
    let (uid, gid) = (container.uid, container.gid);
    let failed = at(Step::User);
    // SAFETY: the pointer and the length are those of the list.
    unsafe {
        check(libc::fchown(1, uid, u32::MAX)).map_err(&failed)?;
        check(libc::fchown(2, uid, u32::MAX)).map_err(&failed)?;
        check(libc::setgroups(groups.len(), groups.as_ptr())).map_err(&failed)?;
        check(libc::setresgid(gid, gid, gid)).map_err(&failed)?;
        check(libc::setresuid(uid, uid, uid)).map_err(failed)?;
    }
    Ok(())
}
