//! The bytes of a journal: a header, then records, each with its length twice (the second time inverted) and a
//! checksum.
//!
//! A file that ends in the middle of a record was cut by a kill or a full disk: everything before is good. Anything
//! else that is wrong means that another program wrote here, and then the reader believes nothing in the file.

use super::record::Record;

/// The first bytes of every journal, the version of its records last.
pub(super) const HEADER: [u8; 12] = *b"probelet-j1\n";

/// What precedes a record: its length, the length inverted, the checksum of its bytes.
pub(super) const FRAME: usize = 12;

/// A record has at most this many bytes: names of at most 253, an ID, and some numbers, many times over.
pub(super) const RECORD_BYTES_MAX: usize = 16 << 10;

/// Appends a record; false, and nothing is appended, if it is too long for a journal.
pub(super) fn append(bytes: &mut Vec<u8>, record: &Record) -> bool {
    let body = postcard::to_stdvec(record).expect("plain data");
    if body.len() > RECORD_BYTES_MAX {
        return false;
    }
    let length = body.len() as u32;
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend(body);
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
    let Some((frame, rest)) = bytes.split_at_checked(FRAME) else {
        return if bytes.is_empty() { Next::End } else { Next::Cut };
    };
    let word = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().expect("four bytes"));
    let length = word(0);
    if length != !word(4) || length as usize > RECORD_BYTES_MAX {
        return Next::Wrong("the length of a record is damaged");
    }
    let Some(body) = rest.get(..length as usize) else {
        return Next::Cut;
    };
    if crc32fast::hash(body) != word(8) {
        return Next::Wrong("the checksum of a record does not fit");
    }
    match postcard::take_from_bytes::<Record>(body) {
        Ok((record, [])) => Next::Record(record, FRAME + body.len()),
        _ => Next::Wrong("a record cannot be read"),
    }
}

/// Whether these bytes could be the start of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// They are.
    Journal,
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
        Some(header) if header[..name] == HEADER[..name] => Start::OtherVersion,
        None if HEADER.starts_with(bytes) => Start::Cut,
        _ => Start::Foreign,
    }
}
