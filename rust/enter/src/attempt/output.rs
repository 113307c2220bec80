//! The first bytes that a command writes to one of its two streams.

use std::io::{ErrorKind, Read, Result};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::private_memory::PrivateMemory;

/// What probelet keeps of stdout and stderr together (kubelet pkg/probe/exec/exec.go:maxReadLength, 1.36), and so the
/// most that it keeps of one of them.
pub(crate) const KEPT_BYTES: usize = 10 * 1024;

/// How much is read of a stream before other commands have their turn.
const TURN_BYTES: usize = 256 * 1024;

/// One stream: its pipe until it ends, and the bytes that are kept of it.
#[derive(Debug)]
pub(crate) struct Output {
    pipe: Option<std::fs::File>,
    kept: PrivateMemory,
    length: usize,
}

impl Output {
    pub(crate) fn new(pipe: OwnedFd) -> Result<Self> {
        Ok(Self { pipe: Some(pipe.into()), kept: PrivateMemory::new(KEPT_BYTES)?, length: 0 })
    }

    pub(crate) fn fd(&self) -> Option<RawFd> {
        self.pipe.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Nobody can write any more.
    pub(crate) fn is_over(&self) -> bool {
        self.pipe.is_none()
    }

    pub(crate) fn kept(&self) -> &[u8] {
        &self.kept.bytes()[..self.length]
    }

    /// Stops to read: a process that still writes gets SIGPIPE.
    pub(crate) fn close(&mut self) {
        self.pipe = None;
    }

    /// Reads what is there. What exceeds the limit is read and forgotten, so that the command never waits for a reader.
    pub(crate) fn read(&mut self, scratch: &mut PrivateMemory) {
        let mut turn = 0;
        while let Some(pipe) = &mut self.pipe {
            let room = &mut self.kept.bytes_mut()[self.length..];
            let is_full = room.is_empty();
            match pipe.read(if is_full { scratch.bytes_mut() } else { room }) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    turn += count;
                    self.length += if is_full { 0 } else { count };
                    if turn >= TURN_BYTES {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::sys::pipe;

    #[test]
    fn the_first_bytes_are_kept_and_the_rest_is_read() {
        let (read, write) = pipe().unwrap();
        let mut output = Output::new(read).unwrap();
        let mut scratch = PrivateMemory::new(4096).unwrap();
        let mut writer = std::fs::File::from(write);
        for _ in 0..3 {
            writer.write_all(&[b'x'; KEPT_BYTES / 2 + 1]).unwrap();
            output.read(&mut scratch);
        }
        assert!(!output.is_over());
        drop(writer);
        output.read(&mut scratch);
        assert!(output.is_over());
        assert_eq!(output.kept(), vec![b'x'; KEPT_BYTES]);
    }

    #[test]
    fn a_fork_has_no_copy_of_what_was_kept() {
        let memory = PrivateMemory::new(4096).unwrap();
        // A fork that shares its descriptors, because a copy of another test's pipe or lock would keep that open.
        let flags = libc::CLONE_FILES | libc::SIGCHLD;
        // SAFETY: the child only makes one system call and ends.
        let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } as libc::pid_t;
        if child == 0 {
            let mut resident = 0u8;
            // SAFETY: the pointers are to one page and one byte. The call fails if nothing is mapped there.
            unsafe {
                let found = libc::mincore(memory.bytes().as_ptr().cast_mut().cast(), 4096, &raw mut resident);
                libc::_exit(i32::from(found == 0));
            }
        }
        let mut status = -1;
        // SAFETY: the pointer is to a number that lives until the call returns.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "the child found the memory");
    }
}
