//! What the attempts of a probe were like, in a few numbers: a recording may have millions of them.

use probelet_core::results::ProbeResult;

use crate::cause::Cause;
use crate::recording::{Attempt, End, Published};

/// The attempts of one probe of one container. Times are microseconds; a percentile is a value that was seen (nearest
/// rank).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// How many ended.
    pub(super) attempts: u64,
    /// How many of them were failures.
    pub(super) failures: u64,
    /// How many ended in an error of the prober, which counts for nothing.
    pub(super) errors: u64,
    /// How many ran out of time while the prober itself was late.
    pub(super) starved: u64,
    /// How long all of them took together.
    pub(super) total_us: u64,
    /// How long 99 of 100 took at most.
    pub(super) slow_us: u64,
    /// How late 99 of 100 began at most.
    pub(super) late_us: u64,
}

impl Seen {
    /// What the attempts of one probe were like; all zeros if there are none.
    pub(super) fn of(attempts: &[Attempt]) -> Self {
        let count = |is: fn(&Attempt) -> bool| attempts.iter().filter(|attempt| is(attempt)).count() as u64;
        let took = |attempt: &Attempt| attempt.ended_us.saturating_sub(attempt.began_us);
        let late = |attempt: &Attempt| attempt.began_us.saturating_sub(attempt.scheduled_us);
        Self {
            attempts: attempts.len() as u64,
            failures: count(|attempt| attempt.end == End::Failure),
            errors: count(|attempt| matches!(attempt.end, End::Error | End::ErrorFailure | End::Unknown)),
            starved: count(|attempt| attempt.cause == Cause::Starved),
            total_us: attempts.iter().map(took).sum(),
            slow_us: percentile_99(attempts.iter().map(took).collect()),
            late_us: percentile_99(attempts.iter().map(late).collect()),
        }
    }
}

/// Why a probe failed when it published this result: the cause of its last attempt until then. None for a success, and
/// for a failure that no attempt brought, such as the first result of a readiness probe.
pub(super) fn cause_of(result: &Published, attempts: &[Attempt]) -> Option<Cause> {
    let until = attempts.partition_point(|attempt| attempt.ended_us <= result.at_us);
    let last = attempts[..until].last()?;
    (result.result != ProbeResult::Success && !last.end.is_success()).then_some(last.cause)
}

fn percentile_99(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let rank = (values.len() * 99).div_ceil(100);
    rank.checked_sub(1).map_or(0, |index| values[index])
}

#[cfg(test)]
mod tests {
    use probelet_core::spec::ProbeType;

    use super::*;

    fn attempt(number: u64, took_us: u64, late_us: u64, end: End, cause: Cause) -> Attempt {
        let scheduled_us = number * 1_000_000;
        let began_us = scheduled_us + late_us;
        Attempt { worker: 1, end, cause, scheduled_us, began_us, ended_us: began_us + took_us }
    }

    #[test]
    fn a_percentile_is_the_value_that_99_of_100_do_not_exceed() {
        assert_eq!(percentile_99(vec![]), 0);
        assert_eq!(percentile_99(vec![7]), 7);
        assert_eq!(percentile_99((1..=100).rev().collect()), 99);
        assert_eq!(percentile_99((1..=101).collect()), 100);
    }

    #[test]
    fn failures_errors_and_starved_attempts_are_counted_apart() {
        let attempts = [
            attempt(1, 10, 1, End::Success, Cause::Ok),
            attempt(2, 20, 2, End::Warning, Cause::Redirect),
            attempt(3, 30, 3, End::Failure, Cause::Status),
            attempt(4, 40, 4, End::Failure, Cause::Starved),
            attempt(5, 50, 5, End::Error, Cause::Cri),
            attempt(6, 60, 6, End::ErrorFailure, Cause::Starved),
        ];
        let (total_us, slow_us, late_us) = (210, 60, 6);
        let expected = Seen { attempts: 6, failures: 2, errors: 2, starved: 2, total_us, slow_us, late_us };
        assert_eq!(Seen::of(&attempts), expected);
        assert_eq!(Seen::of(&[]), Seen::default());
    }

    #[test]
    fn a_result_has_the_cause_of_the_attempt_that_brought_it() {
        let attempts = [attempt(1, 10, 0, End::Failure, Cause::Status), attempt(2, 10, 0, End::Failure, Cause::Eof)];
        let published =
            |at_us, result| Published { at_us, probe_type: ProbeType::Readiness, container_id: "c".into(), result };
        assert_eq!(cause_of(&published(1_000_009, ProbeResult::Failure), &attempts), None);
        assert_eq!(cause_of(&published(1_000_010, ProbeResult::Failure), &attempts), Some(Cause::Status));
        assert_eq!(cause_of(&published(9_000_000, ProbeResult::Failure), &attempts), Some(Cause::Eof));
        assert_eq!(cause_of(&published(9_000_000, ProbeResult::Success), &attempts), None);
    }
}
