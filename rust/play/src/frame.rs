//! Frames: each piece of a file has its length twice (the second time inverted) and a checksum before it.
//!
//! A file that ends in the middle of a frame was cut by a kill or a full disk: everything before is good. Anything else
//! that is wrong means that another program wrote here.

/// What precedes a piece: its length, the length inverted, the checksum of its bytes.
pub const HEAD: usize = 12;

/// Appends a piece.
pub fn append(bytes: &mut Vec<u8>, piece: &[u8]) {
    let length = u32::try_from(piece.len()).expect("a piece has a limit far below this");
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(crc32fast::hash(piece).to_le_bytes());
    bytes.extend(piece);
}

/// What comes next in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// Nothing: the file ends here.
    End,
    /// The file ends in the middle of a frame.
    Cut,
    /// A piece.
    Piece(&'a [u8]),
    /// Bytes that no frame has, and what is wrong with them.
    Wrong(&'static str),
}

/// The frame at the start of `bytes`, whose piece has at most `longest` bytes.
pub fn next(bytes: &[u8], longest: usize) -> Next<'_> {
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else {
        return if bytes.is_empty() { Next::End } else { Next::Cut };
    };
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let length = word(0);
    if length != !word(4) || length as usize > longest {
        return Next::Wrong("the length of a record is damaged");
    }
    let Some(piece) = rest.get(..length as usize) else {
        return Next::Cut;
    };
    if crc32fast::hash(piece) != word(8) {
        return Next::Wrong("the checksum of a record does not fit");
    }
    Next::Piece(piece)
}
