//! The two clocks of a live engine: monotonic for timers, wall for `startedAt` arithmetic and for people.

use std::time::{Duration, SystemTime};

use probelet_core::time::{Instant, WallOffset};

/// Monotonic time. Its zero lies [`LEAD`] before the engine's start, so that exits and starts of an earlier life of the
/// service have a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: std::time::Instant,
}

impl Clock {
    /// A clock that starts now.
    pub(super) fn start() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// Now, for the core.
    pub(super) fn now(self) -> Instant {
        Instant::ZERO + LEAD + self.start.elapsed()
    }

    /// Where the wall clock stands now. A wall clock before 1970 counts as 1970.
    pub(super) fn wall(self) -> WallOffset {
        let now = self.now();
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let wall = i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX);
        WallOffset(wall - now.as_nanos() as i64)
    }
}

/// Far more than any back-off looks back.
const LEAD: Duration = Duration::from_secs(24 * 3600);
