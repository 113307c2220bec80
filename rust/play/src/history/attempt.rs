//! The attempts of a history.

use std::time::Duration;

use probelet_core::prober::Outcome;

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
    pub(super) const ALL: [Self; 4] = [Self::Success, Self::Warning, Self::Failure, Self::Error];

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

impl PastAttempt {
    /// Whether the time that it took is the container's: a prober error says nothing of the container, and an attempt
    /// that began late may have been answered before the prober looked.
    pub const fn is_answer(&self) -> bool {
        !matches!(self.outcome, OutcomeKind::Error) && self.lateness.as_nanos() < LATE.as_nanos()
    }

    /// The attempt in one character, which reads without colours: `.` good, `~` good but late, `w` warning, `!` failure,
    /// `?` prober error.
    pub const fn beat(&self) -> char {
        match self.outcome {
            OutcomeKind::Success if self.lateness.as_nanos() >= LATE.as_nanos() => '~',
            OutcomeKind::Success => '.',
            OutcomeKind::Warning => 'w',
            OutcomeKind::Failure => '!',
            OutcomeKind::Error => '?',
        }
    }
}

/// An attempt of the past that went badly. Its values are exact to the microsecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastFailure {
    /// The attempt.
    pub attempt: PastAttempt,
    /// What it said, at most [`TEXT_BYTES_MAX`] bytes.
    pub text: Box<str>,
}

/// The first bytes of an output as text, cut between two characters.
pub fn shown(output: &[u8]) -> Box<str> {
    // A character that the first cut damages begins behind the second one.
    let text = String::from_utf8_lossy(&output[..output.len().min(TEXT_BYTES_MAX + CHARACTER_BYTES_MAX)]);
    let end = text.len().min(TEXT_BYTES_MAX);
    let end = (0..=end).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].into()
}

/// From this lateness on an attempt counts as late. A prober that does not starve is late by some milliseconds.
const LATE: Duration = Duration::from_millis(100);

/// Bytes of a failure's text; the event has all of it.
pub const TEXT_BYTES_MAX: usize = 256;

const CHARACTER_BYTES_MAX: usize = 4;
