//! The opt-ins of a probe: what its pod asks for and no kubelet has. A probe without them is a kubelet's.
//!
//! | option | says |
//! |---|---|
//! | [`ProbeOptions::failures`] | a failure is at least *at* failures among the last *of* runs, not so many in a row |
//! | [`ProbeOptions::failure_after_errors`] | a prober error counts as a failure once there were so many in a row |
//! | [`ProbeOptions::period`] | runs follow each other so fast, in milliseconds instead of seconds |
//! | [`ProbeOptions::until_ready`] | they do until the container's first success |
//! | [`ProbeOptions::when_failing`] | they do while the last run failed |
//! | [`ProbeOptions::network`] | attempts over a socket begin inside the pod's network; the prober's driver does that |

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a pod asks for one of its probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeOptions {
    /// Counts failures among the last runs. It takes the place of `failureThreshold`.
    pub failures: Option<FailureWindow>,
    /// `errors.failureAfter`: the prober error with this number in a row is a failed run, and so is each one after it.
    /// 0: a prober error never counts, as in the kubelet.
    pub failure_after_errors: i32,
    /// `periodMilliseconds`: from the beginning of one run to the next.
    pub period: Option<Duration>,
    /// `untilReady`: the same until a container's first success. Failures of the runs between the ordinary ones do not
    /// count, so that the container has the time that its thresholds give it.
    pub until_ready: Option<Duration>,
    /// `whenFailing`: the same while the last run that counted has failed.
    pub when_failing: Option<Duration>,
    /// `network`: from where attempts over a socket are made. The prober does not look at it.
    pub network: Network,
}

/// From where attempts over a socket are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// From the node, as a kubelet does.
    #[default]
    Node,
    /// From inside the pod's network namespace. Where that cannot be entered, each attempt is a prober error.
    Pod,
    /// From inside the pod's network namespace. Where that cannot be entered, from the node.
    PodOrNode,
}

/// The shortest time between two runs. Validation refuses a shorter one, but the prober must not spin.
pub const PACE_MIN: Duration = Duration::from_millis(50);

impl ProbeOptions {
    /// Whether the worker looks at its container as soon as it runs, and as soon as its initial delay is over.
    pub(crate) const fn looks_at_once(&self) -> bool {
        self.period.is_some() || self.until_ready.is_some()
    }
}

/// `failures`: `at` failures among the last `of` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureWindow {
    /// How many runs count, from 1 to [`WINDOW_MAX`].
    pub of: u32,
    /// How many of them must have failed, from 1 to `of`.
    pub at: u32,
}

/// The longest window: one bit of a word for each run.
pub const WINDOW_MAX: u32 = u64::BITS;

impl FailureWindow {
    /// A window with both numbers in range. Validation refuses others, but the prober must survive them.
    pub fn new(of: u32, at: u32) -> Self {
        let of = of.clamp(1, WINDOW_MAX);
        Self { of, at: at.clamp(1, of) }
    }

    /// The bits of the runs that count.
    pub(crate) const fn mask(self) -> u64 {
        u64::MAX >> (WINDOW_MAX - self.of)
    }

    /// Whether the runs of `window` are a failure.
    pub(crate) const fn is_failure(self, window: u64) -> bool {
        (window & self.mask()).count_ones() >= self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_takes_numbers_in_range_only() {
        let numbers = |of, at| (FailureWindow::new(of, at).of, FailureWindow::new(of, at).at);
        assert_eq!(
            [numbers(0, 0), numbers(10, 4), numbers(4, 10), numbers(99, 99)],
            [(1, 1), (10, 4), (4, 4), (64, 64)]
        );
    }

    #[test]
    fn runs_outside_the_window_do_not_count() {
        let window = FailureWindow::new(3, 2);
        assert_eq!([0b011, 0b101, 0b1001, 0b1010].map(|runs| window.is_failure(runs)), [true, true, false, false]);
        assert_eq!(FailureWindow::new(64, 64).mask(), u64::MAX);
    }
}
