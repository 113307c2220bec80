//! The two clocks of a live engine: monotonic for timers, wall for `startedAt` arithmetic and for people.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use probelet_core::time::{Instant, WallOffset};

/// Monotonic time. Its zero lies [`LEAD`] before the engine's start, so that exits and starts of an earlier life of the
/// service have a time. Clones are one clock.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    start: std::time::Instant,
    /// Nanoseconds by which it was put forward.
    ahead: Arc<AtomicU64>,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn start() -> Self {
        Self { start: std::time::Instant::now(), ahead: Arc::default() }
    }

    /// Now, for the core.
    pub(crate) fn now(&self) -> Instant {
        // A read under the state's lock sees every advance that an earlier holder saw, so that time never goes back.
        self.at(std::time::Instant::now())
    }

    /// When a moment of the machine's clock is, if the clock is not put forward until then.
    pub(crate) fn at(&self, moment: std::time::Instant) -> Instant {
        Instant::ZERO + LEAD + moment.saturating_duration_since(self.start) + self.ahead()
    }

    /// Puts the monotonic and the wall clock forward.
    pub(crate) fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.ahead.fetch_add(by, Ordering::Relaxed);
    }

    /// How far the clock was put forward.
    pub(crate) fn ahead(&self) -> Duration {
        Duration::from_nanos(self.ahead.load(Ordering::Relaxed))
    }

    /// Where the wall clock stands now. A wall clock before 1970 counts as 1970.
    pub(crate) fn wall(&self) -> WallOffset {
        let unmoved = Instant::ZERO + LEAD + self.start.elapsed();
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let wall = i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX);
        WallOffset(wall - unmoved.as_nanos() as i64)
    }
}

/// Much longer than the oldest exit that a back-off needs.
const LEAD: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn both_clocks_are_put_forward_for_everybody() {
        let clock = Clock::start();
        let (other, before, wall) = (clock.clone(), clock.now(), clock.wall().wall_ms(clock.now()));
        clock.advance(HOUR);
        assert!(other.now() >= before + HOUR);
        assert!(other.wall().wall_ms(other.now()) - wall >= 3_599_000, "a machine may set its clock back a little");
    }
}
