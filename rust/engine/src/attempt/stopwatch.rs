//! Where an attempt's time goes, measured as it goes.

use std::time::{Duration, Instant};

use super::timings::Timings;

/// Adds the time since the last lap to one of the timings.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    last: Instant,
    pub(crate) timings: Timings,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self::started(Instant::now())
    }

    /// A stopwatch that runs since a moment that the caller knows.
    pub(crate) fn started(at: Instant) -> Self {
        Self { last: at, timings: Timings::default() }
    }

    /// Adds the time since the last lap to `timing`.
    pub(crate) fn lap(&mut self, timing: impl FnOnce(&mut Timings) -> &mut Duration) {
        let now = Instant::now();
        *timing(&mut self.timings) += now - self.last;
        self.last = now;
    }
}
