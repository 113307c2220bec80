//! The response reader: bytes in, what the kubelet would say of them out. No connection, no clock.
//!
//! A caller asks for the head, then for the body. Whenever the answer is [`Stop::Wanting`] it reads once into
//! [`Reader::space`], tells what came with [`Reader::filled`] or [`Reader::ended`], and asks again. An end of the input is
//! told each time it is read: Go reads on after one, and so which error is seen depends on it.

use super::body::Body;
use super::head::{Framing, Head};
use super::line::{Kept, Line};
use super::window::{End, Wanting, Window};
use crate::attempt::cause::Cause;
use crate::attempt::error::Fault;
use crate::golang::header::trim;
use crate::golang::text::quote;

/// The reader of one connection's responses; its buffers serve the next connection too.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub(crate) window: Window,
    pub(crate) head: Head,
    pub(crate) body: Body,
    /// How much more the heads may hold; none while a body is read.
    allowed: Option<usize>,
    line: Line,
    /// The field being read, its lines joined.
    field: Kept,
    folded: bool,
    state: State,
}

/// Why the reader cannot go on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It needs more input.
    Wanting,
    /// The response is wrong.
    Failed(Fault),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    FirstByte,
    StatusLine,
    /// Go looks ahead to count the fields, which swallows an end of the input.
    Count,
    FirstField,
    FirstFieldIsFolded,
    Field,
    AfterField,
    Fold,
}

impl Reader {
    /// Forgets everything, for another connection.
    pub(crate) fn begin(&mut self) {
        self.window.clear();
        self.head.clear();
        self.line.clear();
        self.allowed = Some(HEAD_BYTES_MAX);
        self.state = State::FirstByte;
    }

    /// Whether a response made the buffers grow beyond a size.
    pub(crate) fn is_large(&self, bytes: usize) -> bool {
        self.line.text.bytes.capacity().max(self.field.bytes.capacity()).max(self.head.capacity()) > bytes
    }

    /// Where the next bytes are read to. It is empty once the heads have all they may.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        let allowed = self.allowed.unwrap_or(usize::MAX);
        let space = self.window.space();
        let length = space.len().min(allowed);
        &mut space[..length]
    }

    /// So many bytes were read.
    pub(crate) fn filled(&mut self, count: usize) {
        self.window.filled(count);
        if let Some(allowed) = &mut self.allowed {
            *allowed -= count;
        }
    }

    /// Nothing more came.
    pub(crate) fn ended(&mut self, end: End) {
        self.window.ended(end);
    }

    /// Reads up to the end of the final head.
    ///
    /// # Errors
    /// [`Stop::Wanting`], or what Go's transport says.
    pub(crate) fn head(&mut self) -> Result<(), Stop> {
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
                Err(Stop::Wanting) if self.allowed != Some(0) => return Err(Stop::Wanting),
                Err(_) if self.allowed == Some(0) => {
                    let limit = format!("net/http: server response headers exceeded {HEAD_BYTES_MAX} bytes; aborted");
                    return Err(broken(Fault::malformed(limit)));
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    /// The final head's status code.
    pub(crate) const fn status(&self) -> u16 {
        self.head.status
    }

    /// Where the final head redirects to.
    pub(crate) fn location(&self) -> Option<&[u8]> {
        self.head.location()
    }

    /// Whether the start of a redirect's body is read before it is followed: if it is short, or of unknown length.
    pub(crate) fn is_drained(&self) -> bool {
        !matches!(self.head.framing(), Ok(Framing::Length(length)) if length > DRAINED_BYTES_MAX as u64)
    }

    fn one_head(&mut self) -> Result<(), Stop> {
        if self.state == State::FirstByte {
            if let Err(end) = self.window.peek(1)? {
                // Go gives this error as it is: nothing of an answer came.
                return Err(end.fault("EOF", Cause::Eof).into());
            }
            self.state = State::StatusLine;
        }
        if self.state == State::StatusLine {
            if let Err(end) = self.line.read(&mut self.window)? {
                return Err(broken(end.fault(UNEXPECTED_EOF, Cause::Malformed)));
            }
            self.head.status_line(&self.line.text.bytes).map_err(|error| broken(Fault::malformed(error)))?;
            self.state = State::Count;
        }
        self.fields().map_err(|stop| match stop {
            Stop::Wanting => stop,
            Stop::Failed(fault) => broken(fault),
        })?;
        let framing = self.head.framing().map_err(|error| broken(Fault::malformed(error)))?;
        self.body.begin(framing);
        Ok(())
    }

    /// Reads fields up to and with the empty line behind them (`textproto.Reader.ReadMIMEHeader`).
    pub(crate) fn fields(&mut self) -> Result<(), Stop> {
        loop {
            match self.state {
                State::Count => {
                    let _ = self.window.peek(1)?;
                    self.state = State::FirstField;
                }
                State::FirstField => {
                    let is_folded = matches!(self.window.peek(1)?, Ok([b' ' | b'\t']));
                    self.state = if is_folded { State::FirstFieldIsFolded } else { State::Field };
                }
                State::FirstFieldIsFolded => return Err(self.first_field_is_folded()),
                State::Field => {
                    self.whole_fields()?;
                    if self.field_begins()? {
                        return Ok(());
                    }
                }
                State::AfterField => self.after_field()?,
                State::Fold => {
                    // An end of the input ends the field, and is told again to whoever reads the next.
                    if self.line.read(&mut self.window)?.is_ok() {
                        self.field.join(&self.line.text);
                        self.state = State::AfterField;
                    } else {
                        self.field_ends()?;
                    }
                }
                State::FirstByte | State::StatusLine => unreachable!("the status line is read"),
            }
        }
    }

    /// Reads a trailer's fields, of which none decides anything.
    pub(crate) fn begin_trailer(&mut self) {
        self.state = State::Count;
    }

    fn first_field_is_folded(&mut self) -> Stop {
        let read = self.line.read(&mut self.window);
        let line = &self.line.text.bytes;
        if line.len() > FOLDED_FIRST_BYTES_MAX {
            return Fault::malformed("message too large").into();
        }
        match read {
            Err(Wanting) => Stop::Wanting,
            Ok(Err(end)) => end.fault(UNEXPECTED_EOF, Cause::Malformed).into(),
            Ok(Ok(())) => Fault::malformed(format!("malformed MIME header initial line: {}", quote(line))).into(),
        }
    }

    /// Reads fields of one line each as long as they are there, which they mostly all are; nothing is copied for that.
    fn whole_fields(&mut self) -> Result<(), Stop> {
        while !self.line.is_begun
            && let Some((line, length, next)) = self.window.line_and_next()
            && line.contains(&b':')
            && !matches!(next, b' ' | b'\t')
        {
            self.head.field(trim(line), true).map_err(Fault::malformed)?;
            self.window.consume(length);
        }
        Ok(())
    }

    /// Reads a field's first line; true if it is the empty one.
    fn field_begins(&mut self) -> Result<bool, Stop> {
        if let Err(end) = self.line.read(&mut self.window)? {
            return Err(end.fault(UNEXPECTED_EOF, Cause::Malformed).into());
        }
        let line = &self.line.text.bytes;
        if line.is_empty() {
            return Ok(true);
        }
        if !line.contains(&b':') {
            return Err(Fault::malformed(format!("malformed MIME header: missing colon: {}", quote(line))).into());
        }
        self.field.clear();
        self.field.join(&self.line.text);
        self.folded = false;
        self.state = State::AfterField;
        Ok(false)
    }

    /// Looks whether the next line goes on with this field. That needs a byte of it, or an end, which is swallowed.
    fn after_field(&mut self) -> Result<(), Stop> {
        while let Ok([b' ' | b'\t']) = self.window.peek(1)? {
            self.window.consume(1);
            self.folded = true;
        }
        if self.folded {
            self.folded = false;
            self.field.push(b" ");
            self.state = State::Fold;
            return Ok(());
        }
        self.field_ends()
    }

    fn field_ends(&mut self) -> Result<(), Stop> {
        self.state = State::Field;
        let Kept { bytes, rest_is_value } = &self.field;
        self.head.field(bytes, *rest_is_value).map_err(|error| Fault::malformed(error).into())
    }
}

impl End {
    /// The fault of an input that ended here.
    pub(crate) fn fault(self, eof: &str, cause: Cause) -> Fault {
        match self {
            Self::Eof => Fault::new(cause, eof),
            Self::Fault(fault) => fault,
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

impl From<Wanting> for Stop {
    fn from(_: Wanting) -> Self {
        Self::Wanting
    }
}

/// What Go's transport writes in front of everything that goes wrong within a head.
fn broken(Fault { text, cause }: Fault) -> Stop {
    Fault::new(cause, format!("net/http: HTTP/1.x transport connection broken: {text}")).into()
}

pub(crate) const UNEXPECTED_EOF: &str = "unexpected EOF";
/// All heads of a response together (`http.Transport.maxHeaderResponseSize`, 10 << 20).
const HEAD_BYTES_MAX: usize = 10_485_760;
/// How much of a wrong first line is quoted before Go gives up on it.
const FOLDED_FIRST_BYTES_MAX: usize = 80;
/// How much of a redirect's body is read (`maxBodySlurpSize`, 2 << 10).
pub(crate) const DRAINED_BYTES_MAX: usize = 2048;

#[cfg(test)]
pub(crate) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::line::KEPT_BYTES_MAX;
    use super::*;

    /// A connection that gives its pieces one by one, then its ends; the last end again and again.
    pub(crate) struct Script<'a> {
        pub(crate) pieces: Vec<&'a [u8]>,
        pub(crate) ends: Vec<End>,
    }

    impl Script<'_> {
        /// Plays until the reader has an answer; false if the connection has nothing more to say.
        pub(crate) fn give(&mut self, reader: &mut Reader) -> bool {
            if let Some(piece) = self.pieces.first_mut() {
                let space = reader.space();
                let count = space.len().min(piece.len());
                assert!(!space.is_empty(), "wanting without space");
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

    /// What a response says: its status and body, or what is wrong; none if it is not over.
    pub(crate) fn read(script: &mut Script<'_>) -> Option<Result<(u16, Vec<u8>), String>> {
        let mut reader = Reader::default();
        let mut body = Vec::new();
        reader.begin();
        loop {
            match reader.head() {
                Ok(()) => break,
                Err(Stop::Failed(fault)) => return Some(Err(fault.text)),
                Err(Stop::Wanting) if !script.give(&mut reader) => return None,
                Err(Stop::Wanting) => {}
            }
        }
        loop {
            match reader.body(&mut body) {
                Ok(()) => return Some(Ok((reader.status(), body))),
                Err(Stop::Failed(fault)) => return Some(Err(fault.text)),
                Err(Stop::Wanting) if !script.give(&mut reader) => return None,
                Err(Stop::Wanting) => {}
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
        // A last line that fills the window to the byte is no line.
        let line = [b"HTTP/1.1 200 ", &[b'x'; 4096 - 13][..]].concat();
        assert_eq!(closed(&line), broken("unexpected EOF"));
        assert_eq!(closed(&line[1..]), broken("malformed HTTP version \"TTP/1.1\""));
    }

    #[test]
    fn an_end_is_swallowed_and_another_is_told() {
        let reset = || vec![End::Fault(Fault::new(Cause::Reset, "reset")), End::Eof];
        let said = |response| read(&mut Script { pieces: vec![response], ends: reset() });
        assert_eq!(said(b""), Some(Err("reset".into())));
        assert_eq!(said(b"HTTP/1.1 200 OK\r\n"), Some(broken("unexpected EOF")));
        assert_eq!(said(b"HTTP/1.1 200 OK\r\n\r\nbody"), Some(Err("reset".into())));
        assert_eq!(said(b"HTTP/1.1 100 C\r\n\r\n"), Some(broken("reset")));
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

    /// What is left in a reader's buffers by a response, which is refused or not.
    fn kept(response: &[u8]) -> usize {
        let mut reader = Reader::default();
        reader.begin();
        let mut script = Script { pieces: vec![response], ends: vec![End::Eof] };
        while reader.head() == Err(Stop::Wanting) && script.give(&mut reader) {}
        (0..).map(|power| 1 << power).find(|&bytes| !reader.is_large(bytes)).expect("some bytes")
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
            assert!(kept(&response) <= 2 * KEPT_BYTES_MAX);
        }
    }

    #[test]
    fn what_is_not_kept_may_still_be_wrong() {
        let long = [b'x'; 2 * KEPT_BYTES_MAX];
        let said = |rest: &[u8]| closed(&[b"HTTP/1.1 204 X\r\nA: ", &long[..], rest, b"\r\n\r\n"].concat());
        assert_eq!(said(b""), Ok((204, vec![])));
        for bad in [&b"\x01"[..], b"\r\n \x7f"] {
            let error = said(bad).expect_err("a control character");
            assert!(error.contains("malformed MIME header line: \"A: xxx"), "{}", &error[..100]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_come_to_an_end(pieces: Vec<Vec<u8>>) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).filter(|piece| !piece.is_empty()).collect();
            let said = read(&mut Script { pieces, ends: vec![End::Eof] });
            prop_assert!(said.is_some());
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
