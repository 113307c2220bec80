//! The only place with sockets and real time, and the virtual clock beside it.

pub mod attempt;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod golang;
pub mod handler;
mod http1;
mod http2;
pub mod journal;
pub mod json;
pub mod live;
mod net;
pub mod simulation;
pub mod stats;
pub mod target;
