//! Security labels (AppArmor, SELinux). A command inherits this program's label; the runtime's exec would have the
//! container's. Only where both are the same can a command be started here.

use std::ffi::CStr;
use std::os::fd::RawFd;

use crate::sys::contents_at;

const FILES: [&CStr; 2] = [c"attr/current", c"attr/apparmor/current"];

/// The labels of a process, by its directory in /proc: what each file says, or the error that no module has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Labels([Result<Vec<u8>, Option<i32>>; FILES.len()]);

impl Labels {
    pub(crate) fn of(process: RawFd) -> Self {
        Self(FILES.map(|file| contents_at(process, file).map_err(|error| error.raw_os_error())))
    }
}
