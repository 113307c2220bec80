//! The bytes of a journal: a header, then records, each in a frame ([`probelet_play::frame`]).
//!
//! A file that ends in the middle of a record was cut by a kill or a full disk: everything before is good. Anything
//! else that is wrong means that another program wrote here, and then the reader believes nothing in the file.

use probelet_play::frame;

use super::record::Record;

/// The first bytes of every journal, the version of its records last. Version 2 has histories.
pub(super) const HEADER: [u8; 12] = *b"probelet-j2\n";

/// The first bytes of a journal without histories. Its records are read as those of the present version.
const OLDER_HEADER: [u8; 12] = *b"probelet-j1\n";

/// A record has at most this many bytes: names of at most 253, an ID, and some numbers, many times over.
pub(super) const RECORD_BYTES_MAX: usize = 16 << 10;

/// Appends a record; false, and nothing is appended, if it is too long for a journal.
pub(super) fn append(bytes: &mut Vec<u8>, record: &Record) -> bool {
    let body = postcard::to_stdvec(record).expect("plain data");
    if body.len() > RECORD_BYTES_MAX {
        return false;
    }
    frame::append(bytes, &body);
    true
}

/// A journal without a file, for fuzz targets.
#[cfg(feature = "fuzzing")]
pub fn bytes_of(records: &[Record]) -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    for record in records {
        append(&mut bytes, record);
    }
    bytes
}

/// What comes next in a journal.
#[derive(Debug)]
pub(super) enum Next {
    /// Nothing: the file ends here.
    End,
    /// The file ends in the middle of a record.
    Cut,
    /// A record, and how many bytes it takes.
    Record(Record, usize),
    /// Bytes that no journal has.
    Wrong(&'static str),
}

/// The record at the start of `bytes`.
pub(super) fn next(bytes: &[u8]) -> Next {
    let body = match frame::next(bytes, RECORD_BYTES_MAX) {
        frame::Next::End => return Next::End,
        frame::Next::Cut => return Next::Cut,
        frame::Next::Wrong(why) => return Next::Wrong(why),
        frame::Next::Piece(body) => body,
    };
    match postcard::take_from_bytes::<Record>(body) {
        Ok((record, [])) => Next::Record(record, frame::HEAD + body.len()),
        _ => Next::Wrong("a record cannot be read"),
    }
}

/// Whether these bytes could be the start of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// They are.
    Journal,
    /// They are the start of a journal to which this version cannot append, because the reader of an older version of
    /// probelet would not know what is wrong with its records.
    Older,
    /// The bytes end before the version does. An empty file, too, is a journal that was cut.
    Cut,
    /// Another version of probelet wrote it.
    OtherVersion,
    /// Something else.
    Foreign,
}

pub(super) fn start(bytes: &[u8]) -> Start {
    let name = HEADER.len() - 2;
    match bytes.get(..HEADER.len()) {
        Some(header) if header == HEADER => Start::Journal,
        Some(header) if header == OLDER_HEADER => Start::Older,
        Some(header) if header[..name] == HEADER[..name] => Start::OtherVersion,
        None if HEADER.starts_with(bytes) || OLDER_HEADER.starts_with(bytes) => Start::Cut,
        _ => Start::Foreign,
    }
}
