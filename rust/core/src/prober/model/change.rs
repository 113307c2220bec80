//! How a worker takes another probe over while its container runs (ours; KEP-6318 asks for it).
//!
//! A kubelet's worker keeps the probe with which it began. [`Prober::change_probes`](crate::prober::Prober::change_probes)
//! gives it another one, by these rules:
//!
//! 1. A change acts between two runs. A run that is in flight ends by the old probe: its tries ask what the old one asks,
//!    and its result counts towards the old thresholds. So no attempt is lost or made twice.
//! 2. What was found out stays: the published result, the runs in a row, a hold, whether a probe of the container has
//!    succeeded, the errors in a row up to their new limit.
//! 3. A change publishes nothing. A threshold below the present count acts at the end of the next run that counts towards
//!    it. So no container is killed without a failed run under thresholds that are then reached.
//! 4. A period that differs begins anew at the change: the next tick is a new period away, or where it was if that is
//!    sooner. Other ticks stay. Under [`Phasing::Spread`](super::phasing::Phasing) the worker takes its new phase at its
//!    next run.
//! 5. A window of failures whose length differs begins empty; with another `at` its runs stay. Half successes become whole
//!    ones, and whole ones halves, where a hysteresis goes or comes.
//! 6. An initial delay that is over is not waited again by this container. One that is not over becomes the new one.
//! 7. A startup probe that has succeeded is on hold and never runs again, whatever it becomes.
//! 8. A probe that is gone ends its worker, and with it its result: the container has started, is ready and is not killed,
//!    as one that never had the probe.
//! 9. A probe that is new to a running container begins as a kubelet's after its restart: what the container is, started
//!    or ready, it stays until the first verdict. Liveness begins with success.

use std::sync::Arc;

use super::opted::Opted;
use super::worker::Worker;
use crate::options::ProbeOptions;
use crate::results::ProbeResult;
use crate::time::Instant;

impl Worker {
    /// Goes on with the probe of its new object from `now` on. `is_delay_over` says whether the container has had its
    /// initial delay.
    pub(crate) fn take_probe(&mut self, is_delay_over: bool, now: Instant) {
        let object = Arc::clone(&self.object);
        let probe = object.containers[self.container as usize].probe(self.probe_type).expect("it is there");
        self.success_threshold = probe.success_threshold;
        self.failure_threshold = probe.failure_threshold;
        self.initialization_failure_threshold = probe.initialization_failure_threshold;
        let delay = probe.initial_delay_seconds;
        self.keeps_delay = is_delay_over && delay > self.initial_delay_seconds;
        if !self.keeps_delay {
            self.initial_delay_seconds = delay;
        }
        let period_ns = probe.period().as_nanos() as u64;
        if self.period_ns != period_ns {
            self.period_ns = period_ns;
            self.next_tick = self.next_tick.min(now + self.period());
            self.is_phased = false;
        }
        self.take_options(probe.options.as_deref().copied());
    }

    /// Takes the initial delay of its probe for a container that is new to the worker.
    #[cold]
    #[inline(never)]
    pub(crate) fn take_delay(&mut self) {
        if std::mem::take(&mut self.keeps_delay) {
            self.initial_delay_seconds = self.probe().initial_delay_seconds;
        }
    }

    fn take_options(&mut self, options: Option<ProbeOptions>) {
        let before = self.opted.take();
        let had_halves = before.as_ref().is_some_and(|opted| opted.options.slow.is_some());
        let Some(options) = options else {
            self.count_halves(had_halves, false);
            return;
        };
        self.count_halves(had_halves, options.slow.is_some());
        let mut opted = Opted::new(options);
        if let Some(before) = before {
            let lengths = [before.options, options].map(|options| options.failures.map(|failures| failures.of));
            opted.window = if lengths[0] == lengths[1] { before.window } else { 0 };
            opted.errors = before.errors.clamp(0, options.failure_after_errors.max(0));
        }
        self.opted = Some(opted);
    }

    fn count_halves(&mut self, before: bool, now: bool) {
        if self.last_result == ProbeResult::Success {
            self.result_run = match (before, now) {
                (false, true) => self.result_run.saturating_mul(2),
                (true, false) => self.result_run / 2,
                _ => self.result_run,
            };
        }
    }
}
