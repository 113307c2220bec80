//! A cgroup of version 2 for the processes of one command, below the container's. It has no controllers, so that the
//! container pays and limits as before; it is there so that a timeout ends every process of the command.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::sys::{check, contents_at, open, open_at, write};

/// A container has three workers; the fourth leaf is for what an earlier command has left behind. The kubelet's cAdvisor
/// looks at every directory, so there are few, and they stay for the container's life.
const LEAVES_MAX: usize = 4;

/// A leaf that no other command uses.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// Its directory, locked as long as the command is known.
    _lock: OwnedFd,
    kill: OwnedFd,
}

impl Leaf {
    /// Kills every process in it.
    pub(crate) fn kill(&self) {
        // The error of a cgroup that is gone: nothing was left to kill.
        let _ = write(self.kill.as_raw_fd(), b"1");
    }
}

/// A leaf of a cgroup and its file `cgroup.procs`; None if there is none without processes or the kernel cannot kill a
/// cgroup (before Linux 5.14). A command without a leaf is killed by its process group.
pub(crate) fn unused_leaf(cgroup: &str) -> Option<(Leaf, OwnedFd)> {
    (0..LEAVES_MAX).find_map(|number| leaf(&CString::new(format!("{cgroup}/probelet-{number}")).ok()?))
}

fn leaf(path: &CString) -> Option<(Leaf, OwnedFd)> {
    // SAFETY: the path ends in NUL. One that cannot be made cannot be opened either.
    unsafe { libc::mkdir(path.as_ptr(), 0o755) };
    let lock = open(path, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW).ok()?;
    // SAFETY: the call takes numbers.
    check(unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }).ok()?;
    let events = contents_at(lock.as_raw_fd(), c"cgroup.events").ok()?;
    if !events.split(|byte| *byte == b'\n').any(|line| line == b"populated 0") {
        return None;
    }
    let procs = open_at(lock.as_raw_fd(), c"cgroup.procs", libc::O_WRONLY).ok()?;
    let kill = open_at(lock.as_raw_fd(), c"cgroup.kill", libc::O_WRONLY).ok()?;
    Some((Leaf { _lock: lock, kill }, procs))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A folder with leaves as the kernel makes them.
    struct Tree(PathBuf);

    impl Tree {
        fn new(name: &str, leaves: &[(&str, bool)]) -> Self {
            let folder = std::env::temp_dir().join(format!("probelet-leaf-{name}-{}", std::process::id()));
            for (number, (events, can_be_killed)) in leaves.iter().enumerate() {
                let leaf = folder.join(format!("probelet-{number}"));
                fs::create_dir_all(&leaf).unwrap();
                fs::write(leaf.join("cgroup.events"), format!("{events}\nfrozen 0\n")).unwrap();
                fs::write(leaf.join("cgroup.procs"), "").unwrap();
                if *can_be_killed {
                    fs::write(leaf.join("cgroup.kill"), "").unwrap();
                }
            }
            Self(folder)
        }

        fn unused(&self) -> Option<(Leaf, OwnedFd)> {
            unused_leaf(self.0.to_str().unwrap())
        }

        fn killed(&self) -> Vec<bool> {
            let text = |number| fs::read_to_string(self.0.join(format!("probelet-{number}/cgroup.kill")));
            (0..LEAVES_MAX).map(|number| text(number).is_ok_and(|text| text == "1")).collect()
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn a_leaf_with_processes_or_another_command_is_not_taken() {
        let tree =
            Tree::new("used", &[("populated 1", true), ("populated 0", true), ("populated 0", true), ("", true)]);
        let (first, _) = tree.unused().unwrap();
        let (second, _) = tree.unused().unwrap();
        assert!(tree.unused().is_none());
        second.kill();
        assert_eq!(tree.killed(), [false, false, true, false]);
        drop(first);
        tree.unused().unwrap().0.kill();
        assert_eq!(tree.killed(), [false, true, true, false]);
    }

    #[test]
    fn a_kernel_that_cannot_kill_a_cgroup_gives_no_leaf() {
        let tree = Tree::new("old", &[("populated 0", false)]);
        assert!(tree.unused().is_none());
    }

    #[test]
    fn a_cgroup_that_is_gone_gives_no_leaf() {
        assert!(unused_leaf("/no/such/cgroup").is_none());
    }
}
