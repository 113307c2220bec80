//! HTTP/1.1 from bytes to messages, as Go's `net/http` reads it.

pub(crate) mod body;
pub(crate) mod error;
mod fields;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
pub(crate) mod head;
mod line;
pub(crate) mod reader;
mod whole_field;
pub(crate) mod window;
