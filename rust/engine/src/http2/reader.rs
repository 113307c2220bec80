//! Reads frames from a stream of bytes and joins header fields (`http2.Framer` with `ReadMetaHeaders`).

use tokio::io::{AsyncRead, AsyncReadExt};

use super::code::Code;
use super::error::Http2Error;
use super::frame::{
    CONTINUATION, END_HEADERS, END_STREAM, FRAME_BYTES_MAX, Frame, HEADER_BYTES, HEADERS, Header, fragment, parse,
};
use super::hpack::{Decoder, Field, size_of_field};

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
    pub(crate) const fn new(fields_bytes_max: usize) -> Self {
        let decoder = Decoder::new(fields_bytes_max);
        Self { buffer: Vec::new(), done: 0, decoder, fields_bytes_max, empty: 0 }
    }

    /// Whether the buffer holds a whole frame that was not parsed yet.
    pub(crate) fn has_frame(&self) -> bool {
        let rest = &self.buffer[self.done..];
        rest.first_chunk().is_some_and(|head| rest.len() >= HEADER_BYTES + Header::of(head).length)
    }

    /// The next frame.
    pub(crate) async fn next(&mut self, link: &mut (impl AsyncRead + Unpin)) -> Result<Frame, Http2Error> {
        let header = self.whole(link).await?;
        match header.kind {
            HEADERS => self.headers(link, header).await,
            CONTINUATION => Err(Http2Error::Connection(Code::PROTOCOL)),
            _ => parse(header, &self.buffer[HEADER_BYTES..self.done]),
        }
    }

    /// Reads the fields that begin with the frame `first`. No other frame may come before they are complete.
    async fn headers(&mut self, link: &mut (impl AsyncRead + Unpin), first: Header) -> Result<Frame, Http2Error> {
        let mut list = List::new(self.fields_bytes_max);
        let mut last = first;
        loop {
            let payload = &self.buffer[HEADER_BYTES..self.done];
            let piece = if last.kind == HEADERS { fragment(first, payload)? } else { payload };
            // A peer that continues after a mistake, or far beyond the limit, ends the connection.
            if piece.len() > 2 * list.bytes_left || list.wrong.is_some() {
                return Err(Http2Error::Connection(Code::PROTOCOL));
            }
            let read = self.decoder.decode(piece, |name, value| list.add(name, value));
            read.map_err(|_| Http2Error::Connection(Code::COMPRESSION))?;
            if last.has(END_HEADERS) {
                break;
            }
            last = self.whole(link).await?;
            if last.kind != CONTINUATION || last.stream != first.stream {
                return Err(Http2Error::Connection(Code::PROTOCOL));
            }
        }
        self.decoder.end().map_err(|_| Http2Error::Connection(Code::COMPRESSION))?;
        if let Some(why) = list.wrong.take().or_else(|| wrong_pseudo(&list.fields)) {
            return Err(Http2Error::Stream { stream: first.stream, code: Code::PROTOCOL, why });
        }
        let List { fields, is_truncated, .. } = list;
        Ok(Frame::Headers { stream: first.stream, fields, is_truncated, ends: first.has(END_STREAM) })
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

/// The fields of a message, kept up to a limit (`Framer.readMetaFrame`).
#[derive(Debug)]
struct List {
    fields: Vec<Field>,
    bytes_left: usize,
    is_truncated: bool,
    has_regular: bool,
    wrong: Option<String>,
}

impl List {
    const fn new(bytes_left: usize) -> Self {
        Self { fields: Vec::new(), bytes_left, is_truncated: false, has_regular: false, wrong: None }
    }

    fn add(&mut self, name: &[u8], value: &[u8]) {
        if self.wrong.is_some() || self.is_truncated {
            return;
        }
        self.wrong = self.why_wrong(name, value);
        if self.wrong.is_some() {
            return;
        }
        match self.bytes_left.checked_sub(size_of_field(name, value)) {
            Some(left) => {
                self.bytes_left = left;
                self.fields.push((name.to_vec(), value.to_vec()));
            }
            None => (self.is_truncated, self.bytes_left) = (true, 0),
        }
    }

    fn why_wrong(&mut self, name: &[u8], value: &[u8]) -> Option<String> {
        let shown = || String::from_utf8_lossy(name).into_owned();
        if name.starts_with(b":") {
            if self.has_regular {
                return Some("pseudo header field after regular".to_owned());
            }
        } else {
            self.has_regular = true;
            if !is_name(name) {
                return Some(format!("invalid header field name {:?}", shown()));
            }
        }
        let is_value = value.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f));
        (!is_value).then(|| format!("invalid header field value for {:?}", shown()))
    }
}

/// The check `http2.validWireHeaderFieldName`.
fn is_name(name: &[u8]) -> bool {
    let is_token = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte) || byte.is_ascii_digit() || byte.is_ascii_lowercase();
    !name.is_empty() && name.iter().copied().all(is_token)
}

/// The check `MetaHeadersFrame.checkPseudos`; returns the error.
fn wrong_pseudo(fields: &[Field]) -> Option<String> {
    let names: Vec<&[u8]> = fields.iter().map(|(name, _)| &**name).take_while(|name| name.starts_with(b":")).collect();
    let (mut is_request, mut is_response) = (false, false);
    for (index, name) in names.iter().enumerate() {
        let shown = String::from_utf8_lossy(name);
        match *name {
            b":method" | b":path" | b":scheme" | b":authority" | b":protocol" => is_request = true,
            b":status" => is_response = true,
            _ => return Some(format!("invalid pseudo-header {shown:?}")),
        }
        if names[..index].contains(name) {
            return Some(format!("duplicate pseudo-header {shown:?}"));
        }
    }
    (is_request && is_response).then(|| "mix of request and response pseudo headers".to_owned())
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
    use super::super::frame::Setting;
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<Frame, String>> {
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

    fn fields(fields: &[(&str, &str)]) -> Vec<Field> {
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
                fields: fields(&[(":status", "200"), ("content-length", "2")]),
                is_truncated: false,
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
