//! Log lines about starved attempts: one line for many attempts, not a line for each of ten thousand.

use std::time::Duration;

use probelet_core::time::Instant;

use super::attempts::EndedAttempt;
use super::batch::Notice;
use crate::stats::worker::WorkerStats;

/// Starved attempts since the last line.
#[derive(Debug, Default)]
pub(super) struct StarvationLog {
    unsaid: u64,
    /// The description of the latest of these attempts.
    last: String,
    said: Option<Instant>,
}

impl StarvationLog {
    /// Counts one more starved attempt.
    pub(super) fn note(&mut self, ended: &EndedAttempt, row: &WorkerStats) {
        self.unsaid += 1;
        let (probe_type, overdue) = (row.probe_type.name(), ended.spent.overdue.as_secs_f64());
        let (pod, container) = (&row.pod, row.container());
        let whose = format!("{probe_type} probe of {}/{}, container {container}", pod.namespace, pod.name);
        self.last = if overdue > 0.0 {
            format!("{whose}: its time ran out while the prober's own loop was late by {overdue:.3} s")
        } else {
            whose
        };
    }

    /// The next line, if an attempt was starved since the last line and that line is old enough.
    pub(super) fn say(&mut self, now: Instant) -> Option<Notice> {
        if self.unsaid == 0 || self.said.is_some_and(|said| now.since(said) < PAUSE) {
            return None;
        }
        self.said = Some(now);
        let attempts = std::mem::take(&mut self.unsaid);
        Some(Notice::warning(format!("prober starved (attempts: {attempts}): {}", self.last)))
    }
}

/// The shortest time between two lines.
const PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_a_line_a_second_that_counts() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut starved = StarvationLog { last: "web".into(), ..StarvationLog::default() };
        let mut said = |ms, more| {
            starved.unsaid += more;
            starved.say(at(ms)).map(|notice| notice.text)
        };
        assert_eq!(said(0, 0), None);
        assert_eq!(said(1, 2).as_deref(), Some("prober starved (attempts: 2): web"));
        assert_eq!(said(500, 3), None);
        assert_eq!(said(1_001, 1).as_deref(), Some("prober starved (attempts: 4): web"));
        assert_eq!(said(9_000, 0), None);
    }
}
