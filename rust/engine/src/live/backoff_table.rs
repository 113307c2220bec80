//! The back-off table of a node: its callers decide with it, the engine's thread keeps it in the journal.

use std::sync::{Mutex, PoisonError};

use probelet_core::backoff::{Backoff, Curve};
use tokio::sync::Notify;

/// A table that rings when it has changed.
#[derive(Debug)]
pub struct BackoffTable {
    table: Mutex<Backoff>,
    pub(super) bell: Notify,
}

impl BackoffTable {
    /// An empty table.
    pub fn new(curve: Curve) -> Self {
        Self { table: Mutex::new(Backoff::new(curve)), bell: Notify::new() }
    }

    /// Reads or changes the table.
    pub fn with<T>(&self, call: impl FnOnce(&mut Backoff) -> T) -> T {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let before = table.revision();
        let value = call(&mut table);
        if table.revision() != before {
            self.bell.notify_one();
        }
        value
    }
}
