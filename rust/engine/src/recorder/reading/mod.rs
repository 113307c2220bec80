//! Reads a recording back: a directory of segments, or one file of a segment or of several, one after another. It never
//! panics and never guesses.

mod files;
mod gather;
mod stretch;

pub use self::files::{ReadError, read_files, read_path};
pub use self::stretch::{Begun, Input, PodLog, Published, Stretch, Told};

/// A recording that was read.
#[derive(Debug, Default)]
pub struct Recording {
    /// The node.
    pub node: Box<str>,
    /// The stretches without a loss, in order. A start of the engine begins one, and so does a gap.
    pub stretches: Vec<Stretch>,
    /// Entries that were lost, because the disk hung or was full.
    pub lost: u64,
    /// Where a segment ends in the middle of a block because its engine was killed: the last moments are missing.
    pub cuts: Vec<String>,
}
