//! Which namespaces a container has of its own.

use std::ffi::CStr;
use std::io::Result;
use std::os::fd::RawFd;

use crate::sys::{Place, place_at};

/// Every kind that the kernel has, with its flag. A container with a user or a time namespace of its own is left to the
/// runtime, so these two have to be this program's.
const KINDS: [(i32, &CStr); 8] = [
    (libc::CLONE_NEWCGROUP, c"ns/cgroup"),
    (libc::CLONE_NEWIPC, c"ns/ipc"),
    (libc::CLONE_NEWNET, c"ns/net"),
    (libc::CLONE_NEWNS, c"ns/mnt"),
    (libc::CLONE_NEWPID, c"ns/pid"),
    (libc::CLONE_NEWTIME, c"ns/time"),
    (libc::CLONE_NEWUSER, c"ns/user"),
    (libc::CLONE_NEWUTS, c"ns/uts"),
];

/// The kinds that a command can join.
const JOINABLE: i32 = libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUTS;

/// The namespaces of a process, by its directory in /proc; None for a kind that the kernel lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Namespaces([Option<Place>; KINDS.len()]);

impl Namespaces {
    /// # Errors
    /// The process has ended, or this program may not look at it.
    pub(crate) fn of(process: RawFd) -> Result<Self> {
        let mut found = [None; KINDS.len()];
        for ((_, file), found) in KINDS.iter().zip(&mut found) {
            *found = match place_at(process, file) {
                Ok(place) => Some(place),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => None,
                Err(error) => return Err(error),
            };
        }
        Ok(Self(found))
    }

    /// Whether these are `own` but for the kinds that a command will join. A kernel without a kind that is to be joined
    /// is refused by `setns`. The mount namespace is always the container's.
    pub(crate) fn differ_only_in(&self, own: &Self, joined: i32) -> bool {
        let is_joinable = joined & !JOINABLE == 0 && joined & libc::CLONE_NEWNS != 0;
        is_joinable
            && KINDS
                .iter()
                .zip(self.0.iter().zip(own.0))
                .all(|((flag, _), (its, own))| joined & flag != 0 || *its == own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place = Place { device: (0, 4), inode: 1, mount: 1 };
    const THERE: Place = Place { inode: 2, ..HERE };
    const OWN: Namespaces = Namespaces([Some(HERE); KINDS.len()]);

    fn with(kinds: i32) -> Namespaces {
        Namespaces(KINDS.map(|(flag, _)| Some(if kinds & flag != 0 { THERE } else { HERE })))
    }

    #[test]
    fn a_namespace_that_is_not_joined_has_to_be_this_programs() {
        let usual = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET;
        assert!(with(usual).differ_only_in(&OWN, usual));
        assert!(with(libc::CLONE_NEWNS).differ_only_in(&OWN, usual));
        assert!(!with(usual | libc::CLONE_NEWUTS).differ_only_in(&OWN, usual));
        assert!(!with(usual | libc::CLONE_NEWUSER).differ_only_in(&OWN, usual));
        assert!(!with(usual | libc::CLONE_NEWTIME).differ_only_in(&OWN, usual));
    }

    #[test]
    fn user_and_time_are_never_joined_and_the_mount_namespace_always_is() {
        for kinds in [libc::CLONE_NEWUSER, libc::CLONE_NEWTIME] {
            assert!(!with(libc::CLONE_NEWNS | kinds).differ_only_in(&OWN, libc::CLONE_NEWNS | kinds));
        }
        assert!(!OWN.differ_only_in(&OWN, libc::CLONE_NEWPID));
    }
}
