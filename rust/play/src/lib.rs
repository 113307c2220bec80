//! What surrounds the core and is as pure as the core: JSON, the calls of a pod's owner, recordings, and the core in
//! virtual time. No sockets, no clock, no threads, no files.

#![forbid(unsafe_code)]

pub mod cause;
pub mod counts;
pub mod frame;
pub mod history;
pub mod json;
pub mod pods;
pub mod recording;
pub mod simulation;
pub mod whatif;
pub mod worker_record;
