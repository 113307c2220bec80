//! The engine: the only crate that uses sockets and real time.

pub mod attempt;
pub mod certificate;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod handler;
pub mod journal;
pub mod live;
mod net;
mod open;
mod prefetch;
pub mod recorder;
pub mod stats;
