//! How an attempt ended: what the core learns of it, why it ended so, and where its time went.

use probelet_core::prober::Outcome;
use probelet_golang::text::TEXT_BYTES_MAX;
use probelet_play::cause::Cause;

use super::timings::Timings;

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What the core counts.
    pub outcome: Outcome,
    /// Why the attempt ended so.
    pub cause: Cause,
    /// How long its parts took.
    pub timings: Timings,
}

impl Report {
    /// The report of an attempt that has no parts, or that ended before its first one.
    pub(crate) fn new(outcome: Outcome, cause: Cause) -> Self {
        Self { outcome, cause, timings: Timings::default() }
    }

    /// The report of an attempt that the prober could not begin.
    pub(crate) fn not_begun(text: impl Into<String>, cause: Cause) -> Self {
        Self::new(error(false, text), cause)
    }
}

/// The outcome of an attempt whose target answered wrongly, late or not at all. The target's own output need not be text.
pub(crate) fn failure(output: impl Into<Vec<u8>>) -> Outcome {
    let mut output = output.into();
    output.truncate(length(&output));
    Outcome::Failure { output: output.into() }
}

/// The outcome of an attempt that the prober could not make, or whose answer it could not read to its end. `failure` is
/// true if the kubelet's result beside the error is failure; it is unknown otherwise.
pub(crate) fn error(failure: bool, text: impl Into<String>) -> Outcome {
    let mut text = text.into();
    text.truncate(length(text.as_bytes()));
    Outcome::Error { failure, error: text.into(), own: false }
}

/// How many bytes of a text to keep, cut between two characters. A target must not decide how long an event is.
fn length(text: &[u8]) -> usize {
    if text.len() <= TEXT_BYTES_MAX {
        return text.len();
    }
    let is_boundary = |&end: &usize| text[end] & 0xc0 != 0x80;
    (TEXT_BYTES_MAX - CHARACTER_BYTES_MAX..=TEXT_BYTES_MAX).rev().find(is_boundary).unwrap_or(TEXT_BYTES_MAX)
}

/// How many bytes of a character follow its first (UTF-8).
const CHARACTER_BYTES_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_between_two_characters() {
        let text = format!("a{}", "\u{e9}".repeat(TEXT_BYTES_MAX));
        let cut = &text[..TEXT_BYTES_MAX - 1];
        assert_eq!(failure(text.clone()), Outcome::Failure { output: cut.as_bytes().into() });
        assert_eq!(error(true, text.clone()), Outcome::Error { failure: true, error: cut.into(), own: false });
        assert_eq!(error(true, "short"), Outcome::Error { failure: true, error: "short".into(), own: false });
    }
}
