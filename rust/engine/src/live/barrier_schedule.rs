//! When the connect barrier is closed: while many attempts begin together, and never for long.

use std::time::Duration;

use probelet_core::time::Instant;

/// Since when the barrier has been closed.
#[derive(Debug, Default)]
pub(super) struct BarrierSchedule {
    closed_since: Option<Instant>,
}

impl BarrierSchedule {
    /// Whether the barrier is to be closed while `starts` attempts begin.
    pub(super) fn is_closed(&mut self, starts: usize, now: Instant) -> bool {
        let is_closed = starts >= BATCH_MIN && self.closed_since.is_none_or(|since| now.since(since) < HELD_MAX);
        self.closed_since = is_closed.then(|| self.closed_since.unwrap_or(now));
        is_closed
    }
}

/// The smallest number of attempts that wait for each other at the barrier. A node whose probes are due at random has
/// a tenth of that due together.
const BATCH_MIN: usize = 128;
/// The longest time for which the barrier stays closed, and so the longest that an attempt is held: more than ten
/// thousand connections take.
const HELD_MAX: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn few_attempts_do_not_wait_for_each_other() {
        let mut schedule = BarrierSchedule::default();
        assert!(!schedule.is_closed(BATCH_MIN - 1, at(0)));
        assert!(schedule.is_closed(BATCH_MIN, at(1)));
        assert!(!schedule.is_closed(BATCH_MIN - 1, at(2)));
    }

    #[test]
    fn the_barrier_opens_in_time_however_many_attempts_follow() {
        let mut schedule = BarrierSchedule::default();
        let closed: Vec<bool> = (0..=20).map(|turn| schedule.is_closed(10_000, at(1_000 + 10 * turn))).collect();
        assert_eq!(closed.iter().position(|is_closed| !is_closed), Some(20));
        assert!(schedule.is_closed(10_000, at(1_210)), "for the attempts that come after");
    }
}
