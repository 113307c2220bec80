//! Why a response cannot be read on.

use super::window::NeedsInput;
use crate::attempt::error::AttemptError;

/// Why the reader cannot go on: it needs input, or the response is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// It needs more input.
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
