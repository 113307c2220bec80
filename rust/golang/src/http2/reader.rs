//! The reader of frames: splits bytes into frames and joins header fields (`http2.Framer` with `ReadMetaHeaders`). It has
//! no connection and no clock.
//!
//! A caller asks for the next frame. Whenever there is none, the caller reads once into [`Reader::space`] and asks again,
//! or takes the error of an input that ends there from [`Reader::ended`].

use super::code::Code;
use super::error::Http2Error;
use super::fields::{Fields, List};
use super::frame::{
    CONTINUATION, END_HEADERS, END_STREAM, FRAME_BYTES_MAX, Frame, HEADER_BYTES, HEADERS, Header, fragment, parse,
};
use super::hpack::Decoder;

/// The reader of one connection. `F` is what its owner keeps of a message's fields.
#[derive(Debug)]
pub struct Reader<F> {
    buffer: Vec<u8>,
    /// How many bytes of the buffer were parsed.
    done: usize,
    /// The header at the buffer's start, if the rest of its frame has not come.
    header: Option<Header>,
    /// The header of the frame that began a message, and the message's fields, if some of them have not come.
    message: Option<(Header, List<F>)>,
    decoder: Decoder,
    fields_bytes_max: usize,
    /// How many empty frames came in a row.
    empty: usize,
}

impl<F: Fields> Reader<F> {
    /// `fields_bytes_max` limits the fields of one message (`Framer.MaxHeaderListSize`).
    pub fn new(fields_bytes_max: usize) -> Self {
        let decoder = Decoder::new(fields_bytes_max);
        Self { buffer: Vec::new(), done: 0, header: None, message: None, decoder, fields_bytes_max, empty: 0 }
    }

    /// Whether the buffer holds a whole frame that was not parsed yet.
    pub fn has_frame(&self) -> bool {
        let rest = &self.buffer[self.done..];
        rest.first_chunk().is_some_and(|head| rest.len() >= HEADER_BYTES + Header::of(head).length)
    }

    /// The bytes that wait for the rest of their frame; the caller appends those that come next.
    pub fn space(&mut self) -> &mut Vec<u8> {
        self.buffer.reserve(READ_BYTES);
        &mut self.buffer
    }

    /// The error of an input that ends where [`Self::frame`] has no frame. Go's io.ReadFull distinguishes an end before the
    /// first byte from an end in the middle.
    pub fn ended(&self) -> Http2Error {
        let is_between = self.buffer.is_empty() || self.buffer.len() == HEADER_BYTES;
        if is_between { Http2Error::Ended } else { Http2Error::Cut }
    }

    /// The next frame; None if it has not come yet. No other frame may come before a message's fields are complete.
    ///
    /// # Errors
    /// Go's error, of the frame's stream or of the connection.
    pub fn frame(&mut self) -> Result<Option<Frame<F>>, Http2Error> {
        while let Some(header) = self.whole()? {
            let payload = &self.buffer[HEADER_BYTES..self.done];
            let (first, mut list, piece) = match (self.message.take(), header.kind) {
                (None, HEADERS) => (header, List::new(self.fields_bytes_max), fragment(header, payload)?),
                (Some((first, list)), CONTINUATION) if header.stream == first.stream => (first, list, payload),
                (Some(_), _) | (None, CONTINUATION) => return Err(Http2Error::Connection(Code::PROTOCOL)),
                (None, _) => return parse(header, payload).map(Some),
            };
            // A peer that continues after a mistake, or far beyond the limit, ends the connection.
            if piece.len() > 2 * list.bytes_left || list.wrong.is_some() {
                return Err(Http2Error::Connection(Code::PROTOCOL));
            }
            self.decoder.decode(piece, &mut list).map_err(|_| Http2Error::Connection(Code::COMPRESSION))?;
            if !header.has(END_HEADERS) {
                self.message = Some((first, list));
                continue;
            }
            self.decoder.end().map_err(|_| Http2Error::Connection(Code::COMPRESSION))?;
            let wrong = |why| Http2Error::Stream { stream: first.stream, code: Code::PROTOCOL, why };
            let (list, ends) = (list.end().map_err(wrong)?, first.has(END_STREAM));
            return Ok(Some(Frame::Headers { stream: first.stream, list, ends }));
        }
        Ok(None)
    }

    /// The header of a frame whose content ends at `done`; None if the frame has not come whole.
    fn whole(&mut self) -> Result<Option<Header>, Http2Error> {
        self.buffer.drain(..self.done);
        self.done = 0;
        let header = match self.header.take() {
            Some(header) => header,
            None => {
                let Some(head) = self.buffer.first_chunk() else { return Ok(None) };
                let header = Header::of(head);
                if header.length > FRAME_BYTES_MAX {
                    return Err(Http2Error::Refused(if head == b"HTTP/1.1 " { LOOKS_LIKE_HTTP1 } else { TOO_LARGE }));
                }
                self.empty = if header.length == 0 { self.empty + 1 } else { 0 };
                if self.empty > EMPTY_FRAMES_MAX {
                    return Err(Http2Error::Refused(TOO_MANY_EMPTY));
                }
                header
            }
        };
        let end = HEADER_BYTES + header.length;
        if self.buffer.len() < end {
            self.header = Some(header);
            return Ok(None);
        }
        self.done = end;
        Ok(Some(header))
    }
}

/// Go reads empty frames while there is time, so a server could keep it busy at nearly no cost.
const EMPTY_FRAMES_MAX: usize = 10_000;
/// The reader reads at least this many bytes at a time.
const READ_BYTES: usize = 4096;
const TOO_MANY_EMPTY: &str = "http2: too many empty frames";
const TOO_LARGE: &str = "http2: frame too large";
const LOOKS_LIKE_HTTP1: &str = "http2: failed reading the frame payload: http2: frame too large, \
                                note that the frame header looked like an HTTP/1.1 header";

#[cfg(test)]
mod tests {
    use super::super::fields::FieldList;
    use super::super::frame::Setting;
    use super::super::hpack::Field;
    use super::*;

    type Texts = Vec<(Vec<u8>, Vec<u8>)>;

    /// Keeps everything.
    impl Fields for Texts {
        fn add(&mut self, field: &Field) {
            self.push((field.name.bytes().into(), field.value.bytes().into()));
        }
    }

    fn read(mut bytes: &[u8]) -> Vec<Result<Frame<Texts>, String>> {
        let (mut reader, mut found) = (Reader::new(1 << 20), Vec::new());
        loop {
            match reader.frame() {
                Ok(Some(frame)) => found.push(Ok(frame)),
                Ok(None) if !bytes.is_empty() => {
                    let (piece, rest) = bytes.split_at(bytes.len().min(PIECE_BYTES));
                    reader.space().extend(piece);
                    bytes = rest;
                }
                Ok(None) => {
                    match reader.ended() {
                        Http2Error::Ended => {}
                        error => found.push(Err(format!("{error:?}"))),
                    }
                    return found;
                }
                Err(error @ Http2Error::Stream { .. }) => found.push(Err(format!("{error:?}"))),
                Err(error) => {
                    found.push(Err(format!("{error:?}")));
                    return found;
                }
            }
        }
    }

    /// A frame comes in several pieces.
    const PIECE_BYTES: usize = 7;

    fn fields(fields: &[(&str, &str)]) -> Texts {
        fields.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_response() {
        let bytes = [
            &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100][..],
            &[0, 0, 1, 1, 0, 0, 0, 0, 1, 0x88, 0, 0, 4, 9, 4, 0, 0, 0, 1, 0x0f, 0x0d, 1, b'2'],
            &[0, 0, 4, 0, 9, 0, 0, 0, 1, 1, b'o', b'k', 0],
        ]
        .concat();
        let expected = vec![
            Ok(Frame::Settings(vec![Setting(3, 100)])),
            Ok(Frame::Headers {
                stream: 1,
                list: FieldList {
                    fields: fields(&[(":status", "200"), ("content-length", "2")]),
                    bytes: 42 + 47,
                    is_truncated: false,
                    has_pseudo: true,
                },
                ends: false,
            }),
            Ok(Frame::Data { stream: 1, data: b"ok".to_vec(), padding: 2, ends: true }),
        ];
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn wrong_fields_end_only_their_stream() {
        let path = [0, 0, 5, 1, 5, 0, 0, 0, 1, 0x88, 0x04, 2, b'/', b'a'];
        let name = [0, 0, 5, 1, 5, 0, 0, 0, 3, 0x88, 0, 1, b'A', 0];
        let found = read(&[&path[..], &name, &[0, 0, 0, 6, 0, 0, 0, 0, 0]].concat());
        assert!(found[0].as_ref().unwrap_err().contains("mix of request and response"), "{found:?}");
        assert!(found[1].as_ref().unwrap_err().contains("invalid header field name"), "{found:?}");
        assert_eq!(found[2], Err("Connection(Code(6))".to_owned()));
    }

    #[test]
    fn an_end_before_a_frames_content_counts_as_one_between_frames() {
        assert_eq!(read(&[0, 0, 1, 4, 0, 0, 0, 0, 0]), []);
    }

    #[test]
    fn what_ends_a_connection() {
        let unexpected = |bytes: &[u8], expected: &str| {
            let found = read(bytes).pop().unwrap().unwrap_err();
            assert_eq!(found, expected, "{bytes:?}");
        };
        unexpected(&[0, 0, 0, 9, 4, 0, 0, 0, 1], "Connection(Code(1))");
        unexpected(&[0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1], "Connection(Code(1))");
        unexpected(&[0, 0, 1, 1, 4, 0, 0, 0, 1, 0x80], "Connection(Code(9))");
        unexpected(&[0, 0, 1, 0, 8, 0, 0, 0, 1, 5], "Connection(Code(1))");
        unexpected(&[0, 0, 0, 0, 8, 0, 0, 0, 1], "Cut");
        unexpected(&[0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0], "Connection(Code(1))");
        unexpected(&[0, 0, 2, 4, 0, 0, 0, 0, 0, 1], "Cut");
        unexpected(b"HTTP/1.1 400 Bad Request", &format!("Refused({LOOKS_LIKE_HTTP1:?})"));
        unexpected(&[0, 0, 0, 0, 0, 0, 0, 0, 1].repeat(EMPTY_FRAMES_MAX + 1), &format!("Refused({TOO_MANY_EMPTY:?})"));
        unexpected(b"<!DOCTYPE html>", &format!("Refused({TOO_LARGE:?})"));
    }
}
