//! Statistics of the engine itself: a bounded set of series, however many workers there are.

use std::time::Duration;

use probelet_core::results::ProbeResult;
use probelet_core::spec::ProbeType;
use probelet_play::cause::Cause;

use crate::journal::Tally;
use crate::recorder;

/// Counters and histograms of the engine itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineStats {
    /// Attempts by cause, in [`Cause::ALL`]'s order.
    pub(crate) causes: [u64; Cause::ALL.len()],
    /// Runs by probe type, in [`ProbeType::ALL`]'s order, and by result: successful, failed, error.
    pub(crate) runs: [[u64; RESULTS.len()]; ProbeType::ALL.len()],
    /// How late attempts began against their workers' schedules. An attempt is counted at its end, when its beginning
    /// is known.
    pub(crate) lateness: Histogram,
    /// How long attempts that ended well took.
    pub(crate) succeeded: Histogram,
    /// How long attempts that failed took; the kubelet's histogram leaves them out.
    pub(crate) failed: Histogram,
    /// Turns of the engine's thread that ended in a panic.
    pub(crate) panics: u64,
    /// Attempts that have begun and not ended.
    pub(crate) in_flight: u64,
    /// How long the loop was overdue while attempts were in flight.
    pub(crate) overdue: Duration,
    /// The journal's counters; None without a journal and before its first write.
    pub(crate) journal: Option<Tally>,
    /// The flight recorder's counters; None without one.
    pub(crate) recorder: Option<RecorderTally>,
}

/// The counters of a flight recorder.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecorderTally {
    /// What is on disk.
    pub(crate) ring: recorder::Tally,
    /// Entries that were lost.
    pub(crate) lost: u64,
}

/// A histogram in the bounds of [`BOUNDS`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    pub(crate) buckets: [u64; BOUNDS.len() + 1],
    pub(crate) sum: Duration,
}

impl Histogram {
    fn observe(&mut self, length: Duration) {
        let bucket = BOUNDS.iter().position(|bound| length <= *bound).unwrap_or(BOUNDS.len());
        self.buckets[bucket] += 1;
        self.sum += length;
    }
}

impl EngineStats {
    pub(crate) const fn count_start(&mut self) {
        self.in_flight += 1;
    }

    pub(crate) fn count_run(&mut self, probe_type: ProbeType, result: Option<ProbeResult>) {
        let result = match result {
            Some(ProbeResult::Success) => 0,
            Some(ProbeResult::Failure | ProbeResult::Unknown) => 1,
            None => 2,
        };
        self.runs[probe_type as usize][result] += 1;
    }

    /// Counts an attempt that ended.
    pub(crate) fn count_attempt(&mut self, cause: Cause, is_success: bool, lateness: Duration, took: Duration) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let index = Cause::ALL.iter().position(|each| *each == cause).expect("ALL has every cause");
        self.causes[index] += 1;
        self.lateness.observe(lateness);
        let histogram = if is_success { &mut self.succeeded } else { &mut self.failed };
        histogram.observe(took);
    }
}

/// How a run ended, as a label.
pub(crate) const RESULTS: [&str; 3] = ["successful", "failed", "error"];
/// From well below a timer's granularity to well above the longest usual timeout.
pub(crate) const BOUNDS: [Duration; 14] = [
    Duration::from_micros(250),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_micros(2_500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_millis(2_500),
    Duration::from_secs(10),
];
