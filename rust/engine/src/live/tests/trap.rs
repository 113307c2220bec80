//! A panic that a test puts into the middle of a turn of the engine's loop. Only tests have it.

use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// Where in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Moment {
    /// Attempts that have ended are taken out; the first of them is about to be counted.
    Finishing,
    /// Outputs of the core are taken out, attempts over sockets and exec attempts among them.
    HandingOut,
    /// Attempts are taken out to begin; the first of them has begun.
    Launching,
}

/// A trap, set or not.
#[derive(Debug, Default)]
pub(in super::super) struct Trap(Mutex<Option<(Moment, Sender<()>)>>);

impl Trap {
    /// Makes the loop panic when it next reaches `at`; the trap first sends to `sprung`.
    pub(in super::super) fn set(&self, at: Moment, sprung: Sender<()>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, sprung));
    }

    pub(in super::super) fn spring(&self, at: Moment, is_ripe: impl FnOnce() -> bool) {
        let set = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if set.as_ref().is_some_and(|(moment, _)| *moment == at)
            && is_ripe()
            && let Some((_, sprung)) = set.take()
        {
            let _ = sprung.send(());
            panic!("a trap of a test, {at:?}");
        }
    }
}
