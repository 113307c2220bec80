//! What the engine counts: per worker, and for itself.

pub mod engine;
mod last_attempt;
pub mod worker;

pub use self::last_attempt::LastAttempt;
