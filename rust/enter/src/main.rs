//! `probelet-enter`: runs the commands of exec probes inside containers, without the container runtime.
//!
//! probelet starts it with a socket, descriptor 3, and ends it by closing that. It has one thread and keeps
//! nothing of a container between two requests. With the word `filter` it reads a seccomp filter from runc instead, and with
//! `sweep` it removes what such a reading left when it was killed.
//! docs/dev/exec-direct.md is its design.

mod attempt;
mod bounds;
mod check;
mod inside;
mod poll;
mod sample;
mod seal;
mod send;
mod serve;
mod start;
mod sys;

use std::os::fd::{FromRawFd, OwnedFd};
use std::process::ExitCode;

use probelet_enter_protocol::answer::{hello, unable};

use crate::bounds::own_bounds;
use crate::check::identity::Own;
use crate::send::Sender;
use crate::serve::Server;

/// The descriptor of the socket to probelet, which started this program and ends it.
const SOCKET: i32 = 3;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("filter") => return sample::main(&arguments[1..]),
        Some("sweep") => return sample::sweep(),
        _ => {}
    }
    // SAFETY: the call takes numbers.
    if unsafe { libc::fcntl(SOCKET, libc::F_GETFD) } == -1 {
        eprintln!("probelet-enter: is started by probelet, with a socket as descriptor 3");
        return ExitCode::from(2);
    }
    // SAFETY: the descriptor is open, as the call above found, and nobody else in this program has it.
    let sender = Sender::new(unsafe { OwnedFd::from_raw_fd(SOCKET) });
    let outcome = prepare().and_then(|own| {
        let bounds = own_bounds()?;
        let mut server = Server::new(own, &sender).map_err(|error| error.to_string())?;
        sender.send(&[&hello(&bounds)]).map_err(|error| error.to_string())?;
        server.serve().map_err(|error| error.to_string())
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // If probelet does not read any more, nobody needs the reason.
            let _ = sender.send(&[&unable(&why)]);
            ExitCode::FAILURE
        }
    }
}

/// Everything that has to be true before the first request.
fn prepare() -> Result<Own, String> {
    // What the process that started this one had open and did not close; a fork would have it inside a container.
    sys::close_range(SOCKET.unsigned_abs() + 1, u32::MAX)
        .map_err(|error| format!("foreign descriptors cannot be closed: {error}"))?;
    seal::run_sealed().map_err(|error| format!("its file cannot be sealed: {error}"))?;
    // Before anything joins a namespace: a process of a container must not look into a fork (CVE-2016-9962).
    sys::prctl(libc::PR_SET_DUMPABLE, 0, 0).map_err(|error| format!("its memory cannot be hidden: {error}"))?;
    // The runtime's /proc and cgroups are reached by absolute paths, and no fork may stand in a directory of the host.
    std::env::set_current_dir("/").map_err(|error| format!("/ cannot be entered: {error}"))?;
    raise_descriptors().map_err(|error| format!("its limit of descriptors cannot be raised: {error}"))?;
    Own::read()
}

/// Raises the soft limit of descriptors to the hard one; commands get the limits of their containers.
fn raise_descriptors() -> std::io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a structure that lives until the calls return.
    unsafe {
        sys::check(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit))?;
        limit.rlim_cur = limit.rlim_max;
        sys::check(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit))?;
    }
    Ok(())
}
