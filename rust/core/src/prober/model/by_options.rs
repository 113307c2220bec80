//! How a worker runs and counts by the opt-ins of its probe ([`ProbeOptions`]).
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
//! **Runs between the ordinary ones** (`periodMilliseconds`, `untilReady`, `whenFailing`). A worker's ticks stay where they
//! are. When a run ends, the shortest of the times that hold now says when the next run is due, counted from the beginning of
//! that run; if that is before the next tick, it is an extra run, within the [budget](super::budget).
//!
//! | option | holds | a failed extra run |
//! |---|---|---|
//! | `untilReady` | before the container's first success | does not count: it has no event and no threshold |
//! | `whenFailing` | after a run that counted and failed | counts |
//! | `periodMilliseconds` | always | counts, once the container has succeeded or if there is no `untilReady` |
//!
//! 1. With `periodMilliseconds` the next tick is a period after the beginning of each run, once failed extra runs count: the
//!    budget may make runs late, but never later than that.
//! 2. An extra run that is in flight at a tick is that tick's run, and counts.
//! 3. With `untilReady` or `periodMilliseconds` the worker looks at its container when that begins to run or has started, and
//!    when its initial delay is over, without a wait for a tick.
//!
//! **Errors that count** (`errors: {failureAfter: n}`). The n-th prober error in a row and each one after it is a failed
//! run; a run that asked the container, with whatever result, ends the row. Errors of which the prober itself is the cause,
//! such as a lack of sockets, and those of kinds that the options do not name (`causes`) neither count nor end a row.
//!
//! **Slow successes** (`hysteresis: {slowerThan: x}`). A success whose last try took longer than *x* adds a half to *S*, any
//! other a whole one. It is a success in every other way: it ends a row of failures, and its bit in the window is clear. So
//! a container stays well with slow answers, but needs twice as many of them to become well.

use std::time::Duration;

use super::opted::Opted;
use super::view::{Seen, View};
use super::worker::{Worker, WorkerPhase};
use crate::options::{ErrorKind, PACE_MIN, ProbeOptions};
use crate::prober::output::Streak;
use crate::results::ProbeResult;
use crate::time::{Instant, WallOffset};

impl Worker {
    /// Begins the counts of a new container.
    #[cold]
    pub(crate) fn forget_runs(&mut self) {
        self.forget_window();
        let Some(ProbeOptions { failures, until_ready, .. }) = self.opted.as_ref().map(|opted| opted.options) else {
            return;
        };
        if failures.is_some() {
            self.result_run = 0;
        }
        self.has_initialized &= failures.is_none() && until_ready.is_none();
    }

    /// Empties the window and ends the row of errors.
    #[cold]
    pub(crate) fn forget_window(&mut self) {
        if let Some(opted) = &mut self.opted {
            (opted.window, opted.errors) = (0, 0);
        }
    }

    /// Fills the window so far that one more failure is a verdict.
    #[cold]
    pub(crate) fn fill_window_but_one(&mut self) {
        if let Some(opted) = &mut self.opted {
            opted.window = opted.options.failures.map_or(0, |failures| (1 << (failures.at - 1)) - 1);
        }
    }

    /// Counts an error-free run of a probe with options, which ends at `now`. Returns whether its threshold is reached.
    #[cold]
    pub(crate) fn count_by_options(&mut self, result: ProbeResult, now: Instant) -> bool {
        if self.only_looks() && result == ProbeResult::Failure {
            return false;
        }
        self.extend_run(result);
        if result == ProbeResult::Success && self.counts_halves() && !self.is_slow(now) {
            self.result_run = self.result_run.saturating_add(1);
        }
        let is_first_success = !self.has_initialized && result == ProbeResult::Success;
        self.has_initialized |= is_first_success;
        let in_a_row = self.result_run;
        let (patience, successes) = (self.patience(), self.successes_wanted());
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
        if failed {
            patience.map_or(has_failed, |patience| in_a_row >= patience)
        } else {
            !has_failed && in_a_row >= successes
        }
    }

    /// The failures in a row that a container without a success may have, if that is more than afterwards (KEP-950).
    pub(crate) const fn patience(&self) -> Option<i32> {
        if !self.has_initialized && self.initialization_failure_threshold > self.failure_threshold {
            Some(self.initialization_failure_threshold)
        } else {
            None
        }
    }

    /// Whether the run of successes counts halves of one, because a slow success is one.
    fn counts_halves(&self) -> bool {
        self.opted.as_ref().is_some_and(|opted| opted.options.slow.is_some())
    }

    /// Whether the try that ends at `now` took longer than a good success may.
    fn is_slow(&self, now: Instant) -> bool {
        let Some(opted) = &self.opted else { return false };
        let began = self.run_started.max(opted.tried_again);
        opted.options.slow.is_some_and(|slow| now.since(began) > slow)
    }

    /// What [`Worker::result_run`] must be for a success.
    pub(crate) fn successes_wanted(&self) -> i32 {
        self.success_threshold.saturating_mul(if self.counts_halves() { 2 } else { 1 })
    }

    /// How many runs in a row had the last result, slow successes as halves.
    pub(crate) fn whole_runs(&self) -> i32 {
        let has_halves = self.counts_halves() && self.last_result == ProbeResult::Success;
        if has_halves { self.result_run / 2 } else { self.result_run }
    }

    /// Begins another try of a run at `now`.
    #[cold]
    pub(crate) fn note_next_try(&mut self, now: Instant) {
        if let Some(opted) = &mut self.opted {
            opted.tried_again = now;
        }
    }

    /// Counts a prober error in a row. Returns the result of its run: a failure if the options say so, else none.
    #[cold]
    pub(crate) fn count_error(&mut self, kind: ErrorKind) -> Option<ProbeResult> {
        let only_looks = self.only_looks();
        let counts = |opted: &&mut Box<Opted>| {
            opted.options.failure_after_errors > 0 && opted.options.error_kinds.has(kind) && !only_looks
        };
        let opted = self.opted.as_mut().filter(counts)?;
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

    /// Whether the run in flight can only find out that the container is well: its failure does not count.
    #[cold]
    pub(crate) fn only_looks(&self) -> bool {
        let looks = |opted: &Opted| opted.is_extra && opted.options.until_ready.is_some();
        !self.has_initialized && self.opted.as_deref().is_some_and(looks)
    }

    /// From the beginning of a run to the next, where options make that shorter than a period.
    fn pace(&self) -> Option<Duration> {
        let ProbeOptions { period, until_ready, when_failing, .. } = self.opted.as_ref()?.options;
        let is_failing = self.last_result == ProbeResult::Failure && self.result_run > 0;
        let until_ready = until_ready.filter(|_| !self.has_initialized);
        let when_failing = when_failing.filter(|_| is_failing);
        [period, until_ready, when_failing].into_iter().flatten().min().map(|pace| pace.max(PACE_MIN))
    }

    /// Plans the next extra run as the worker goes to rest at `now`. Returns when it is due, if that is before the next
    /// tick.
    #[cold]
    pub(crate) fn plan_extra(&mut self, now: Instant) -> Option<Instant> {
        let has_run = matches!(self.phase, WorkerPhase::InFlight { .. });
        let (pace, period) = (self.pace(), self.period());
        let opted = self.opted.as_mut()?;
        (opted.extra, opted.is_granted, opted.is_extra) = (None, false, false);
        let looks_at = opted.looks_at.take();
        if self.on_hold {
            return None;
        }
        let only_ticks_count = !self.has_initialized && opted.options.until_ready.is_some();
        if has_run && opted.options.period.is_some() && !only_ticks_count {
            self.next_tick = self.run_started + period;
        }
        let wished = if has_run { self.run_started + pace? } else { looks_at? }.max(now);
        opted.extra = Some(wished).filter(|at| *at < self.next_tick);
        opted.extra
    }

    /// Lets an extra run that is in flight at a tick stand for the tick's own run: a slow attempt that does not count would
    /// otherwise delay one that does.
    pub(crate) fn give_tick_to_extra_run(&mut self, now: Instant) {
        if let Some(opted) = self.opted.as_mut().filter(|opted| opted.is_extra) {
            opted.is_extra = false;
            self.take_tick(now);
        }
    }

    /// Lets the worker look again when a container that began to run at `started_at_ms` has had its initial delay.
    #[cold]
    pub(crate) fn look_after_delay(&mut self, started_at_ms: i64, wall: WallOffset) {
        let delay_ms = i64::from(self.initial_delay_seconds).saturating_mul(1_000);
        if let Some(opted) = self.opted.as_mut().filter(|opted| opted.options.looks_at_once()) {
            opted.looks_at = Some(wall.instant_of(started_at_ms.saturating_add(delay_ms)));
        }
    }

    /// Lets a worker that takes over a memory at `now` go on at its pace.
    pub(crate) fn look_at_pace(&mut self, now: Instant) {
        let pace = self.pace();
        if let (Some(opted), Some(pace)) = (&mut self.opted, pace) {
            opted.looks_at = Some(now + pace);
        }
    }

    /// Whether what the worker sees makes it look at once: its container has begun to run, or has started.
    pub(crate) fn looks_at_once(&self, before: View) -> bool {
        let options = self.opted.as_ref().map(|opted| opted.options);
        let waits = self.phase == WorkerPhase::Waiting && !self.queued;
        if !waits || !options.is_some_and(|options| options.looks_at_once()) {
            return false;
        }
        let runs = |view: View| match view {
            View::Container(Seen { key, state, started, .. }) if state.is_running() => Some((key, started)),
            _ => None,
        };
        runs(self.view).is_some_and(|now| runs(before) != Some(now))
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
