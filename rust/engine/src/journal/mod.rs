//! The journal: what a prober knows and a restart would lose, on disk, so that a new process goes on where the old one
//! was killed (`restore: full`). It holds the memory of every worker and the back-off table.
//!
//! It is written after the fact, every 100 ms while something changes, and not flushed to the medium: a kill of the
//! process loses what the last 100 ms brought, and a machine that loses its memory loses its containers with it.

mod changes;
mod contents;
mod format;
mod reader;
mod record;
mod writer;

pub use self::changes::Changes;
pub use self::contents::Contents;
#[cfg(feature = "fuzzing")]
pub use self::format::bytes_of;
pub use self::reader::{JournalError, Reading, read, read_file};
pub use self::record::{BackoffRecord, Record};
pub use self::writer::{Tally, Writer};
