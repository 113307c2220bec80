//! The share of the process's file descriptors that probes leave alone.
//!
//! Targets that do not answer hold as many sockets as there are probes. Without a share of its own the rest of the process
//! would lack descriptors then: it could not write its journal, read a manifest, reach its runtime or show its state.
//!
//! The system hands out the lowest number that is free. So a socket with a number in the reserve means that every number
//! below is taken, and no count of sockets is needed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::{Resource, getrlimit};

/// Keeps a share of the descriptors that the process may have from now on: no probe gets one of them.
pub(crate) fn reserve() {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    RESERVE_BEGINS.store(reserve_begins(limit), Ordering::Relaxed);
}

/// A new descriptor of a probe; it is closed if it belongs to the reserve.
///
/// # Errors
/// EMFILE, as if the process had no descriptor left.
pub(crate) fn below_reserve<D: AsRawFd>(descriptor: D) -> io::Result<D> {
    if descriptor.as_raw_fd() < RESERVE_BEGINS.load(Ordering::Relaxed) {
        Ok(descriptor)
    } else {
        Err(io::Error::from_raw_os_error(libc::EMFILE))
    }
}

/// Whether so many descriptors are left that one which only waits for its use may take this number: half of what probes
/// may have.
pub(crate) fn is_plentiful(descriptor: i32) -> bool {
    descriptor < RESERVE_BEGINS.load(Ordering::Relaxed) / 2
}

/// Whether the process could open `count` descriptors more.
pub(crate) fn are_left(count: usize) -> bool {
    let opened: Vec<_> = (0..count).map_while(|_| File::open("/dev/null").ok()).collect();
    opened.len() == count
}

/// The first number of the reserve, for a process that may have `limit` descriptors.
fn reserve_begins(limit: u64) -> i32 {
    i32::try_from(limit - RESERVED_MAX.min(limit / RESERVED_SHARE)).unwrap_or(i32::MAX)
}

/// A quarter, because a process with few descriptors is there to probe first.
const RESERVED_SHARE: u64 = 4;
/// More than the rest of the process can need: 256 look-ups of the C library with two descriptors each, the connections
/// that the pages, the control socket and the service accept, and a hundred of its own.
const RESERVED_MAX: u64 = 1_024;

/// Without an engine, for a single probe of a command line, nothing is reserved.
static RESERVE_BEGINS: AtomicI32 = AtomicI32::new(i32::MAX);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_is_reserved_and_no_more_than_the_process_needs() {
        assert_eq!([64, 256, 1_024, 4_096].map(reserve_begins), [48, 192, 768, 3_072]);
        assert_eq!([1_048_576, u64::MAX].map(reserve_begins), [1_047_552, i32::MAX]);
    }
}
