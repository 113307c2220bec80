//! Names of issuers and subjects, and the strings within them (`parseName`, `parseASN1String`).

use super::der::{Der, SEQUENCE, SET};
use super::error::ParseError;

pub(super) fn check(mut name: Der<'_>) -> Result<(), ParseError> {
    let malformed = "x509: invalid RDNSequence";
    let mut sets = name.element(SEQUENCE).ok_or(malformed)?;
    while !sets.is_empty() {
        let mut set = sets.element(SET).ok_or(malformed)?;
        while !set.is_empty() {
            let mut attribute = set.element(SEQUENCE).ok_or("x509: invalid RDNSequence: invalid attribute")?;
            attribute.oid().ok_or("x509: invalid RDNSequence: invalid attribute type")?;
            let (tag, value) = attribute.any().ok_or("x509: invalid RDNSequence: invalid attribute value")?;
            check_string(tag, value.0)
                .map_err(|why| format!("x509: invalid RDNSequence: invalid attribute value: {why}"))?;
        }
    }
    Ok(())
}

fn check_string(tag: u8, value: &[u8]) -> Result<(), ParseError> {
    let (is_valid, why) = match tag {
        T61_STRING => (true, ""),
        PRINTABLE_STRING => (value.iter().copied().all(is_printable), "invalid PrintableString"),
        UTF8_STRING => (std::str::from_utf8(value).is_ok(), "invalid UTF-8 string"),
        BMP_STRING => (is_bmp(value), "invalid BMPString"),
        IA5_STRING => (value.is_ascii(), "invalid IA5String"),
        NUMERIC_STRING => (value.iter().all(|byte| byte.is_ascii_digit() || *byte == b' '), "invalid NumericString"),
        other => return Err(format!("unsupported string type: {other}").into()),
    };
    if is_valid { Ok(()) } else { Err(why.into()) }
}

/// The set of PrintableString, and `*` and `&`, which Go takes too.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte)
}

/// Two octets a character, none of them reserved or half of a pair.
fn is_bmp(value: &[u8]) -> bool {
    let text = value.strip_suffix(&[0, 0]).unwrap_or(value);
    let is_character = |octets: &[u8]| {
        let point = u16::from_be_bytes([octets[0], octets[1]]);
        !matches!(point, 0xfffe | 0xffff | 0xfdd0..=0xfdef | 0xd800..=0xdfff)
    };
    value.len().is_multiple_of(2) && text.chunks_exact(2).all(is_character)
}

const UTF8_STRING: u8 = 12;
const NUMERIC_STRING: u8 = 18;
const PRINTABLE_STRING: u8 = 19;
const T61_STRING: u8 = 20;
const IA5_STRING: u8 = 22;
const BMP_STRING: u8 = 30;
