//! The opt-ins of a probe: what its pod asks for and no kubelet has. A probe without them is a kubelet's.
//!
//! | option | says |
//! |---|---|
//! | [`ProbeOptions::failures`] | a failure is at least *at* failures among the last *of* runs, not so many in a row |
//! | [`ProbeOptions::failure_after_errors`] | a prober error counts as a failure once there were so many in a row |

use serde::{Deserialize, Serialize};

/// What a pod asks for one of its probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeOptions {
    /// Counts failures among the last runs. It takes the place of `failureThreshold`.
    pub failures: Option<FailureWindow>,
    /// `errors.failureAfter`: the prober error with this number in a row is a failed run, and so is each one after it.
    /// 0: a prober error never counts, as in the kubelet.
    pub failure_after_errors: i32,
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
        assert_eq!([numbers(0, 0), numbers(10, 4), numbers(4, 10), numbers(99, 99)], [(1, 1), (10, 4), (4, 4), (64, 64)]);
    }

    #[test]
    fn runs_outside_the_window_do_not_count() {
        let window = FailureWindow::new(3, 2);
        assert_eq!([0b011, 0b101, 0b1001, 0b1010].map(|runs| window.is_failure(runs)), [true, true, false, false]);
        assert_eq!(FailureWindow::new(64, 64).mask(), u64::MAX);
    }
}
