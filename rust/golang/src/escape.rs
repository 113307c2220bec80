//! Percent-encoding by part of a URL, as `net/url` does it (Go 1.26).

use super::text::quote;

/// A part of a URL. Each part allows other characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What follows `#`.
    Fragment,
    /// A host name.
    Host,
    /// A path.
    Path,
    /// A name or a password before a host.
    UserPassword,
    /// The zone of an IPv6 address.
    Zone,
}

/// Whether a byte must be escaped in `part` (`url.shouldEscape`).
pub const fn must_escape(byte: u8, part: Part) -> bool {
    let is_plain = match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => true,
        b'$' | b'&' | b'+' | b',' | b';' | b'=' => true,
        b':' => !matches!(part, Part::UserPassword),
        b'/' | b'@' => matches!(part, Part::Path | Part::Fragment),
        b'!' | b'(' | b')' | b'*' => matches!(part, Part::Host | Part::Zone | Part::Fragment),
        b'\'' | b'[' | b']' | b'<' | b'>' | b'"' => matches!(part, Part::Host | Part::Zone),
        b'?' => matches!(part, Part::Fragment),
        _ => false,
    };
    !is_plain
}

/// Escapes the bytes that must be escaped in `part` (`url.escape`).
pub(crate) fn escape(text: &[u8], part: Part) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut escaped = Vec::with_capacity(text.len());
    for &byte in text {
        if must_escape(byte, part) {
            escaped.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        } else {
            escaped.push(byte);
        }
    }
    escaped
}

/// Undoes escapes, and refuses an escape that `part` may not hold (`url.unescape`).
pub(crate) fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        let strict = matches!(part, Part::Host | Part::Zone);
        match byte {
            b'%' => {
                let value = escaped_byte(rest).ok_or_else(|| invalid_escape(rest))?;
                if !may_be_escaped(value, part) {
                    return Err(invalid_escape(rest));
                }
                plain.push(value);
                rest = &rest[3..];
            }
            _ if strict && byte.is_ascii() && must_escape(*byte, part) => {
                return Err(format!("invalid character {} in host name", quote(&rest[..1])));
            }
            _ => {
                plain.push(*byte);
                rest = after;
            }
        }
    }
    Ok(plain)
}

/// Whether `part` may hold an escape of this byte. A host may hold escapes of bytes beyond ASCII and of a zone's
/// percent sign; a zone may hold a few more.
const fn may_be_escaped(value: u8, part: Part) -> bool {
    match part {
        Part::Host => value >= 0x80 || value == b'%',
        Part::Zone => value == b'%' || value == b' ' || !must_escape(value, Part::Host),
        Part::Fragment | Part::Path | Part::UserPassword => true,
    }
}

fn escaped_byte(rest: &[u8]) -> Option<u8> {
    let digit = |index: usize| char::from(*rest.get(index)?).to_digit(16);
    Some((digit(1)? << 4 | digit(2)?) as u8)
}

fn invalid_escape(rest: &[u8]) -> String {
    format!("invalid URL escape {}", quote(&rest[..rest.len().min(3)]))
}

/// Whether the text may stay as it was written (`url.validEncoded`).
pub(crate) fn is_encoded(text: &[u8], part: Part) -> bool {
    text.iter().all(|byte| b"!$&'()*+,;=:@[]%".contains(byte) || !must_escape(*byte, part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bad_escapes_are_named() {
        let error = |text: &[u8], part| unescape(text, part).unwrap_err();
        assert_eq!(error(b"/%zz/", Part::Path), r#"invalid URL escape "%zz""#);
        assert_eq!(error(b"/%2", Part::Path), r#"invalid URL escape "%2""#);
        assert_eq!(error(b"a%20b", Part::Host), r#"invalid URL escape "%20""#);
        assert_eq!(error(b"a b", Part::Host), r#"invalid character " " in host name"#);
        assert_eq!(unescape(b"a%C3%A9%25", Part::Host).unwrap(), "aé%".as_bytes());
    }

    proptest! {
        #[test]
        fn escaped_text_is_read_back(text: Vec<u8>) {
            for part in [Part::Path, Part::UserPassword, Part::Fragment] {
                let escaped = escape(&text, part);
                prop_assert!(is_encoded(&escaped, part));
                prop_assert_eq!(unescape(&escaped, part).unwrap(), text.clone());
            }
        }
    }
}
