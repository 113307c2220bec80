//! The messages between probelet and `probelet-enter`, the helper of exec probes: one per packet, little-endian. Writing and
//! reading of each message stand side by side, so the two programs cannot differ.
//!
//! A [request](request) runs a command or asks whether the helper turns; an [answer](answer) gives the outcome of a command.

#![forbid(unsafe_code)]

pub mod answer;
pub mod reader;
pub mod request;

/// Of both directions; probelet uses no helper of another version, which could take one field for another.
pub const VERSION: u8 = 4;
/// Resources of `setrlimit`, 0 to 15 on every architecture.
pub const LIMITS: usize = 16;
/// What probelet sends at most: below the helper's buffer and below what the kernel takes as one packet by default.
pub const REQUEST_BYTES_MAX: usize = 128 * 1024;
/// The longest answer has 10 KiB of each output.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;
