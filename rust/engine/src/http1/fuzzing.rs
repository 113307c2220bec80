//! The response reader without a connection, for fuzz targets: bytes in pieces in, what would be said of them out.

use super::error::ReadError;
use super::reader::Reader;
use super::window::End;

/// What a response says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The final status.
    pub status: u16,
    /// `Location`.
    pub location: Option<Vec<u8>>,
    /// The body as far as it is read, or what is wrong with it.
    pub body: Result<Vec<u8>, String>,
}

/// Reads a response that comes in these pieces, after which the peer closes its side.
///
/// # Errors
/// What is wrong with its head.
///
/// # Panics
/// The reader asks on and on, or keeps more than it may.
pub fn read_response(pieces: &[&[u8]]) -> Result<Response, String> {
    let mut reader = Reader::default();
    let mut source = Source { pieces, given: 0, ends: 0 };
    reader.begin();
    let head = source.play(&mut reader, Reader::head);
    assert!(!reader.is_large(KEPT_BYTES_MAX), "a head is read and not kept");
    head?;
    let (status, location) = (reader.status(), reader.location().map(<[u8]>::to_vec));
    let mut bytes = Vec::new();
    let body = source.play(&mut reader, |reader| reader.body(&mut bytes));
    Ok(Response { status, location, body: body.map(|()| bytes) })
}

struct Source<'a> {
    pieces: &'a [&'a [u8]],
    /// Of the first piece.
    given: usize,
    ends: usize,
}

impl Source<'_> {
    fn play(
        &mut self,
        reader: &mut Reader,
        mut ask: impl FnMut(&mut Reader) -> Result<(), ReadError>,
    ) -> Result<(), String> {
        loop {
            match ask(reader) {
                Ok(()) => return Ok(()),
                Err(ReadError::Failed(error)) => return Err(error.text),
                Err(ReadError::NeedsInput) => self.give(reader),
            }
        }
    }

    fn give(&mut self, reader: &mut Reader) {
        while let [piece, rest @ ..] = self.pieces {
            let left = &piece[self.given..];
            if left.is_empty() {
                (self.pieces, self.given) = (rest, 0);
                continue;
            }
            let space = reader.space();
            let count = space.len().min(left.len());
            assert!(count > 0, "it wants more without having room for it");
            space[..count].copy_from_slice(&left[..count]);
            reader.filled(count);
            self.given += count;
            return;
        }
        self.ends += 1;
        assert!(self.ends <= ENDS_MAX, "it asks a closed connection on and on");
        reader.ended(End::Eof);
    }
}

/// Of a line, of a field and of the values that are kept; and how a `Vec` grows.
const KEPT_BYTES_MAX: usize = 131_072;
/// Go asks a connection that has ended a few times more: each may be told another error.
const ENDS_MAX: usize = 16;
