//! Reads frames from a stream of bytes and joins header fields (`http2.Framer` with `ReadMetaHeaders`).

use tokio::io::{AsyncRead, AsyncReadExt};

use super::code::Code;
use super::error::Http2Error;
use super::fields::{Fields, List};
use super::frame::{
    CONTINUATION, END_HEADERS, END_STREAM, FRAME_BYTES_MAX, Frame, HEADER_BYTES, HEADERS, Header, fragment, parse,
};
use super::hpack::Decoder;

/// The reader of one connection.
#[derive(Debug)]
pub(crate) struct Reader {
    buffer: Vec<u8>,
    /// How many bytes of the buffer were parsed.
    done: usize,
    decoder: Decoder,
    fields_bytes_max: usize,
    /// How many empty frames came in a row.
    empty: usize,
}

impl Reader {
    /// `fields_bytes_max` limits the fields of one message (`Framer.MaxHeaderListSize`).
    pub(crate) fn new(fields_bytes_max: usize) -> Self {
        let decoder = Decoder::new(fields_bytes_max);
        Self { buffer: Vec::new(), done: 0, decoder, fields_bytes_max, empty: 0 }
    }

    /// Whether the buffer holds a whole frame that was not parsed yet.
    pub(crate) fn has_frame(&self) -> bool {
        let rest = &self.buffer[self.done..];
        rest.first_chunk().is_some_and(|head| rest.len() >= HEADER_BYTES + Header::of(head).length)
    }

    /// The next frame.
    pub(crate) async fn next<F: Fields>(
        &mut self,
        link: &mut (impl AsyncRead + Unpin),
    ) -> Result<Frame<F>, Http2Error> {
        let header = self.whole(link).await?;
        match header.kind {
            HEADERS => self.headers(link, header).await,
            CONTINUATION => Err(Http2Error::Connection(Code::PROTOCOL)),
            _ => parse(header, &self.buffer[HEADER_BYTES..self.done]),
        }
    }

    /// Reads the fields that begin with the frame `first`. No other frame may come before they are complete.
    async fn headers<F: Fields>(
        &mut self,
        link: &mut (impl AsyncRead + Unpin),
        first: Header,
    ) -> Result<Frame<F>, Http2Error> {
        let mut list = List::new(self.fields_bytes_max);
        let mut last = first;
        loop {
            let payload = &self.buffer[HEADER_BYTES..self.done];
            let piece = if last.kind == HEADERS { fragment(first, payload)? } else { payload };
            // A peer that continues after a mistake, or far beyond the limit, ends the connection.
            if piece.len() > 2 * list.bytes_left || list.wrong.is_some() {
                return Err(Http2Error::Connection(Code::PROTOCOL));
            }
            self.decoder.decode(piece, &mut list).map_err(|_| Http2Error::Connection(Code::COMPRESSION))?;
            if last.has(END_HEADERS) {
                break;
            }
            last = self.whole(link).await?;
            if last.kind != CONTINUATION || last.stream != first.stream {
                return Err(Http2Error::Connection(Code::PROTOCOL));
            }
        }
        self.decoder.end().map_err(|_| Http2Error::Connection(Code::COMPRESSION))?;
        let wrong = |why| Http2Error::Stream { stream: first.stream, code: Code::PROTOCOL, why };
        Ok(Frame::Headers { stream: first.stream, list: list.end().map_err(wrong)?, ends: first.has(END_STREAM) })
    }

    /// Reads a whole frame; its content then ends at `done`.
    async fn whole(&mut self, link: &mut (impl AsyncRead + Unpin)) -> Result<Header, Http2Error> {
        self.buffer.drain(..self.done);
        self.done = 0;
        self.fill(link, HEADER_BYTES).await?;
        let head = self.buffer.first_chunk().expect("filled");
        let header = Header::of(head);
        if header.length > FRAME_BYTES_MAX {
            return Err(Http2Error::Refused(if head == b"HTTP/1.1 " { LOOKS_LIKE_HTTP1 } else { TOO_LARGE }));
        }
        self.empty = if header.length == 0 { self.empty + 1 } else { 0 };
        if self.empty > EMPTY_FRAMES_MAX {
            return Err(Http2Error::Refused(TOO_MANY_EMPTY));
        }
        let end = HEADER_BYTES + header.length;
        self.fill(link, end).await?;
        self.done = end;
        Ok(header)
    }

    async fn fill(&mut self, link: &mut (impl AsyncRead + Unpin), most: usize) -> Result<(), Http2Error> {
        while self.buffer.len() < most {
            // Go's io.ReadFull distinguishes an end before the first byte from an end in the middle.
            let is_between = self.buffer.is_empty() || self.buffer.len() == HEADER_BYTES;
            self.buffer.reserve(READ_BYTES);
            match link.read_buf(&mut self.buffer).await {
                Ok(0) if is_between => return Err(Http2Error::Ended),
                Ok(0) => return Err(Http2Error::Cut),
                Ok(_) => {}
                Err(_) => return Err(Http2Error::Io),
            }
        }
        Ok(())
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

    fn read(bytes: &[u8]) -> Vec<Result<Frame<Texts>, String>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (mut reader, mut link, mut found) = (Reader::new(1 << 20), bytes, Vec::new());
        loop {
            match runtime.block_on(reader.next(&mut link)) {
                Ok(frame) => found.push(Ok(frame)),
                Err(Http2Error::Ended) => return found,
                Err(error @ Http2Error::Stream { .. }) => found.push(Err(format!("{error:?}"))),
                Err(error) => {
                    found.push(Err(format!("{error:?}")));
                    return found;
                }
            }
        }
    }

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
