//! The response reader: turns bytes into the kubelet's view of a response. It has no connection and no clock.
//!
//! A caller asks for the head, then for the body. Whenever the answer is [`ReadError::NeedsInput`], the caller reads
//! once into [`Reader::space`], reports the result with [`Reader::filled`] or [`Reader::ended`], and asks again. It
//! must report an end of the input each time it reads one: Go reads on after an end, so the error it reports depends on
//! that.

use super::body::{Body, DRAINED_BYTES_MAX, Pulled};
use super::error::{Fault, ReadError, ResponseError, UNEXPECTED_EOF};
use super::fields::Fields;
use super::head::{Framing, Head};
use super::window::{End, Window};

/// The reader of one connection's responses; its buffers serve the next connection too.
#[derive(Debug, Default)]
pub struct Reader {
    window: Window,
    head: Head,
    body: Body,
    /// How many more bytes the heads may hold; None while a body is read.
    allowed: Option<usize>,
    fields: Fields,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    FirstByte,
    StatusLine,
    Fields,
}

impl Reader {
    /// Forgets everything, for another connection.
    pub fn begin(&mut self) {
        self.window.clear();
        self.head.clear();
        self.fields.clear();
        self.allowed = Some(HEAD_BYTES_MAX);
        self.state = State::FirstByte;
    }

    /// How many bytes the buffers can hold without growing, besides the window.
    pub const fn capacity(&self) -> usize {
        self.fields.capacity() + self.head.capacity()
    }

    /// The space for the next bytes. It is empty once the heads have reached their limit.
    pub fn space(&mut self) -> &mut [u8] {
        let allowed = self.allowed.unwrap_or(usize::MAX);
        let space = self.window.space();
        let length = space.len().min(allowed);
        &mut space[..length]
    }

    /// Notes that the caller read `count` bytes.
    pub fn filled(&mut self, count: usize) {
        self.window.filled(count);
        if let Some(allowed) = &mut self.allowed {
            *allowed -= count;
        }
    }

    /// Notes that the input ended.
    pub fn ended(&mut self, end: End) {
        self.window.ended(end);
    }

    /// Reads up to the end of the final head.
    ///
    /// # Errors
    /// [`ReadError::NeedsInput`], or the error of Go's transport.
    pub fn head(&mut self) -> Result<(), ReadError> {
        loop {
            match self.one_head() {
                Ok(()) if self.head.is_interim() => {
                    self.head.clear();
                    self.state = State::StatusLine;
                }
                Ok(()) => {
                    self.allowed = None;
                    return Ok(());
                }
                Err(ReadError::NeedsInput) if self.allowed != Some(0) => return Err(ReadError::NeedsInput),
                Err(_) if self.allowed == Some(0) => {
                    let limit = format!("net/http: server response headers exceeded {HEAD_BYTES_MAX} bytes; aborted");
                    return Err(broken(ResponseError::malformed(limit)));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The final head's status code.
    pub const fn status(&self) -> u16 {
        self.head.status
    }

    /// The target of the final head's redirect.
    pub fn location(&self) -> Option<&[u8]> {
        self.head.location()
    }

    /// Whether Go reads the start of a redirect's body before it follows: it does if the body is short or of unknown
    /// length.
    pub fn is_drained(&self) -> bool {
        !matches!(self.head.framing(), Ok(Framing::Length(length)) if length > DRAINED_BYTES_MAX as u64)
    }

    /// Reads the body as far as the kubelet does: its first 10240 bytes.
    ///
    /// # Errors
    /// [`ReadError::NeedsInput`], or the text of the prober error.
    pub fn body(&mut self, into: &mut Vec<u8>) -> Result<(), ReadError> {
        loop {
            let room = self.body.kept_room(into);
            if room == 0 || self.pull(room, into)? {
                return Ok(());
            }
        }
    }

    /// Reads the start of a redirect's body, which nothing uses (`http.Client.do`).
    ///
    /// # Errors
    /// As [`Self::body`].
    pub fn drain(&mut self, into: &mut Vec<u8>) -> Result<(), ReadError> {
        loop {
            let room = DRAINED_BYTES_MAX.saturating_sub(self.body.done(into));
            if room == 0 || self.pull(room, into)? {
                return Ok(());
            }
        }
    }

    /// One read of the body into `room` bytes; returns true if the body ended with it.
    fn pull(&mut self, room: usize, into: &mut Vec<u8>) -> Result<bool, ReadError> {
        match self.body.pull(&mut self.window, room, into)? {
            Pulled::Some => return Ok(false),
            Pulled::All => return Ok(true),
            Pulled::Trailer { begins: true } => self.fields.begin(),
            Pulled::Trailer { begins: false } => {}
        }
        // The trailer's fields decide nothing.
        self.fields.read(&mut self.window, &mut self.head)?;
        self.body.finish();
        Ok(true)
    }

    fn one_head(&mut self) -> Result<(), ReadError> {
        if self.state == State::FirstByte {
            if let Err(end) = self.window.peek(1)? {
                // Go returns this error unchanged, because no part of an answer came.
                return Err(end.into_error("EOF", Fault::Eof).into());
            }
            self.state = State::StatusLine;
        }
        if self.state == State::StatusLine {
            if let Err(end) = self.fields.line.read(&mut self.window)? {
                return Err(broken(end.into_error(UNEXPECTED_EOF, Fault::Malformed)));
            }
            self.head
                .status_line(&self.fields.line.text.bytes)
                .map_err(|error| broken(ResponseError::malformed(error)))?;
            self.fields.begin();
            self.state = State::Fields;
        }
        self.fields.read(&mut self.window, &mut self.head).map_err(|error| match error {
            ReadError::NeedsInput => error,
            ReadError::Failed(error) => broken(error),
        })?;
        let framing = self.head.framing().map_err(|error| broken(ResponseError::malformed(error)))?;
        self.body.begin(framing);
        Ok(())
    }
}

/// Adds what Go's transport writes before every error within a head.
fn broken(error: ResponseError) -> ReadError {
    error.within("net/http: HTTP/1.x transport connection broken").into()
}

/// The limit of all heads of a response together (`http.Transport.maxHeaderResponseSize`, 10 << 20).
const HEAD_BYTES_MAX: usize = 10_485_760;

#[cfg(test)]
pub(crate) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::line::KEPT_BYTES_MAX;
    use super::*;

    /// A connection that gives its pieces one by one, then its ends, and repeats the last end for ever.
    pub(crate) struct Script<'a> {
        pub(crate) pieces: Vec<&'a [u8]>,
        pub(crate) ends: Vec<End>,
    }

    impl Script<'_> {
        /// Gives the reader its next input; returns false if the connection has nothing more.
        pub(crate) fn give(&mut self, reader: &mut Reader) -> bool {
            if let Some(piece) = self.pieces.first_mut() {
                let space = reader.space();
                let count = space.len().min(piece.len());
                assert!(!space.is_empty(), "the reader wants input and has no space");
                space[..count].copy_from_slice(&piece[..count]);
                *piece = &piece[count..];
                if piece.is_empty() {
                    self.pieces.remove(0);
                }
                if count > 0 {
                    reader.filled(count);
                }
                return true;
            }
            match self.ends.len() {
                0 => return false,
                1 => reader.ended(self.ends[0].clone()),
                _ => reader.ended(self.ends.remove(0)),
            }
            true
        }
    }

    /// Reads a response: its status and body, or its error; None if it is not complete.
    pub(crate) fn read(script: &mut Script<'_>) -> Option<Result<(u16, Vec<u8>), String>> {
        let mut reader = Reader::default();
        let mut body = Vec::new();
        reader.begin();
        loop {
            match reader.head() {
                Ok(()) => break,
                Err(ReadError::Failed(error)) => return Some(Err(error.text)),
                Err(ReadError::NeedsInput) if !script.give(&mut reader) => return None,
                Err(ReadError::NeedsInput) => {}
            }
        }
        loop {
            match reader.body(&mut body) {
                Ok(()) => return Some(Ok((reader.status(), body))),
                Err(ReadError::Failed(error)) => return Some(Err(error.text)),
                Err(ReadError::NeedsInput) if !script.give(&mut reader) => return None,
                Err(ReadError::NeedsInput) => {}
            }
        }
    }

    pub(crate) fn closed(response: &[u8]) -> Result<(u16, Vec<u8>), String> {
        read(&mut Script { pieces: vec![response], ends: vec![End::Eof] }).expect("an end")
    }

    fn broken(text: &str) -> Result<(u16, Vec<u8>), String> {
        Err(format!("net/http: HTTP/1.x transport connection broken: {text}"))
    }

    #[test]
    fn line_ends_and_folds() {
        let body = |text: &str| Ok((200, text.as_bytes().to_vec()));
        assert_eq!(closed(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), body("ok"));
        assert_eq!(closed(b"HTTP/1.1 200 OK\r\nA: b\r\n\t c\r\nContent-Length:\r\n 2\r\n\r\nok"), body("ok"));
        assert_eq!(
            closed(b"HTTP/1.1 200 OK\r\n A: b\r\n\r\n"),
            broken("malformed MIME header initial line: \" A: b\"")
        );
        assert_eq!(closed(&[b"HTTP/1.1 200 OK\r\n ", &[b'x'; 80][..], b"\r\n"].concat()), broken("message too large"));
        assert_eq!(closed(b"HTTP/1.1 200 OK\r\nNo\r\n\r\n"), broken("malformed MIME header: missing colon: \"No\""));
    }

    #[test]
    fn cut_heads() {
        assert_eq!(closed(b""), Err("EOF".into()));
        assert_eq!(closed(b"HTTP/1.1 200 OK"), broken("unexpected EOF"));
        assert_eq!(closed(b"HTTP/1.1 200 OK\r\nA: b"), broken("unexpected EOF"));
        assert_eq!(closed(b"HTTP/1.1 200 OK\r\nA"), broken("malformed MIME header: missing colon: \"A\""));
        assert_eq!(closed(b"HTTP/1.1 200 OK\r\n\r"), broken("malformed MIME header: missing colon: \"\\r\""));
        // A last line that fills the window to the byte does not count as a line.
        let line = [b"HTTP/1.1 200 ", &[b'x'; 4096 - 13][..]].concat();
        assert_eq!(closed(&line), broken("unexpected EOF"));
        assert_eq!(closed(&line[1..]), broken("malformed HTTP version \"TTP/1.1\""));
    }

    #[test]
    fn a_look_ahead_swallows_one_end_and_the_next_is_reported() {
        let reset = || vec![End::Failed("reset".into()), End::Eof];
        let outcome = |response| read(&mut Script { pieces: vec![response], ends: reset() });
        assert_eq!(outcome(b""), Some(Err("reset".into())));
        assert_eq!(outcome(b"HTTP/1.1 200 OK\r\n"), Some(broken("unexpected EOF")));
        assert_eq!(outcome(b"HTTP/1.1 200 OK\r\n\r\nbody"), Some(Err("reset".into())));
        assert_eq!(outcome(b"HTTP/1.1 100 C\r\n\r\n"), Some(broken("reset")));
    }

    #[test]
    fn interim_heads_count_against_the_limit() {
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000);
        assert_eq!(closed(&[&interim[..], b"HTTP/1.1 204 X\r\n\r\n"].concat()), Ok((204, vec![])));
        let head = |length| [b"HTTP/1.1 204 X\r\nA: ", &vec![b'x'; length][..], b"\r\n\r\n"].concat();
        let fits = HEAD_BYTES_MAX - head(0).len();
        assert_eq!(closed(&head(fits)), Ok((204, vec![])));
        let exceeded = "net/http: server response headers exceeded 10485760 bytes; aborted";
        assert_eq!(closed(&head(fits + 1)), broken(exceeded));
    }

    /// How many bytes a reader's buffers can hold after a response, which may be refused.
    fn kept(response: &[u8]) -> usize {
        let mut reader = Reader::default();
        reader.begin();
        let mut script = Script { pieces: vec![response], ends: vec![End::Eof] };
        while reader.head() == Err(ReadError::NeedsInput) && script.give(&mut reader) {}
        reader.capacity()
    }

    #[test]
    fn a_long_head_is_read_and_not_kept() {
        let long = vec![b'x'; 1 << 20];
        let many = |field: &[u8]| field.repeat((1 << 20) / field.len());
        for field in [
            [b"A: ", &long[..], b"\r\n"].concat(),
            [b"Location: ", &long[..], b"\r\n"].concat(),
            [b"A: b\r\n", &many(b" x\r\n")[..]].concat(),
            many(b"A: b\r\n"),
            many(b"Trailer: b\r\n"),
        ] {
            let response = [b"HTTP/1.1 204 ", &long[..], b"\r\n", &field, b"\r\n"].concat();
            assert_eq!(closed(&response), Ok((204, vec![])));
            assert!(
                kept(&response) <= 5 * KEPT_BYTES_MAX,
                "a line, a field, the values and one more, and where they lie"
            );
        }
    }

    #[test]
    fn a_byte_that_is_not_kept_may_still_be_wrong() {
        let long = [b'x'; 2 * KEPT_BYTES_MAX];
        let outcome = |rest: &[u8]| closed(&[b"HTTP/1.1 204 X\r\nA: ", &long[..], rest, b"\r\n\r\n"].concat());
        assert_eq!(outcome(b""), Ok((204, vec![])));
        for bad in [&b"\x01"[..], b"\r\n \x7f"] {
            let error = outcome(bad).expect_err("a control character");
            assert!(error.contains("malformed MIME header line: \"A: xxx"), "{}", &error[..100]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_come_to_an_end(pieces: Vec<Vec<u8>>) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).filter(|piece| !piece.is_empty()).collect();
            let outcome = read(&mut Script { pieces, ends: vec![End::Eof] });
            prop_assert!(outcome.is_some());
        }

        #[test]
        fn heads_do_not_depend_on_the_pieces(
            lines in vec("(A: b|Content-Length: 3| fold|Transfer-Encoding: chunked|x|:)?(\r\n|\n|\r)", 0..6),
            sizes in vec(1usize..9, 1..40),
        ) {
            let response = ["HTTP/1.1 200 OK\r\n", &lines.concat(), "\r\n3\r\nabc\r\n0\r\n\r\n"].concat();
            let mut rest = response.as_bytes();
            let mut pieces = Vec::new();
            for size in sizes {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            pieces.push(rest);
            pieces.retain(|piece| !piece.is_empty());
            let in_pieces = read(&mut Script { pieces, ends: vec![End::Eof] });
            prop_assert_eq!(in_pieces, Some(closed(response.as_bytes())));
        }
    }
}
