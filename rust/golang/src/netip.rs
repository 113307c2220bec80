//! IP addresses as Go parses them, with its error texts (`netip.ParseAddr`, Go 1.26).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::text::quote;

/// Parses an address and its zone, which may be empty.
pub fn parse(text: &[u8]) -> Result<(IpAddr, &[u8]), String> {
    let text_of = |problem: ParseError<'_>| text_of(text, problem);
    match text.iter().find(|byte| b".:%".contains(byte)) {
        Some(b'.') => parse_v4(text).map(|ip| (ip.into(), &b""[..])).map_err(text_of),
        Some(b':') => {
            let (address, zone) = match text.iter().position(|&byte| byte == b'%') {
                Some(end) if end + 1 == text.len() => return Err(text_of(("zone must be a non-empty string", b""))),
                Some(end) => (&text[..end], &text[end + 1..]),
                None => (text, &b""[..]),
            };
            parse_v6(address).map(|ip| (ip.into(), zone)).map_err(text_of)
        }
        Some(_) => Err(text_of(("missing IPv6 address", b""))),
        None => Err(text_of(("unable to parse IP", b""))),
    }
}

/// Go's message, and the part of the text it quotes, which may be empty.
type ParseError<'a> = (&'static str, &'a [u8]);

fn text_of(text: &[u8], (message, place): ParseError<'_>) -> String {
    let place = if place.is_empty() { String::new() } else { format!(" (at {})", quote(place)) };
    format!("ParseAddr({}): {message}{place}", quote(text))
}

fn parse_v4(text: &[u8]) -> Result<Ipv4Addr, ParseError<'_>> {
    let mut octets = [0u8; 4];
    let (mut position, mut value, mut digits) = (0, 0u32, 0);
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' if digits == 1 && value == 0 => return Err(("IPv4 field has octet with leading zero", b"")),
            b'0'..=b'9' => {
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", b""));
                }
            }
            b'.' if index == 0 || index + 1 == text.len() || text[index - 1] == b'.' => {
                return Err(("IPv4 field must have at least one digit", &text[index..]));
            }
            b'.' if position == 3 => return Err(("IPv4 address too long", b"")),
            b'.' => {
                octets[position] = value as u8;
                (position, value, digits) = (position + 1, 0, 0);
            }
            _ => return Err(("unexpected character", &text[index..])),
        }
    }
    if position < 3 {
        return Err(("IPv4 address too short", b""));
    }
    octets[3] = value as u8;
    Ok(octets.into())
}

fn parse_v6(text: &[u8]) -> Result<Ipv6Addr, ParseError<'_>> {
    let mut bytes = [0u8; 16];
    let mut filled = 0;
    let mut rest = text;
    // The position of "::", if there is one.
    let mut gap = None;
    if let Some(after) = rest.strip_prefix(b"::") {
        (gap, rest) = (Some(0), after);
        if rest.is_empty() {
            return Ok(Ipv6Addr::UNSPECIFIED);
        }
    }
    while filled < 16 {
        let (value, length) = group(rest)?;
        if rest.get(length) == Some(&b'.') {
            embedded(rest, gap, filled, &mut bytes)?;
            (filled, rest) = (filled + 4, b"");
            break;
        }
        bytes[filled..filled + 2].copy_from_slice(&value.to_be_bytes());
        (filled, rest) = (filled + 2, &rest[length..]);
        if rest.is_empty() {
            break;
        }
        rest = after_colon(rest)?;
        if let [b':', after @ ..] = rest {
            if gap.is_some() {
                return Err(("multiple :: in address", rest));
            }
            (gap, rest) = (Some(filled), after);
            if rest.is_empty() {
                break;
            }
        }
    }
    if !rest.is_empty() {
        return Err(("trailing garbage after address", rest));
    }
    match gap {
        None if filled < 16 => Err(("address string too short", b"")),
        Some(_) if filled == 16 => Err(("the :: must expand to at least one field of zeros", b"")),
        Some(gap) => {
            bytes[gap..].rotate_right(16 - filled);
            Ok(bytes.into())
        }
        None => Ok(bytes.into()),
    }
}

/// The hexadecimal number at the start, and how many digits it has.
fn group(rest: &[u8]) -> Result<(u16, usize), ParseError<'_>> {
    let length = rest.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(rest.len());
    match length {
        0 => Err(("each colon-separated field must have at least one digit", rest)),
        1..=4 => {
            let digits = rest[..length].iter().map(|&byte| char::from(byte).to_digit(16).expect("a digit"));
            Ok((digits.fold(0, |value, digit| value << 4 | digit as u16), length))
        }
        _ => Err(("each group must have 4 or less digits", rest)),
    }
}

fn after_colon(rest: &[u8]) -> Result<&[u8], ParseError<'_>> {
    match rest {
        [b':'] => Err(("colon must be followed by more characters", rest)),
        [b':', after @ ..] => Ok(after),
        _ => Err(("unexpected character, want colon", rest)),
    }
}

/// Reads an IPv4 address into the last four bytes.
fn embedded<'a>(rest: &'a [u8], gap: Option<usize>, filled: usize, bytes: &mut [u8; 16]) -> Result<(), ParseError<'a>> {
    if gap.is_none() && filled != 12 {
        return Err(("embedded IPv4 address must replace the final 2 fields of the address", rest));
    }
    if filled + 4 > 16 {
        return Err(("too many hex fields to fit an embedded IPv4 at the end of the address", rest));
    }
    bytes[filled..filled + 4].copy_from_slice(&parse_v4(rest)?.octets());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zones_and_reasons() {
        assert_eq!(parse(b"fe80::1%eth0"), Ok(("fe80::1".parse().unwrap(), &b"eth0"[..])));
        let error = |text: &[u8]| parse(text).unwrap_err();
        assert_eq!(error(b"a"), r#"ParseAddr("a"): unable to parse IP"#);
        assert_eq!(error(b"a%b"), r#"ParseAddr("a%b"): missing IPv6 address"#);
        assert_eq!(error(b"127.0.0.01"), r#"ParseAddr("127.0.0.01"): IPv4 field has octet with leading zero"#);
        assert_eq!(error(b"1.2"), r#"ParseAddr("1.2"): IPv4 address too short"#);
        assert_eq!(error(b"::1%"), r#"ParseAddr("::1%"): zone must be a non-empty string"#);
        let digit = "each colon-separated field must have at least one digit";
        assert_eq!(error(b"::g"), format!(r#"ParseAddr("::g"): {digit} (at "g")"#));
    }

    proptest! {
        #[test]
        fn the_same_addresses_as_the_standard_library(text in "[0-9a-f:.]{0,24}") {
            prop_assert_eq!(parse(text.as_bytes()).ok().map(|(ip, _)| ip), text.parse::<IpAddr>().ok());
        }

        #[test]
        fn every_address_is_read_back(bytes: [u16; 8]) {
            let ip = IpAddr::from(bytes);
            let text = ip.to_string();
            prop_assert_eq!(parse(text.as_bytes()), Ok((ip, &b""[..])));
        }
    }
}
