//! What went wrong: a text for the event, a cause for everyone who counts.

use super::cause::Cause;

/// One thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Go's error text, or as near as it gets.
    pub(crate) text: String,
    /// What it means.
    pub(crate) cause: Cause,
}

impl Fault {
    pub(crate) fn new(cause: Cause, text: impl Into<String>) -> Self {
        Self { text: text.into(), cause }
    }

    /// What came is not what it should be.
    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self::new(Cause::Malformed, text)
    }

    /// The poller took no more sockets.
    pub(crate) fn of_poller(error: &std::io::Error) -> Self {
        Self::new(Cause::Starved, error.to_string())
    }
}
