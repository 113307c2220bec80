//! Header fields on the wire (RFC 7541), with the limits of Go's decoder (golang.org/x/net/http2/hpack, v0.49).

use std::collections::VecDeque;

use super::huffman;

/// Name and value.
pub(in crate::handler) type Field = (Vec<u8>, Vec<u8>);

/// What a connection remembers of the fields it read.
#[derive(Debug)]
pub(super) struct Decoder {
    /// The newest first.
    entries: VecDeque<Field>,
    bytes: usize,
    bytes_max: usize,
}

/// The block is not one; the connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl Default for Decoder {
    fn default() -> Self {
        Self { entries: VecDeque::new(), bytes: 0, bytes_max: TABLE_BYTES_MAX }
    }
}

impl Decoder {
    /// Reads a whole block; `emit` gets every field in turn.
    pub(super) fn decode(&mut self, block: &[u8], mut emit: impl FnMut(&[u8], &[u8])) -> Result<(), Broken> {
        let mut rest = block;
        let mut is_first = true;
        while let Some(&byte) = rest.first() {
            match byte {
                0x80.. => {
                    let (index, after) = number(rest, 7)?;
                    let (name, value) = self.entry(index)?;
                    emit(name, value);
                    rest = after;
                }
                0x40.. => {
                    let ((name, value), after) = self.literal(rest, 6)?;
                    emit(&name, &value);
                    self.insert((name, value));
                    rest = after;
                }
                0x20.. => {
                    let (size, after) = number(rest, 5)?;
                    // Go takes a change at a block's beginning, or as long as there is nothing to throw away.
                    if size > TABLE_BYTES_MAX as u64 || (!is_first && self.bytes > 0) {
                        return Err(Broken);
                    }
                    self.bytes_max = size as usize;
                    self.evict();
                    rest = after;
                }
                _ => {
                    let ((name, value), after) = self.literal(rest, 4)?;
                    emit(&name, &value);
                    rest = after;
                }
            }
            is_first = false;
        }
        Ok(())
    }

    /// A field that is written out, its name perhaps by number.
    fn literal<'a>(&self, bytes: &'a [u8], prefix: u32) -> Result<(Field, &'a [u8]), Broken> {
        let (index, rest) = number(bytes, prefix)?;
        let (name, rest) = if index == 0 { string(rest)? } else { (self.entry(index)?.0.to_vec(), rest) };
        let (value, rest) = string(rest)?;
        Ok(((name, value), rest))
    }

    fn entry(&self, index: u64) -> Result<(&[u8], &[u8]), Broken> {
        let index = usize::try_from(index).ok().and_then(|index| index.checked_sub(1)).ok_or(Broken)?;
        if let Some((name, value)) = STATIC.get(index) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        self.entries.get(index - STATIC.len()).map(|(name, value)| (&**name, &**value)).ok_or(Broken)
    }

    fn insert(&mut self, field: Field) {
        self.bytes += size_of_field(&field.0, &field.1);
        self.entries.push_front(field);
        self.evict();
    }

    fn evict(&mut self) {
        while self.bytes > self.bytes_max
            && let Some((name, value)) = self.entries.pop_back()
        {
            self.bytes -= size_of_field(&name, &value);
        }
    }
}

/// What a field counts for (RFC 7541, 4.1).
pub(super) const fn size_of_field(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + FIELD_BYTES
}

/// A number whose first byte has `prefix` bits for it.
fn number(bytes: &[u8], prefix: u32) -> Result<(u64, &[u8]), Broken> {
    let most = (1u64 << prefix) - 1;
    let (&first, mut rest) = bytes.split_first().ok_or(Broken)?;
    let mut value = u64::from(first) & most;
    if value < most {
        return Ok((value, rest));
    }
    for shift in (0..NUMBER_BITS_MAX).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or(Broken)?;
        rest = after;
        value = value.wrapping_add(u64::from(byte & 0x7f).wrapping_shl(shift));
        if byte < 0x80 {
            return Ok((value, rest));
        }
    }
    Err(Broken)
}

/// A text, plain or in the Huffman code.
fn string(bytes: &[u8]) -> Result<(Vec<u8>, &[u8]), Broken> {
    let is_coded = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let (length, rest) = number(bytes, 7)?;
    let (text, rest) = rest.split_at_checked(usize::try_from(length).map_err(|_| Broken)?).ok_or(Broken)?;
    let text = if is_coded { huffman::decode(text).ok_or(Broken)? } else { text.to_vec() };
    Ok((text, rest))
}

/// Writes a field as it is, to be remembered by nobody.
pub(in crate::handler) fn write_field(block: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    block.push(0);
    for text in [name, value] {
        write_length(block, text.len());
        block.extend_from_slice(text);
    }
}

fn write_length(block: &mut Vec<u8>, length: usize) {
    if length < 0x7f {
        return block.push(length as u8);
    }
    block.push(0x7f);
    let mut left = length - 0x7f;
    while left >= 0x80 {
        block.push(left as u8 | 0x80);
        left >>= 7;
    }
    block.push(left as u8);
}

/// What both sides begin with, and what Go never lets grow.
const TABLE_BYTES_MAX: usize = 4096;
const FIELD_BYTES: usize = 32;
/// `hpack.readVarInt` gives up here.
const NUMBER_BITS_MAX: u32 = 63;

/// RFC 7541, appendix A.
#[rustfmt::skip]
const STATIC: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Field>, Broken> {
        let mut fields = Vec::new();
        decoder.decode(block, |name, value| fields.push((name.to_vec(), value.to_vec())))?;
        Ok(fields)
    }

    fn texts(fields: &[(&str, &str)]) -> Vec<Field> {
        fields.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn responses_of_the_standard() {
        // RFC 7541, C.6.1: the first of three responses, whose fields the second names by number.
        let mut decoder = Decoder::default();
        let first = [0x48, 0x82, 0x64, 0x02, 0x58, 0x85, 0xae, 0xc3, 0x77, 0x1a, 0x4b];
        assert_eq!(decoded(&mut decoder, &first), Ok(texts(&[(":status", "302"), ("cache-control", "private")])));
        assert_eq!(decoder.bytes, 42 + 52);
        assert_eq!(
            decoded(&mut decoder, &[0x48, 0x83, 0x64, 0x0e, 0xff, 0xbf]),
            Ok(texts(&[(":status", "307"), ("cache-control", "private")]))
        );
    }

    #[test]
    fn what_is_broken() {
        for block in [&[0x80][..], &[0xbe], &[0x40], &[0x00, 5, 1], &[0x3f, 0xe2, 0x1f], &[0x82, 0xff, 0x80]] {
            assert_eq!(decoded(&mut Decoder::default(), block), Err(Broken), "{block:?}");
        }
        assert_eq!(decoded(&mut Decoder::default(), &[0xff; 12]), Err(Broken), "a number without end");
    }

    #[test]
    fn the_table_changes_its_size_only_at_a_beginning() {
        let mut decoder = Decoder::default();
        assert_eq!(decoded(&mut decoder, &[0x40, 1, b'a', 1, b'b', 0x20]), Err(Broken));
        assert_eq!(decoded(&mut decoder, &[0x20, 0x82]), Ok(texts(&[(":method", "GET")])));
        assert_eq!((decoder.bytes, decoder.entries.len()), (0, 0));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(fields: Vec<(Vec<u8>, Vec<u8>)>) {
            let mut block = Vec::new();
            fields.iter().for_each(|(name, value)| write_field(&mut block, name, value));
            prop_assert_eq!(decoded(&mut Decoder::default(), &block), Ok(fields));
        }

        #[test]
        fn the_table_keeps_its_limit(blocks: Vec<Vec<u8>>) {
            let mut decoder = Decoder::default();
            for block in blocks {
                let _ = decoded(&mut decoder, &block);
                let bytes: usize = decoder.entries.iter().map(|(name, value)| size_of_field(name, value)).sum();
                prop_assert_eq!(bytes, decoder.bytes);
                prop_assert!(bytes <= TABLE_BYTES_MAX);
            }
        }
    }
}
