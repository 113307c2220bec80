//! A whole recording.

use super::stretch::Stretch;

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
