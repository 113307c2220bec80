//! Whether a PID is still the first process of the container that was asked for, and what a command needs of it.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};

use probelet_enter_protocol::answer::{Refusal, Refused};
use probelet_enter_protocol::request::Container;

use crate::check::cgroups::{Joined, open_cgroups, unreadable};
use crate::check::hierarchy::{Hierarchy, hierarchies};
use crate::check::labels::Labels;
use crate::check::namespaces::Namespaces;
use crate::sys::{Place, contents_at, has_ended, open, open_at, pidfd_open, place_at};

/// This program, as containers are compared with it.
#[derive(Debug)]
pub(crate) struct Own {
    hierarchies: Vec<Hierarchy>,
    labels: Labels,
    namespaces: Namespaces,
}

impl Own {
    /// # Errors
    /// A sentence for the log: no command can be started from here.
    pub(crate) fn read() -> Result<Self, String> {
        let unread = |error: std::io::Error| format!("its own place cannot be read: {error}");
        let process = open(c"/proc/self", libc::O_PATH | libc::O_DIRECTORY).map_err(unread)?;
        let text =
            |file| contents_at(process.as_raw_fd(), file).map(|text| String::from_utf8_lossy(&text).into_owned());
        let hierarchies = hierarchies(&text(c"cgroup").map_err(unread)?, &text(c"mountinfo").map_err(unread)?);
        if hierarchies.iter().all(|at| at.mount.is_empty()) {
            return Err("the machine's cgroups are not mounted where it runs".to_owned());
        }
        let namespaces = Namespaces::of(process.as_raw_fd()).map_err(unread)?;
        Ok(Self { hierarchies, labels: Labels::of(process.as_raw_fd()), namespaces })
    }
}

/// A container that was found to be the right one.
#[derive(Debug)]
pub(crate) struct Found {
    /// The first process.
    pub(crate) pidfd: OwnedFd,
    pub(crate) joined: Joined,
    /// The first process's root.
    pub(crate) root: Place,
}

/// Finds a container by its first process.
///
/// The pidfd is opened first, then the directory in /proc; if the process of the pidfd still lives after its files were
/// read, no other process can have had the PID in between.
pub(crate) fn find(container: &Container<'_>, own: &Own) -> Result<Found, Refused> {
    let gone = || Refused::new(Refusal::Identity);
    let pidfd = pidfd_open(container.pid).map_err(|error| unreadable(&error))?;
    let path = CString::new(format!("/proc/{}", container.pid)).map_err(|_| gone())?;
    let process = open(&path, libc::O_PATH | libc::O_DIRECTORY).map_err(|error| unreadable(&error))?;
    let fd = process.as_raw_fd();
    let stat = contents_at(fd, c"stat").map_err(|error| unreadable(&error))?;
    if start_time(&stat) != Some(container.start_time) {
        return Err(gone());
    }
    let cgroup = contents_at(fd, c"cgroup").map_err(|error| unreadable(&error))?;
    let (Ok(cgroup), Ok(id)) = (std::str::from_utf8(&cgroup), std::str::from_utf8(container.id)) else {
        return Err(Refused::new(Refusal::Cgroup));
    };
    let joined = open_cgroups(cgroup, id, &own.hierarchies)?;
    if !Namespaces::of(fd).map_err(|error| unreadable(&error))?.differ_only_in(&own.namespaces, container.namespaces) {
        return Err(Refused::new(Refusal::Namespaces));
    }
    if Labels::of(fd) != own.labels {
        return Err(Refused::new(Refusal::Label));
    }
    let root = open_at(fd, c"root", libc::O_PATH).and_then(|root| place_at(root.as_raw_fd(), c""));
    let root = root.map_err(|error| unreadable(&error))?;
    if has_ended(&pidfd).map_err(|error| unreadable(&error))? {
        return Err(gone());
    }
    Ok(Found { pidfd, joined, root })
}

/// Field 22 of `/proc/PID/stat`. The process chooses field 2, its name, which may hold spaces and parentheses.
pub(crate) fn start_time(stat: &[u8]) -> Option<u64> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(22 - 3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_read_behind_any_name() {
        let stat = b"7 (a) S 1 (b)) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 424242 1000 1 18446744073709551615";
        assert_eq!(start_time(stat), Some(424_242));
        assert_eq!(start_time(b"7 no name"), None);
    }

    #[test]
    fn the_start_time_of_this_process_is_a_number() {
        let stat = contents_at(libc::AT_FDCWD, c"/proc/self/stat").unwrap();
        assert!(start_time(&stat).is_some_and(|ticks| ticks > 0));
    }
}
