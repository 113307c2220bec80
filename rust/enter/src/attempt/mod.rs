//! Commands in flight.

pub(crate) mod command;
pub(crate) mod output;
pub(crate) mod private_memory;
