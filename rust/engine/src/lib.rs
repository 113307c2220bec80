//! The only place with sockets and real time, and the virtual clock beside it.

pub mod book;
pub mod cause;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod handler;
pub mod journal;
pub mod live;
pub mod once;
pub mod phases;
pub mod simulation;
pub mod starving;
pub mod target;
mod watched;
pub mod wire;
