//! Why the reader cannot continue with a response.

use super::window::NeedsInput;
use crate::attempt::error::AttemptError;

/// Why the reader cannot continue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The reader needs more input.
    NeedsInput,
    /// The response is wrong.
    Failed(AttemptError),
}

impl From<AttemptError> for ReadError {
    fn from(error: AttemptError) -> Self {
        Self::Failed(error)
    }
}

impl From<NeedsInput> for ReadError {
    fn from(_: NeedsInput) -> Self {
        Self::NeedsInput
    }
}

/// Go's text for an input that ends too early (`io.ErrUnexpectedEOF`).
pub(crate) const UNEXPECTED_EOF: &str = "unexpected EOF";
