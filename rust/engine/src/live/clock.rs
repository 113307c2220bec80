//! The two clocks of a live engine: monotonic for timers, wall for `startedAt` arithmetic and for people.

use std::time::SystemTime;

use probelet_core::time::{Instant, WallOffset};

/// Monotonic time since the engine started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: std::time::Instant,
}

impl Clock {
    /// A clock whose zero is now.
    pub(super) fn start() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// Now, for the core.
    pub(super) fn now(self) -> Instant {
        Instant::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Where the wall clock stands now. A wall clock before 1970 counts as 1970.
    pub(super) fn wall(self) -> WallOffset {
        let now = self.now();
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let wall = i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX);
        WallOffset(wall - now.as_nanos() as i64)
    }
}
