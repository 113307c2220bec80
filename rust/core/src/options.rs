//! The opt-ins of a probe: what its pod asks for and no kubelet has. A probe without them is a kubelet's.
//!
//! | option | says |
//! |---|---|
//! | [`ProbeOptions::failures`] | a failure is at least *at* failures among the last *of* runs, not so many in a row |
//! | [`ProbeOptions::failure_after_errors`] | a prober error counts as a failure once there were so many in a row |
//! | [`ProbeOptions::error_kinds`] | only prober errors of these kinds do |
//! | [`ProbeOptions::slow`] | a success that took longer counts half |
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
    /// `errors.causes`: the prober errors that may count; all others neither count nor end a row.
    pub error_kinds: ErrorKinds,
    /// `hysteresis.slowerThan`: a success that took longer is half a success of `successThreshold`.
    pub slow: Option<Duration>,
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

/// Why a prober could not ask a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// The answer's body could not be read to its end.
    Body,
    /// The prober itself was the cause, for example by a lack of sockets. Such an error never counts.
    Own,
    /// The port does not resolve to a number.
    Port,
    /// The request cannot be made.
    Request,
    /// The runtime could not be asked, or could not start the command.
    Runtime,
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorKinds(u8);

impl ErrorKinds {
    /// The set of all kinds that can count.
    pub const ALL: Self = Self(!(1 << ErrorKind::Own as u8));

    /// The set of these kinds.
    pub fn of(kinds: impl IntoIterator<Item = ErrorKind>) -> Self {
        Self(kinds.into_iter().fold(0, |set, kind| set | 1 << kind as u8) & Self::ALL.0)
    }

    /// Whether errors of this kind count.
    pub const fn has(self, kind: ErrorKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

impl Default for ErrorKinds {
    fn default() -> Self {
        Self::ALL
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
    fn the_prober_s_own_errors_are_in_no_set() {
        let set = ErrorKinds::of([ErrorKind::Own, ErrorKind::Port]);
        assert_eq!(
            [ErrorKind::Own, ErrorKind::Port, ErrorKind::Runtime].map(|kind| set.has(kind)),
            [false, true, false]
        );
        assert!(!ErrorKinds::default().has(ErrorKind::Own) && ErrorKinds::default().has(ErrorKind::Runtime));
    }

    #[test]
    fn runs_outside_the_window_do_not_count() {
        let window = FailureWindow::new(3, 2);
        assert_eq!([0b011, 0b101, 0b1001, 0b1010].map(|runs| window.is_failure(runs)), [true, true, false, false]);
        assert_eq!(FailureWindow::new(64, 64).mask(), u64::MAX);
    }
}
