//! Compressed bytes as Go's `compress/gzip` reads them (Go 1.26): one member after another, and Go's errors.

use std::fmt::{self, Debug, Formatter};

use crc32fast::Hasher;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF};
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// A stream that arrives in pieces (`gzip.Reader`). Beside the window that its data refer back to, it keeps no bytes.
pub struct GzipReader {
    part: Part,
    /// What has come of a part of fixed length.
    begun: [u8; FIXED_BYTES_MAX],
    begun_bytes: usize,
    /// The optional parts of a member's header that are still to come.
    flags: u8,
    /// The checksum of a member's header, then the checksum of its content.
    digest: Hasher,
    /// Bytes of the member's content, modulo 2^32.
    size: u32,
    /// Bytes of the member's deflated content that were read.
    deflated_bytes: u64,
    inflater: DecompressorOxide,
    window: [u8; WINDOW_BYTES],
    /// Where in the window the next byte of content goes.
    at: usize,
    /// Whether the window has been full since the member began.
    is_wrapped: bool,
    /// Whether there is content left for which the window had no room.
    has_more: bool,
    /// Whether the first header has come.
    is_open: bool,
}

/// What the next byte belongs to (RFC 1952, 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Header,
    ExtraLength,
    /// So many bytes are still to come.
    Extra(usize),
    /// A name or a comment, of which so many bytes have come.
    Text(usize),
    HeaderCheck,
    Content,
    Trailer,
}

/// Why a stream cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GzipError {
    /// The first header is wrong: the error of `gzip.NewReader`.
    NotOpened(String),
    /// What follows is wrong: an error of `Read`.
    NotRead(String),
}

impl Default for GzipReader {
    fn default() -> Self {
        Self {
            part: Part::Header,
            begun: [0; FIXED_BYTES_MAX],
            begun_bytes: 0,
            flags: 0,
            digest: Hasher::new(),
            size: 0,
            deflated_bytes: 0,
            inflater: DecompressorOxide::new(),
            window: [0; WINDOW_BYTES],
            at: 0,
            is_wrapped: false,
            has_more: false,
            is_open: false,
        }
    }
}

impl GzipReader {
    /// Reads a part of `input` and takes it off. Returns the content in it, perhaps none and [`WINDOW_BYTES`] at most;
    /// None if nothing is left to read.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, GzipError> {
        if input.is_empty() && !self.has_more {
            return Ok(None);
        }
        if self.part == Part::Content {
            return self.content(input).map(Some);
        }
        self.frame(input)?;
        Ok(Some(&[]))
    }

    /// Checks that the stream may end here.
    pub fn end(&self) -> Result<(), GzipError> {
        match (self.part, self.begun_bytes) {
            (Part::Header, 0) if self.is_open => Ok(()),
            (Part::Header, 0) => Err(self.error("EOF")),
            _ => Err(self.error("unexpected EOF")),
        }
    }

    fn content(&mut self, input: &mut &[u8]) -> Result<&[u8], GzipError> {
        // Until the window has been full once, the content may not refer to what stood before its beginning.
        let bounds = if self.is_wrapped { 0 } else { TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF };
        let flags = TINFL_FLAG_HAS_MORE_INPUT | bounds;
        let (status, read, made) = decompress(&mut self.inflater, input, &mut self.window, self.at, flags);
        *input = &input[read..];
        self.deflated_bytes += read as u64;
        self.has_more = status == TINFLStatus::HasMoreOutput;
        match status {
            TINFLStatus::Done => self.part = Part::Trailer,
            TINFLStatus::HasMoreOutput | TINFLStatus::NeedsMoreInput => {}
            _ => return Err(self.error(&format!("flate: corrupt input before offset {}", self.deflated_bytes))),
        }
        let content = &self.window[self.at..self.at + made];
        self.at = (self.at + made) % WINDOW_BYTES;
        self.is_wrapped |= made > 0 && self.at == 0;
        self.digest.update(content);
        self.size = self.size.wrapping_add(made as u32);
        Ok(content)
    }

    /// Reads what stands before and behind the content (`Reader.readHeader` and `Reader.Read`).
    fn frame(&mut self, input: &mut &[u8]) -> Result<(), GzipError> {
        match self.part {
            Part::Header => {
                let Some(header) = self.fixed::<HEADER_BYTES>(input) else { return Ok(()) };
                if !header.starts_with(&MAGIC) {
                    return Err(self.error(INVALID_HEADER));
                }
                self.flags = header[MAGIC.len()];
                self.digest = Hasher::new();
                self.digest.update(&header);
                self.next_part();
            }
            Part::ExtraLength => {
                let Some(length) = self.fixed(input) else { return Ok(()) };
                self.digest.update(&length);
                self.part = Part::Extra(u16::from_le_bytes(length).into());
            }
            Part::Extra(left) => {
                let bytes = take(input, left);
                self.digest.update(bytes);
                match left - bytes.len() {
                    0 => self.next_part(),
                    left => self.part = Part::Extra(left),
                }
            }
            Part::Text(begun) => {
                let end = input.iter().position(|&byte| byte == 0);
                let bytes = take(input, end.map_or(usize::MAX, |end| end + 1));
                self.digest.update(bytes);
                match (begun + bytes.len(), end) {
                    (TEXT_BYTES_MAX, None) | (TEXT_BYTES_TOO_MANY.., _) => return Err(self.error(INVALID_HEADER)),
                    (begun, None) => self.part = Part::Text(begun),
                    (_, Some(_)) => self.next_part(),
                }
            }
            Part::HeaderCheck => {
                let Some(check) = self.fixed(input) else { return Ok(()) };
                if self.digest.clone().finalize() as u16 != u16::from_le_bytes(check) {
                    return Err(self.error(INVALID_HEADER));
                }
                self.next_part();
            }
            Part::Content => unreachable!("the caller reads the content"),
            Part::Trailer => {
                let Some(trailer) = self.fixed::<8>(input) else { return Ok(()) };
                let sum = [self.digest.clone().finalize().to_le_bytes(), self.size.to_le_bytes()].concat();
                if trailer[..] != sum {
                    return Err(self.error("gzip: invalid checksum"));
                }
                self.part = Part::Header;
            }
        }
        Ok(())
    }

    /// Goes on to the next optional part of the header that its flags announce, or to the content.
    fn next_part(&mut self) {
        if let Some(&(flag, part)) = OPTIONAL_PARTS.iter().find(|(flag, _)| self.flags & flag != 0) {
            self.flags &= !flag;
            self.part = part;
            return;
        }
        self.inflater.init();
        self.digest = Hasher::new();
        (self.size, self.deflated_bytes, self.at, self.is_wrapped) = (0, 0, 0, false);
        (self.part, self.is_open) = (Part::Content, true);
    }

    /// Reads on in a part of `N` bytes; returns them once all have come.
    fn fixed<const N: usize>(&mut self, input: &mut &[u8]) -> Option<[u8; N]> {
        let bytes = take(input, N - self.begun_bytes);
        self.begun[self.begun_bytes..][..bytes.len()].copy_from_slice(bytes);
        self.begun_bytes += bytes.len();
        if self.begun_bytes < N {
            return None;
        }
        self.begun_bytes = 0;
        self.begun.first_chunk().copied()
    }

    fn error(&self, text: &str) -> GzipError {
        let error = if self.is_open { GzipError::NotRead } else { GzipError::NotOpened };
        error(text.to_owned())
    }
}

impl Debug for GzipReader {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GzipReader").field("part", &self.part).finish_non_exhaustive()
    }
}

/// Takes `most` bytes off `input`, or all.
fn take<'a>(input: &mut &'a [u8], most: usize) -> &'a [u8] {
    let (taken, rest) = input.split_at(most.min(input.len()));
    *input = rest;
    taken
}

/// How far deflate refers back (RFC 1951, 2).
const WINDOW_BYTES: usize = 32_768;
/// The bytes that a member begins with, and the method deflate.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const HEADER_BYTES: usize = 10;
const FIXED_BYTES_MAX: usize = HEADER_BYTES;
/// Go's limit for a name or a comment, with the zero at its end (`Reader.readString`).
const TEXT_BYTES_MAX: usize = 512;
const TEXT_BYTES_TOO_MANY: usize = TEXT_BYTES_MAX + 1;
/// The flags of a header and the parts that they announce, in the order of the parts.
const OPTIONAL_PARTS: [(u8, Part); 4] =
    [(4, Part::ExtraLength), (8, Part::Text(0)), (16, Part::Text(0)), (2, Part::HeaderCheck)];
const INVALID_HEADER: &str = "gzip: invalid header";

#[cfg(test)]
mod tests {
    use GzipError::{NotOpened, NotRead};

    use super::*;

    /// The content of a stream that arrives in pieces of `size` bytes.
    fn read(stream: &[u8], size: usize) -> Result<Vec<u8>, GzipError> {
        let (mut reader, mut content) = (Box::new(GzipReader::default()), Vec::new());
        for mut piece in stream.chunks(size) {
            while let Some(bytes) = reader.read(&mut piece)? {
                content.extend_from_slice(bytes);
            }
        }
        reader.end().map(|()| content)
    }

    fn in_any_pieces(stream: &[u8]) -> Result<Vec<u8>, GzipError> {
        let whole = read(stream, usize::MAX);
        for size in [1, 2, 3, 7] {
            let pieces = read(stream, size);
            assert_eq!(pieces.is_ok(), whole.is_ok(), "{size}: {pieces:?}");
        }
        whole
    }

    /// A member with this header, whose content stands in it plainly.
    fn member(flags: u8, header: &[u8], content: &[u8]) -> Vec<u8> {
        let length = content.len() as u16;
        let mut digest = Hasher::new();
        digest.update(content);
        [
            &[0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 0xff][..],
            header,
            &[1],
            &length.to_le_bytes(),
            &(!length).to_le_bytes(),
            content,
            &digest.finalize().to_le_bytes(),
            &u32::from(length).to_le_bytes(),
        ]
        .concat()
    }

    #[test]
    fn one_member_after_another() {
        assert_eq!(
            in_any_pieces(&[member(0, b"", b"ab"), member(0, b"", b""), member(0, b"", b"c")].concat()),
            Ok(b"abc".into())
        );
    }

    #[test]
    fn every_part_of_a_header() {
        assert_eq!(in_any_pieces(&member(4 | 8 | 16, b"\x03\x00abcname\0comment\0", b"x")), Ok(b"x".into()));
        assert_eq!(in_any_pieces(&member(4, b"\0\0", b"x")), Ok(b"x".into()));
        let mut digest = Hasher::new();
        digest.update(&[0x1f, 0x8b, 8, 2, 0, 0, 0, 0, 0, 0xff]);
        let [low, high, ..] = digest.finalize().to_le_bytes();
        assert_eq!(in_any_pieces(&member(2, &[low, high], b"x")), Ok(b"x".into()));
        let wrong = Err(NotOpened(INVALID_HEADER.into()));
        assert_eq!(in_any_pieces(&member(2, &[!low, high], b"x")), wrong);
        for (length, is_taken) in [(511, true), (512, false), (513, false)] {
            let name = [&vec![b'n'; length][..], b"\0"].concat();
            let expected = if is_taken { Ok(b"x".into()) } else { wrong.clone() };
            assert_eq!(in_any_pieces(&member(8, &name, b"x")), expected, "{length}");
        }
    }

    #[test]
    fn content_that_fills_the_window_and_refers_back() {
        let stored: Vec<u8> = (0..60_000u32).map(|number| (number % 251) as u8).collect();
        assert_eq!(in_any_pieces(&member(0, b"", &stored)), Ok(stored.clone()));
        // A match of three bytes at the very beginning.
        let before = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff][..], &[0x03, 0x02, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
        let found = in_any_pieces(&before);
        assert!(matches!(&found, Err(NotRead(text)) if text.starts_with("flate: corrupt input")), "{found:?}");
    }

    #[test]
    fn a_stream_that_is_cut_or_wrong() {
        let whole = [member(0, b"", b"ab"), member(0, b"", b"c")].concat();
        let first = member(0, b"", b"ab").len();
        for end in 0..whole.len() {
            let expected = match end {
                0 => Err(NotOpened("EOF".into())),
                1..HEADER_BYTES => Err(NotOpened("unexpected EOF".into())),
                _ if end == first => Ok(b"ab".into()),
                _ => Err(NotRead("unexpected EOF".into())),
            };
            assert_eq!(in_any_pieces(&whole[..end]), expected, "{end}");
        }
        let changed = |at: usize| {
            let mut stream = whole.clone();
            stream[at] ^= 1;
            in_any_pieces(&stream)
        };
        assert_eq!(changed(0), Err(NotOpened(INVALID_HEADER.into())));
        assert_eq!(changed(first), Err(NotRead(INVALID_HEADER.into())));
        for at in [first - 1, first - 5, first - 9] {
            assert_eq!(changed(at), Err(NotRead("gzip: invalid checksum".into())), "{at}");
        }
        assert_eq!(changed(11), Err(NotRead("flate: corrupt input before offset 5".into())));
    }
}
