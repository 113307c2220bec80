//! Reads DER as Go's `cryptobyte.String` does (golang.org/x/crypto, as in Go 1.26).

/// The bytes that are still to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Der<'a>(pub(super) &'a [u8]);

impl<'a> Der<'a> {
    pub(super) const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Whether the next element has the tag (`PeekASN1Tag`).
    pub(super) fn has(self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// The next element: its tag, its content, and the whole of it (`readASN1`).
    fn next(&mut self) -> Option<(u8, Self, Self)> {
        let &[tag, length, ..] = self.0 else { return None };
        if tag & HIGH_TAG_NUMBER == HIGH_TAG_NUMBER {
            return None;
        }
        let (header, content) = if length & LONG_FORM == 0 {
            (2, usize::from(length))
        } else {
            let octets = usize::from(length & !LONG_FORM);
            let written = self.0.get(2..2 + octets).filter(|_| (1..=4).contains(&octets))?;
            let content = written.iter().fold(0, |content, &octet| content << 8 | usize::from(octet));
            if content < 128 || written[0] == 0 {
                return None;
            }
            (2 + octets, content)
        };
        let (whole, rest) = self.0.split_at_checked(header + content)?;
        self.0 = rest;
        Some((tag, Self(&whole[header..]), Self(whole)))
    }

    /// The next element's tag and content (`ReadAnyASN1`).
    pub(super) fn any(&mut self) -> Option<(u8, Self)> {
        self.next().map(|(tag, content, _)| (tag, content))
    }

    /// The next element's content, if it has the tag (`ReadASN1`).
    pub(super) fn element(&mut self, tag: u8) -> Option<Self> {
        self.any().filter(|&(found, _)| found == tag).map(|(_, content)| content)
    }

    /// The next element with its header, if it has the tag (`ReadASN1Element`).
    pub(super) fn whole(&mut self, tag: u8) -> Option<Self> {
        self.next().filter(|&(found, ..)| found == tag).map(|(_, _, whole)| whole)
    }

    /// The next element's content if it has the tag, nothing if another element comes (`ReadOptionalASN1`).
    pub(super) fn optional(&mut self, tag: u8) -> Option<Option<Self>> {
        if self.has(tag) { self.element(tag).map(Some) } else { Some(None) }
    }

    /// An object identifier as it is encoded. Each has one encoding, so the bytes stand for it
    /// (`ReadASN1ObjectIdentifier`).
    pub(super) fn oid(&mut self) -> Option<&'a [u8]> {
        let oid = self.element(OBJECT_IDENTIFIER)?.0;
        let mut rest = oid;
        let mut is_first = true;
        while is_first || !rest.is_empty() {
            is_first = false;
            base128(&mut rest)?;
        }
        Some(oid)
    }

    /// The content of an INTEGER in its shortest form (`checkASN1Integer`).
    pub(super) fn integer(&mut self, tag: u8) -> Option<&'a [u8]> {
        let bytes = self.element(tag)?.0;
        let is_shortest = match bytes {
            [] => false,
            [_] => true,
            [0, next, ..] => next & SIGN != 0,
            [0xff, next, ..] => next & SIGN == 0,
            _ => true,
        };
        is_shortest.then_some(bytes)
    }

    /// An INTEGER of at most 64 bits (`ReadASN1Int64WithTag`).
    pub(super) fn int64(&mut self, tag: u8) -> Option<i64> {
        let bytes = self.integer(tag).filter(|bytes| bytes.len() <= 8)?;
        let begin = if is_negative(bytes) { -1 } else { 0 };
        Some(bytes.iter().fold(begin, |value, &byte| value << 8 | i64::from(byte)))
    }

    pub(super) fn boolean(&mut self) -> Option<bool> {
        match self.element(BOOLEAN)?.0 {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }

    /// A BIT STRING: how many bits of its last octet do not count, and its octets (`ReadASN1BitString`).
    pub(super) fn bit_string(&mut self) -> Option<(u8, &'a [u8])> {
        let (&unused, octets) = self.element(BIT_STRING)?.0.split_first()?;
        let is_zero = |last: &u8| last & ((1 << unused) - 1) == 0;
        (unused <= 7 && octets.last().map_or(unused == 0, is_zero)).then_some((unused, octets))
    }
}

/// Whether the content of an INTEGER is below zero.
pub(super) fn is_negative(integer: &[u8]) -> bool {
    integer.first().is_some_and(|first| first & SIGN != 0)
}

/// A number of at most 31 bits in base 128 (`readBase128Int`).
fn base128(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for index in 0..5 {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        if value >= 1 << (31 - 7) || (index == 0 && byte == 0x80) {
            return None;
        }
        value = value << 7 | u32::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// An object identifier that [`Der::oid`] returned, with its numbers (`ObjectIdentifier.String`).
pub(super) fn dotted(oid: &[u8]) -> String {
    let mut rest = oid;
    let first = base128(&mut rest).unwrap_or_default();
    let root = (first / 40).min(2);
    let mut text = format!("{root}.{}", first - root * 40);
    while let Some(number) = base128(&mut rest) {
        text.push_str(&format!(".{number}"));
    }
    text
}

/// A context-specific tag (`Tag.ContextSpecific`).
pub(super) const fn context(number: u8) -> u8 {
    0x80 | number
}

/// A context-specific tag of an element that holds elements (`Tag.Constructed`).
pub(super) const fn constructed(number: u8) -> u8 {
    0xa0 | number
}

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// A tag with this number continues in the next octet.
const HIGH_TAG_NUMBER: u8 = 0x1f;
/// The length is in further octets, and this one counts them.
const LONG_FORM: u8 = 0x80;
const SIGN: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_form() {
        let content = |bytes: &[u8]| Der(bytes).element(OCTET_STRING).map(|content| content.0.len());
        assert_eq!(content(&[4, 1, 7]), Some(1));
        assert_eq!(content(&[4, 0x81, 1, 7]), None);
        assert_eq!(content(&[4, 0x80]), None);
        assert_eq!(content(&[4, 2, 7]), None);
        let long = [&[4, 0x81, 128][..], &[0; 128]].concat();
        assert_eq!(content(&long), Some(128));
        assert_eq!(content(&[&[4, 0x82, 0, 128][..], &[0; 128]].concat()), None);
        assert_eq!(content(&[4, 0x85, 0, 0, 0, 0, 1, 7]), None);
    }

    #[test]
    fn identifiers_have_one_form() {
        let text = |bytes: &[u8]| Der(bytes).oid().map(dotted);
        assert_eq!(text(&[6, 3, 0x55, 0x1d, 0x11]), Some("2.5.29.17".to_owned()));
        assert_eq!(text(&[6, 3, 0x2a, 0x86, 0x48]), Some("1.2.840".to_owned()));
        assert_eq!(text(&[6, 2, 0x88, 0x37]), Some("2.999".to_owned()));
        assert_eq!(text(&[6, 2, 0x2a, 0x80]), None);
        assert_eq!(text(&[6, 0]), None);
        assert_eq!(text(&[6, 6, 0x2a, 0x88, 0x80, 0x80, 0x80, 0x00]), None);
    }

    #[test]
    fn numbers_have_one_form() {
        let number = |bytes: &[u8]| Der(bytes).int64(INTEGER);
        assert_eq!(number(&[2, 1, 0x80]), Some(-128));
        assert_eq!(number(&[2, 2, 0, 0x80]), Some(128));
        assert_eq!(number(&[2, 2, 0, 0x7f]), None);
        assert_eq!(number(&[2, 2, 0xff, 0x80]), None);
        assert_eq!(number(&[2, 0]), None);
    }

    #[test]
    fn unused_bits_are_zero() {
        let bits = |bytes: &'static [u8]| Der(bytes).bit_string();
        assert_eq!(bits(&[3, 2, 4, 0xf0]), Some((4, &[0xf0][..])));
        assert_eq!(bits(&[3, 2, 4, 0xf8]), None);
        assert_eq!(bits(&[3, 1, 1]), None);
        assert_eq!(bits(&[3, 2, 8, 0]), None);
    }
}
