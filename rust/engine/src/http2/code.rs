//! Error codes (RFC 9113, 7).

use std::fmt;

/// The error code that ends a stream or a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u32);

impl Code {
    pub(crate) const NO_ERROR: Self = Self(0);
    pub(crate) const PROTOCOL: Self = Self(1);
    pub(crate) const FLOW_CONTROL: Self = Self(3);
    pub(crate) const FRAME_SIZE: Self = Self(6);
    pub(crate) const REFUSED_STREAM: Self = Self(7);
    pub(crate) const CANCEL: Self = Self(8);
    pub(crate) const COMPRESSION: Self = Self(9);
    pub(crate) const ENHANCE_YOUR_CALM: Self = Self(11);
    pub(crate) const INADEQUATE_SECURITY: Self = Self(12);
    pub(crate) const HTTP_1_1_REQUIRED: Self = Self(13);
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
