//! What the engine counts: per worker, and for itself.

pub mod engine;
pub mod worker;
