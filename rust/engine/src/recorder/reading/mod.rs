//! Reads a recording back: a directory of segments, or one file of a segment or of several, one after another. It never
//! panics and never guesses.

mod files;
mod gather;
mod recording;
mod stretch;

pub use self::files::{ReadError, read_files, read_path};
pub use self::recording::Recording;
pub use self::stretch::{Begun, Input, PodLog, Published, Stretch, Told};
