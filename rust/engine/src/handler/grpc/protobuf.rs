//! The wire format of protocol buffers, as far as the messages of a health check need it.

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// The value of a wire type that none of our fields has.
    Other,
}

/// Iterates over the fields of a message; an error comes last.
pub(super) fn fields(message: &[u8]) -> impl Iterator<Item = Result<(u64, Value<'_>), &'static str>> {
    let mut rest = Some(message);
    std::iter::from_fn(move || {
        let bytes = rest.take().filter(|bytes| !bytes.is_empty())?;
        match field(bytes, GROUPS_MAX) {
            Some((number, value, after)) => {
                rest = Some(after);
                Some(Ok((number, value)))
            }
            None => Some(Err(INVALID)),
        }
    })
}

/// Reads one field; returns its number, its value and what follows, or None for invalid bytes.
fn field(bytes: &[u8], groups: usize) -> Option<(u64, Value<'_>, &[u8])> {
    let (tag, rest) = varint(bytes)?;
    let number = tag >> 3;
    if !(1..=NUMBER_MAX).contains(&number) {
        return None;
    }
    let (value, rest) = match tag & 7 {
        0 => varint(rest).map(|(value, rest)| (Value::Varint(value), rest))?,
        1 => (Value::Other, rest.get(8..)?),
        2 => {
            let (length, rest) = varint(rest)?;
            let (content, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            (Value::Bytes(content), rest)
        }
        3 => (Value::Other, group(rest, number, groups.checked_sub(1)?)?),
        5 => (Value::Other, rest.get(4..)?),
        _ => return None,
    };
    Some((number, value, rest))
}

/// Skips a group: fields up to the end mark of the same number. Returns what follows.
fn group(mut rest: &[u8], number: u64, groups: usize) -> Option<&[u8]> {
    loop {
        let (tag, after) = varint(rest)?;
        if tag == number << 3 | 4 {
            return Some(after);
        }
        rest = field(rest, groups)?.2;
    }
}

/// Reads a varint: at most ten bytes with seven bits each, of which the tenth has one.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(10).enumerate() {
        if index == 9 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

/// The largest number that a field may have.
pub(super) const NUMBER_MAX: u64 = (1 << 29) - 1;
/// How deep groups may nest. Go allows 10000, but no server sends one, and each level costs some stack.
pub(super) const GROUPS_MAX: usize = 100;
/// The error of Go's `proto.Unmarshal`.
pub(super) const INVALID: &str = "proto: cannot parse invalid wire-format data";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(message: &[u8]) -> Option<Vec<(u64, Value<'_>)>> {
        fields(message).collect::<Result<_, _>>().ok()
    }

    #[test]
    fn every_wire_type() {
        let message = [0x08, 0x96, 1, 0x12, 1, 7, 0x1d, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0, 0, 0, 0, 0x2b, 0x08, 1, 0x2c];
        let expected = vec![
            (1, Value::Varint(150)),
            (2, Value::Bytes(&[7])),
            (3, Value::Other),
            (4, Value::Other),
            (5, Value::Other),
        ];
        assert_eq!(read(&message), Some(expected));
    }

    #[test]
    fn invalid_messages() {
        for bad in [&[8][..], &[0, 1], &[0x0a, 2, 1], &[0x0b, 8, 1], &[0x0c], &[0x0e], &[0x0f], &[0x0d, 1, 2, 3]] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
        assert_eq!(read(&[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2]), None, "more than 64 bits");
        assert_eq!(read(&[0x0b; 1_000]), None, "groups without end");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(message: Vec<u8>) {
            let _ = read(&message);
        }
    }
}
