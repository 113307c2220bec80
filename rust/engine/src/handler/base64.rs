//! Bytes as letters (RFC 4648, section 4).

/// Writes bytes with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
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

/// Reads letters, padded or not; none if they are no such text.
pub(super) fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let padding =
        if text.len().is_multiple_of(4) { text.iter().rev().take_while(|&&byte| byte == b'=').count() } else { 0 };
    let letters = &text[..text.len() - padding];
    if padding > 2 || letters.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3 + 2);
    for four in letters.chunks(4) {
        let mut bits = 0u32;
        for letter in four {
            let value = LETTERS.iter().position(|other| other == letter)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        bits <<= 6 * (4 - four.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    Some(bytes)
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
        for bad in [&b"!"[..], b"Zg=", b"Z===", b"Z", b"Zm9v="] {
            assert_eq!(from_base64(bad), None);
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(bytes: Vec<u8>) {
            let text = base64(&bytes);
            prop_assert_eq!(from_base64(text.as_bytes()), Some(bytes.clone()));
            prop_assert_eq!(from_base64(text.trim_end_matches('=').as_bytes()), Some(bytes));
        }
    }
}
