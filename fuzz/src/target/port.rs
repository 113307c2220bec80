//! A port of any spelling, against a naive version of Go's rules: named ports first, then `strconv.Atoi` or, from 1.37 on,
//! nothing, then 1 to 65535.

use probelet_core::port::resolve;
use probelet_core::semantics::TextPorts;
use probelet_core::spec::IntOrString;

/// Plays one input: the port as in JSON, `80` or `"web`, then a line `name=number` for each named port.
pub fn play(bytes: &[u8]) {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let (port, rest) = input.split_once('\n').unwrap_or((input, ""));
    let (number, text) = match port.strip_prefix('"') {
        Some(text) => (None, text),
        None => (Some(port.parse::<i64>().unwrap_or_default()), ""),
    };
    let named: Vec<(&str, i64)> = rest
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, number)| (name, number.parse().unwrap_or_default()))
        .collect();
    let ports: Vec<(Box<str>, i64)> = named.iter().map(|(name, number)| ((*name).into(), *number)).collect();
    let port = number.map_or_else(|| IntOrString::Str(text.into()), IntOrString::Int);
    let expected = match number {
        Some(number) => Some(number),
        None => named.iter().find(|(name, _)| *name == text).map_or_else(|| atoi(text), |(_, number)| Some(*number)),
    };
    let expected = expected.and_then(|number| (1..=65_535).contains(&number).then_some(number));
    match resolve(&port, &ports, TextPorts::MayBeNumbers) {
        Ok(resolved) => assert_eq!(Some(i64::from(resolved)), expected),
        Err(error) => {
            assert_eq!(expected, None, "{error}");
            assert!(error.starts_with("strconv.Atoi: parsing ") || error.starts_with("invalid port number: "));
            assert!(!error.contains('\n'), "one line");
        }
    }
    let is_named = number.is_some() || named.iter().any(|(name, _)| *name == text);
    match resolve(&port, &ports, TextPorts::AreNames) {
        Ok(resolved) => assert_eq!((is_named, Some(i64::from(resolved))), (true, expected)),
        Err(error) => assert!(error.starts_with("invalid port number: ") || !is_named && error.ends_with(" not found")),
    }
}

/// Parses digits after at most one sign, within 64 bits.
fn atoi(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = digits.iter().try_fold(0_i128, |value, digit| {
        Some(value * 10 + i128::from(digit - b'0')).filter(|value| *value <= 1 << 64)
    })?;
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}
