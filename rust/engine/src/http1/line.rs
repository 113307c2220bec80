//! The lines of a head: read stretch by stretch, kept as far as they can matter.

use super::window::{End, NeedsInput, Slice, Window};
use crate::golang::header::{is_value_byte, trim};

/// A line that may come in several stretches (`textproto.Reader.readLineSlice`).
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) text: Kept,
    /// Whether some of it is read.
    pub(crate) is_begun: bool,
}

impl Line {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.is_begun = false;
    }

    /// Reads a line without its end. A last line that is cut short is a line too.
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
                Slice::Full(stretch) => {
                    // A carriage return at the window's edge may belong to the line's end.
                    let stretch_without = stretch.strip_suffix(b"\r");
                    self.text.push(stretch_without.unwrap_or(stretch));
                    if stretch_without.is_some() {
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

/// A text of which only the beginning is kept: a name, a number, or what is quoted of it.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) bytes: Vec<u8>,
    /// Whether the rest may stand in a field's value, which is all that it still decides.
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

    /// Puts a line of a field behind what there is.
    pub(crate) fn join(&mut self, line: &Self) {
        self.push(trim(&line.bytes));
        self.rest_is_value &= line.rest_is_value;
    }
}

/// How much of a text is kept, so that a hostile head costs little memory however long it is; the kubelet keeps all of
/// it. Nothing that decides about a response, and nothing that is told of one, is this long.
pub(crate) const KEPT_BYTES_MAX: usize = 65_536;
