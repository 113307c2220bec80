//! Base64 (RFC 4648, section 4).

/// Encodes bytes with padding.
pub fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, index| bits << 8 | three.get(index).copied().map_or(0, usize::from));
        for index in 0..4 {
            let letter = LETTERS[bits >> (18 - 6 * index) & 63];
            text.push(if index <= three.len() { letter.into() } else { '=' });
        }
    }
    text
}

/// Decodes text with or without padding (encoding/base64, as gRPC calls it).
///
/// # Errors
/// The position of the first byte that is wrong.
pub fn from_base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    let value_of = |letter: u8| LETTERS.iter().position(|&other| other == letter);
    let end = text.iter().position(|&letter| value_of(letter).is_none()).unwrap_or(text.len());
    if end < text.len() {
        is_padding(text, end)?;
    } else if end % 4 == 1 {
        return Err(end - 1);
    }
    let mut bytes = Vec::with_capacity(end / 4 * 3 + 2);
    for four in text[..end].chunks(4) {
        let bits =
            (0..4).fold(0, |bits, at| bits << 6 | four.get(at).and_then(|&letter| value_of(letter)).unwrap_or(0));
        bytes.extend_from_slice(&(bits as u32).to_be_bytes()[1..four.len()]);
    }
    Ok(bytes)
}

/// Checks that the text from `end` on pads the last four letters; the error is the position of the first wrong byte.
fn is_padding(text: &[u8], end: usize) -> Result<(), usize> {
    let is_padded = text.len().is_multiple_of(4);
    match (end % 4, &text[end..]) {
        (2, b"==") | (3, b"=") if is_padded => Ok(()),
        (2, [b'=', b'=', ..]) if is_padded => Err(end + 2),
        (3, [b'=', ..]) if is_padded => Err(end + 1),
        _ => Err(end),
    }
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_remainder() {
        let texts = [&b""[..], b"f", b"fo", b"foo", b"\xff\xfe\xfd"].map(base64);
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "//79"]);
        for (bad, at) in [
            (&b"!"[..], 0),
            (b"Zg=", 2),
            (b"Z===", 1),
            (b"Z", 0),
            (b"Zm9v=", 4),
            (b"Zg==Zm9v", 4),
            (b"Zm8=Zm9v", 4),
            (b"Zg=v", 2),
        ] {
            assert_eq!(from_base64(bad), Err(at), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn encoded_bytes_decode_to_the_same(bytes: Vec<u8>) {
            let text = base64(&bytes);
            prop_assert_eq!(from_base64(text.as_bytes()), Ok(bytes.clone()));
            prop_assert_eq!(from_base64(text.trim_end_matches('=').as_bytes()), Ok(bytes));
        }
    }
}
