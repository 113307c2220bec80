//! URLs as `net/url` reads, resolves and writes them (Go 1.26). Text is bytes, because a Location header may hold any.

mod parse;
mod resolve;
mod text;

use super::escape::{Part, escape, is_encoded, unescape};

/// A URL or a reference to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// The scheme in small letters; empty for a relative reference.
    pub scheme: Vec<u8>,
    /// What follows a scheme without a slash, such as `x` in `mailto:x`.
    opaque: Vec<u8>,
    /// The name and password before the host.
    pub user: Option<User>,
    /// `host` or `host:port`, unescaped.
    pub host: Vec<u8>,
    /// The path, unescaped.
    path: Vec<u8>,
    /// The path as it was written, if the default escaping would differ; empty otherwise.
    raw_path: Vec<u8>,
    query: Vec<u8>,
    /// Whether a question mark ends the URL.
    force_query: bool,
    fragment: Vec<u8>,
    raw_fragment: Vec<u8>,
    omit_host: bool,
}

/// The name and password before a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name, unescaped.
    pub name: Vec<u8>,
    /// The password, unescaped; None without a colon.
    pub password: Option<Vec<u8>>,
}

impl Url {
    /// A URL whose path is the whole text. The kubelet does this with a path that does not parse.
    pub fn of_path(text: &[u8]) -> Self {
        Self { path: text.to_vec(), ..Self::default() }
    }

    fn set_path(&mut self, written: &[u8]) -> Result<(), String> {
        self.path = unescape(written, Part::Path)?;
        self.raw_path = if escape(&self.path, Part::Path) == written { Vec::new() } else { written.to_vec() };
        Ok(())
    }

    /// Whether it has a scheme.
    pub fn is_absolute(&self) -> bool {
        !self.scheme.is_empty()
    }

    fn escaped_path(&self) -> Vec<u8> {
        if let Some(written) = as_written(&self.raw_path, &self.path, Part::Path) {
            return written.to_vec();
        }
        if self.path == b"*" { b"*".to_vec() } else { escape(&self.path, Part::Path) }
    }

    /// The host without port and brackets (`URL.Hostname`).
    pub fn host_name(&self) -> &[u8] {
        self.split_host().0
    }

    /// The port as written; empty if there is none (`URL.Port`).
    pub fn port(&self) -> &[u8] {
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
}

/// Which hosts a URL may have, by the release of Go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostRules {
    /// An address in brackets may have text before it, which is dropped.
    V1_24,
    /// The last colon is the port's.
    V1_25,
    /// The first colon of a host of HTTP is the port's.
    #[default]
    V1_26,
}

fn is_optional_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
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
    fn the_error_says_what_does_not_parse() {
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
    fn passwords_are_hidden() {
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

    #[test]
    fn hosts_of_older_releases_of_go() {
        let host = |text: &str, hosts| Url::parse_by(text.as_bytes(), hosts).map(|url| url.host);
        for older in [HostRules::V1_24, HostRules::V1_25] {
            assert_eq!(host("http://h:1:80/", older), Ok(b"h:1:80".to_vec()));
        }
        assert_eq!(Url::parse_by(b"http://h:1:80/", HostRules::V1_25).unwrap().host_name(), b"h:1");
        assert_eq!(host("http://[[::1]:80/", HostRules::V1_24), Ok(b"[::1]:80".to_vec()));
        let text = r#"parse "http://a[b:80/": missing ']' in host"#;
        assert_eq!(host("http://a[b:80/", HostRules::V1_24), Err(text.to_owned()));
        assert!(host("http://a]b[/", HostRules::V1_24).is_err());
        let text = r#"parse "http://[[::1]:80/": invalid IP-literal"#;
        assert_eq!(host("http://[[::1]:80/", HostRules::V1_25), Err(text.to_owned()));
        // A host of another scheme may list several hosts.
        assert_eq!(host("db://h:1:80/", HostRules::V1_26), Ok(b"h:1:80".to_vec()));
    }

    proptest! {
        #[test]
        fn the_text_of_a_parsed_url_parses_to_the_same_text(text in "(http:)?(//)?[a-z0-9:/?#@%.\\[\\] é]{0,20}") {
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
