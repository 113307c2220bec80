//! What went wrong with an attempt: a text for the event, a cause for metrics and status.

use super::cause::Cause;

/// Why an attempt went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttemptError {
    /// Go's error text, or as near as it gets.
    pub(crate) text: String,
    /// What the text means.
    pub(crate) cause: Cause,
}

impl AttemptError {
    pub(crate) fn new(cause: Cause, text: impl Into<String>) -> Self {
        Self { text: text.into(), cause }
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
