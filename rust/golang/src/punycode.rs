//! Host names beyond ASCII: the ACE form of RFC 3492 and RFC 5891.

use super::text::{join_host_port, quote};

/// Turns every label beyond ASCII into its ACE form and keeps the case (`idna.ToASCII`, Go 1.26).
///
/// # Errors
/// Go's text, if a label begins like an ACE label and cannot be decoded.
pub fn to_ascii(name: &str) -> Result<String, String> {
    let labels: Result<Vec<_>, _> = name.split('.').map(label_to_ascii).collect();
    Ok(labels?.join("."))
}

fn label_to_ascii(label: &str) -> Result<String, String> {
    if label.is_ascii() {
        return Ok(label.to_owned());
    }
    match label.strip_prefix(PREFIX) {
        // Only the part after the last hyphen must be ASCII.
        Some(encoded) if !encoded.rsplit('-').next().unwrap_or_default().is_ascii() => {
            Err(format!("idna: invalid label {}", quote(encoded.as_bytes())))
        }
        _ => Ok(format!("{PREFIX}{}", encode(label))),
    }
}

/// The Host line of a host beyond ASCII, with or without a port (`httpguts.PunycodeHostPort`, Go 1.26).
///
/// # Errors
/// The errors of [`to_ascii`].
pub fn host_to_ascii(host: &str) -> Result<String, String> {
    let split = host.rsplit_once(':').map(|(name, port)| {
        let inner = name.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        (inner.unwrap_or(name), inner.is_some() || !name.contains(':'), port)
    });
    match split {
        Some((name, true, "")) => to_ascii(name),
        Some((name, true, port)) => Ok(join_host_port(&to_ascii(name)?, port)),
        _ => to_ascii(host),
    }
}

/// The encoding procedure of RFC 3492, 6.3.
fn encode(label: &str) -> String {
    let mut encoded: String = label.chars().filter(char::is_ascii).collect();
    let basic = encoded.len() as u32;
    if basic > 0 {
        encoded.push('-');
    }
    let (mut code, mut delta, mut bias) = (INITIAL_CODE, 0u32, INITIAL_BIAS);
    let mut handled = basic;
    let total = label.chars().count() as u32;
    while handled < total {
        let next = label.chars().map(u32::from).filter(|&c| c >= code).min().expect("some are not handled yet");
        delta += (next - code) * (handled + 1);
        code = next;
        for c in label.chars().map(u32::from) {
            if c < code {
                delta += 1;
            } else if c == code {
                push_number(&mut encoded, delta, bias);
                bias = adapt(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta += 1;
        code += 1;
    }
    encoded
}

fn push_number(encoded: &mut String, mut number: u32, bias: u32) {
    let digit = |value: u32| char::from_digit(value, 36).expect("below 36");
    // Punycode counts letters before digits; `from_digit` counts digits before letters.
    let mut push = |value: u32| encoded.push(if value < 26 { digit(value + 10) } else { digit(value - 26) });
    let mut position = BASE;
    loop {
        let threshold = position.saturating_sub(bias).clamp(T_MIN, T_MAX);
        if number < threshold {
            return push(number);
        }
        push(threshold + (number - threshold) % (BASE - threshold));
        number = (number - threshold) / (BASE - threshold);
        position += BASE;
    }
}

fn adapt(delta: u32, points: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / DAMP } else { delta / 2 };
    delta += delta / points;
    let mut position = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        position += BASE;
    }
    position + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

/// How a label in ACE form begins.
const PREFIX: &str = "xn--";
// The parameters of RFC 3492, section 5.
const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_CODE: u32 = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_rfc_and_of_the_recordings() {
        assert_eq!(to_ascii("BÜCHER.example").as_deref(), Ok("xn--BCHER-2pa.example"));
        assert_eq!(to_ascii("é.onion").as_deref(), Ok("xn--9ca.onion"));
        assert_eq!(to_ascii("日本語").as_deref(), Ok("xn--wgv71a119e"));
        assert_eq!(to_ascii("他们为什么不说中文").as_deref(), Ok("xn--ihqwcrb4cv8a8dqg056pqjye"));
        assert_eq!(host_to_ascii("bücher.example:80").as_deref(), Ok("xn--bcher-kva.example:80"));
        assert_eq!(host_to_ascii("[é]:1").as_deref(), Ok("xn--9ca:1"));
        assert_eq!(host_to_ascii("é:80:90").as_deref(), Ok("xn--:80:90-9ua"));
        assert_eq!(to_ascii("a.xn--é"), Err("idna: invalid label \"é\"".to_owned()));
    }
}
