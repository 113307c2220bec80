//! What went wrong with an attempt: a text for the event, a cause for metrics and status.

use probelet_core::prober::Outcome;

use super::cause::Cause;
use super::report;

/// Why an attempt went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttemptError {
    /// Go's error text, or the nearest one.
    pub(crate) text: String,
    /// What the text means.
    pub(crate) cause: Cause,
    /// True if the prober could not ask at all: never a failure of the container, whatever `cause` counts as elsewhere.
    pub(crate) is_prober_error: bool,
}

impl AttemptError {
    pub(crate) fn new(cause: Cause, text: impl Into<String>) -> Self {
        Self { text: text.into(), cause, is_prober_error: false }
    }

    /// The prober could not ask, because it had run out of a resource of its own.
    pub(crate) fn of_prober(text: impl Into<String>) -> Self {
        Self { text: text.into(), cause: Cause::Starved, is_prober_error: true }
    }

    /// The outcome of an attempt that ended with this error; the event shows `text`.
    pub(crate) fn outcome(&self, text: String) -> Outcome {
        if self.is_prober_error { report::error(false, text) } else { report::failure(text) }
    }

    /// The peer sent something that is not what it should be.
    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self::new(Cause::Malformed, text)
    }

    /// The poller took no more sockets.
    pub(crate) fn of_poller(error: &std::io::Error) -> Self {
        Self::new(Cause::Starved, error.to_string())
    }
}
