//! What a worker remembers of its last attempts: 64 of them packed into four bytes each, and the last four that went
//! badly with their text.
//!
//! **What a packed attempt tells.** Outcome and cause are exact. The other values are floating-point numbers of a few
//! bits:
//!
//! | value | bits | precision | longest |
//! |---|---|---|---|
//! | when it ended | 10 | too early by up to 16 ms and 1/64 of the time since the attempt before | 9 hours |
//! | how long it took | 8 | 1/16 of itself | 4 hours |
//! | how late it began | 7 | 1/8 of itself | 2 hours |
//!
//! A longer value reads as the longest. The time of an attempt is kept as the distance from the attempt before. The
//! distance is taken from the time that the code of that attempt gives, so the errors do not add up: each attempt has
//! its own error alone. After a distance of more than nine hours, and after a wall clock that was set back, the new
//! attempt has its true time, and all attempts before it move with it.
//!
//! **Whose attempts.** A history belongs to a probe of a container of a pod, not to an instance of the container: after a
//! restart the attempts of the former instance are still there, because they say why it was restarted.

mod code;
mod record;

use std::time::Duration;

use probelet_core::prober::Outcome;

use self::code::Code;
pub use self::record::HistoryRecord;
use crate::cause::Cause;

/// How an attempt ended, without its text, as the status document has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// The container answered well.
    Success,
    /// The container answered well, with something to say.
    Warning,
    /// The container answered wrongly, late or not at all.
    Failure,
    /// A prober error: the attempt says nothing about the container.
    Error,
}

impl OutcomeKind {
    /// All kinds; the place of a kind is its number in a code.
    const ALL: [Self; 4] = [Self::Success, Self::Warning, Self::Failure, Self::Error];

    /// The kind of an outcome.
    pub const fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::Warning { .. } => Self::Warning,
            Outcome::Failure { .. } | Outcome::Unknown => Self::Failure,
            Outcome::Error { .. } => Self::Error,
        }
    }

    /// Success and warning are good, failure and error are bad.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Success | Self::Warning)
    }

    /// The word of the status document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Warning => "warning",
            Self::Failure => "failure",
            Self::Error => "error",
        }
    }
}

/// An attempt of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastAttempt {
    /// When it ended, Unix milliseconds.
    pub at_ms: i64,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// Why.
    pub cause: Cause,
    /// How long it took.
    pub duration: Duration,
    /// How late it began against the worker's own grid.
    pub lateness: Duration,
}

/// An attempt of the past that went badly. Its values are exact to the microsecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastFailure {
    /// The attempt.
    pub attempt: PastAttempt,
    /// What it said, at most [`TEXT_BYTES_MAX`] bytes.
    pub text: Box<str>,
}

/// The last attempts of a worker.
#[derive(Clone, Debug)]
pub struct History {
    /// When the newest attempt ended, as its code gives it.
    newest_ms: i64,
    /// The last failures, oldest first. A worker that never failed has no box.
    failures: Option<Box<Failures>>,
    /// How many attempts there are.
    count: u8,
    /// The place of the next attempt.
    next: u8,
    /// How many of the newest attempts the journal does not have.
    unwritten: u8,
    codes: [Code; ATTEMPTS],
}

#[derive(Clone, Debug, Default)]
struct Failures {
    kept: Vec<PastFailure>,
    /// How many of the newest failures the journal does not have.
    unwritten: usize,
}

impl Default for History {
    fn default() -> Self {
        Self { newest_ms: 0, failures: None, count: 0, next: 0, unwritten: 0, codes: [Code::default(); ATTEMPTS] }
    }
}

impl History {
    /// Adds an attempt that has just ended; `text` is what it said. Returns whether it turned: whether it is good and the
    /// attempt before was bad, or the other way round. Before the first attempt nothing was wrong, so a first attempt
    /// turns if it is bad.
    pub fn add(&mut self, attempt: &PastAttempt, text: &str) -> bool {
        let was_good = self.newest().is_none_or(|code| code.outcome().is_good());
        self.push(attempt);
        self.unwritten = (self.unwritten + 1).min(ATTEMPTS as u8);
        let is_good = attempt.outcome.is_good();
        if !is_good {
            self.add_failure(PastFailure { attempt: *attempt, text: text.into() });
        }
        was_good != is_good
    }

    /// The newest attempts, at most `most`, oldest first.
    pub fn attempts(&self, most: usize) -> Vec<PastAttempt> {
        let (mut at_ms, mut attempts) = (self.newest_ms, Vec::with_capacity(most.min(self.len())));
        for code in self.codes_from_the_newest().take(most) {
            attempts.push(code.attempt(at_ms));
            at_ms = at_ms.saturating_sub(code.since_ms());
        }
        attempts.reverse();
        attempts
    }

    /// The last failures, oldest first.
    pub fn failures(&self) -> &[PastFailure] {
        self.failures.as_ref().map_or(&[], |failures| &failures.kept)
    }

    /// How many attempts there are.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no attempt.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn newest(&self) -> Option<Code> {
        self.codes_from_the_newest().next()
    }

    fn codes_from_the_newest(&self) -> impl Iterator<Item = Code> {
        (1..=self.len()).map(|back| self.codes[(usize::from(self.next) + ATTEMPTS - back) % ATTEMPTS])
    }

    fn push(&mut self, attempt: &PastAttempt) {
        let since_ms = if self.is_empty() { 0 } else { attempt.at_ms.saturating_sub(self.newest_ms) };
        let code = Code::of(attempt, since_ms);
        let at_ms = self.newest_ms.saturating_add(code.since_ms());
        let is_near = !self.is_empty() && (0..SINCE_MS_MAX).contains(&since_ms);
        self.newest_ms = if is_near { at_ms } else { attempt.at_ms };
        self.codes[usize::from(self.next)] = code;
        self.next = (self.next + 1) % ATTEMPTS as u8;
        self.count = (self.count + 1).min(ATTEMPTS as u8);
    }

    fn add_failure(&mut self, failure: PastFailure) {
        let failures = self.failures.get_or_insert_default();
        if failures.kept.len() >= FAILURES {
            failures.kept.remove(0);
        }
        failures.kept.push(failure);
        failures.unwritten = (failures.unwritten + 1).min(FAILURES);
    }
}

/// The first bytes of an output as text, cut between two characters.
pub fn shown(output: &[u8]) -> Box<str> {
    // A character that the first cut damages begins behind the second one.
    let text = String::from_utf8_lossy(&output[..output.len().min(TEXT_BYTES_MAX + CHARACTER_BYTES_MAX)]);
    let end = text.len().min(TEXT_BYTES_MAX);
    let end = (0..=end).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].into()
}

/// Attempts that a history keeps: ten minutes of a probe with the default period.
pub const ATTEMPTS: usize = 64;

/// Failures that a history keeps with their text: as many as most thresholds have, and the one before.
pub const FAILURES: usize = 4;

/// Bytes of a failure's text; the event has all of it.
pub const TEXT_BYTES_MAX: usize = 256;

const CHARACTER_BYTES_MAX: usize = 4;

/// The longest time between two attempts that a code can tell.
const SINCE_MS_MAX: i64 = code::SINCE_MS_MAX;

// What the history of a worker that never failed takes: a node of 10,000 workers pays three megabytes.
const _: () = assert!(size_of::<History>() <= 300);

#[cfg(test)]
mod tests;
