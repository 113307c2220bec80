//! HTTP/1.1 from bytes to messages, as Go's `net/http` reads it.

mod body;
mod error;
mod fields;
mod head;
mod line;
mod reader;
mod whole_field;
mod window;

pub use self::body::{BODY_BYTES_MAX, DRAINED_BYTES_MAX};
pub use self::error::{Fault, ReadError, ResponseError, UNEXPECTED_EOF};
pub use self::reader::Reader;
pub use self::window::End;
