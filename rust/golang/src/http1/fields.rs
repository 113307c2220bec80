//! The fields of a head or of a trailer, line by line, as `textproto.Reader.ReadMIMEHeader` reads them.

use super::error::{Fault, NeedsInput, ReadError, ResponseError, UNEXPECTED_EOF};
use super::head::Head;
use super::line::{Kept, Line};
use super::whole_field::WholeField;
use super::window::Window;
use crate::text::quote;

/// The reader's position within the fields.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// The line in progress; before the fields it is the status line.
    pub(super) line: Line,
    /// The field in progress, its lines joined.
    field: Kept,
    folded: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Go looks ahead to count the fields, and swallows an end of the input with that.
    #[default]
    Count,
    FirstField,
    FirstFieldIsFolded,
    Field,
    AfterField,
    Fold,
}

impl Fields {
    /// Forgets the line in progress, for another connection.
    pub(super) fn clear(&mut self) {
        self.line.clear();
    }

    /// Notes that fields come next.
    pub(super) const fn begin(&mut self) {
        self.state = State::Count;
    }

    /// How many bytes the buffers can hold without growing.
    pub(super) const fn capacity(&self) -> usize {
        self.line.text.bytes.capacity() + self.field.bytes.capacity()
    }

    /// Reads fields into `head`, up to and with the empty line after them.
    pub(super) fn read(&mut self, window: &mut Window, head: &mut Head) -> Result<(), ReadError> {
        loop {
            match self.state {
                State::Count => {
                    let _ = window.peek(1)?;
                    self.state = State::FirstField;
                }
                State::FirstField => {
                    let is_folded = matches!(window.peek(1)?, Ok([b' ' | b'\t']));
                    self.state = if is_folded { State::FirstFieldIsFolded } else { State::Field };
                }
                State::FirstFieldIsFolded => return Err(self.first_field_is_folded(window)),
                State::Field => {
                    if self.whole_fields(window, head) || self.field_begins(window)? {
                        return Ok(());
                    }
                }
                State::AfterField => self.after_field(window, head)?,
                State::Fold => {
                    // An end of the input ends the field; the next read reports the end again.
                    if self.line.read(window)?.is_ok() {
                        self.field.join(&self.line.text);
                        self.state = State::AfterField;
                    } else {
                        self.field_ends(head)?;
                    }
                }
            }
        }
    }

    fn first_field_is_folded(&mut self, window: &mut Window) -> ReadError {
        let read = self.line.read(window);
        let line = &self.line.text.bytes;
        if line.len() > FOLDED_FIRST_BYTES_MAX {
            return ResponseError::malformed("message too large").into();
        }
        match read {
            Err(NeedsInput) => ReadError::NeedsInput,
            Ok(Err(end)) => end.into_error(UNEXPECTED_EOF, Fault::Malformed).into(),
            Ok(Ok(())) => ResponseError::malformed_field("malformed MIME header initial line", line).into(),
        }
    }

    /// Reads the fields that are whole in the window, as mostly all of them are, and the empty line if it is there too;
    /// returns true if it has read that. This copies nothing.
    fn whole_fields(&self, window: &mut Window, head: &mut Head) -> bool {
        if self.line.is_begun {
            return false;
        }
        while let Some(WholeField { name, value, length }) = WholeField::at(window.buffered()) {
            head.keep(name, value);
            window.consume(length);
        }
        let is_over = window.buffered().starts_with(b"\r\n");
        if is_over {
            window.consume(2);
        }
        is_over
    }

    /// Reads a field's first line; returns true if it is the empty line.
    fn field_begins(&mut self, window: &mut Window) -> Result<bool, ReadError> {
        if let Err(end) = self.line.read(window)? {
            return Err(end.into_error(UNEXPECTED_EOF, Fault::Malformed).into());
        }
        let line = &self.line.text.bytes;
        if line.is_empty() {
            return Ok(true);
        }
        if !line.contains(&b':') {
            return Err(
                ResponseError::malformed(format!("malformed MIME header: missing colon: {}", quote(line))).into()
            );
        }
        self.field.clear();
        self.field.join(&self.line.text);
        self.folded = false;
        self.state = State::AfterField;
        Ok(false)
    }

    /// Looks whether the next line continues this field. That takes one of its bytes, or an end of the input, which it
    /// swallows.
    fn after_field(&mut self, window: &mut Window, head: &mut Head) -> Result<(), ReadError> {
        while let Ok([b' ' | b'\t']) = window.peek(1)? {
            window.consume(1);
            self.folded = true;
        }
        if self.folded {
            self.folded = false;
            self.field.push(b" ");
            self.state = State::Fold;
            return Ok(());
        }
        self.field_ends(head)
    }

    fn field_ends(&mut self, head: &mut Head) -> Result<(), ReadError> {
        self.state = State::Field;
        let Kept { bytes, rest_is_value } = &self.field;
        head.field(bytes, *rest_is_value).map_err(Into::into)
    }
}

/// Go quotes a wrong first line up to this length.
const FOLDED_FIRST_BYTES_MAX: usize = 80;
