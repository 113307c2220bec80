//! Exec attempts that go from the engine's thread to the helper `probelet-enter` and back without Python.
//!
//! The engine is the only one that sends requests to the helper and reads its answers. It carries out the usual case alone:
//! Python has handed it the helper's socket and the description of the container, and the helper runs the command. A
//! container without a description, a request that is too long, and every attempt that the helper refuses are Python's.
//! Python then describes the container and gives the command back, and the engine says what became of it in a batch. For
//! the engine a description is bytes.

mod client;
mod request;
mod shared;

pub(super) use self::client::{HelperClient, LoopTime};
pub(super) use self::shared::DirectExecs;
pub use self::shared::{HelperProcess, read_hello};
