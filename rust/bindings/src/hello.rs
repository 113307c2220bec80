//! `read_hello`: the first message of the helper of exec probes.

use std::os::fd::BorrowedFd;

use probelet_engine::live;
use pyo3::prelude::*;

use crate::argument;

/// What a helper says first.
#[derive(IntoPyObject)]
pub(crate) enum Hello {
    /// Its capabilities and hard limits.
    Bounds(u64, Vec<u64>),
    /// Why it cannot be used.
    Why(String),
}

/// Reads the first message of ``probelet-enter`` from its socket, before ``Engine.use_helper``: the capabilities
/// that the helper may give to commands, one bit each, and its hard limits by number; or why it cannot be used. The
/// text is empty if the helper has closed its socket.
///
/// Raises:
///     InvalidInputError: the descriptor is below 0.
#[pyfunction]
pub(crate) fn read_hello(#[pyo3(from_py_with = argument::socket)] socket: i32) -> Hello {
    // SAFETY: it is not -1, the caller keeps it open until this call returns, and another number is an error of the system
    // call that reads it.
    match live::read_hello(unsafe { BorrowedFd::borrow_raw(socket) }) {
        Ok(Some(bounds)) => Hello::Bounds(bounds.capabilities, bounds.limits.to_vec()),
        Ok(None) => Hello::Why(String::new()),
        Err(why) => Hello::Why(why),
    }
}
