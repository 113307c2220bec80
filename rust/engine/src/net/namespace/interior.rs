//! A namespace as the thread that makes its sockets sees it.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::stock::Stock;

/// The file of a network namespace, and sockets that were made in it.
#[derive(Debug)]
pub(super) struct Interior {
    pub(super) file: File,
    /// Device and inode, which all files of one namespace have in common.
    identity: (u64, u64),
    stock: Mutex<Stock>,
}

impl Interior {
    pub(super) fn of(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { file, identity: (metadata.dev(), metadata.ino()), stock: Mutex::default() })
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
    }

    /// Ignores poisoning: no code can panic halfway through a change under the lock.
    pub(super) fn stock(&self) -> MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
