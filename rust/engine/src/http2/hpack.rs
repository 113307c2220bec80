//! HPACK, the encoding of header fields (RFC 7541), with the limits of Go's decoder (golang.org/x/net/http2/hpack,
//! v0.49).

use std::collections::VecDeque;

use super::huffman;

/// Name and value.
pub(crate) type Field = (Vec<u8>, Vec<u8>);

/// The decoder of one connection, with the fields that later fields may refer to.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// The dynamic table, the newest entry first.
    entries: VecDeque<Field>,
    bytes: usize,
    bytes_max: usize,
    /// The longest name or value that the decoder takes.
    text_bytes_max: usize,
    /// The beginning of a field that the next piece continues.
    begun: Vec<u8>,
    /// Whether the block has had no field yet.
    is_first: bool,
}

/// The bytes are no block of fields, so the connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HpackError;

/// Why a field cannot be read yet, or at all.
#[derive(Debug)]
enum FieldError {
    /// The next piece continues the field.
    Cut,
    Broken,
}

impl Decoder {
    pub(crate) const fn new(text_bytes_max: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            bytes_max: TABLE_BYTES_MAX,
            text_bytes_max,
            begun: Vec::new(),
            is_first: true,
        }
    }

    /// Reads a piece of a block and calls `emit` for every complete field in order.
    pub(crate) fn decode(&mut self, piece: &[u8], mut emit: impl FnMut(&[u8], &[u8])) -> Result<(), HpackError> {
        if self.begun.is_empty() {
            let read = self.fields(piece, &mut emit)?;
            self.begun.extend_from_slice(&piece[read..]);
            return Ok(());
        }
        let mut begun = std::mem::take(&mut self.begun);
        begun.extend_from_slice(piece);
        let read = self.fields(&begun, &mut emit)?;
        begun.drain(..read);
        self.begun = begun;
        Ok(())
    }

    /// Ends the block; an error if it ends within a field.
    pub(crate) fn end(&mut self) -> Result<(), HpackError> {
        self.is_first = true;
        if std::mem::take(&mut self.begun).is_empty() { Ok(()) } else { Err(HpackError) }
    }

    /// Reads complete fields; returns how many bytes they were.
    fn fields(&mut self, bytes: &[u8], emit: &mut impl FnMut(&[u8], &[u8])) -> Result<usize, HpackError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.field(rest, emit) {
                Ok(after) => rest = after,
                Err(FieldError::Cut) => break,
                Err(FieldError::Broken) => return Err(HpackError),
            }
            self.is_first = false;
        }
        Ok(bytes.len() - rest.len())
    }

    /// Reads one field, or a change of the table's size; returns what follows.
    fn field<'a>(&mut self, bytes: &'a [u8], emit: &mut impl FnMut(&[u8], &[u8])) -> Result<&'a [u8], FieldError> {
        match bytes[0] {
            0x80.. => {
                let (index, rest) = number(bytes, 7)?;
                let (name, value) = self.entry(index)?;
                emit(name, value);
                Ok(rest)
            }
            0x40.. => {
                let ((name, value), rest) = self.literal(bytes, 6)?;
                emit(&name, &value);
                self.insert((name, value));
                Ok(rest)
            }
            0x20.. => {
                let (size, rest) = number(bytes, 5)?;
                // Go takes a change of the size at a block's beginning, and later only while the table is empty.
                if size > TABLE_BYTES_MAX as u64 || (!self.is_first && self.bytes > 0) {
                    return Err(FieldError::Broken);
                }
                self.bytes_max = size as usize;
                self.evict();
                Ok(rest)
            }
            _ => {
                let ((name, value), rest) = self.literal(bytes, 4)?;
                emit(&name, &value);
                Ok(rest)
            }
        }
    }

    /// Reads a field that is written out; its name may be an index.
    fn literal<'a>(&self, bytes: &'a [u8], prefix: u32) -> Result<(Field, &'a [u8]), FieldError> {
        let (index, rest) = number(bytes, prefix)?;
        let most = self.text_bytes_max;
        if index > 0 {
            let name = self.entry(index)?.0;
            let (value, rest) = string(rest, most)?;
            return Ok(((name.to_vec(), value.plain()?), rest));
        }
        let (name, rest) = string(rest, most)?;
        let (value, rest) = string(rest, most)?;
        Ok(((name.plain()?, value.plain()?), rest))
    }

    fn entry(&self, index: u64) -> Result<(&[u8], &[u8]), FieldError> {
        let index = usize::try_from(index).ok().and_then(|index| index.checked_sub(1)).ok_or(FieldError::Broken)?;
        if let Some((name, value)) = STATIC.get(index) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        self.entries.get(index - STATIC.len()).map(|(name, value)| (&**name, &**value)).ok_or(FieldError::Broken)
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

/// The size of a field in the table (RFC 7541, 4.1).
pub(crate) const fn size_of_field(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + FIELD_BYTES
}

/// Reads a number whose first byte has `prefix` bits for it.
fn number(bytes: &[u8], prefix: u32) -> Result<(u64, &[u8]), FieldError> {
    let most = (1u64 << prefix) - 1;
    let (&first, mut rest) = bytes.split_first().ok_or(FieldError::Cut)?;
    let mut value = u64::from(first) & most;
    if value < most {
        return Ok((value, rest));
    }
    for shift in (0..NUMBER_BITS_MAX).step_by(7) {
        let (&byte, after) = rest.split_first().ok_or(FieldError::Cut)?;
        rest = after;
        value = value.wrapping_add(u64::from(byte & 0x7f).wrapping_shl(shift));
        if byte < 0x80 {
            return Ok((value, rest));
        }
    }
    Err(FieldError::Broken)
}

/// A text as the peer sent it.
struct Text<'a> {
    bytes: &'a [u8],
    is_coded: bool,
}

impl Text<'_> {
    /// Undoes the Huffman code.
    fn plain(&self) -> Result<Vec<u8>, FieldError> {
        if self.is_coded { huffman::decode(self.bytes).ok_or(FieldError::Broken) } else { Ok(self.bytes.to_vec()) }
    }
}

/// Reads a text; returns what follows it too.
fn string(bytes: &[u8], most: usize) -> Result<(Text<'_>, &[u8]), FieldError> {
    let is_coded = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let (length, rest) = number(bytes, 7)?;
    let length = usize::try_from(length).ok().filter(|&length| length <= most).ok_or(FieldError::Broken)?;
    let (bytes, rest) = rest.split_at_checked(length).ok_or(FieldError::Cut)?;
    Ok((Text { bytes, is_coded }, rest))
}

/// Writes a field plainly, so that the peer's decoder does not store it.
pub(crate) fn write_field(block: &mut Vec<u8>, name: &[u8], value: &[u8]) {
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

/// The size of the table that both sides begin with, and that Go never exceeds.
const TABLE_BYTES_MAX: usize = 4096;
const FIELD_BYTES: usize = 32;
/// `hpack.readVarInt` gives up at this many bits.
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

    /// The tests cut blocks into pieces this small, so that fields are often cut.
    const PIECE_BYTES: usize = 3;

    fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Field>, HpackError> {
        let mut fields = Vec::new();
        let mut pieces = block.chunks(PIECE_BYTES);
        let mut emit = |name: &[u8], value: &[u8]| fields.push((name.to_vec(), value.to_vec()));
        let read = pieces.try_for_each(|piece| decoder.decode(piece, &mut emit));
        read.and(decoder.end()).map(|()| fields)
    }

    fn texts(fields: &[(&str, &str)]) -> Vec<Field> {
        fields.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn responses_of_the_standard() {
        // RFC 7541, C.6.1: the first of three responses; the second refers to its fields by index.
        let mut decoder = Decoder::new(1 << 20);
        let first = [0x48, 0x82, 0x64, 0x02, 0x58, 0x85, 0xae, 0xc3, 0x77, 0x1a, 0x4b];
        assert_eq!(decoded(&mut decoder, &first), Ok(texts(&[(":status", "302"), ("cache-control", "private")])));
        assert_eq!(decoder.bytes, 42 + 52);
        assert_eq!(
            decoded(&mut decoder, &[0x48, 0x83, 0x64, 0x0e, 0xff, 0xbf]),
            Ok(texts(&[(":status", "307"), ("cache-control", "private")]))
        );
    }

    #[test]
    fn broken_blocks() {
        for block in [&[0x80][..], &[0xbe], &[0x40], &[0x00, 5, 1], &[0x3f, 0xe2, 0x1f], &[0x82, 0xff, 0x80]] {
            assert_eq!(decoded(&mut Decoder::new(1 << 20), block), Err(HpackError), "{block:?}");
        }
        assert_eq!(decoded(&mut Decoder::new(1 << 20), &[0xff; 12]), Err(HpackError), "a number without end");
    }

    #[test]
    fn the_table_changes_its_size_only_at_the_beginning_of_a_block() {
        let mut decoder = Decoder::new(1 << 20);
        assert_eq!(decoded(&mut decoder, &[0x40, 1, b'a', 1, b'b', 0x20]), Err(HpackError));
        assert_eq!(decoded(&mut decoder, &[0x20, 0x82]), Ok(texts(&[(":method", "GET")])));
        assert_eq!((decoder.bytes, decoder.entries.len()), (0, 0));
    }

    proptest! {
        #[test]
        fn written_fields_are_read_back(fields: Vec<(Vec<u8>, Vec<u8>)>) {
            let mut block = Vec::new();
            fields.iter().for_each(|(name, value)| write_field(&mut block, name, value));
            prop_assert_eq!(decoded(&mut Decoder::new(1 << 20), &block), Ok(fields));
        }

        #[test]
        fn the_table_keeps_its_limit(blocks: Vec<Vec<u8>>) {
            let mut decoder = Decoder::new(1 << 20);
            for block in blocks {
                let _ = decoded(&mut decoder, &block);
                let bytes: usize = decoder.entries.iter().map(|(name, value)| size_of_field(name, value)).sum();
                prop_assert_eq!(bytes, decoder.bytes);
                prop_assert!(bytes <= TABLE_BYTES_MAX);
            }
        }
    }
}
