//! Parses URLs (`url.Parse`).

use super::{HostRules, Url, User, cut, is_optional_port};
use crate::escape::{Part, escape, unescape};
use crate::netip;
use crate::text::quote;

impl Url {
    /// Parses text (`url.Parse`); the error is the whole text of Go's `url.Error`.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        Self::parse_by(text, HostRules::default())
    }

    /// Parses text with a host by the rules of a release of Go.
    pub fn parse_by(text: &[u8], hosts: HostRules) -> Result<Self, String> {
        let (reference, fragment) = cut(text, b'#');
        let error_of = |text: &[u8], error: String| format!("parse {}: {error}", quote(text));
        let mut url = parse_reference(reference, hosts).map_err(|error| error_of(reference, error))?;
        if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
            url.fragment = unescape(fragment, Part::Fragment).map_err(|error| error_of(text, error))?;
            if escape(&url.fragment, Part::Fragment) != fragment {
                url.raw_fragment = fragment.to_vec();
            }
        }
        Ok(url)
    }
}

/// Parses the part before a fragment (`url.parse`).
fn parse_reference(text: &[u8], hosts: HostRules) -> Result<Url, String> {
    if text.iter().any(u8::is_ascii_control) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text == b"*" {
        return Ok(Url::of_path(b"*"));
    }
    let (scheme, rest) = split_scheme(text)?;
    let mut url = Url { scheme: scheme.to_ascii_lowercase(), ..Url::default() };
    let (mut rest, query) = cut(rest, b'?');
    url.force_query = query == Some(b"");
    url.query = query.unwrap_or_default().to_vec();
    if !rest.starts_with(b"/") {
        if !scheme.is_empty() {
            url.opaque = rest.to_vec();
            return Ok(url);
        }
        if cut(rest, b'/').0.contains(&b':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    if rest.starts_with(b"//") && (!scheme.is_empty() || !rest.starts_with(b"///")) {
        let end = rest[2..].iter().position(|&byte| byte == b'/').map_or(rest.len(), |slash| slash + 2);
        // A host of another scheme may list several hosts with ports.
        let is_http = url.scheme == b"http" || url.scheme == b"https";
        let hosts = if is_http { hosts } else { hosts.min(HostRules::V1_25) };
        (url.user, url.host) = parse_authority(&rest[2..end], hosts)?;
        rest = &rest[end..];
    } else if !scheme.is_empty() && rest.starts_with(b"/") {
        url.omit_host = true;
    }
    url.set_path(rest)?;
    Ok(url)
}

fn split_scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (index, byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Ok((b"", text))
}

fn parse_authority(authority: &[u8], hosts: HostRules) -> Result<(Option<User>, Vec<u8>), String> {
    let Some(at) = authority.iter().rposition(|&byte| byte == b'@') else {
        return Ok((None, parse_host(authority, hosts)?));
    };
    let host = parse_host(&authority[at + 1..], hosts)?;
    let info = &authority[..at];
    if !info.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(info, b':');
    let name = unescape(name, Part::UserPassword)?;
    let password = password.map(|password| unescape(password, Part::UserPassword)).transpose()?;
    Ok((Some(User { name, password }), host))
}

fn parse_host(host: &[u8], hosts: HostRules) -> Result<Vec<u8>, String> {
    let checked_port = |port: &[u8]| match is_optional_port(port) {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", quote(port))),
    };
    match host.iter().rposition(|&byte| byte == b'[') {
        Some(start) if start == 0 || hosts == HostRules::V1_24 => {
            // A bracket that closes before it opens makes Go 1.24 panic.
            let end = host.iter().rposition(|&byte| byte == b']').filter(|&end| end > start);
            let end = end.ok_or("missing ']' in host")?;
            let port = &host[end + 1..];
            checked_port(port)?;
            Ok([b"[", &bracketed(&host[start + 1..end])?[..], b"]", port].concat())
        }
        Some(_) => Err("invalid IP-literal".to_owned()),
        None => {
            let is_colon = |&byte: &u8| byte == b':';
            let colon = if hosts == HostRules::V1_26 {
                host.iter().position(is_colon)
            } else {
                host.iter().rposition(is_colon)
            };
            checked_port(colon.map_or(&[], |colon| &host[colon..]))?;
            unescape(host, Part::Host)
        }
    }
}

/// Unescapes the address in brackets: IPv6, perhaps with a zone after an escaped percent sign.
fn bracketed(written: &[u8]) -> Result<Vec<u8>, String> {
    let zone = written.windows(3).position(|three| three == b"%25").unwrap_or(written.len());
    let mut host = unescape(&written[..zone], Part::Host)?;
    host.extend(unescape(&written[zone..], Part::Zone)?);
    match netip::parse(&host) {
        Ok((ip, _)) if ip.is_ipv4() => Err("invalid IP-literal".to_owned()),
        Ok(_) => Ok(host),
        Err(error) => Err(format!("invalid host: {error}")),
    }
}
