//! URLs as `net/url` reads, resolves and writes them (Go 1.26). Text is bytes: a Location may hold any.

use super::escape::{Part, escape, is_encoded, unescape};
use super::netip;
use super::text::quote;

/// A URL or a reference to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: Vec<u8>,
    /// What follows a scheme without a slash: `mailto:x`.
    opaque: Vec<u8>,
    pub(crate) user: Option<User>,
    /// `host` or `host:port`, unescaped.
    pub(crate) host: Vec<u8>,
    /// Unescaped.
    path: Vec<u8>,
    /// The path as it was written, if that is not the default escaping; empty otherwise.
    raw_path: Vec<u8>,
    query: Vec<u8>,
    /// A question mark with nothing behind it.
    force_query: bool,
    fragment: Vec<u8>,
    raw_fragment: Vec<u8>,
    omit_host: bool,
}

/// The name and password in front of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: Vec<u8>,
    pub(crate) password: Option<Vec<u8>>,
}

impl User {
    fn text(&self) -> Vec<u8> {
        let mut text = escape(&self.name, Part::UserPassword);
        if let Some(password) = &self.password {
            text.push(b':');
            text.extend(escape(password, Part::UserPassword));
        }
        text
    }
}

impl Url {
    /// `url.Parse`; the error is the whole text of its `url.Error`.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let (reference, fragment) = cut(text, b'#');
        let told = |text: &[u8], error: String| format!("parse {}: {error}", quote(text));
        let mut url = parse_reference(reference).map_err(|error| told(reference, error))?;
        if let Some(fragment) = fragment.filter(|fragment| !fragment.is_empty()) {
            url.fragment = unescape(fragment, Part::Fragment).map_err(|error| told(text, error))?;
            if escape(&url.fragment, Part::Fragment) != fragment {
                url.raw_fragment = fragment.to_vec();
            }
        }
        Ok(url)
    }

    /// The whole text taken as a path: what the kubelet does with a path that does not parse.
    pub(crate) fn of_path(text: &[u8]) -> Self {
        Self { path: text.to_vec(), ..Self::default() }
    }

    fn set_path(&mut self, written: &[u8]) -> Result<(), String> {
        self.path = unescape(written, Part::Path)?;
        self.raw_path = if escape(&self.path, Part::Path) == written { Vec::new() } else { written.to_vec() };
        Ok(())
    }

    pub(crate) fn is_absolute(&self) -> bool {
        !self.scheme.is_empty()
    }

    fn escaped_path(&self) -> Vec<u8> {
        if let Some(written) = as_written(&self.raw_path, &self.path, Part::Path) {
            return written.to_vec();
        }
        if self.path == b"*" { b"*".to_vec() } else { escape(&self.path, Part::Path) }
    }

    /// The text of the URL (`URL.String`).
    pub(crate) fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        if !self.scheme.is_empty() {
            text.extend_from_slice(&self.scheme);
            text.push(b':');
        }
        if self.opaque.is_empty() {
            self.push_authority_and_path(&mut text);
        } else {
            text.extend_from_slice(&self.opaque);
        }
        self.push_query(&mut text);
        if !self.fragment.is_empty() {
            text.push(b'#');
            match as_written(&self.raw_fragment, &self.fragment, Part::Fragment) {
                Some(written) => text.extend_from_slice(written),
                None => text.extend(escape(&self.fragment, Part::Fragment)),
            }
        }
        text
    }

    fn push_authority_and_path(&self, text: &mut Vec<u8>) {
        let hostless = self.host.is_empty() && self.user.is_none();
        if !(hostless && (self.scheme.is_empty() || self.omit_host)) {
            if !self.host.is_empty() || !self.path.is_empty() || self.user.is_some() {
                text.extend_from_slice(b"//");
            }
            if let Some(user) = &self.user {
                text.extend(user.text());
                text.push(b'@');
            }
            text.extend(escape(&self.host, Part::Host));
        }
        let path = self.escaped_path();
        if !path.is_empty() && path[0] != b'/' && !self.host.is_empty() {
            text.push(b'/');
        }
        // A colon in the first segment would read as a scheme.
        if text.is_empty() && cut(&path, b'/').0.contains(&b':') {
            text.extend_from_slice(b"./");
        }
        text.extend(path);
    }

    fn push_query(&self, text: &mut Vec<u8>) {
        if self.force_query || !self.query.is_empty() {
            text.push(b'?');
            text.extend_from_slice(&self.query);
        }
    }

    /// The text without the password (`http.stripPassword`).
    pub(crate) fn text_without_password(&self) -> Vec<u8> {
        match &self.user {
            Some(user) if user.password.is_some() => {
                let hidden = [&user.name[..], b":***@"].concat();
                replace_once(&self.text(), &[&user.text()[..], b"@"].concat(), &hidden)
            }
            _ => self.text(),
        }
    }

    /// The text without name and password: what a Referer may tell.
    pub(crate) fn text_without_user(&self) -> Vec<u8> {
        match &self.user {
            Some(user) => replace_once(&self.text(), &[&user.text()[..], b"@"].concat(), b""),
            None => self.text(),
        }
    }

    /// What stands in the request line (`URL.RequestURI`).
    pub(crate) fn request_uri(&self) -> Vec<u8> {
        let mut uri = if self.opaque.starts_with(b"//") {
            [&self.scheme[..], b":", &self.opaque].concat()
        } else if self.opaque.is_empty() {
            self.escaped_path()
        } else {
            self.opaque.clone()
        };
        if uri.is_empty() {
            uri.push(b'/');
        }
        self.push_query(&mut uri);
        uri
    }

    /// The host without port and brackets (`URL.Hostname`).
    pub(crate) fn host_name(&self) -> &[u8] {
        self.split_host().0
    }

    /// The port as written, empty if none is (`URL.Port`).
    pub(crate) fn port(&self) -> &[u8] {
        self.split_host().1
    }

    fn split_host(&self) -> (&[u8], &[u8]) {
        let (mut host, mut port) = (&self.host[..], &b""[..]);
        if let Some(colon) = host.iter().rposition(|&byte| byte == b':')
            && is_optional_port(&host[colon..])
        {
            (host, port) = (&host[..colon], &host[colon + 1..]);
        }
        (host.strip_prefix(b"[").and_then(|inner| inner.strip_suffix(b"]")).unwrap_or(host), port)
    }

    /// Resolves a reference against this URL (`URL.ResolveReference`).
    pub(crate) fn resolve(&self, reference: Self) -> Self {
        let mut url = reference.clone();
        let legal = "an escaped path unescapes";
        if reference.scheme.is_empty() {
            url.scheme = self.scheme.clone();
        }
        if !reference.scheme.is_empty() || !reference.host.is_empty() || reference.user.is_some() {
            url.set_path(&resolve_path(&reference.escaped_path(), b"")).expect(legal);
            return url;
        }
        if !reference.opaque.is_empty() {
            return Self { user: None, host: Vec::new(), path: Vec::new(), ..url };
        }
        if reference.path.is_empty() && !reference.force_query && reference.query.is_empty() {
            url.query = self.query.clone();
            if reference.fragment.is_empty() {
                url.fragment = self.fragment.clone();
                url.raw_fragment = self.raw_fragment.clone();
            }
        }
        if reference.path.is_empty() && !self.opaque.is_empty() {
            return Self { opaque: self.opaque.clone(), user: None, host: Vec::new(), path: Vec::new(), ..url };
        }
        url.host = self.host.clone();
        url.user = self.user.clone();
        url.set_path(&resolve_path(&self.escaped_path(), &reference.escaped_path())).expect(legal);
        url
    }
}

/// `url.parse` of what stands before a fragment.
fn parse_reference(text: &[u8]) -> Result<Url, String> {
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
        (url.user, url.host) = parse_authority(&url.scheme, &rest[2..end])?;
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

fn parse_authority(scheme: &[u8], authority: &[u8]) -> Result<(Option<User>, Vec<u8>), String> {
    let Some(at) = authority.iter().rposition(|&byte| byte == b'@') else {
        return Ok((None, parse_host(scheme, authority)?));
    };
    let host = parse_host(scheme, &authority[at + 1..])?;
    let info = &authority[..at];
    if !info.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, password) = cut(info, b':');
    let name = unescape(name, Part::UserPassword)?;
    let password = password.map(|password| unescape(password, Part::UserPassword)).transpose()?;
    Ok((Some(User { name, password }), host))
}

fn parse_host(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    let checked_port = |port: &[u8]| match is_optional_port(port) {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", quote(port))),
    };
    match host.iter().rposition(|&byte| byte == b'[') {
        Some(0) => {
            let end = host.iter().rposition(|&byte| byte == b']').ok_or("missing ']' in host")?;
            let port = &host[end + 1..];
            checked_port(port)?;
            Ok([b"[", &bracketed(&host[1..end])?[..], b"]", port].concat())
        }
        Some(_) => Err("invalid IP-literal".to_owned()),
        None => {
            let is_colon = |&byte: &u8| byte == b':';
            // Other schemes may list several hosts with ports; their last colon is the port's.
            let strict = scheme == b"http" || scheme == b"https";
            let colon = if strict { host.iter().position(is_colon) } else { host.iter().rposition(is_colon) };
            checked_port(colon.map_or(&[], |colon| &host[colon..]))?;
            unescape(host, Part::Host)
        }
    }
}

/// The address in brackets: IPv6, perhaps with a zone behind an escaped percent sign.
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

fn is_optional_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// `url.resolvePath`: the dot segments of RFC 3986, 5.2.4.
fn resolve_path(base: &[u8], reference: &[u8]) -> Vec<u8> {
    let full = match reference.first() {
        None => base.to_vec(),
        Some(b'/') => reference.to_vec(),
        Some(_) => {
            let directory = base.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
            [&base[..directory], reference].concat()
        }
    };
    if full.is_empty() {
        return full;
    }
    let mut path = vec![b'/'];
    let mut is_first = true;
    let mut last: &[u8] = b"";
    for segment in full.split(|&byte| byte == b'/') {
        last = segment;
        match segment {
            b"." => is_first = false,
            b".." => {
                let end = path[1..].iter().rposition(|&byte| byte == b'/').map_or(1, |slash| slash + 1);
                path.truncate(end);
                is_first = path.len() == 1;
            }
            _ => {
                if !is_first {
                    path.push(b'/');
                }
                path.extend_from_slice(segment);
                is_first = false;
            }
        }
    }
    if last == b"." || last == b".." {
        path.push(b'/');
    }
    // One slash was written to begin with, and the path brought its own.
    if path.get(1) == Some(&b'/') {
        path.remove(0);
    }
    path
}

fn as_written<'a>(written: &'a [u8], plain: &[u8], part: Part) -> Option<&'a [u8]> {
    let is_faithful = !written.is_empty()
        && is_encoded(written, part)
        && unescape(written, part).is_ok_and(|unescaped| unescaped == plain);
    is_faithful.then_some(written)
}

fn cut(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|&byte| byte == separator) {
        Some(index) => (&text[..index], Some(&text[index + 1..])),
        None => (text, None),
    }
}

fn replace_once(text: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    match text.windows(what.len()).position(|window| window == what) {
        Some(start) => [&text[..start], with, &text[start + what.len()..]].concat(),
        None => text.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Url {
        Url::parse(text.as_bytes()).unwrap()
    }

    #[track_caller]
    fn resolved(base: &str, reference: &str) -> String {
        String::from_utf8(parsed(base).resolve(parsed(reference)).text()).unwrap()
    }

    #[test]
    fn the_request_line_escapes_the_path_alone() {
        let uri = |text: &str| String::from_utf8(parsed(text).request_uri()).unwrap();
        assert_eq!(uri("/a b?c d"), "/a%20b?c d");
        assert_eq!(uri("/[a]"), "/[a]");
        assert_eq!(uri("?a"), "/?a");
        assert_eq!(uri("/n?"), "/n?");
        assert_eq!(uri("http://h"), "/");
        assert_eq!(uri("http:x"), "x");
        assert_eq!(Url::of_path(b"/%zz?a=b").request_uri(), b"/%25zz%3Fa=b");
    }

    #[test]
    fn references_are_resolved() {
        assert_eq!(resolved("http://h/a/b/c", "new"), "http://h/a/b/new");
        assert_eq!(resolved("http://h/a/b/c/", "../n"), "http://h/a/b/n");
        assert_eq!(resolved("http://h/", "../../new"), "http://h/new");
        assert_eq!(resolved("http://h/?q#f", "#g"), "http://h/?q#g");
        assert_eq!(resolved("http://h/?q#f", "?"), "http://h/?");
        assert_eq!(resolved("http://h", "//o/x"), "http://o/x");
        assert_eq!(resolved("http://u:p@h/", "/x"), "http://u:p@h/x");
        assert_eq!(resolved("http://h/a//b", "c/."), "http://h/a//c/");
        assert_eq!(resolved("http://h/a", "mailto:x"), "mailto:x");
        assert_eq!(resolved("http://h/a", "./b:c"), "http://h/b:c");
    }

    #[test]
    fn what_does_not_parse_is_told() {
        let error = |text: &str| Url::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error("/%zz"), r#"parse "/%zz": invalid URL escape "%zz""#);
        assert_eq!(error("http://a b/"), r#"parse "http://a b/": invalid character " " in host name"#);
        assert_eq!(error("http://[::1/n"), r#"parse "http://[::1/n": missing ']' in host"#);
        assert_eq!(error("http://h:1:80/"), r#"parse "http://h:1:80/": invalid port ":1:80" after host"#);
        assert_eq!(error(":x"), r#"parse ":x": missing protocol scheme"#);
        assert_eq!(error("1:x"), r#"parse "1:x": first path segment in URL cannot contain colon"#);
        assert_eq!(error("/a\tb"), r#"parse "/a\tb": net/url: invalid control character in URL"#);
        assert_eq!(error("//u^@h"), r#"parse "//u^@h": net/url: invalid userinfo"#);
    }

    #[test]
    fn passwords_are_not_told() {
        let url = parsed("http://u:p@h/x");
        assert_eq!(url.text_without_password(), b"http://u:***@h/x");
        assert_eq!(url.text_without_user(), b"http://h/x");
        assert_eq!(parsed("http://u@h/x").text_without_password(), b"http://u@h/x");
    }

    #[test]
    fn host_and_port() {
        let split = |text: &str| {
            let url = parsed(text);
            (String::from_utf8_lossy(url.host_name()).into_owned(), String::from_utf8_lossy(url.port()).into_owned())
        };
        assert_eq!(split("http://[::1]:80/"), ("::1".into(), "80".into()));
        assert_eq!(split("http://[fe80::1%25lo]"), ("fe80::1%lo".into(), String::new()));
        assert_eq!(split("http://h:/"), ("h".into(), String::new()));
        assert_eq!(split("http://:80"), (String::new(), "80".into()));
    }

    proptest! {
        #[test]
        fn what_was_parsed_parses_again(text in "(http:)?(//)?[a-z0-9:/?#@%.\\[\\] é]{0,20}") {
            if let Ok(url) = Url::parse(text.as_bytes())
                && let Ok(again) = Url::parse(&url.text())
            {
                prop_assert_eq!(again.text(), url.text());
            }
        }

        #[test]
        fn any_reference_resolves(base: Vec<u8>, reference: Vec<u8>) {
            if let (Ok(base), Ok(reference)) = (Url::parse(&base), Url::parse(&reference)) {
                base.resolve(reference).text();
            }
        }
    }
}
