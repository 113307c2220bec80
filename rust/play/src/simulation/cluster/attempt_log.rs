//! The attempts of one probe that are kept: a bounded number, and changes and failures before what repeats itself.
//!
//! An attempt is *news* if it ended otherwise, or for another reason, than the one before. When the log is full, every
//! second repeated success goes, and from then on only every second, fourth, eighth ... further one is kept; once there
//! are no repeated successes to drop, the same happens to repeated failures. If only news is left, further attempts are
//! counted and not kept.

use std::time::Duration;

use crate::cause::Cause;

/// One attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) at_ns: u64,
    took_ms: u32,
    /// Its reason's number.
    pub(super) why: u16,
    pub(super) cause: Cause,
    is_news: bool,
}

impl Row {
    pub(super) const fn took(&self) -> Duration {
        Duration::from_millis(self.took_ms as u64)
    }

    const fn repeats_a_success(&self) -> bool {
        !self.is_news && matches!(self.cause, Cause::Ok)
    }

    const fn repeats_a_failure(&self) -> bool {
        !self.is_news && !matches!(self.cause, Cause::Ok)
    }
}

/// The attempts of one probe.
#[derive(Debug, Default)]
pub(super) struct AttemptLog {
    rows: Vec<Row>,
    successes: Thinned,
    failures: Thinned,
    last: Option<(Cause, u16)>,
    pub(super) made: u64,
    pub(super) failed: u64,
}

/// One in `2 ^ bits` is kept.
#[derive(Debug, Default)]
struct Thinned {
    bits: u32,
    skipped: u64,
}

impl Thinned {
    const fn keeps(&mut self) -> bool {
        self.skipped += 1;
        let keeps = self.skipped >> self.bits > 0;
        if keeps {
            self.skipped = 0;
        }
        keeps
    }
}

impl AttemptLog {
    /// Adds an attempt; returns whether it is news.
    pub(super) fn add(&mut self, at_ns: u64, took: Duration, cause: Cause, why: u16, kept_max: usize) -> bool {
        let is_success = cause == Cause::Ok;
        self.made += 1;
        self.failed += u64::from(!is_success);
        let is_news = self.last != Some((cause, why));
        self.last = Some((cause, why));
        let thinned = if is_success { &mut self.successes } else { &mut self.failures };
        if is_news || thinned.keeps() {
            let took_ms = u32::try_from(took.as_millis()).unwrap_or(u32::MAX);
            if self.rows.len() < kept_max || self.thin() {
                self.rows.push(Row { at_ns, took_ms, why, cause, is_news });
            }
        }
        is_news
    }

    /// Makes room; returns whether there is some.
    fn thin(&mut self) -> bool {
        if self.drop_every_second(Row::repeats_a_success) {
            self.successes.bits = (self.successes.bits + 1).min(BITS_MAX);
            return true;
        }
        let has_room = self.drop_every_second(Row::repeats_a_failure);
        self.failures.bits = (self.failures.bits + u32::from(has_room)).min(BITS_MAX);
        has_room
    }

    fn drop_every_second(&mut self, is_meant: impl Fn(&Row) -> bool) -> bool {
        let (before, mut is_second) = (self.rows.len(), false);
        self.rows.retain(|row| {
            let is_meant = is_meant(row);
            let goes = is_meant && is_second;
            is_second ^= is_meant;
            !goes
        });
        self.rows.len() < before
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// One attempt in 2^40 is none.
const BITS_MAX: u32 = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn log(attempts: u64, is_failure: impl Fn(u64) -> bool) -> AttemptLog {
        let mut log = AttemptLog::default();
        for number in 0..attempts {
            let cause = if is_failure(number) { Cause::Refused } else { Cause::Ok };
            log.add(number, Duration::from_millis(1), cause, 0, 200);
        }
        assert!(log.rows().len() <= 200 && log.rows().is_sorted_by_key(|row| row.at_ns));
        assert_eq!(log.made, attempts);
        log
    }

    #[test]
    fn a_long_log_keeps_every_failure_among_many_successes() {
        let log = log(100_000, |number| number % 5_000 == 0);
        let kept = log.rows().iter().filter(|row| row.cause == Cause::Refused).count();
        assert_eq!((log.failed, kept), (20, 20));
        assert!(log.rows().len() > 60, "{}", log.rows().len());
    }

    #[test]
    fn failures_without_an_end_are_thinned_too_and_the_latest_ones_are_there() {
        let log = log(100_000, |_| true);
        assert!(log.rows().len() > 60, "{}", log.rows().len());
        assert!(log.rows().last().unwrap().at_ns > 99_000);
    }

    #[test]
    fn a_probe_that_changes_its_mind_all_the_time_fills_its_log_once() {
        assert_eq!(log(10_000, |number| number % 2 == 0).rows().len(), 200);
    }
}
