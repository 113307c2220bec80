//! This program runs from a sealed copy of itself in memory. A process in a container that reaches the program's file
//! through `/proc/PID/exe` can then change nothing that will ever run again (CVE-2019-5736).

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use crate::sys::{check, check_long, open};

const SEALS: i32 = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;
/// Linux 6.3; an older kernel refuses the flag, and every memfd there can be executed.
const MFD_EXEC: u32 = 0x10;

/// Starts this program again from a sealed copy, unless it runs from one already.
pub(crate) fn run_sealed() -> Result<()> {
    let own = open(c"/proc/self/exe", libc::O_RDONLY)?;
    // SAFETY: the call takes numbers. A file that cannot be sealed is an error, and so is not sealed.
    if unsafe { libc::fcntl(own.as_raw_fd(), libc::F_GET_SEALS) } == SEALS {
        return Ok(());
    }
    let copy = memfd(MFD_EXEC).or_else(|_| memfd(0))?;
    std::io::copy(&mut File::from(own), &mut File::from(copy.try_clone()?))?;
    // SAFETY: the call takes numbers.
    check(unsafe { libc::fcntl(copy.as_raw_fd(), libc::F_ADD_SEALS, SEALS) })?;
    let arguments: Vec<CString> =
        std::env::args_os().filter_map(|word: OsString| CString::new(word.into_vec()).ok()).collect();
    let mut pointers: Vec<_> = arguments.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let none = [std::ptr::null()];
    // SAFETY: both lists end in null, and their strings live until the program is replaced.
    unsafe { libc::fexecve(copy.as_raw_fd(), pointers.as_ptr(), none.as_ptr()) };
    Err(Error::last_os_error())
}

fn memfd(flags: u32) -> Result<OwnedFd> {
    let flags = flags | libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name ends in NUL.
    let fd = check_long(unsafe { libc::syscall(libc::SYS_memfd_create, c"probelet-enter".as_ptr(), flags) })?;
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(i32::try_from(fd).unwrap_or(-1)) })
}
