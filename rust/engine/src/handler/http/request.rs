//! A GET request as the kubelet sends it (kubelet pkg/probe/http/request.go, 1.36, and net/http of Go 1.26).

use std::borrow::Cow;

use probelet_core::semantics::Go;
use probelet_core::spec::HttpGet;
use probelet_golang::base64::base64;
use probelet_golang::header::{Headers, has_word, is_token_byte, is_value_byte, lists};
use probelet_golang::punycode::host_to_ascii;
use probelet_golang::text::{join_host_port, quote};
use probelet_golang::url::{HostRules, Url};

/// One request of a probe; each redirect makes another.
#[derive(Clone, Debug)]
pub(super) struct Request<'a> {
    pub(super) url: Url,
    /// The Host line, if it differs from the URL's host; empty otherwise.
    pub(super) host: Vec<u8>,
    pub(super) headers: Headers<'a>,
}

/// The rules about hosts of the kubelet's Go.
pub(super) const fn hosts_of(go: Go) -> HostRules {
    match go {
        Go::V1_24 => HostRules::V1_24,
        Go::V1_25 => HostRules::V1_25,
        Go::V1_26 => HostRules::V1_26,
    }
}

impl<'a> Request<'a> {
    /// Builds the request of a probe (request.go:NewRequestForHTTPGetAction, 1.36).
    ///
    /// # Errors
    /// The text of the prober error, if the URL that was written cannot be parsed.
    pub(super) fn of_probe(
        get: &'a HttpGet,
        host: &str,
        port: u16,
        user_agent: &'a str,
        go: Go,
    ) -> Result<Self, String> {
        // The kubelet writes a URL and parses it again. So does this code, because the result may differ.
        let mut url = Url::parse(get.path.as_bytes()).unwrap_or_else(|_| Url::of_path(get.path.as_bytes()));
        url.scheme = if get.scheme.is_empty() { b"http".to_vec() } else { get.scheme.to_lowercase().into_bytes() };
        url.host = join_host_port(host, port).into_bytes();
        let url = Url::parse_by(&url.text(), hosts_of(go))?;
        let headers = headers_of(get, user_agent);
        Ok(Self { url, host: headers.first("Host").to_vec(), headers })
    }

    /// The text of a transport error, which names the URL.
    pub(super) fn failure_text(&self, error: &str) -> String {
        failure_text(&self.url.text_without_password(), error)
    }

    /// The error of a request that Go refuses before it dials (`Client.send` and `Transport.roundTrip`).
    pub(super) fn refused(&self) -> Option<String> {
        let scheme = &self.url.scheme;
        if scheme != b"http" && scheme != b"https" {
            return Some(format!("unsupported protocol scheme {}", quote(scheme)));
        }
        for (name, value) in self.headers.lines() {
            if name.is_empty() || !name.bytes().all(is_token_byte) {
                return Some(format!("net/http: invalid header field name {}", quote(name.as_bytes())));
            }
            if !value.iter().copied().all(is_value_byte) {
                return Some(format!("net/http: invalid header field value for {}", quote(name.as_bytes())));
            }
        }
        self.url.host.is_empty().then(|| "http: no Host in request URL".to_owned())
    }

    /// The error that keeps Go from writing the Host line once it has a connection (`Request.write`).
    pub(super) fn unwritable(&self) -> Option<String> {
        self.host_in_ascii().err()
    }

    /// The fields to send. The authorization from the URL's name and password is added only here (`http.send`), so that
    /// a redirect does not take it along.
    pub(super) fn fields(&self) -> Cow<'_, Headers<'a>> {
        let Some(value) = self.authorization() else { return Cow::Borrowed(&self.headers) };
        let mut headers = self.headers.clone();
        headers.set("Authorization", value);
        Cow::Owned(headers)
    }

    /// The authorization from the URL's name and password; None if a header gives one.
    pub(super) fn authorization(&self) -> Option<Vec<u8>> {
        let user = self.url.user.as_ref().filter(|_| self.headers.first("Authorization").is_empty())?;
        let pair = [&user.name[..], b":", user.password.as_deref().unwrap_or_default()].concat();
        Some(format!("Basic {}", base64(&pair)).into_bytes())
    }

    /// Writes the request as HTTP/1.1 (`Request.write`).
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend_from_slice(b"GET ");
        bytes.extend(self.url.request_uri());
        bytes.extend_from_slice(b" HTTP/1.1\r\nHost: ");
        bytes.extend_from_slice(&self.host_line());
        bytes.extend_from_slice(b"\r\n");
        let headers = self.fields();
        let user_agent = headers.first("User-Agent");
        if !user_agent.is_empty() {
            push_line(bytes, "User-Agent", user_agent);
        }
        for (name, value) in headers.lines().filter(|(name, _)| !WRITTEN_ELSEWHERE.contains(name)) {
            push_line(bytes, name, value);
        }
        if !has_word(self.headers.first("Connection"), b"close") && !self.asks_for_upgrade() {
            bytes.extend_from_slice(b"Connection: close\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
    }

    /// The host of the Host line. It is empty if it would hold a character that is not allowed there, so that nothing
    /// can be smuggled in. A zone (`%eth0`) is local, so it is left out.
    pub(super) fn host_line(&self) -> Cow<'_, [u8]> {
        self.authority().map_or(b"".into(), without_zone)
    }

    /// The host in ASCII; None if it holds a character that is not allowed (`httpguts.ValidHostHeader`).
    pub(super) fn authority(&self) -> Option<Cow<'_, [u8]>> {
        let host = self.host_in_ascii().ok()?;
        host.iter().all(|byte| byte.is_ascii_alphanumeric() || HOST_BYTES.contains(byte)).then_some(host)
    }

    fn host_in_ascii(&self) -> Result<Cow<'_, [u8]>, String> {
        let host = if self.host.is_empty() { &self.url.host } else { &self.host };
        match std::str::from_utf8(host) {
            Ok(text) if !text.is_ascii() => Ok(host_to_ascii(text)?.into_bytes().into()),
            _ => Ok(host.into()),
        }
    }

    /// Whether the probe asks for a websocket; Go then does not offer HTTP/2 (`Request.requiresHTTP1`).
    pub(super) fn requires_http1(&self) -> bool {
        has_word(self.headers.first("Connection"), b"upgrade")
            && self.headers.first("Upgrade").eq_ignore_ascii_case(b"websocket")
    }

    /// Whether the probe asks to leave HTTP (`http.isProtocolSwitchHeader`).
    fn asks_for_upgrade(&self) -> bool {
        let connection = self.headers.all("Connection").iter().map(|value| &**value);
        !self.headers.first("Upgrade").is_empty() && lists(connection, b"Upgrade")
    }
}

/// The text of Go's `url.Error` for a GET.
pub(super) fn failure_text(url: &[u8], error: &str) -> String {
    format!("Get {}: {error}", quote(url))
}

/// The probe's fields under canonical names (request.go:v1HeaderToHTTPHeader and newProbeRequest, 1.36).
fn headers_of<'a>(get: &'a HttpGet, user_agent: &'a str) -> Headers<'a> {
    let mut headers = Headers::default();
    for (name, value) in &get.headers {
        headers.add(name, value.as_bytes());
    }
    if !headers.has("User-Agent") {
        headers.set("User-Agent", user_agent.as_bytes());
    }
    if !headers.has("Accept") {
        headers.set("Accept", &b"*/*"[..]);
    } else if headers.first("Accept").is_empty() {
        headers.remove("Accept");
    }
    headers
}

fn push_line(bytes: &mut Vec<u8>, name: &str, value: &[u8]) {
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value.trim_ascii());
    bytes.extend_from_slice(b"\r\n");
}

/// The host without its zone (`http.removeZone`).
fn without_zone(host: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let position = |text: &[u8], byte| text.iter().rposition(|&other| other == byte);
    if !host.starts_with(b"[") {
        return host;
    }
    match position(&host, b']').and_then(|end| position(&host[..end], b'%').map(|zone| (zone, end))) {
        Some((zone, end)) => [&host[..zone], &host[end..]].concat().into(),
        None => host,
    }
}

/// Fields that `Request.write` writes itself or never (`http.reqWriteExcludeHeader`).
const WRITTEN_ELSEWHERE: [&str; 5] = ["Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer"];
/// The bytes that a Host line may hold beside letters and digits (`httpguts.validHostByte`).
const HOST_BYTES: &[u8] = b"!$%&()*+,-.:;='[]_~";

#[cfg(test)]
mod tests {
    use probelet_core::spec::IntOrString;

    use super::*;

    fn get(path: &str, headers: &[(&str, &str)]) -> HttpGet {
        HttpGet {
            scheme: "HTTP".into(),
            host: "".into(),
            port: IntOrString::Int(80),
            path: path.into(),
            headers: headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            http2: false,
        }
    }

    fn written(get: &HttpGet) -> String {
        let request = Request::of_probe(get, "10.0.0.1", 80, "kube-probe/1.36", Go::default()).unwrap();
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_plain_probe() {
        assert_eq!(
            written(&get("/healthz?a=b", &[])),
            "GET /healthz?a=b HTTP/1.1\r\nHost: 10.0.0.1:80\r\nUser-Agent: kube-probe/1.36\r\nAccept: */*\r\n\
             Connection: close\r\n\r\n"
        );
    }

    #[test]
    fn fields_of_the_probe() {
        let text = written(&get("/", &[("x-b", "\t2 "), ("Host", "a b"), ("User-Agent", ""), ("connection", "Close")]));
        assert_eq!(text, "GET / HTTP/1.1\r\nHost: \r\nAccept: */*\r\nConnection: Close\r\nX-B: 2\r\n\r\n");
    }

    #[test]
    fn zones_are_left_out_of_the_host_line() {
        for (host, line) in [("[fe80::1%25lo]:80", "[fe80::1]:80"), ("[fe80::1%lo]", "[fe80::1]"), ("a%b", "a%b")] {
            assert!(written(&get("/", &[("Host", host)])).contains(&format!("\r\nHost: {line}\r\n")));
        }
    }
}
