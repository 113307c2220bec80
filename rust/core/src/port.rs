//! Resolves a probe's port (kubelet pkg/probe/util.go:ResolveContainerPort, 1.36 and 1.37).

use crate::semantics::TextPorts;
use crate::spec::IntOrString;

/// Resolves a probe's port. `ports` are the probed container's own named ports; `rules` say what text is that names none
/// of them.
///
/// # Errors
/// Returns the kubelet's error text. It makes the run a prober error, never a failure.
pub fn resolve(port: &IntOrString, ports: &[(Box<str>, i64)], rules: TextPorts) -> Result<u16, String> {
    let number = match port {
        IntOrString::Int(number) => *number,
        IntOrString::Str(text) => match (ports.iter().find(|(name, _)| name == text), rules) {
            (Some((_, number)), _) => *number,
            (None, TextPorts::MayBeNumbers) => parse_int(text)?,
            (None, TextPorts::AreNames) => return Err(format!("port {text:?} not found")),
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

    fn found(text: &str, rules: TextPorts) -> Result<u16, String> {
        let ports = [("http".into(), 8080), ("http".into(), 9), ("bad".into(), 0)];
        resolve(&IntOrString::Str(text.into()), &ports, rules)
    }

    fn named(text: &str) -> Result<u16, String> {
        found(text, TextPorts::MayBeNumbers)
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
    fn another_string_is_a_mistake_from_1_37_on() {
        let rules = TextPorts::AreNames;
        assert_eq!(found("http", rules), Ok(8080));
        assert_eq!(found("80", rules), Err(r#"port "80" not found"#.into()));
        assert_eq!(found("", rules), Err(r#"port "" not found"#.into()));
        assert_eq!(found("bad", rules), Err("invalid port number: 0".into()));
    }

    #[test]
    fn a_number_outside_1_to_65535_is_an_error() {
        assert_eq!(named("bad"), Err("invalid port number: 0".into()));
        assert_eq!(named("65536"), Err("invalid port number: 65536".into()));
        assert_eq!(resolve(&IntOrString::Int(-1), &[], TextPorts::AreNames), Err("invalid port number: -1".into()));
        assert_eq!(resolve(&IntOrString::Int(65_535), &[], TextPorts::AreNames), Ok(65_535));
    }
}
