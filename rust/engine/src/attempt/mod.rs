//! The words for what an attempt came to: its cause, its error, how long its parts took, and whether time was taken from it.

pub mod cause;
pub(crate) mod error;
pub(crate) mod report;
pub mod starvation;
pub(crate) mod stopwatch;
pub mod timings;
