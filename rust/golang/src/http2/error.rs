//! The errors of frames and of their connection.

use super::code::Code;

/// Why the reader returns no frame.
#[derive(Debug)]
pub enum Http2Error {
    /// One stream is over; the connection continues.
    Stream {
        /// The stream.
        stream: u32,
        /// Its error.
        code: Code,
        /// What is wrong, if Go says it.
        why: String,
    },
    /// The connection is over.
    Connection(Code),
    /// The reader refuses a frame without parsing it.
    Refused(&'static str),
    /// The peer closed between two frames, or before a frame's content.
    Ended,
    /// The peer closed elsewhere within a frame, or a frame ends within one of its own fields.
    Cut,
    /// Reading failed; the connection holds the reason.
    Io,
}

impl Http2Error {
    pub(crate) const fn stream(stream: u32, code: Code) -> Self {
        Self::Stream { stream, code, why: String::new() }
    }
}
