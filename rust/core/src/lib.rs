//! The prober's deterministic core. No I/O, no clock, no threads, no randomness of the operating system.

#![forbid(unsafe_code)]

pub mod backoff;
pub mod bucket;
pub mod crashloop;
pub mod expand;
pub mod options;
pub mod podstatus;
pub mod port;
pub mod prober;
pub mod restart;
pub mod results;
pub mod rng;
pub mod semantics;
mod slab;
pub mod spec;
pub mod status;
pub mod time;
pub mod timer;
#[cfg(test)]
mod visits;
pub mod wheel;
