//! What a worker keeps for the opt-ins of its probe ([`ProbeOptions`]). A worker without them has none of this.
//!
//! **Failures in a window** (`failures: {of, at}`). *F* is the number of failures among the last `of` runs, and *S* the
//! number of successes in a row, both with this run; a prober error that does not count is no run.
//!
//! | the run | F | S | publishes |
//! |---|---|---|---|
//! | fails | below `at` | 0 | nothing |
//! | fails | `at` or more | 0 | Failure |
//! | succeeds | `at` or more | any | nothing |
//! | succeeds | below `at` | below `successThreshold` | nothing |
//! | succeeds | below `at` | `successThreshold` or more | Success |
//!
//! 1. The window begins empty: with each container, with the container's first success, and when the worker goes on hold.
//! 2. Before the first success a larger `initializationFailureThreshold` counts failures in a row instead.
//! 3. With `of` equal to `at` this is the kubelet's rule with `failureThreshold: at`: the rise and fall of a load balancer.
//!
//! **Errors that count** (`errors: {failureAfter: n}`). The n-th prober error in a row and each one after it is a failed
//! run; a run that asked the container, with whatever result, ends the row. Errors of which the prober itself is the cause,
//! such as a lack of sockets, neither count nor end a row.

use serde::{Deserialize, Serialize};

use super::worker::Worker;
use crate::options::ProbeOptions;
use crate::prober::output::Streak;
use crate::results::ProbeResult;

/// The options of a worker's probe, and what was counted for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opted {
    pub(crate) options: ProbeOptions,
    /// The last runs, the latest in the lowest bit. A bit is set if its run failed.
    pub(crate) window: u64,
    /// Prober errors in a row; saturates at [`ProbeOptions::failure_after_errors`].
    pub(crate) errors: i32,
}

impl Opted {
    pub(crate) fn new(options: ProbeOptions) -> Box<Self> {
        Box::new(Self { options, window: 0, errors: 0 })
    }
}

impl Worker {
    /// Begins the counts of a new container.
    #[cold]
    pub(crate) fn forget_runs(&mut self) {
        self.forget_window();
        if self.opted.as_ref().is_some_and(|opted| opted.options.failures.is_some()) {
            (self.has_initialized, self.result_run) = (false, 0);
        }
    }

    /// Empties the window and ends the row of errors.
    #[cold]
    pub(crate) fn forget_window(&mut self) {
        if let Some(opted) = &mut self.opted {
            (opted.window, opted.errors) = (0, 0);
        }
    }

    /// Whether a run that the worker has just counted reaches a threshold of its options. `is_first_success`: no run of the
    /// container succeeded before.
    #[cold]
    pub(crate) fn reaches_by_options(&mut self, result: ProbeResult, is_first_success: bool) -> bool {
        let in_a_row = self.result_run;
        let (patience, successes) = (self.patience(), self.success_threshold);
        let ordinary = self.failure_threshold;
        let opted = self.opted.as_mut().expect("the caller looked");
        let failed = result == ProbeResult::Failure;
        if !failed {
            opted.errors = 0;
        }
        let Some(window) = opted.options.failures else {
            return if failed { in_a_row >= patience.unwrap_or(ordinary) } else { in_a_row >= successes };
        };
        let before = if is_first_success { 0 } else { opted.window };
        opted.window = (before << 1 | u64::from(failed)) & window.mask();
        let has_failed = window.is_failure(opted.window);
        if failed { patience.map_or(has_failed, |patience| in_a_row >= patience) } else { !has_failed && in_a_row >= successes }
    }

    /// The failures in a row that a container without a success may have, if that is more than afterwards (KEP-950).
    pub(crate) const fn patience(&self) -> Option<i32> {
        if !self.has_initialized && self.initialization_failure_threshold > self.failure_threshold {
            Some(self.initialization_failure_threshold)
        } else {
            None
        }
    }

    /// Counts a prober error in a row. Returns the result of its run: a failure if the options say so, else none.
    #[cold]
    pub(crate) fn count_error(&mut self, own: bool) -> Option<ProbeResult> {
        let opted = self.opted.as_mut().filter(|opted| opted.options.failure_after_errors > 0 && !own)?;
        let limit = opted.options.failure_after_errors;
        opted.errors = opted.errors.saturating_add(1).min(limit);
        (opted.errors == limit).then_some(ProbeResult::Failure)
    }

    /// Ends a row of prober errors: the container was asked.
    #[cold]
    pub(crate) fn end_errors(&mut self) {
        if let Some(opted) = &mut self.opted {
            opted.errors = 0;
        }
    }

    /// The failures in the window with the one that is about to be counted; None if failures in a row decide.
    #[cold]
    pub(crate) fn window_with_one_more(&self) -> Option<Streak> {
        let opted = self.opted.as_ref().filter(|_| self.patience().is_none())?;
        let window = opted.options.failures?;
        let failures = ((opted.window << 1 | 1) & window.mask()).count_ones().min(window.at);
        Some(Streak { failures: failures.cast_signed(), threshold: window.at.cast_signed() })
    }

    /// What the memory of a worker keeps of its counts: the window, and the errors in a row.
    pub(crate) fn counted(&self) -> (u64, i32) {
        self.opted.as_ref().map_or((0, 0), |opted| (opted.window, opted.errors))
    }

    /// Takes over the counts of an earlier prober's memory. With `in_doubt` a run was in flight that may have succeeded.
    pub(crate) fn recall_counted(&mut self, window: u64, errors: i32, in_doubt: bool) {
        let Some(opted) = &mut self.opted else { return };
        let window = if in_doubt { window << 1 } else { window };
        opted.window = opted.options.failures.map_or(0, |failures| window & failures.mask());
        opted.errors = errors.clamp(0, opted.options.failure_after_errors);
    }
}
