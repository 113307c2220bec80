//! A history, or its newest part, as a journal has it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::attempt::{PastAttempt, PastFailure, shown};
use super::code::{Code, micros};
use super::ring::{ATTEMPTS, FAILURES, History};

/// Attempts that follow upon each other, with the failures among them that are kept with their text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct HistoryRecord {
    newest_ms: i64,
    /// Oldest first.
    codes: Vec<Code>,
    failures: Vec<PastFailure>,
}

impl HistoryRecord {
    /// Adds the attempts of a record that came later. There may be attempts between the two that no record has.
    pub fn extend(&mut self, later: &Self) {
        let mut history = History::of(self);
        history.take_in(later);
        *self = history.record();
    }

    /// How many attempts it has.
    pub const fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether it has no attempt.
    pub const fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

impl History {
    /// The history of a record.
    pub fn of(record: &HistoryRecord) -> Self {
        let mut history = Self::default();
        history.take_in(record);
        history
    }

    /// All of it, for a journal that then has all of it.
    pub fn take_all(&mut self) -> HistoryRecord {
        self.unwritten = 0;
        if let Some(failures) = &mut self.failures {
            failures.unwritten = 0;
        }
        self.record()
    }

    /// The newest attempts that the journal does not have, `most` at most, and the failures that it does not have. Older
    /// attempts will be missing there. None if it has everything.
    pub fn take_unwritten(&mut self, most: usize) -> Option<HistoryRecord> {
        let attempts = usize::from(std::mem::take(&mut self.unwritten)).min(most);
        let failures = self.failures.as_mut().map_or(0, |failures| std::mem::take(&mut failures.unwritten));
        (attempts > 0).then(|| self.newest_part(attempts, failures))
    }

    fn record(&self) -> HistoryRecord {
        self.newest_part(ATTEMPTS, FAILURES)
    }

    fn newest_part(&self, attempts: usize, failures: usize) -> HistoryRecord {
        let mut codes: Vec<Code> = self.codes_from_the_newest().take(attempts).collect();
        codes.reverse();
        let kept = self.failures();
        let failures = kept[kept.len().saturating_sub(failures)..].to_vec();
        HistoryRecord { newest_ms: self.newest_ms, codes, failures }
    }

    /// Adds what a record has; the journal has it already.
    fn take_in(&mut self, record: &HistoryRecord) {
        let mut at_ms = record.newest_ms;
        let mut ends = Vec::with_capacity(record.len());
        for code in record.codes.iter().rev() {
            ends.push(code.attempt(at_ms));
            at_ms = at_ms.saturating_sub(code.since_ms());
        }
        ends.iter().rev().for_each(|attempt| self.push(attempt));
        record.failures.iter().for_each(|failure| self.add_failure(failure.clone()));
        if let Some(failures) = &mut self.failures {
            failures.unwritten = 0;
        }
    }
}

/// The values as they are written.
#[derive(Serialize, Deserialize)]
struct Written {
    newest_ms: i64,
    codes: Vec<[u8; 4]>,
    failures: Vec<WrittenFailure>,
}

/// A failure: its end, the code of its outcome and cause, duration and lateness in microseconds, its text.
type WrittenFailure = (i64, [u8; 4], u64, u64, Box<str>);

impl From<HistoryRecord> for Written {
    fn from(record: HistoryRecord) -> Self {
        let HistoryRecord { newest_ms, codes, failures } = record;
        let written = |PastFailure { attempt, text }: PastFailure| {
            let code = Code::of(&attempt, 0).to_bytes();
            (attempt.at_ms, code, micros(attempt.duration), micros(attempt.lateness), text)
        };
        Self {
            newest_ms,
            codes: codes.into_iter().map(Code::to_bytes).collect(),
            failures: failures.into_iter().map(written).collect(),
        }
    }
}

impl TryFrom<Written> for HistoryRecord {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        const UNKNOWN: &str = "no attempt has this code";
        let Written { newest_ms, codes, failures } = written;
        let codes: Option<Vec<Code>> = codes.into_iter().map(Code::from_bytes).collect();
        let failure = |(at_ms, code, duration, lateness, text): WrittenFailure| {
            let code = Code::from_bytes(code)?.attempt(at_ms);
            let (duration, lateness) = (Duration::from_micros(duration), Duration::from_micros(lateness));
            Some(PastFailure { attempt: PastAttempt { duration, lateness, ..code }, text: shown(text.as_bytes()) })
        };
        let failures: Option<Vec<PastFailure>> = failures.into_iter().map(failure).collect();
        Ok(Self { newest_ms, codes: codes.ok_or(UNKNOWN)?, failures: failures.ok_or(UNKNOWN)? })
    }
}
