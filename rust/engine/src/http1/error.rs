//! Why a response cannot be read on.

use super::window::Wanting;
use crate::attempt::error::Fault;

/// Why the reader cannot go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It needs more input.
    Wanting,
    /// The response is wrong.
    Failed(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

impl From<Wanting> for Stop {
    fn from(_: Wanting) -> Self {
        Self::Wanting
    }
}

/// Go's text for an input that ends too early (`io.ErrUnexpectedEOF`).
pub(crate) const UNEXPECTED_EOF: &str = "unexpected EOF";
