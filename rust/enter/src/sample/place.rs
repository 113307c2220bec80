//! The namespaces in which the runtime calls runc, so that it finds its libraries and the machine's cgroups.

use std::ffi::{CStr, CString};
use std::os::fd::AsRawFd;
use std::ptr::null;

use crate::check::identity::start_time;
use crate::sys::{check, contents_at, pidfd_open};

/// Where the files of a sample lie: a directory that every machine has.
pub(super) const FOLDER: &CStr = c"/tmp";

/// Joins the namespaces of the shim, if the process with its PID is still the shim, and covers `FOLDER` by a file system
/// that only this program and its children see.
pub(super) fn enter_place_of(shim: i32, start: u64) -> Result<(), String> {
    let pidfd = pidfd_open(shim).map_err(|error| format!("the shim cannot be opened: {error}"))?;
    let path = CString::new(format!("/proc/{shim}/stat")).map_err(|error| error.to_string())?;
    // After the pidfd: it then is the process that has the start time.
    let stat = contents_at(libc::AT_FDCWD, &path).map_err(|error| format!("the shim cannot be read: {error}"))?;
    if start_time(&stat) != Some(start) {
        return Err(format!("process {shim} is not the shim any more"));
    }
    let kinds =
        libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP | libc::CLONE_NEWIPC | libc::CLONE_NEWNET | libc::CLONE_NEWUTS;
    // SAFETY: the calls take numbers, and strings that end in NUL or null pointers.
    unsafe {
        check(libc::setns(pidfd.as_raw_fd(), kinds)).map_err(|error| format!("the shim cannot be joined: {error}"))?;
        check(libc::unshare(libc::CLONE_NEWNS)).map_err(of_mounts)?;
        let flags = libc::MS_REC | libc::MS_PRIVATE;
        check(libc::mount(null(), c"/".as_ptr(), null(), flags, null())).map_err(of_mounts)?;
        check(libc::mount(c"tmpfs".as_ptr(), FOLDER.as_ptr(), c"tmpfs".as_ptr(), 0, null())).map_err(of_mounts)?;
    }
    // The shim's / may be another one than this program's.
    std::env::set_current_dir("/").map_err(of_mounts)
}

fn of_mounts(error: std::io::Error) -> String {
    format!("a mount namespace cannot be made: {error}")
}
