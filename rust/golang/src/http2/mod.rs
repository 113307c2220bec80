//! HTTP/2's wire format as Go reads it: frames and header fields (golang.org/x/net/http2 and http2/hpack, v0.49).
//!
//! This code refuses exactly what Go refuses, with the same kind of error. A current HTTP/2 library is stricter, so a
//! probe would fail that the kubelet passes.

mod code;
mod error;
mod fields;
mod frame;
mod hpack;
mod huffman;
mod reader;
mod text;

pub use self::code::Code;
pub use self::error::Http2Error;
pub use self::fields::{FieldList, Fields};
/// The writers of frames, and what a server needs to find the frames of a client.
pub use self::frame::{
    ACK, DATA, END_STREAM, HEADER_BYTES, HEADERS, Header, PING, PREFACE, SETTINGS, Setting, ack_ping, ack_settings,
    data, headers, settings,
};
pub use self::frame::{FRAME_BYTES_MAX, Frame, window_update};
pub use self::hpack::{Field, size_of_field, write_field};
pub use self::reader::Reader;
pub use self::text::{Judgement, Text};
