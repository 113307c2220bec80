//! The attempts of one probe that are kept: a bounded number of those that tell something.
//!
//! An attempt is *plain* if it succeeded, as the one before it did. When the log is full, every second plain attempt
//! goes, and from then on only every second, fourth, eighth ... further plain one is kept. If nothing plain is left to
//! drop, further attempts are counted and not kept.

use crate::attempt::cause::Cause;

/// One attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) at_ns: u64,
    pub(super) took_ns: u64,
    pub(super) cause: Cause,
    /// Its reason's number.
    pub(super) why: u16,
    is_plain: bool,
}

/// The attempts of one probe.
#[derive(Debug, Default)]
pub(super) struct AttemptLog {
    rows: Vec<Row>,
    /// One plain attempt in `stride` is kept, less one.
    skipped: u64,
    stride_bits: u32,
    last: Option<(Cause, u16)>,
    pub(super) made: u64,
    pub(super) failed: u64,
}

impl AttemptLog {
    /// Adds an attempt; returns whether it differs from the one before it.
    pub(super) fn add(&mut self, at_ns: u64, took_ns: u64, cause: Cause, why: u16, kept_max: usize) -> bool {
        self.made += 1;
        self.failed += u64::from(cause != Cause::Ok);
        let is_news = self.last != Some((cause, why));
        self.last = Some((cause, why));
        let is_plain = !is_news && cause == Cause::Ok;
        if is_plain {
            self.skipped += 1;
            if self.skipped < 1 << self.stride_bits {
                return is_news;
            }
            self.skipped = 0;
        }
        if self.rows.len() >= kept_max && !self.thin(is_plain) {
            return is_news;
        }
        self.rows.push(Row { at_ns, took_ns, cause, why, is_plain });
        is_news
    }

    /// Makes room; returns whether the new attempt is to be kept.
    fn thin(&mut self, new_is_plain: bool) -> bool {
        let before = self.rows.len();
        let mut is_odd = false;
        self.rows.retain(|row| {
            is_odd ^= row.is_plain;
            !row.is_plain || is_odd
        });
        if self.rows.len() == before {
            return false;
        }
        self.stride_bits = (self.stride_bits + 1).min(STRIDE_BITS_MAX);
        !new_is_plain
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// One plain attempt in 2^40 is none.
const STRIDE_BITS_MAX: u32 = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_log_keeps_what_failed_and_a_bounded_number_in_order() {
        let mut log = AttemptLog::default();
        for number in 0..100_000_u64 {
            let cause = if number % 5_000 == 0 { Cause::Refused } else { Cause::Ok };
            log.add(number, 1, cause, 0, 200);
        }
        let failures = log.rows().iter().filter(|row| row.cause == Cause::Refused).count();
        assert_eq!((log.made, log.failed, failures), (100_000, 20, 20));
        assert!(log.rows().len() <= 200 && log.rows().len() > 60, "{}", log.rows().len());
        assert!(log.rows().is_sorted_by_key(|row| row.at_ns));
    }

    #[test]
    fn failures_alone_are_bounded_too() {
        let mut log = AttemptLog::default();
        for number in 0..10_000 {
            log.add(number, 1, Cause::Refused, 0, 200);
        }
        assert_eq!((log.made, log.rows().len()), (10_000, 200));
    }
}
