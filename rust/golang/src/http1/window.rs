//! The buffer between a connection and the response reader, without the connection.
//!
//! It is Go's `bufio.Reader` of 4096 bytes to the letter, because the kubelet's output depends on it: how long a
//! chunk's line or a trailer may be, which of two errors comes first, whether a bad chunk was already there. The window
//! reports an end of the input once; a caller that asks again needs another read.

use super::error::{Fault, NeedsInput, ResponseError};

/// The bytes that were read and not yet consumed.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// Empty until something is read, because of thousands of attempts in flight nearly all wait for their first byte.
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    ended: Option<End>,
}

/// Why the input ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The peer closed its side.
    Eof,
    /// The connection broke, with this text.
    Failed(String),
}

impl End {
    /// The error of an input that ended here; `eof` is its text if the peer closed.
    pub(crate) fn into_error(self, eof: &str, fault: Fault) -> ResponseError {
        match self {
            Self::Eof => ResponseError::new(eof, fault),
            Self::Failed(text) => ResponseError::new(text, Fault::Connection),
        }
    }
}

/// Input up to a line feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Slice<'a> {
    /// The input up to and with the line feed.
    Line(&'a [u8]),
    /// The whole window, without a line feed.
    Full(&'a [u8]),
    /// The rest of an input that ended before a line feed.
    Cut(&'a [u8], End),
}

impl Window {
    /// Forgets everything, for another connection.
    pub(crate) fn clear(&mut self) {
        (self.start, self.end, self.ended) = (0, 0, None);
    }

    /// The space for the next bytes; never empty while [`NeedsInput`] is the answer.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = vec![0; SIZE].into();
        }
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.bytes[self.end..]
    }

    /// Notes that the caller read `count` bytes into [`Self::space`].
    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
        assert!(self.end <= SIZE, "read past the space");
    }

    /// Notes that the input ended.
    pub(crate) fn ended(&mut self, end: End) {
        self.ended = Some(end);
    }

    /// The bytes in the window.
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    pub(crate) fn is_full(&self) -> bool {
        self.buffered().len() == SIZE
    }

    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
        assert!(self.start <= self.end, "consumed more than there is");
    }

    /// Waits for `count` bytes, fewer than the window's size, and does not consume them (`bufio.Reader.Peek`).
    pub(crate) fn peek(&mut self, count: usize) -> Result<Result<&[u8], End>, NeedsInput> {
        if self.buffered().len() >= count {
            return Ok(Ok(&self.bytes[self.start..self.start + count]));
        }
        match self.ended.take() {
            Some(end) => Ok(Err(end)),
            None => Err(NeedsInput),
        }
    }

    /// Waits for `wanted` within the window; returns whether it came before the input ended or the window was full.
    pub(crate) fn comes(&mut self, wanted: &[u8]) -> Result<bool, NeedsInput> {
        if self.buffered().windows(wanted.len()).any(|found| found == wanted) {
            Ok(true)
        } else if self.is_full() || self.ended.take().is_some() {
            Ok(false)
        } else {
            Err(NeedsInput)
        }
    }

    /// Consumes the bytes up to and with a line feed (`bufio.Reader.ReadSlice`).
    pub(crate) fn slice(&mut self) -> Result<Slice<'_>, NeedsInput> {
        let from = self.start;
        if let Some(index) = self.buffered().iter().position(|&byte| byte == b'\n') {
            self.start += index + 1;
            return Ok(Slice::Line(&self.bytes[from..self.start]));
        }
        if let Some(end) = self.ended.take() {
            self.start = self.end;
            return Ok(Slice::Cut(&self.bytes[from..self.end], end));
        }
        if self.is_full() {
            self.start = self.end;
            return Ok(Slice::Full(&self.bytes[from..self.end]));
        }
        Err(NeedsInput)
    }

    /// Puts the last consumed byte back.
    pub(crate) fn back(&mut self) {
        self.start -= 1;
    }

    /// Moves up to `room` bytes, fewer than the window's size, to `into` (`bufio.Reader.Read`).
    pub(crate) fn take(&mut self, room: usize, into: &mut Vec<u8>) -> Result<Result<usize, End>, NeedsInput> {
        if self.start == self.end {
            return match self.ended.take() {
                Some(end) => Ok(Err(end)),
                None => Err(NeedsInput),
            };
        }
        let count = room.min(self.end - self.start);
        into.extend_from_slice(&self.bytes[self.start..self.start + count]);
        self.start += count;
        Ok(Ok(count))
    }
}

/// `http.Transport.ReadBufferSize` of the kubelet's transport, which is Go's default.
const SIZE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(text: &[u8]) -> Window {
        let mut window = Window::default();
        window.space()[..text.len()].copy_from_slice(text);
        window.filled(text.len());
        window
    }

    #[test]
    fn lines_come_one_by_one_then_the_rest() {
        let mut window = holding(b"a\r\n\nb");
        assert_eq!(window.slice(), Ok(Slice::Line(b"a\r\n")));
        assert_eq!(window.slice(), Ok(Slice::Line(b"\n")));
        assert_eq!(window.slice(), Err(NeedsInput));
        window.ended(End::Eof);
        assert_eq!(window.slice(), Ok(Slice::Cut(b"b", End::Eof)));
        assert_eq!(window.slice(), Err(NeedsInput), "an end is reported once");
    }

    #[test]
    fn a_window_without_a_line_feed_is_full() {
        let mut window = holding(&[b'x'; SIZE]);
        assert!(matches!(window.slice(), Ok(Slice::Full(bytes)) if bytes.len() == SIZE));
        window.back();
        assert_eq!(window.buffered(), b"x");
        assert_eq!(window.space().len(), SIZE - 1);
    }

    #[test]
    fn bytes_come_before_the_end() {
        let mut window = holding(b"ab");
        window.ended(End::Eof);
        let mut taken = Vec::new();
        assert_eq!(window.take(1, &mut taken), Ok(Ok(1)));
        assert_eq!(window.peek(2), Ok(Err(End::Eof)));
        assert_eq!(window.take(9, &mut taken), Ok(Ok(1)));
        assert_eq!((window.take(9, &mut taken), taken), (Err(NeedsInput), b"ab".to_vec()));
    }
}
