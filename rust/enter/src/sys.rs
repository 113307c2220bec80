//! System calls, with errors as `io::Error`.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Error, Read, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The result of a call that returns -1 for an error.
pub(crate) fn check(result: i32) -> Result<i32> {
    if result == -1 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// The result of `syscall`.
pub(crate) fn check_long(result: i64) -> Result<i64> {
    if result == -1 { Err(Error::last_os_error()) } else { Ok(result) }
}

/// An option of `prctl` with up to two arguments.
pub(crate) fn prctl(option: i32, first: u64, second: u64) -> Result<i32> {
    // SAFETY: no option that this program uses takes a pointer.
    check(unsafe { libc::prctl(option, first, second, 0, 0) })
}

/// Opens a path relative to a directory, without following the caller's descriptors into a child.
pub(crate) fn open_at(directory: RawFd, path: &CStr, flags: i32) -> Result<OwnedFd> {
    // SAFETY: the path is a string that ends in NUL.
    let fd = check(unsafe { libc::openat(directory, path.as_ptr(), flags | libc::O_CLOEXEC) })?;
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens an absolute path.
pub(crate) fn open(path: &CStr, flags: i32) -> Result<OwnedFd> {
    open_at(libc::AT_FDCWD, path, flags)
}

/// What a small file of /proc or of a cgroup says; at most `BYTES_MAX` bytes.
pub(crate) fn contents_at(directory: RawFd, path: &CStr) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    File::from(open_at(directory, path, libc::O_RDONLY)?).take(BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}

/// Device, inode and mount of a path. Asks no file system: one of a container's own (FUSE) could hold the answer back.
pub(crate) fn place_at(directory: RawFd, path: &CStr) -> Result<Place> {
    let mut found = std::mem::MaybeUninit::<libc::statx>::uninit();
    let flags = libc::AT_STATX_DONT_SYNC | libc::AT_NO_AUTOMOUNT | libc::AT_EMPTY_PATH;
    let mask = libc::STATX_INO | libc::STATX_MNT_ID;
    // SAFETY: the path ends in NUL and the structure is written before it is read.
    let found = unsafe {
        check(libc::statx(directory, path.as_ptr(), flags, mask, found.as_mut_ptr()))?;
        found.assume_init()
    };
    Ok(Place { device: (found.stx_dev_major, found.stx_dev_minor), inode: found.stx_ino, mount: found.stx_mnt_id })
}

/// Where a file is. Two files with the same place are one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) device: (u32, u32),
    pub(crate) inode: u64,
    /// The mount that it was reached through, unique on the machine.
    pub(crate) mount: u64,
}

/// A descriptor of a process, which never means another process.
pub(crate) fn pidfd_open(pid: i32) -> Result<OwnedFd> {
    // SAFETY: the call takes two numbers.
    let fd = check_long(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(i32::try_from(fd).unwrap_or(-1)) })
}

/// Whether the process of a pidfd has ended.
pub(crate) fn has_ended(pidfd: &OwnedFd) -> Result<bool> {
    let mut poll = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one structure, which lives until the call returns.
    Ok(check(unsafe { libc::poll(&raw mut poll, 1, 0) })? > 0)
}

/// A pipe: the end to read and the end to write.
pub(crate) fn blocking_pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    // SAFETY: the pointer is to two numbers; both descriptors were just opened and belong to nobody else.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// The same; the end to read does not block.
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let (read, write) = blocking_pipe()?;
    // SAFETY: the call takes numbers.
    check(unsafe { libc::fcntl(read.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })?;
    Ok((read, write))
}

/// Writes a short message to a pipe; a message of up to 4,096 bytes is never split.
pub(crate) fn write(fd: RawFd, message: &[u8]) -> Result<()> {
    // SAFETY: the pointer and the length are those of the message.
    let written = unsafe { libc::write(fd, message.as_ptr().cast(), message.len()) };
    if written == -1 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Closes every descriptor from `first` to `last`.
pub(crate) fn close_range(first: u32, last: u32) -> Result<()> {
    // SAFETY: the call takes numbers; what it closes is used no more.
    check_long(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }).map(drop)
}

/// Closes every descriptor but 0 to 2 and these.
pub(crate) fn close_all_but(kept: impl Iterator<Item = RawFd>) -> Result<()> {
    let mut kept: Vec<u32> = kept.map(RawFd::unsigned_abs).collect();
    kept.sort_unstable();
    let mut first = 3;
    for fd in kept {
        if first < fd {
            close_range(first, fd - 1)?;
        }
        first = fd + 1;
    }
    close_range(first, u32::MAX)
}

/// The files of /proc and of cgroups that this program reads are shorter; a machine with thousands of mounts is not.
const BYTES_MAX: u64 = 4 << 20;
