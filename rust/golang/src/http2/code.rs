//! Error codes (RFC 9113, 7).

use std::fmt;

/// The error code that ends a stream or a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    /// An orderly end.
    pub const NO_ERROR: Self = Self(0);
    /// The peer broke the protocol.
    pub const PROTOCOL: Self = Self(1);
    /// The peer broke the limits of flow control.
    pub const FLOW_CONTROL: Self = Self(3);
    pub(crate) const FRAME_SIZE: Self = Self(6);
    /// The peer has not processed the stream.
    pub const REFUSED_STREAM: Self = Self(7);
    /// Nobody needs the stream any more.
    pub const CANCEL: Self = Self(8);
    pub(crate) const COMPRESSION: Self = Self(9);
    /// The peer sends more than it should.
    pub const ENHANCE_YOUR_CALM: Self = Self(11);
    /// The encryption of the connection is too weak.
    pub const INADEQUATE_SECURITY: Self = Self(12);
    /// The request must come over HTTP/1.1.
    pub const HTTP_1_1_REQUIRED: Self = Self(13);
}

/// The text of `http2.ErrCode.String`.
impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(self.0 as usize) {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "unknown error code {:#x}", self.0),
        }
    }
}

const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown() {
        assert_eq!(Code::COMPRESSION.to_string(), "COMPRESSION_ERROR");
        assert_eq!(Code(14).to_string(), "unknown error code 0xe");
    }
}
