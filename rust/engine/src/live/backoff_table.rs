//! The back-off table of a node: callers take start decisions from it, and the engine's thread keeps it in the journal.

use std::sync::{Arc, Mutex, PoisonError};

use probelet_core::backoff::{Backoff, Curve};
use tokio::sync::Notify;

/// A table that rings when it has something new for the journal.
#[derive(Debug)]
pub struct BackoffTable {
    table: Mutex<Backoff>,
    /// Wakes the engine's thread for the journal: the table has changed, or a write has ended.
    pub(super) bell: Arc<Notify>,
}

impl BackoffTable {
    /// An empty table.
    pub fn new(curve: Curve) -> Self {
        Self { table: Mutex::new(Backoff::new(curve)), bell: Arc::default() }
    }

    /// Reads or changes the table.
    pub fn with<T>(&self, call: impl FnOnce(&mut Backoff) -> T) -> T {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let had_touched = table.has_touched();
        let value = call(&mut table);
        if table.has_touched() && !had_touched {
            self.bell.notify_one();
        }
        value
    }
}
