//! Exec attempts that go from the engine's thread to the helper `probelet-enter` and back without Python.
//!
//! The engine carries out the usual case alone: Python has handed it the helper's socket and the description of the
//! container, and the helper runs the command. It decides nothing else. A container without a description, a request that
//! is too long, and every attempt that the helper refuses are Python's, as without this folder; for the engine a
//! description is bytes.

mod client;
mod shared;

pub(super) use self::client::{HelperClient, LoopTime};
pub(super) use self::shared::DirectExecs;
pub use self::shared::HelperProcess;
