//! How an attempt ended: its outcome, its cause, its error, how long its parts took, and whether the prober was starved.

pub(crate) mod error;
pub mod report;
pub mod starvation;
pub(crate) mod stopwatch;
pub mod timings;
