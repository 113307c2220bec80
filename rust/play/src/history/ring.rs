//! A history: the ring of packed attempts, and the failures beside it.

use std::time::Duration;

use super::attempt::{PastAttempt, PastFailure};
use super::code::{Code, SINCE_MS_MAX};

/// The last attempts of a worker.
#[derive(Clone, Debug)]
pub struct History {
    /// When the newest attempt ended, as its code gives it.
    pub(super) newest_ms: i64,
    /// The last failures, oldest first. A worker that never failed has no box.
    pub(super) failures: Option<Box<Failures>>,
    /// How many attempts there are.
    count: u8,
    /// The place of the next attempt.
    next: u8,
    /// How many of the newest attempts the journal does not have.
    pub(super) unwritten: u8,
    /// How many of the newest attempts were bad in a row, up to [`TURNS_OF_A_RUN`].
    bad_run: u8,
    codes: [Code; ATTEMPTS],
}

/// The failures of a worker that failed.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures {
    kept: Vec<PastFailure>,
    /// How many of the newest failures the journal does not have.
    pub(super) unwritten: usize,
}

impl Default for History {
    fn default() -> Self {
        let codes = [Code::default(); ATTEMPTS];
        Self { newest_ms: 0, failures: None, count: 0, next: 0, unwritten: 0, bad_run: 0, codes }
    }
}

impl History {
    /// Adds an attempt that has just ended; `text` is what it said. Returns whether it is a turn: a good attempt after a
    /// bad one, or one of the first [`TURNS_OF_A_RUN`] bad ones in a row ([`is_turn`]).
    pub fn add(&mut self, attempt: &PastAttempt, text: &str) -> bool {
        let (bad_before, is_good) = (self.bad_run.into(), attempt.outcome.is_good());
        self.push(attempt);
        self.unwritten = (self.unwritten + 1).min(ATTEMPTS as u8);
        if !is_good {
            self.add_failure(PastFailure { attempt: *attempt, text: text.into() });
        }
        is_turn(bad_before, is_good)
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

    /// How long the slowest answer of a whole history took; None while there are fewer attempts, and if none was
    /// answered ([`PastAttempt::is_answer`]).
    pub fn slowest_answer(&self) -> Option<Duration> {
        let is_whole = self.len() == ATTEMPTS;
        let codes = self.codes_from_the_newest().filter(|_| is_whole).map(|code| code.attempt(self.newest_ms));
        codes.filter(PastAttempt::is_answer).map(|attempt| attempt.duration).max()
    }

    /// All attempts in one character each ([`PastAttempt::beat`]), oldest first.
    pub fn beats(&self) -> String {
        self.attempts(ATTEMPTS).iter().map(PastAttempt::beat).collect()
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

    pub(super) fn codes_from_the_newest(&self) -> impl Iterator<Item = Code> {
        (1..=self.len()).map(|back| self.codes[(usize::from(self.next) + ATTEMPTS - back) % ATTEMPTS])
    }

    #[inline]
    pub(super) fn push(&mut self, attempt: &PastAttempt) {
        let since_ms = if self.is_empty() { 0 } else { attempt.at_ms.saturating_sub(self.newest_ms) };
        let code = Code::of(attempt, since_ms);
        let at_ms = self.newest_ms.saturating_add(code.since_ms());
        let is_near = !self.is_empty() && (0..SINCE_MS_MAX).contains(&since_ms);
        self.newest_ms = if is_near { at_ms } else { attempt.at_ms };
        self.codes[usize::from(self.next)] = code;
        self.next = (self.next + 1) % ATTEMPTS as u8;
        self.count = (self.count + 1).min(ATTEMPTS as u8);
        self.bad_run = if attempt.outcome.is_good() { 0 } else { (self.bad_run + 1).min(TURNS_OF_A_RUN as u8) };
    }

    #[cold]
    pub(super) fn add_failure(&mut self, failure: PastFailure) {
        let failures = self.failures.get_or_insert_default();
        if failures.kept.len() >= FAILURES {
            failures.kept.remove(0);
        }
        failures.kept.push(failure);
        failures.unwritten = (failures.unwritten + 1).min(FAILURES);
    }
}

/// Attempts that a history keeps: ten minutes of a probe with the default period.
pub const ATTEMPTS: usize = 64;

/// Whether an attempt is a turn after so many bad ones in a row.
pub const fn is_turn(bad_before: usize, is_good: bool) -> bool {
    if is_good { bad_before > 0 } else { bad_before < TURNS_OF_A_RUN }
}

/// Bad attempts in a row that are turns. What listens to turns compares the length of a run with the probe's
/// failureThreshold, and few thresholds of liveness and readiness probes are higher; further ones would only cost while
/// everything fails.
pub const TURNS_OF_A_RUN: usize = 10;

/// Failures that a history keeps with their text: as many as most thresholds have, and the one before.
pub const FAILURES: usize = 4;

// What the history of a worker that never failed takes: a node of 10,000 workers pays three megabytes.
const _: () = assert!(size_of::<History>() <= 300);
