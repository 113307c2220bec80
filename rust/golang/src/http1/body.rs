//! The body of a response: by length, in chunks, or up to the end of the connection.

use super::error::{Fault, ReadError, ResponseError, UNEXPECTED_EOF};
use super::head::Framing;
use super::window::{End, Slice, Window};

/// The reader's position within a body.
#[derive(Debug, Default)]
pub(crate) struct Body {
    kind: Kind,
    /// How many bytes the read in progress has returned so far; it may need more input in between.
    got: usize,
    read_all: ReadAll,
}

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Over,
    Length(u64),
    UntilEof,
    Chunks(Chunks),
    /// After the last chunk.
    Trailer,
    TrailerFields,
}

/// The outcome of one read of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pulled {
    /// There may be more.
    Some,
    /// The body is over.
    All,
    /// The trailer's fields come next; the caller reads them, then calls [`Body::finish`].
    Trailer {
        /// Whether the trailer begins here; false if the caller has read some of it.
        begins: bool,
    },
}

/// `internal.chunkedReader`.
#[derive(Debug, Default)]
struct Chunks {
    /// How many bytes of the chunk are left.
    left: u64,
    /// Whether the line end after a chunk comes next.
    is_end_due: bool,
    /// How many bytes of overhead exceed what Go tolerates.
    excess: i64,
}

impl Body {
    pub(crate) fn begin(&mut self, framing: Framing) {
        self.got = 0;
        self.read_all = ReadAll::default();
        self.kind = match framing {
            Framing::Empty => Kind::Over,
            Framing::Length(length) => Kind::Length(length),
            Framing::Chunked => Kind::Chunks(Chunks::default()),
            Framing::UntilEof => Kind::UntilEof,
        };
    }

    /// How many of the bytes in `into` came before the read in progress.
    pub(crate) const fn done(&self, into: &[u8]) -> usize {
        into.len() - self.got
    }

    /// How many bytes Go would ask for next, up to what the kubelet keeps (`ioutil.ReadAtMost`); 0 once it has them.
    pub(crate) fn kept_room(&mut self, into: &[u8]) -> usize {
        let done = self.done(into);
        if done < BODY_BYTES_MAX { self.read_all.room(done).min(BODY_BYTES_MAX - done) } else { 0 }
    }

    /// One `Read` of Go's body into a buffer of `room` bytes.
    pub(crate) fn pull(&mut self, window: &mut Window, room: usize, into: &mut Vec<u8>) -> Result<Pulled, ReadError> {
        match &mut self.kind {
            Kind::Over => return Ok(Pulled::All),
            Kind::UntilEof => {
                return match window.take(room, into)? {
                    Ok(_) => Ok(Pulled::Some),
                    Err(End::Eof) => Ok(Pulled::All),
                    Err(error) => Err(cut(error)),
                };
            }
            Kind::Length(left) => {
                let most = usize::try_from(*left).map_or(room, |left| left.min(room));
                *left -= window.take(most, into)?.map_err(cut)? as u64;
                return Ok(if *left == 0 { Pulled::All } else { Pulled::Some });
            }
            Kind::Chunks(chunks) => {
                if !chunks.read(window, room, &mut self.got, into)? {
                    self.got = 0;
                    return Ok(Pulled::Some);
                }
                self.kind = Kind::Trailer;
            }
            Kind::Trailer => {}
            Kind::TrailerFields => return Ok(Pulled::Trailer { begins: false }),
        }
        self.trailer(window)
    }

    /// Handles what follows the last chunk (`http.body.readTrailer`).
    fn trailer(&mut self, window: &mut Window) -> Result<Pulled, ReadError> {
        match window.peek(2)? {
            Ok(b"\r\n") => {
                window.consume(2);
                self.finish();
                return Ok(Pulled::All);
            }
            Ok(_) => {}
            Err(_) => return Err(malformed("http: unexpected EOF reading trailer")),
        }
        if !window.comes(b"\r\n\r\n")? {
            return Err(malformed("http: suspiciously long trailer after chunked body"));
        }
        self.kind = Kind::TrailerFields;
        Ok(Pulled::Trailer { begins: true })
    }

    /// Ends the body, whose trailer the caller has read.
    pub(crate) fn finish(&mut self) {
        self.got = 0;
        self.kind = Kind::Over;
    }
}

/// How many bytes Go's `io.ReadAll` asks for at a time: the rest of the slice it is filling. This decides whether Go
/// sees a bad chunk after the last byte it keeps.
#[derive(Debug)]
struct ReadAll {
    slice: usize,
    end: usize,
}

impl Default for ReadAll {
    fn default() -> Self {
        Self { slice: 0, end: READ_ALL_SLICES[0] }
    }
}

impl ReadAll {
    fn room(&mut self, done: usize) -> usize {
        // Go leaves an almost full slice as it is.
        if self.end - done < READ_ALL_SLICES[self.slice] / 16 || self.end == done {
            self.slice = (self.slice + 1).min(READ_ALL_SLICES.len() - 1);
            self.end = done + READ_ALL_SLICES[self.slice];
        }
        self.end - done
    }
}

impl Chunks {
    /// One `Read`; returns true at the last chunk. It looks at buffered input exactly as far as Go does.
    fn read(
        &mut self,
        window: &mut Window,
        room: usize,
        got: &mut usize,
        into: &mut Vec<u8>,
    ) -> Result<bool, ReadError> {
        loop {
            if self.is_end_due {
                if *got > 0 && window.buffered().len() < 2 {
                    return Ok(false);
                }
                if window.peek(2)?.map_err(cut)? != b"\r\n" {
                    return Err(malformed("malformed chunked encoding"));
                }
                window.consume(2);
                self.is_end_due = false;
            }
            if self.left == 0 {
                if *got > 0 && !window.buffered().contains(&b'\n') {
                    return Ok(false);
                }
                self.begin(window)?;
                if self.left == 0 {
                    return Ok(true);
                }
                continue;
            }
            if *got == room {
                return Ok(false);
            }
            let most = usize::try_from(self.left).map_or(room - *got, |left| left.min(room - *got));
            let count = window.take(most, into)?.map_err(cut)?;
            *got += count;
            self.left -= count as u64;
            self.is_end_due = self.left == 0;
        }
    }

    /// Reads a chunk's header (`internal.chunkedReader.beginChunk`).
    fn begin(&mut self, window: &mut Window) -> Result<(), ReadError> {
        let line = match window.slice()? {
            Slice::Line(line) => line,
            Slice::Full(_) => return Err(malformed("header line too long")),
            Slice::Cut(_, end) => return Err(cut(end)),
        };
        let size = match line.iter().position(|&byte| byte == b'\r') {
            None => return Err(malformed("chunked line ends with bare LF")),
            Some(index) if index + 2 == line.len() => &line[..index],
            Some(_) => return Err(malformed("invalid CR in chunked line")),
        };
        let overhead = size.len() as i64 + 2;
        let size = trim_end(size);
        let size = &size[..size.iter().position(|&byte| byte == b';').unwrap_or(size.len())];
        self.left = hexadecimal(size).map_err(malformed)?;
        // Go tolerates sixteen bytes of overhead a chunk, and twice the chunk's data. A size beyond i64 wraps, as in
        // Go.
        let honest = (self.left as i64).wrapping_mul(2).wrapping_add(16);
        self.excess = (self.excess + overhead).wrapping_sub(honest).max(0);
        if self.excess > CHUNK_EXCESS_MAX && self.left > 0 {
            return Err(malformed("chunked encoding contains too much non-data"));
        }
        Ok(())
    }
}

/// `internal.parseHexUint`.
fn hexadecimal(digits: &[u8]) -> Result<u64, &'static str> {
    if digits.is_empty() {
        return Err("empty hex number for chunk length");
    }
    digits.iter().enumerate().try_fold(0, |value: u64, (index, &digit)| {
        let digit = char::from(digit).to_digit(16).ok_or("invalid byte in chunk length")?;
        if index == 16 { Err("http chunk length too large") } else { Ok(value << 4 | u64::from(digit)) }
    })
}

fn trim_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).map_or(0, |last| last + 1);
    &text[..end]
}

fn cut(end: End) -> ReadError {
    end.into_error(UNEXPECTED_EOF, Fault::Eof).into()
}

fn malformed(text: &str) -> ReadError {
    ResponseError::malformed(text).into()
}

/// How many bytes of a body the kubelet keeps (pkg/probe/http/http.go:maxRespBodyLength, 1.36).
pub const BODY_BYTES_MAX: usize = 10_240;
/// How many bytes of a redirect's body the client reads (`maxBodySlurpSize`, 2 << 10).
pub const DRAINED_BYTES_MAX: usize = 2048;
/// The sizes of `io.ReadAll`'s slices: 256 and half as much more each time, as Go's allocator rounds them, up to what
/// is kept.
const READ_ALL_SLICES: [usize; 9] = [512, 256, 384, 576, 896, 1408, 2048, 3072, 4864];
/// `internal.chunkedReader`: 16 * 1024.
const CHUNK_EXCESS_MAX: i64 = 16_384;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reader::tests::{Script, closed, read};
    use super::*;

    fn chunked(body: &[u8]) -> Result<Vec<u8>, String> {
        closed(&[HEAD, body].concat()).map(|(_, body)| body)
    }

    /// Reads a chunked body in pieces; the connection stays open.
    fn held(pieces: &[&[u8]]) -> Option<Result<Vec<u8>, String>> {
        let mut script = Script { pieces: [&[HEAD], pieces].concat(), ends: vec![] };
        read(&mut script).map(|said| said.map(|(_, body)| body))
    }

    #[test]
    fn chunks_that_pass() {
        let body = |text: &str| Ok(text.as_bytes().to_vec());
        assert_eq!(chunked(b"3\r\nabc\r\n2;x=\"y\" \t\r\nde\r\n0\r\n\r\nGARBAGE"), body("abcde"));
        assert_eq!(chunked(b"00000000000000A\r\n0123456789\r\n000\r\nA: b\r\n c\r\n\r\n"), body("0123456789"));
        assert_eq!(held(&[b"2\r\nok\r\n0\r\n\r\n"]), Some(body("ok")));
        assert_eq!(held(&[b"2\r\nok\r\n0\r\n"]), None, "the empty line is missing");
    }

    #[test]
    fn chunks_that_do_not_pass() {
        for (body, text) in [
            (&b"2\nok\r\n"[..], "chunked line ends with bare LF"),
            (b"2\r;x\r\nok", "invalid CR in chunked line"),
            (b" 2\r\nok", "invalid byte in chunk length"),
            (b";a\r\n", "empty hex number for chunk length"),
            (b"00000000000000002\r\nok", "http chunk length too large"),
            (b"2\r\nokk\r\n", "malformed chunked encoding"),
            (b"2\r\nok", "unexpected EOF"),
            (b"2\r\nok\r\n0", "unexpected EOF"),
            (b"ffffffffffffffff\r\nok", "unexpected EOF"),
            (b"0\r\n", "http: unexpected EOF reading trailer"),
            (b"0\r\nA: b\r\n", "http: suspiciously long trailer after chunked body"),
            (b"0\r\nA b\r\n\r\n", "malformed MIME header: missing colon: \"A b\""),
        ] {
            assert_eq!(chunked(body), Err(text.into()), "{}", String::from_utf8_lossy(body));
        }
        assert_eq!(chunked(&[b"2;", &[b'x'; 4096][..]].concat()), Err("header line too long".into()));
        let wasteful = [b"1;", &[b'x'; 1_000][..], b"\r\na\r\n"].concat().repeat(17);
        assert_eq!(chunked(&wasteful), Err("chunked encoding contains too much non-data".into()));
    }

    #[test]
    fn bytes_after_the_kept_ones_matter_only_if_they_have_come() {
        let chunk = [b"2800\r\n", &[b'a'; BODY_BYTES_MAX][..]].concat();
        let kept = Ok(vec![b'a'; BODY_BYTES_MAX]);
        assert_eq!(held(&[&chunk]), Some(kept.clone()));
        assert_eq!(held(&[&chunk, b"\r\nzz\r\n"]), Some(kept));
        let whole = [&chunk[..], b"\r\nzz\r\n"].concat();
        assert_eq!(held(&[&whole]), Some(Err("invalid byte in chunk length".into())));
    }

    #[test]
    fn lengths_and_ends() {
        let of = |head: &str, length| closed(&[head.as_bytes(), &vec![b'b'; length][..]].concat());
        assert_eq!(of("HTTP/1.1 500 X\r\nContent-Length: 5\r\n\r\n", 4), Err("unexpected EOF".into()));
        assert_eq!(of("HTTP/1.1 200 X\r\nContent-Length: 20000\r\n\r\n", 10_240), Ok((200, vec![b'b'; 10_240])));
        assert_eq!(of("HTTP/1.1 200 X\r\n\r\n", 20_000), Ok((200, vec![b'b'; 10_240])));
        assert_eq!(of("HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\n", 5), Ok((304, vec![])));
    }

    #[test]
    fn the_first_slices_of_read_all() {
        let mut read_all = ReadAll::default();
        let rooms: Vec<_> = [0, 100, 480, 481, 512].map(|done| read_all.room(done)).to_vec();
        assert_eq!(rooms, [512, 412, 32, 256, 225], "below a sixteenth the next slice begins");
    }

    proptest! {
        #[test]
        fn a_chunked_body_is_read_back(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..900), 0..9)) {
            let coded: Vec<_> = chunks.iter().flat_map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat()).collect();
            prop_assert_eq!(chunked(&[&coded[..], b"0\r\n\r\n"].concat()), Ok(chunks.concat()));
        }
    }

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
}
