//! Points in time, which callers pass as arguments.
//!
//! The core never asks for the time: every input carries a `now`. A point counts nanoseconds on a monotonic clock whose
//! zero the driver chose. Wall time exists only for `startedAt` arithmetic: it is an offset, and the offset is an input
//! too.

use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point on the driver's monotonic clock, in nanoseconds since a zero of the driver's choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instant(u64);

impl Instant {
    /// The zero of the driver's clock.
    pub const ZERO: Self = Self(0);

    /// The point `nanos` nanoseconds after zero.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The point `millis` milliseconds after zero.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Nanoseconds since zero.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this point; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// Saturates at the end of the clock (584 years), so that an absurd period is never due, rather than due at once.
    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, length: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// The wall clock's offset from the driver's clock: Unix nanoseconds at [`Instant::ZERO`].
///
/// A step of the machine's wall clock arrives as a new offset; timers do not move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallOffset(pub i64);

impl WallOffset {
    /// Unix milliseconds at `now`.
    pub const fn wall_ms(self, now: Instant) -> i64 {
        self.wall_ns(now) / 1_000_000
    }

    /// Whole seconds from `started_at_ms` (Unix milliseconds) to `now`, cut towards zero as Go's `int32(seconds)` does.
    pub const fn seconds_since(self, started_at_ms: i64, now: Instant) -> i64 {
        self.wall_ns(now).saturating_sub(started_at_ms.saturating_mul(1_000_000)) / 1_000_000_000
    }

    /// The driver's time at a moment of the wall clock (Unix milliseconds); zero if that was before.
    pub const fn instant_of(self, wall_ms: i64) -> Instant {
        let ns = wall_ms.saturating_mul(1_000_000).saturating_sub(self.0);
        Instant(if ns < 0 { 0 } else { ns.cast_unsigned() })
    }

    const fn wall_ns(self, now: Instant) -> i64 {
        self.0.saturating_add(now.as_nanos() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_cut_towards_zero_on_both_sides() {
        let offset = WallOffset(0);
        assert_eq!(offset.seconds_since(0, Instant::from_millis(1_999)), 1);
        assert_eq!(offset.seconds_since(2_999, Instant::from_millis(2_000)), 0);
        assert_eq!(offset.seconds_since(3_000, Instant::from_millis(2_000)), -1);
    }

    #[test]
    fn adding_past_the_end_of_the_clock_saturates() {
        assert_eq!(Instant::from_nanos(u64::MAX) + Duration::from_secs(1), Instant::from_nanos(u64::MAX));
    }
}
