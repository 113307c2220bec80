//! How a worker's last attempt went.

use std::ops::AddAssign;
use std::time::Duration;

use probelet_play::cause::Cause;
use probelet_play::history::OutcomeKind;
use serde_json::json;

use crate::attempt::timings::{Timings, millis};

/// How a worker's last attempt went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAttempt {
    /// When it ended, Unix milliseconds.
    pub at_ms: i64,
    /// How.
    pub outcome: OutcomeKind,
    /// Why.
    pub cause: Cause,
    /// What the event says after its colon; empty for a success.
    pub message: Box<str>,
    /// How long it took.
    pub duration: Duration,
    /// How late it began against the worker's own grid.
    pub lateness: Duration,
    /// How long the prober's own loop was overdue while it ran.
    pub overdue: Duration,
    /// Where the time went.
    pub timings: Timings,
}

impl LastAttempt {
    /// The form of the status document.
    pub fn to_json(&self) -> serde_json::Value {
        json!({
            "at_ms": self.at_ms, "outcome": self.outcome.name(), "cause": self.cause.name(), "message": &*self.message,
            "duration_ms": millis(self.duration), "lateness_ms": millis(self.lateness),
            "overdue_ms": millis(self.overdue), "phases_ms": self.timings.to_json(),
        })
    }
}

/// A [`LastAttempt`] as each of 100,000 workers keeps it, in half of the memory.
#[derive(Debug)]
pub(super) struct KeptAttempt {
    at_ms: i64,
    message: Box<str>,
    duration: Nanos,
    lateness: Nanos,
    overdue: Nanos,
    dns: Micros,
    connect: Micros,
    tls: Micros,
    headers: Micros,
    body: Micros,
    outcome: OutcomeKind,
    cause: Cause,
}

impl From<LastAttempt> for KeptAttempt {
    fn from(attempt: LastAttempt) -> Self {
        let LastAttempt { at_ms, outcome, cause, message, duration, lateness, overdue, timings } = attempt;
        let Timings { dns, connect, tls, headers, body } = timings;
        Self {
            at_ms,
            message,
            duration: duration.into(),
            lateness: lateness.into(),
            overdue: overdue.into(),
            dns: dns.into(),
            connect: connect.into(),
            tls: tls.into(),
            headers: headers.into(),
            body: body.into(),
            outcome,
            cause,
        }
    }
}

impl From<&KeptAttempt> for LastAttempt {
    fn from(kept: &KeptAttempt) -> Self {
        let timings = Timings {
            dns: kept.dns.into(),
            connect: kept.connect.into(),
            tls: kept.tls.into(),
            headers: kept.headers.into(),
            body: kept.body.into(),
        };
        Self {
            at_ms: kept.at_ms,
            outcome: kept.outcome,
            cause: kept.cause,
            message: kept.message.clone(),
            duration: kept.duration.into(),
            lateness: kept.lateness.into(),
            overdue: kept.overdue.into(),
            timings,
        }
    }
}

/// A length of time in one word, where a `Duration` takes two: up to 584 years.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nanos(u64);

impl From<Duration> for Nanos {
    fn from(length: Duration) -> Self {
        Self(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl AddAssign<Duration> for Nanos {
    fn add_assign(&mut self, more: Duration) {
        self.0 = self.0.saturating_add(Self::from(more).0);
    }
}

impl From<Nanos> for Duration {
    fn from(length: Nanos) -> Self {
        Self::from_nanos(length.0)
    }
}

/// How long a part of an attempt took, in half a word. A part that took more than 71 minutes reads as 71, and one that
/// took less than a microsecond as one, because zero is a part that was not reached.
#[derive(Clone, Copy, Debug)]
struct Micros(u32);

impl From<Duration> for Micros {
    fn from(length: Duration) -> Self {
        Self(u32::try_from(length.as_micros()).unwrap_or(u32::MAX).max((!length.is_zero()).into()))
    }
}

impl From<Micros> for Duration {
    fn from(length: Micros) -> Self {
        Self::from_micros(length.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_attempt_is_the_attempt() {
        let hour = Duration::from_secs(3_600);
        let (nanos, micros) = (|some| hour + Duration::from_nanos(some), |some| hour + Duration::from_micros(some));
        let attempt = LastAttempt {
            at_ms: 1_700_000_000_000,
            outcome: OutcomeKind::Failure,
            cause: Cause::Refused,
            message: "refused".into(),
            duration: nanos(1),
            lateness: nanos(2),
            overdue: nanos(3),
            timings: Timings {
                dns: micros(4),
                connect: micros(5),
                tls: micros(6),
                headers: micros(7),
                body: micros(8),
            },
        };
        assert_eq!(LastAttempt::from(&KeptAttempt::from(attempt.clone())), attempt);
    }

    #[test]
    fn a_length_that_does_not_fit_is_the_longest() {
        assert_eq!(Duration::from(Nanos::from(Duration::MAX)), Duration::from_nanos(u64::MAX));
        assert_eq!(Duration::from(Micros::from(Duration::MAX)), Duration::from_micros(u32::MAX.into()));
    }

    #[test]
    fn a_part_that_was_reached_is_never_zero() {
        let kept = |nanos| Duration::from(Micros::from(Duration::from_nanos(nanos))).as_nanos();
        assert_eq!([0, 1, 999, 1_999, 2_000].map(kept), [0, 1_000, 1_000, 1_000, 2_000]);
    }
}
