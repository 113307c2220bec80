//! Memory that forks do not have. A fork is inside of one container while it still is a copy of this program, so the
//! output of another container's command must not be in that copy.

use std::io::{Error, Result};
use std::ptr::NonNull;

/// Bytes that a fork cannot read, because its address space has nothing there. They are zero at first; the system
/// clears them when they are given back.
#[derive(Debug)]
pub(crate) struct PrivateMemory {
    start: NonNull<u8>,
    length: usize,
}

impl PrivateMemory {
    pub(crate) fn new(length: usize) -> Result<Self> {
        Self::mapped(length, libc::MADV_DONTFORK)
    }

    /// Memory that forks have and that is cleared on request: a fork reads its own request.
    pub(crate) fn shared_with_forks(length: usize) -> Result<Self> {
        Self::mapped(length, libc::MADV_NORMAL)
    }

    fn mapped(length: usize, advice: i32) -> Result<Self> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new pages at a place that the system chooses touch no other memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(Error::from_raw_os_error(libc::ENOMEM))?;
        let memory = Self { start, length };
        // SAFETY: the pages are this structure's own.
        if unsafe { libc::madvise(start.as_ptr().cast(), length, advice) } == -1 {
            return Err(Error::last_os_error());
        }
        Ok(memory)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the pages are mapped as long as this structure lives, and their bytes are always initialised.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// Clears the first bytes; the compiler may not leave it out.
    pub(crate) fn clear(&mut self, length: usize) {
        for byte in self.bytes_mut().iter_mut().take(length) {
            // SAFETY: the pointer is to a byte of this structure's.
            unsafe { std::ptr::write_volatile(byte, 0) };
        }
    }
}

impl Drop for PrivateMemory {
    fn drop(&mut self) {
        // SAFETY: the pages are this structure's own, and nobody can hold a reference to them any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
