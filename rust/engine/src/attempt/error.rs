//! What went wrong with an attempt: a text for the event, a cause for metrics and status.

use probelet_core::prober::Outcome;

use probelet_play::cause::Cause;

use super::report;

/// Why an attempt went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttemptError {
    /// Go's error text, or the nearest one.
    pub(crate) text: String,
    /// What the text means.
    pub(crate) cause: Cause,
}

impl AttemptError {
    pub(crate) fn new(cause: Cause, text: impl Into<String>) -> Self {
        Self { text: text.into(), cause }
    }

    /// The prober could not ask, because it or its machine had run out of a resource.
    pub(crate) fn of_prober(text: impl Into<String>) -> Self {
        Self::new(Cause::Starved, text)
    }

    /// True if the prober could not ask: never a failure of the container.
    pub(crate) fn is_prober_error(&self) -> bool {
        self.cause == Cause::Starved
    }

    /// This error, or `other` if only that one is the prober's: a target that was not asked at every address has not
    /// failed.
    pub(crate) fn or_prober_error(self, other: Self) -> Self {
        if other.is_prober_error() { other } else { self }
    }

    /// The same error with another text.
    pub(crate) fn with_text(self, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..self }
    }

    /// The outcome of an attempt that ended with this error; the event shows `text`.
    pub(crate) fn outcome(&self, text: String) -> Outcome {
        if self.is_prober_error() { report::error(false, text, self.cause) } else { report::failure(text) }
    }

    /// The poller took no more sockets.
    pub(crate) fn of_poller(error: &std::io::Error) -> Self {
        Self::of_prober(error.to_string())
    }
}
