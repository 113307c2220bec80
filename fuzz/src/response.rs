//! The response reader without a connection: it takes bytes in pieces and returns what the reader makes of them.

use probelet_golang::http1::{End, ReadError, Reader};

/// A response as the reader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// The final status.
    pub(crate) status: u16,
    /// The `Location` field.
    pub(crate) location: Option<Vec<u8>>,
    /// The body as far as the kubelet reads it, or the error within it.
    pub(crate) body: Result<Vec<u8>, String>,
}

/// Reads a response that comes in `pieces`, after which the peer closes its side.
///
/// # Errors
/// The error within the head.
///
/// # Panics
/// If the reader never stops asking, or keeps more than its limit.
pub(crate) fn read_response(pieces: &[&[u8]]) -> Result<Response, String> {
    let mut reader = Reader::default();
    let mut source = Source { pieces, given: 0, ends: 0 };
    reader.begin();
    let head = source.play(&mut reader, Reader::head);
    assert!(reader.capacity() <= KEPT_BYTES_MAX, "the reader keeps too much of a head");
    head?;
    let (status, location) = (reader.status(), reader.location().map(<[u8]>::to_vec));
    let mut bytes = Vec::new();
    let body = source.play(&mut reader, |reader| reader.body(&mut bytes));
    Ok(Response { status, location, body: body.map(|()| bytes) })
}

struct Source<'a> {
    pieces: &'a [&'a [u8]],
    /// How many bytes of the first piece were read.
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
            assert!(count > 0, "the reader wants input and has no space");
            space[..count].copy_from_slice(&left[..count]);
            reader.filled(count);
            self.given += count;
            return;
        }
        self.ends += 1;
        assert!(self.ends <= ENDS_MAX, "the reader never stops asking a closed connection");
        reader.ended(End::Eof);
    }
}

/// The limits of a line, of a field, of the kept values with the one that exceeds their limit, and of where they lie.
const KEPT_BYTES_MAX: usize = 327_680;
/// After an end Go reads a few times more, because each read may return another error.
const ENDS_MAX: usize = 16;
