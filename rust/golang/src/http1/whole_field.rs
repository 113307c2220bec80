//! The field that nearly every field is: one well-formed line that is whole in the window, found in one look at each of its
//! bytes.

use crate::header::{is_read_name_byte, is_value_byte, trim};

/// A field of one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WholeField<'a> {
    pub(super) name: &'a [u8],
    /// Without the blanks around it.
    pub(super) value: &'a [u8],
    /// How many bytes the line has, with its end.
    pub(super) length: usize,
}

impl<'a> WholeField<'a> {
    /// The field at the beginning of `bytes`; None if it is not well formed, or if the byte that follows its line is not
    /// there or continues the field.
    pub(super) fn at(bytes: &'a [u8]) -> Option<Self> {
        let (name, rest) = split(bytes, is_read_name_byte);
        let [b':', rest @ ..] = rest else { return None };
        // No value holds a carriage return or a line feed.
        let (value, rest) = split(rest, is_value_byte);
        let rest @ [next, ..] = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")? else { return None };
        let is_field = !matches!(name, [] | [b' ', ..]) && !matches!(next, b' ' | b'\t');
        is_field.then(|| Self { name, value: trim(value), length: bytes.len() - rest.len() })
    }
}

/// Splits before the first byte that is not of a kind. It counts no bytes on the way, unlike [`Iterator::position`].
fn split(bytes: &[u8], is_of_kind: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let mut rest = bytes;
    while let [byte, after @ ..] = rest
        && is_of_kind(*byte)
    {
        rest = after;
    }
    bytes.split_at(bytes.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_ends_where_the_next_line_begins() {
        for (bytes, name, value, length) in [
            (&b"A: b\r\n\r\n"[..], &b"A"[..], &b"b"[..], 6),
            (b"A-b_c:\t d e \t\nB", b"A-b_c", b"d e", 14),
            (b"A :\nB", b"A ", b"", 4),
            (b"A:b:c\n\n", b"A", b"b:c", 6),
        ] {
            assert_eq!(WholeField::at(bytes), Some(WholeField { name, value, length }), "{bytes:?}");
        }
    }

    #[test]
    fn any_other_field_is_left_to_the_reader_of_lines() {
        for bytes in [
            "",
            "A",
            "A:",
            "A: b",
            "A: b\r",
            "A: b\r\n",
            "A: b\r\n c",
            "A: b\n\tc",
            "A: b\rc\r\n\r\n",
            ": b\n\n",
            " A: b\n\n",
            "A\t: b\n\n",
            "A: \x01\n\n",
            "A\n\n",
            "\n\n",
            "\r\n\r\n",
            "é: b\n\n",
        ] {
            assert_eq!(WholeField::at(bytes.as_bytes()), None, "{bytes:?}");
        }
    }
}
