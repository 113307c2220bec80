//! How an attempt went, before the caller decides which parts to keep.

use super::cause::Cause;
use super::timings::Timings;

/// How an attempt went.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) verdict: Verdict,
    pub(crate) cause: Cause,
    pub(crate) timings: Timings,
}

/// What the attempt says. The output of an answer that is not a failure stays in the attempt's buffers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The prober could not ask, or could not read the answer to its end.
    Error {
        /// Whether the kubelet's result beside the error is failure; unknown otherwise.
        failure: bool,
        text: String,
    },
    /// The target answered wrongly, late or not at all. The target's own output need not be text.
    Failure(Vec<u8>),
    /// The target answered well.
    Success,
    /// The target answered with a redirect that was not followed.
    Warning,
}

impl Report {
    /// The report of an attempt that ended before its first part.
    pub(crate) fn new(verdict: Verdict, cause: Cause) -> Self {
        Self { verdict, cause, timings: Timings::default() }
    }
}
