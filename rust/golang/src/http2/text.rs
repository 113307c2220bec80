//! A field's name or value: its beginning, and what is known about all of it.
//!
//! A peer may refer to a text of four KiB with one byte, thousands of times. So a text is copied and checked once, when
//! its bytes arrive; a reference shares it.

use std::sync::OnceLock;

use super::huffman::Huffman;
use crate::header;

/// A name or a value.
#[derive(Debug)]
pub struct Text {
    kept: Box<[u8]>,
    length: usize,
    class: u8,
    judgement: OnceLock<Judgement>,
}

/// What a reader of a text found out about it: a number, or the position of the first wrong byte.
pub type Judgement = Result<u32, usize>;

impl Text {
    /// A text that is at hand whole.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut text = TextInProgress::new(false);
        text.reserve(bytes.len());
        text.push(bytes);
        text.end().0
    }

    /// The text, or its first [`KEPT_BYTES_MAX`] bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.kept
    }

    /// How long the text is, kept or not.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// The check `http2.validWireHeaderFieldName`.
    pub(super) const fn is_name(&self) -> bool {
        self.class & NAME != 0 && self.length > 0
    }

    /// The check `httpguts.ValidHeaderFieldValue`.
    pub(super) const fn is_value(&self) -> bool {
        self.class & VALUE != 0
    }

    /// The result of `judge`, which is called once in the text's life. A value belongs to one name, so all its readers
    /// judge it alike.
    pub fn judged(&self, judge: impl FnOnce(&[u8]) -> Judgement) -> Judgement {
        *self.judgement.get_or_init(|| judge(&self.kept))
    }
}

/// A text whose bytes arrive in pieces.
#[derive(Debug)]
pub(super) struct TextInProgress {
    kept: Vec<u8>,
    length: usize,
    /// Of what all bytes may be part: [`NAME`], [`VALUE`].
    class: u8,
    huffman: Option<Huffman>,
    is_broken: bool,
}

impl TextInProgress {
    pub(super) fn new(is_coded: bool) -> Self {
        Self {
            kept: Vec::new(),
            length: 0,
            class: NAME | VALUE,
            huffman: is_coded.then(Huffman::default),
            is_broken: false,
        }
    }

    /// Makes room for a plain text of this length, so that its bytes are copied once.
    pub(super) fn reserve(&mut self, length: usize) {
        if self.huffman.is_none() {
            self.kept.reserve_exact(length.min(KEPT_BYTES_MAX));
        }
    }

    /// Adds bytes as the peer sent them.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Some(mut huffman) = self.huffman.take() else { return self.push_plain(bytes) };
        for &byte in bytes {
            self.is_broken |= huffman.decode(byte, |plain| self.push_plain(&[plain])).is_none();
        }
        self.huffman = Some(huffman);
    }

    fn push_plain(&mut self, bytes: &[u8]) {
        let room = KEPT_BYTES_MAX - self.kept.len();
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len();
        self.class &= bytes.iter().fold(NAME | VALUE, |class, &byte| class & CLASSES[usize::from(byte)]);
    }

    /// The text, and whether its code was right.
    pub(super) fn end(self) -> (Text, bool) {
        let is_right = !self.is_broken && self.huffman.is_none_or(Huffman::may_end);
        let Self { kept, length, class, .. } = self;
        (Text { kept: kept.into(), length, class, judgement: OnceLock::new() }, is_right)
    }
}

/// The bit of bytes that a name may have.
const NAME: u8 = 1;
/// The bit of bytes that a value may have.
const VALUE: u8 = 2;
/// What each byte may be part of.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        // HTTP/2 has no capital letters in names (RFC 9113, 8.2.1).
        let is_name = header::is_token_byte(c) && !c.is_ascii_uppercase();
        classes[byte] = if is_name { NAME } else { 0 } | if header::is_value_byte(c) { VALUE } else { 0 };
        byte += 1;
    }
    classes
};

/// How many bytes of a text are kept; the kubelet keeps all of it, up to its limit for a header list. No text that
/// decides about a response is this long, and of a text that an error quotes nobody sees more than 10 KiB.
pub(super) const KEPT_BYTES_MAX: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_counted_and_checked_to_its_end_and_only_its_beginning_is_kept() {
        let mut text = TextInProgress::new(false);
        for _ in 0..10 {
            text.push(&[b'v'; KEPT_BYTES_MAX / 4 + 1]);
        }
        text.push(b"\x01");
        let (text, is_right) = text.end();
        assert_eq!((text.bytes().len(), text.length()), (KEPT_BYTES_MAX, 10 * (KEPT_BYTES_MAX / 4 + 1) + 1));
        assert!(is_right && !text.is_value() && !text.is_name());
    }

    #[test]
    fn the_bytes_of_names_and_values() {
        let of = |takes: fn(&Text) -> bool| (0..=255).filter(|&byte| takes(&Text::of(&[byte]))).collect::<Vec<u8>>();
        let mut names = b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".to_vec();
        names.sort_unstable();
        assert_eq!(of(Text::is_name), names);
        assert_eq!(
            of(Text::is_value),
            [&b"\t"[..], &(b' '..=b'~').collect::<Vec<_>>(), &(0x80..=0xff).collect::<Vec<_>>()].concat()
        );
        assert!(!Text::of(b"").is_name() && Text::of(b"").is_value());
    }

    #[test]
    fn a_text_is_judged_once() {
        let text = Text::of(b"a");
        assert_eq!(text.judged(|bytes| Ok(bytes.len() as u32)), Ok(1));
        assert_eq!(text.judged(|_| unreachable!("it has been judged")), Ok(1));
    }
}
