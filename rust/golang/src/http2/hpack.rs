//! HPACK, the encoding of header fields (RFC 7541), with the limits of Go's decoder (golang.org/x/net/http2/hpack,
//! v0.49).

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

use super::text::{Text, TextInProgress};

/// Name and value. A clone shares both.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: Arc<Text>,
    /// The value.
    pub value: Arc<Text>,
}

impl Field {
    /// A field of two texts.
    pub fn new(name: &[u8], value: &[u8]) -> Self {
        Self { name: Arc::new(Text::of(name)), value: Arc::new(Text::of(value)) }
    }

    /// The size of the field in the table (RFC 7541, 4.1) and in a list of fields.
    pub(super) fn size(&self) -> usize {
        self.name.length() + self.value.length() + FIELD_BYTES
    }
}

/// Takes the fields of a block.
pub(super) trait Emit {
    /// Whether more fields are wanted. The decoder does not look into literals that nobody wants.
    fn is_wanted(&self) -> bool;

    /// Takes a complete field.
    fn emit(&mut self, field: &Field);
}

/// The decoder of one connection. It keeps the fields that later fields may refer to, and the field that has begun.
#[derive(Debug)]
pub(crate) struct Decoder {
    table: Table,
    /// The longest name or value that the decoder takes.
    text_bytes_max: usize,
    state: State,
    /// Whether the block has had no field yet.
    is_first: bool,
}

/// The bytes are no block of fields, so the connection ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HpackError;

/// What the next byte belongs to.
#[derive(Debug)]
enum State {
    /// The first byte of a field.
    Begin,
    /// The number that the field begins with.
    Index(Kind, Number),
    /// The first byte of a literal's next text.
    Length(Literal),
    /// The rest of the length of a literal's next text.
    LengthGoesOn(Literal, TextInProgress, Number),
    /// The bytes of a literal's next text, and how many are left.
    Text(Literal, TextInProgress, usize),
}

/// How a field is written.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// As an index.
    Indexed,
    /// In full; its name may be an index.
    Literal { is_stored: bool },
    /// Not a field, but a change of the table's size.
    TableSize,
}

/// A field that is written out, as far as it has come.
#[derive(Debug)]
struct Literal {
    is_stored: bool,
    name: Option<Arc<Text>>,
    /// Whether the name's code was right. A wrong one shows once the value has come.
    is_name_right: bool,
}

impl Decoder {
    pub(crate) fn new(text_bytes_max: usize) -> Self {
        Self { table: Table::default(), text_bytes_max, state: State::Begin, is_first: true }
    }

    /// Reads a piece of a block; `fields` gets every complete field in order.
    pub(super) fn decode(&mut self, piece: &[u8], fields: &mut impl Emit) -> Result<(), HpackError> {
        let mut rest = piece;
        while let Some((&byte, after)) = rest.split_first() {
            let state = std::mem::replace(&mut self.state, State::Begin);
            if !matches!(state, State::Text(..)) {
                rest = after;
            }
            self.state = match state {
                State::Begin => self.begin(byte, fields)?,
                State::Index(kind, mut number) => match number.goes_on(byte)? {
                    Some(index) => self.indexed(kind, index, fields)?,
                    None => State::Index(kind, number),
                },
                State::Length(literal) => {
                    let text = TextInProgress::new(byte >= 0x80);
                    match Number::begin(byte, 7) {
                        Ok(length) => self.text_begins(literal, text, length, &mut rest, fields)?,
                        Err(number) => State::LengthGoesOn(literal, text, number),
                    }
                }
                State::LengthGoesOn(literal, text, mut number) => match number.goes_on(byte)? {
                    Some(length) => self.text_begins(literal, text, length, &mut rest, fields)?,
                    None => State::LengthGoesOn(literal, text, number),
                },
                State::Text(literal, text, left) => self.text(literal, text, left, &mut rest, fields)?,
            };
        }
        Ok(())
    }

    /// Ends the block; an error if it ends within a field.
    pub(crate) fn end(&mut self) -> Result<(), HpackError> {
        self.is_first = true;
        match std::mem::replace(&mut self.state, State::Begin) {
            State::Begin => Ok(()),
            _ => Err(HpackError),
        }
    }

    fn begin(&mut self, byte: u8, fields: &mut impl Emit) -> Result<State, HpackError> {
        let (kind, bits) = match byte {
            0x80.. => (Kind::Indexed, 7),
            0x40.. => (Kind::Literal { is_stored: true }, 6),
            0x20.. => (Kind::TableSize, 5),
            _ => (Kind::Literal { is_stored: false }, 4),
        };
        match Number::begin(byte, bits) {
            Ok(index) => self.indexed(kind, index, fields),
            Err(number) => Ok(State::Index(kind, number)),
        }
    }

    /// Goes on after the number that a field begins with.
    fn indexed(&mut self, kind: Kind, index: u64, fields: &mut impl Emit) -> Result<State, HpackError> {
        match kind {
            Kind::Indexed => {
                let field = self.table.field(index)?;
                if fields.is_wanted() {
                    fields.emit(field);
                }
            }
            Kind::Literal { is_stored } => {
                let name = if index > 0 { Some(Arc::clone(&self.table.field(index)?.name)) } else { None };
                return Ok(State::Length(Literal { is_stored, name, is_name_right: true }));
            }
            Kind::TableSize => {
                // Go takes a change of the size at a block's beginning, and later only while the table is empty.
                if index > TABLE_BYTES_MAX as u64 || (!self.is_first && self.table.bytes > 0) {
                    return Err(HpackError);
                }
                self.table.resize(index as usize);
            }
        }
        self.is_first = false;
        Ok(State::Begin)
    }

    /// Goes on after the length of a literal's next text.
    fn text_begins(
        &mut self,
        literal: Literal,
        mut text: TextInProgress,
        length: u64,
        rest: &mut &[u8],
        fields: &mut impl Emit,
    ) -> Result<State, HpackError> {
        let length = usize::try_from(length).ok().filter(|&length| length <= self.text_bytes_max).ok_or(HpackError)?;
        text.reserve(length);
        self.text(literal, text, length, rest, fields)
    }

    /// Takes as much as has come of a literal's text, of which `left` bytes are missing, off `rest`.
    fn text(
        &mut self,
        literal: Literal,
        mut text: TextInProgress,
        left: usize,
        rest: &mut &[u8],
        fields: &mut impl Emit,
    ) -> Result<State, HpackError> {
        let (bytes, after) = rest.split_at(left.min(rest.len()));
        text.push(bytes);
        *rest = after;
        match left - bytes.len() {
            0 => self.text_ends(literal, text, fields),
            left => Ok(State::Text(literal, text, left)),
        }
    }

    fn text_ends(
        &mut self,
        literal: Literal,
        text: TextInProgress,
        fields: &mut impl Emit,
    ) -> Result<State, HpackError> {
        let (text, is_right) = text.end();
        let is_right = is_right && text.length() <= self.text_bytes_max;
        let Literal { is_stored, name, is_name_right } = literal;
        let Some(name) = name else {
            return Ok(State::Length(Literal { is_stored, name: Some(Arc::new(text)), is_name_right: is_right }));
        };
        if (fields.is_wanted() || is_stored) && !(is_name_right && is_right) {
            return Err(HpackError);
        }
        let field = Field { name, value: Arc::new(text) };
        if fields.is_wanted() {
            fields.emit(&field);
        }
        if is_stored {
            self.table.insert(field);
        }
        self.is_first = false;
        Ok(State::Begin)
    }
}

/// The dynamic table.
#[derive(Debug)]
struct Table {
    /// The newest entry first.
    entries: VecDeque<Field>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self { entries: VecDeque::new(), bytes: 0, bytes_max: TABLE_BYTES_MAX }
    }
}

impl Table {
    /// The field at an index: of the static table first, then of this one.
    fn field(&self, index: u64) -> Result<&Field, HpackError> {
        let index = usize::try_from(index).ok().and_then(|index| index.checked_sub(1)).ok_or(HpackError)?;
        STATIC_FIELDS.get(index).or_else(|| self.entries.get(index - STATIC.len())).ok_or(HpackError)
    }

    fn insert(&mut self, field: Field) {
        self.bytes += field.size();
        self.entries.push_front(field);
        self.evict();
    }

    fn resize(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
        self.evict();
    }

    fn evict(&mut self) {
        while self.bytes > self.bytes_max
            && let Some(field) = self.entries.pop_back()
        {
            self.bytes -= field.size();
        }
    }
}

/// The size of a field in a list of fields (RFC 9113, 10.5.1).
pub const fn size_of_field(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + FIELD_BYTES
}

/// A number of which the first bytes have come.
#[derive(Debug)]
struct Number {
    value: u64,
    shift: u32,
}

impl Number {
    /// Reads the first byte, which has `bits` for the number: the number, or its beginning.
    const fn begin(byte: u8, bits: u32) -> Result<u64, Self> {
        let most = (1u64 << bits) - 1;
        let value = byte as u64 & most;
        if value < most { Ok(value) } else { Err(Self { value, shift: 0 }) }
    }

    /// Reads one more byte; returns the number if it is the last one.
    fn goes_on(&mut self, byte: u8) -> Result<Option<u64>, HpackError> {
        self.value = self.value.wrapping_add(u64::from(byte & 0x7f).wrapping_shl(self.shift));
        self.shift += 7;
        match (byte < 0x80, self.shift >= NUMBER_BITS_MAX) {
            (true, _) => Ok(Some(self.value)),
            (false, true) => Err(HpackError),
            (false, false) => Ok(None),
        }
    }
}

/// Writes a field plainly, so that the peer's decoder does not store it.
pub fn write_field(block: &mut Vec<u8>, name: &[u8], value: &[u8]) {
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

static STATIC_FIELDS: LazyLock<Vec<Field>> =
    LazyLock::new(|| STATIC.map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes())).into());

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

    type Texts = Vec<(Vec<u8>, Vec<u8>)>;

    /// Takes everything.
    impl Emit for Texts {
        fn is_wanted(&self) -> bool {
            true
        }

        fn emit(&mut self, field: &Field) {
            self.push((field.name.bytes().into(), field.value.bytes().into()));
        }
    }

    fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Texts, HpackError> {
        let mut fields = Texts::new();
        let mut pieces = block.chunks(PIECE_BYTES);
        let read = pieces.try_for_each(|piece| decoder.decode(piece, &mut fields));
        read.and(decoder.end()).map(|()| fields)
    }

    fn texts(fields: &[(&str, &str)]) -> Texts {
        fields.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_reference_shares_the_text_of_its_entry() {
        struct Last(Option<Field>, usize);
        impl Emit for Last {
            fn is_wanted(&self) -> bool {
                true
            }

            fn emit(&mut self, field: &Field) {
                self.1 += usize::from(self.0.as_ref().is_some_and(|last| Arc::ptr_eq(&last.value, &field.value)));
                self.0 = Some(field.clone());
            }
        }
        let (mut decoder, mut last) = (Decoder::new(1 << 20), Last(None, 0));
        decoder.decode(&[&[0x40, 1, b'a', 1, b'b'][..], &[0xbe; 1_000]].concat(), &mut last).unwrap();
        assert_eq!(last.1, 1_000);
    }

    #[test]
    fn a_literal_that_nobody_wants_may_be_wrong_unless_it_is_stored() {
        struct Nobody;
        impl Emit for Nobody {
            fn is_wanted(&self) -> bool {
                false
            }

            fn emit(&mut self, _: &Field) {
                unreachable!("nobody wants it")
            }
        }
        let wrong_code = [1, b'a', 0x81, 0x1c];
        let decode = |first: u8| Decoder::new(9).decode(&[&[0x82, first][..], &wrong_code].concat(), &mut Nobody);
        assert_eq!((decode(0), decode(0x40)), (Ok(()), Err(HpackError)));
    }

    #[test]
    fn a_text_is_too_long_by_its_plain_bytes_too() {
        // Sixteen letters of five bits each are ten bytes.
        let block = [
            &[0x00, 1, b'n', 0x8a][..],
            &[0b0001_1000, 0b1100_0110, 0b0011_0001, 0b1000_1100, 0b0110_0011],
            &[0b0001_1000, 0b1100_0110, 0b0011_0001, 0b1000_1100, 0b0110_0011],
        ]
        .concat();
        assert_eq!(decoded(&mut Decoder::new(16), &block), Ok(texts(&[("n", "aaaaaaaaaaaaaaaa")])));
        assert_eq!(decoded(&mut Decoder::new(15), &block), Err(HpackError));
    }

    #[test]
    fn responses_of_the_standard() {
        // RFC 7541, C.6.1: the first of three responses; the second refers to its fields by index.
        let mut decoder = Decoder::new(1 << 20);
        let first = [0x48, 0x82, 0x64, 0x02, 0x58, 0x85, 0xae, 0xc3, 0x77, 0x1a, 0x4b];
        assert_eq!(decoded(&mut decoder, &first), Ok(texts(&[(":status", "302"), ("cache-control", "private")])));
        assert_eq!(decoder.table.bytes, 42 + 52);
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
        assert_eq!((decoder.table.bytes, decoder.table.entries.len()), (0, 0));
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
                let bytes: usize = decoder.table.entries.iter().map(Field::size).sum();
                prop_assert_eq!(bytes, decoder.table.bytes);
                prop_assert!(bytes <= TABLE_BYTES_MAX);
            }
        }
    }
}
