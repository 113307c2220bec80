//! The live engine against targets, disks and panics that misbehave.

mod direct;
mod journal;
mod panics;
mod recorder;
mod rig;
pub(super) mod trap;
