//! Decides what caused a timeout: the container, or a prober that was late itself (kubernetes#89898).

use std::time::Duration;

use probelet_core::options::ErrorKind;
use probelet_core::prober::Outcome;
use probelet_play::cause::Cause;

/// What a failure of a starved prober counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StarvedVerdict {
    /// The failure counts as it is, as in the kubelet.
    #[default]
    Failure,
    /// The failure is a prober error: the worker retries at once, twice at most, and then the run counts for nothing.
    Unknown,
}

/// The law of starved attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Starving {
    /// If the loop's lateness exceeds this share of the timeout, the prober caused the timeout. Greater than 0.
    pub share: f64,
    /// What such a timeout counts as.
    pub verdict: StarvedVerdict,
}

impl Default for Starving {
    fn default() -> Self {
        Self { share: 0.5, verdict: StarvedVerdict::Failure }
    }
}

/// How an attempt spent its time.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// The attempt's timeout.
    pub timeout: Duration,
    /// How long the attempt took.
    pub took: Duration,
    /// For how much of that time the prober's own loop was overdue.
    pub overdue: Duration,
}

impl Starving {
    /// The cause of an attempt: [`Cause::Starved`] if the attempt timed out while the prober made no progress. An
    /// answer that came in time is the container's, good or bad, however late the prober reads it.
    pub fn cause(&self, cause: Cause, spent: Spent) -> Cause {
        let Spent { timeout, took, overdue } = spent;
        let is_late = overdue.as_secs_f64() > self.share * timeout.as_secs_f64();
        if cause.is_timeout() && took >= timeout && is_late { Cause::Starved } else { cause }
    }

    /// The outcome that the core gets for an attempt with this cause. An error of a starved prober is the prober's own.
    pub fn outcome(&self, cause: Cause, outcome: Outcome) -> Outcome {
        let told = |text: &str| (false, format!("prober starved: {text}").into());
        let (failure, error) = match (self.verdict, outcome) {
            (_, outcome) if cause != Cause::Starved => return outcome,
            (StarvedVerdict::Failure, Outcome::Error { failure, error, .. }) => (failure, error),
            (StarvedVerdict::Unknown, Outcome::Error { error, .. }) => told(&error),
            (StarvedVerdict::Unknown, Outcome::Failure { output }) => told(&String::from_utf8_lossy(&output)),
            (_, outcome) => return outcome,
        };
        Outcome::Error { failure, error, kind: ErrorKind::Own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: Starving = Starving { share: 0.5, verdict: StarvedVerdict::Unknown };

    fn spent(timeout: u64, took: u64, overdue: u64) -> Spent {
        let [timeout, took, overdue] = [timeout, took, overdue].map(Duration::from_millis);
        Spent { timeout, took, overdue }
    }

    #[test]
    fn a_timeout_is_the_probers_own_above_the_share_and_not_at_it() {
        let cause = |overdue| Starving::default().cause(Cause::HeaderTimeout, spent(1_000, 2_000, overdue));
        assert_eq!([cause(0), cause(500), cause(501)], [Cause::HeaderTimeout, Cause::HeaderTimeout, Cause::Starved]);
        let strict = Starving { share: 0.1, ..Starving::default() };
        assert_eq!(strict.cause(Cause::Dns, spent(10_000, 10_000, 1_001)), Cause::Starved);
    }

    #[test]
    fn an_answer_is_the_containers_however_late_the_prober_was() {
        for cause in Cause::ALL {
            let is_timeout = matches!(
                cause,
                Cause::Body | Cause::ConnectTimeout | Cause::Dns | Cause::HeaderTimeout | Cause::Starved | Cause::Tls
            );
            let starved = UNKNOWN.cause(cause, spent(1_000, 5_000, 5_000)) == Cause::Starved;
            assert_eq!(starved, is_timeout, "{cause:?}");
        }
    }

    #[test]
    fn what_ended_before_its_time_was_over_did_not_run_out_of_it() {
        assert_eq!(UNKNOWN.cause(Cause::Tls, spent(1_000, 900, 800)), Cause::Tls);
    }

    #[test]
    fn a_starved_failure_is_a_prober_error_only_when_that_is_asked_for() {
        let failure = || Outcome::Failure { output: (*b"late").into() };
        let told = Outcome::Error { failure: false, error: "prober starved: late".into(), kind: ErrorKind::Own };
        assert_eq!(UNKNOWN.outcome(Cause::Starved, failure()), told);
        assert_eq!(
            UNKNOWN
                .outcome(Cause::Starved, Outcome::Error { failure: true, error: "late".into(), kind: ErrorKind::Body }),
            told
        );
        assert_eq!(UNKNOWN.outcome(Cause::HeaderTimeout, failure()), failure());
        assert_eq!(Starving::default().outcome(Cause::Starved, failure()), failure());
    }

    #[test]
    fn an_error_of_a_starved_prober_is_its_own_with_either_verdict() {
        let error = |kind| Outcome::Error { failure: true, error: "late".into(), kind };
        let law = Starving::default();
        assert_eq!(law.outcome(Cause::Starved, error(ErrorKind::Request)), error(ErrorKind::Own));
        assert_eq!(law.outcome(Cause::Dns, error(ErrorKind::Request)), error(ErrorKind::Request));
    }
}
