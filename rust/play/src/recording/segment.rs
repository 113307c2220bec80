//! The beginning of a segment, and the names of its file.

use std::path::Path;

use probelet_core::prober::Phasing;
use probelet_core::semantics::Semantics;
use probelet_core::status::Glue;
use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::frame;

/// The first bytes of every segment, the version of the format last.
pub(super) const HEADER: [u8; 12] = *b"probelet-f2\n";

/// What a reader must know before the first entry of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The version of probelet that wrote it.
    pub probelet: Box<str>,
    /// The node.
    pub node: Box<str>,
    /// The engine: every start of one has another number.
    pub engine: u64,
    /// The number of the segment, from 1 in each engine's life.
    pub number: u64,
    /// Whether the segment before it was written whole, so that no entry is missing between them.
    pub continues: bool,
    /// Entries that were lost since the segment before it.
    pub lost: u64,
    /// When it begins, in microseconds of the engine's clock.
    pub at_us: u64,
    /// Unix nanoseconds at the zero of the engine's clock.
    pub wall_ns: i64,
    /// When the engine started, in microseconds of its clock.
    pub started_us: u64,
    /// When it started, in Unix milliseconds: older containers were there before.
    pub started_wall_ms: i64,
    /// The rules of the release.
    pub semantics: Semantics,
    /// Which results change statuses.
    pub glue: Glue,
    /// Where runs fall.
    pub phasing: Phasing,
    /// The names of the causes; the place of a name is the cause's code.
    pub causes: Vec<Box<str>>,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            probelet: env!("CARGO_PKG_VERSION").into(),
            node: Box::default(),
            engine: 0,
            number: 1,
            continues: false,
            lost: 0,
            at_us: 0,
            wall_ns: 0,
            started_us: 0,
            started_wall_ms: 0,
            semantics: Semantics::default(),
            glue: Glue::NONE,
            phasing: Phasing::Kubelet,
            causes: Cause::ALL.iter().map(|cause| cause.name().into()).collect(),
        }
    }
}

impl Start {
    /// The header of a segment.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        frame::append(&mut bytes, &postcard::to_stdvec(self).expect("plain data"));
        bytes
    }
}

/// The file of the segment number `number` of a ring.
pub fn file_name(number: u64) -> String {
    format!("{number:08}.{EXTENSION}")
}

/// The number of a segment's file; None for any other file.
pub fn number_of(path: &Path) -> Option<u64> {
    let is_one = path.extension().is_some_and(|extension| extension == EXTENSION);
    path.file_stem()?.to_str()?.parse().ok().filter(|_| is_one)
}

const EXTENSION: &str = "segment";

#[cfg(test)]
mod tests {
    use probelet_core::semantics::FirstPublish;

    use super::*;

    #[test]
    fn a_first_publish_keeps_its_number_and_the_one_of_earlier_recordings() {
        let two = FirstPublish::NothingButStartedSidecars;
        assert_eq!(postcard::to_stdvec(&FirstPublish::Initial), Ok(vec![0]));
        assert_eq!(postcard::to_stdvec(&two), Ok(vec![2]));
        assert_eq!(postcard::from_bytes(&[1]), Ok(two));
        assert!(postcard::from_bytes::<FirstPublish>(&[3]).is_err());
    }

    #[test]
    fn the_file_of_a_segment_has_its_number() {
        assert_eq!(number_of(Path::new("/ring").join(file_name(42)).as_path()), Some(42));
        assert_eq!(number_of(Path::new("/ring/42.txt")), None);
        assert_eq!(number_of(Path::new("/ring/journal")), None);
    }
}
