//! The time limit of an attempt, as Go counts it.

use std::time::Duration;

use probelet_golang::text;
use tokio::time::Instant;

/// The time limit of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    seconds: i64,
    nanoseconds: u32,
}

impl From<Duration> for Limit {
    fn from(timeout: Duration) -> Self {
        let seconds = i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanoseconds: timeout.subsec_nanos() }
    }
}

/// `timeoutSeconds` unchanged: validation refuses values below 1, and the handlers do with them what Go does.
impl From<i32> for Limit {
    fn from(seconds: i32) -> Self {
        Self { seconds: seconds.into(), nanoseconds: 0 }
    }
}

impl Limit {
    pub(super) const fn is_negative(self) -> bool {
        self.seconds < 0
    }

    /// When the time is over, which may be now.
    pub(super) fn instant(self) -> Instant {
        let now = Instant::now();
        let timeout = Duration::new(u64::try_from(self.seconds).unwrap_or(0), self.nanoseconds);
        now.checked_add(timeout).unwrap_or(now + FOR_EVER)
    }

    /// When the time is over; None if Go waits for ever: for a timeout of zero, and over HTTP for a negative one.
    pub(super) fn deadline(self) -> Option<Instant> {
        self.deadline_of(Instant::now())
    }

    /// The same for an attempt that began at `began`.
    pub(super) fn deadline_of(self, began: Instant) -> Option<Instant> {
        let seconds = u64::try_from(self.seconds).ok()?;
        let timeout = Duration::new(seconds, self.nanoseconds);
        if timeout.is_zero() { None } else { began.checked_add(timeout) }
    }
}

/// The limit as Go prints it: `1s`, `1m30s`.
impl std::fmt::Display for Limit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&text::seconds(self.seconds))
    }
}

/// Longer than any machine runs.
const FOR_EVER: Duration = Duration::from_secs(100 * 365 * 86_400);
