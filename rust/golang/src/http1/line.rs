//! The lines of a head, read piece by piece and kept as far as they can matter.

use super::error::NeedsInput;
use super::window::{End, Slice, Window};
use crate::header::{is_value_byte, trim};

/// A line that may come in several pieces (`textproto.Reader.readLineSlice`).
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) text: Kept,
    /// Whether the reader has read a part of the line.
    pub(crate) is_begun: bool,
}

impl Line {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.is_begun = false;
    }

    /// Reads a line without its end. A last line without a line feed counts as a line.
    pub(crate) fn read(&mut self, window: &mut Window) -> Result<Result<(), End>, NeedsInput> {
        if !self.is_begun {
            self.clear();
            self.is_begun = true;
        }
        loop {
            match window.slice()? {
                Slice::Line(line) => {
                    let line = &line[..line.len() - 1];
                    self.text.push(line.strip_suffix(b"\r").unwrap_or(line));
                }
                Slice::Full(piece) => {
                    // A carriage return at the window's edge may belong to the line's end.
                    let without_cr = piece.strip_suffix(b"\r");
                    self.text.push(without_cr.unwrap_or(piece));
                    if without_cr.is_some() {
                        window.back();
                    }
                    continue;
                }
                Slice::Cut(b"", end) => {
                    self.is_begun = false;
                    return Ok(Err(end));
                }
                Slice::Cut(rest, _) => self.text.push(rest),
            }
            self.is_begun = false;
            return Ok(Ok(()));
        }
    }
}

/// A text of which only the beginning is kept: enough for a name, a number, or a quotation.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) bytes: Vec<u8>,
    /// Whether a field's value may hold the rest, which decides nothing else.
    pub(crate) rest_is_value: bool,
}

impl Default for Kept {
    fn default() -> Self {
        Self { bytes: Vec::new(), rest_is_value: true }
    }
}

impl Kept {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.rest_is_value = true;
    }

    pub(crate) fn push(&mut self, more: &[u8]) {
        let room = KEPT_BYTES_MAX - self.bytes.len();
        let (kept, rest) = more.split_at(more.len().min(room));
        self.bytes.extend_from_slice(kept);
        self.rest_is_value &= rest.iter().copied().all(is_value_byte);
    }

    /// Appends a line of a folded field.
    pub(crate) fn join(&mut self, line: &Self) {
        self.push(trim(&line.bytes));
        self.rest_is_value &= line.rest_is_value;
    }
}

/// How many bytes of a text are kept, so that a hostile head costs little memory however long it is; the kubelet keeps
/// all of it. No text that decides about a response or that is quoted from one is this long.
pub(crate) const KEPT_BYTES_MAX: usize = 65_536;
