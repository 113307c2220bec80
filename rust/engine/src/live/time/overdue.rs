//! How late the engine's thread is. Scheduling and attempts share it, so while its loop is late no attempt makes
//! headway.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use probelet_core::time::Instant;

/// Adds up the time in which the loop should have turned and had not. While attempts are in flight the loop turns at
/// least every [`BEAT`], so any longer stall shows (no CPU, a stopped process, a suspended machine, a long turn).
///
/// The loop's thread alone reads and writes it, twice in each attempt, so it needs no lock.
#[derive(Debug)]
pub(crate) struct Overdue {
    /// By when the loop should turn again, in nanoseconds; [`NEVER`] while no attempt is in flight.
    due: AtomicU64,
    /// Nanoseconds.
    before: AtomicU64,
}

impl Overdue {
    /// Goes on after `before`, which an earlier loop was overdue.
    pub(crate) fn after(before: Duration) -> Self {
        let before = u64::try_from(before.as_nanos()).unwrap_or(u64::MAX);
        Self { due: NEVER.into(), before: before.into() }
    }

    /// Notes that the loop turned at `now` and should turn again by `due`.
    pub(crate) fn turned(&self, now: Instant, due: Option<Instant>) {
        self.before.store(self.total_ns(now), Ordering::Relaxed);
        self.due.store(due.map_or(NEVER, Instant::as_nanos), Ordering::Relaxed);
    }

    /// The total until `now`. The overdue time between two moments is the difference of their totals.
    pub(crate) fn total(&self, now: Instant) -> Duration {
        Duration::from_nanos(self.total_ns(now))
    }

    fn total_ns(&self, now: Instant) -> u64 {
        self.before.load(Ordering::Relaxed) + now.as_nanos().saturating_sub(self.due.load(Ordering::Relaxed))
    }
}

/// A moment that no engine lives to see.
const NEVER: u64 = u64::MAX;

/// Twenty wake-ups a second while something hangs; a twentieth of the shortest timeout there is.
pub(crate) const BEAT: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn total(overdue: &Overdue, ms: u64) -> u128 {
        overdue.total(at(ms)).as_millis()
    }

    #[test]
    fn a_loop_that_turns_in_time_is_never_overdue() {
        let overdue = Overdue::after(Duration::ZERO);
        for beat in 0..10 {
            overdue.turned(at(50 * beat), Some(at(50 * (beat + 1))));
        }
        assert_eq!((total(&overdue, 451), total(&overdue, 500)), (0, 0));
    }

    #[test]
    fn what_goes_by_before_a_late_turn_is_overdue_and_seen_before_that_turn() {
        let overdue = Overdue::after(Duration::ZERO);
        overdue.turned(at(0), Some(at(50)));
        assert_eq!((total(&overdue, 50), total(&overdue, 60), total(&overdue, 2_050)), (0, 10, 2_000));
        overdue.turned(at(2_050), Some(at(2_100)));
        assert_eq!((total(&overdue, 2_100), total(&overdue, 2_130)), (2_000, 2_030));
    }

    #[test]
    fn a_loop_without_attempts_in_flight_is_not_overdue() {
        let overdue = Overdue::after(Duration::ZERO);
        overdue.turned(at(0), Some(at(50)));
        overdue.turned(at(80), None);
        assert_eq!(total(&overdue, 9_000), 30);
    }
}
