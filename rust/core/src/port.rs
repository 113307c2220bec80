//! Resolves a probe's port (kubelet pkg/probe/util.go:ResolveContainerPort, 1.36).

use crate::spec::IntOrString;

/// Resolves a probe's port. `ports` are the probed container's own named ports; text that names none of them is a
/// number.
///
/// # Errors
/// Returns the kubelet's error text. It makes the run a prober error, never a failure.
pub fn resolve(port: &IntOrString, ports: &[(Box<str>, i64)]) -> Result<u16, String> {
    let number = match port {
        IntOrString::Int(number) => *number,
        IntOrString::Str(text) => match ports.iter().find(|(name, _)| name == text) {
            Some((_, number)) => *number,
            None => parse_int(text)?,
        },
    };
    match u16::try_from(number) {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("invalid port number: {number}")),
    }
}

/// Parses a number as Go's `strconv.Atoi` does, with its error texts.
fn parse_int(text: &str) -> Result<i64, String> {
    let error = |why: &str| format!("strconv.Atoi: parsing {text:?}: {why}");
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(error("invalid syntax"));
    }
    text.parse().map_err(|_| error("value out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Result<u16, String> {
        resolve(&IntOrString::Str(text.into()), &[("http".into(), 8080), ("http".into(), 9), ("bad".into(), 0)])
    }

    #[test]
    fn the_first_port_of_that_name_wins() {
        assert_eq!(named("http"), Ok(8080));
    }

    #[test]
    fn another_string_is_read_as_a_number() {
        assert_eq!(named("80"), Ok(80));
        assert_eq!(named("+80"), Ok(80));
        assert_eq!(named("x"), Err(r#"strconv.Atoi: parsing "x": invalid syntax"#.into()));
        assert_eq!(named(""), Err(r#"strconv.Atoi: parsing "": invalid syntax"#.into()));
        assert_eq!(
            named("99999999999999999999"),
            Err(r#"strconv.Atoi: parsing "99999999999999999999": value out of range"#.into())
        );
    }

    #[test]
    fn a_number_outside_1_to_65535_is_an_error() {
        assert_eq!(named("bad"), Err("invalid port number: 0".into()));
        assert_eq!(named("65536"), Err("invalid port number: 65536".into()));
        assert_eq!(resolve(&IntOrString::Int(-1), &[]), Err("invalid port number: -1".into()));
        assert_eq!(resolve(&IntOrString::Int(65_535), &[]), Ok(65_535));
    }
}
