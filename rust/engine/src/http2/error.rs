//! What is wrong with a frame or with its connection.

use super::code::Code;

/// Why there is no frame.
#[derive(Debug)]
pub(crate) enum Http2Error {
    /// A stream is over, the connection goes on.
    Stream {
        stream: u32,
        code: Code,
        why: String,
    },
    Connection(Code),
    /// A frame that is not even looked at.
    Refused(&'static str),
    /// The peer closed between two frames, or where a frame's content was to begin.
    Ended,
    /// The peer closed elsewhere within a frame, or a frame ends within a field of its own.
    Cut,
    /// The connection says why.
    Io,
}

impl Http2Error {
    pub(crate) const fn stream(stream: u32, code: Code) -> Self {
        Self::Stream { stream, code, why: String::new() }
    }
}
