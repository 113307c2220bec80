//! Where an attempt's time goes, measured as it goes.

use std::time::{Duration, Instant};

use super::timings::Phases;

/// Adds the time since the last lap to a phase.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    last: Instant,
    pub(crate) phases: Phases,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { last: Instant::now(), phases: Phases::default() }
    }

    /// What went by since the last lap belongs to this phase.
    pub(crate) fn lap(&mut self, phase: impl FnOnce(&mut Phases) -> &mut Duration) {
        let now = Instant::now();
        *phase(&mut self.phases) += now - self.last;
        self.last = now;
    }
}
