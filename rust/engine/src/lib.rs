//! The engine: the only crate that uses sockets and real time. `simulation` runs the same core under a virtual clock.

pub mod attempt;
pub mod certificate;
mod disk;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod golang;
pub mod handler;
mod http1;
pub mod http2;
pub mod journal;
pub mod json;
pub mod live;
mod net;
pub mod pods;
mod prefetch;
pub mod recorder;
pub mod simulation;
pub mod stats;
pub mod whatif;
