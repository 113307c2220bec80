//! A request's header fields in HTTP/2 (golang.org/x/net/internal/httpcommon.EncodeHeaders, v0.49).

use probelet_golang::http2::write_field;
use probelet_golang::text::{quote, quote_list};

use crate::handler::http::request::Request;

/// Encodes the request's fields.
///
/// # Errors
/// Go's text for a request that it refuses to send.
pub(super) fn message(request: &Request<'_>) -> Result<Vec<u8>, String> {
    refuse_hop_by_hop(request)?;
    let authority = request.authority().ok_or("http2: invalid Host header")?;
    let mut block = Vec::new();
    write_field(&mut block, b":authority", &authority);
    write_field(&mut block, b":method", b"GET");
    write_field(&mut block, b":path", &path(request, &authority)?);
    write_field(&mut block, b":scheme", &request.url.scheme);
    let headers = request.fields();
    for (name, value) in headers.lines().filter(|(name, _)| !NOT_SENT.contains(name)) {
        if name == "Cookie" {
            cookies(value).for_each(|cookie| write_field(&mut block, b"cookie", cookie));
        } else {
            write_field(&mut block, name.to_ascii_lowercase().as_bytes(), value);
        }
    }
    let user_agent = headers.first("User-Agent");
    if !user_agent.is_empty() {
        write_field(&mut block, b"user-agent", user_agent);
    }
    Ok(block)
}

/// Refuses hop-by-hop fields (`httpcommon.checkConnHeaders`).
fn refuse_hop_by_hop(request: &Request<'_>) -> Result<(), String> {
    for (name, allowed) in [("Upgrade", &["chunked"][..]), ("Transfer-Encoding", &["chunked"]), ("Connection", &KEPT)] {
        let values = request.headers.all(name);
        let is_fine =
            |value: &[u8]| value.is_empty() || allowed.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(value));
        let is_one = name == "Upgrade" || values.len() <= 1;
        if !values.first().is_none_or(|value| is_fine(value)) || !is_one {
            let values = quote_list(values.iter().map(|value| &**value));
            return Err(format!("http2: invalid {name} request header: {values}"));
        }
    }
    Ok(())
}

/// The path unchanged; it must begin with a slash.
fn path(request: &Request<'_>, authority: &[u8]) -> Result<Vec<u8>, String> {
    let uri = request.url.request_uri();
    let is_path = |path: &[u8]| path.starts_with(b"/") || path == b"*";
    if is_path(&uri) {
        return Ok(uri);
    }
    let origin = [&request.url.scheme[..], b"://", authority].concat();
    match uri.strip_prefix(&origin[..]).filter(|path| is_path(path)) {
        Some(path) => Ok(path.to_vec()),
        None => Err(format!("http2: invalid request :path {}", quote(&uri))),
    }
}

/// Splits a Cookie header, because each cookie is a field of its own.
fn cookies(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let value = rest.take()?;
        match value.iter().position(|&byte| byte == b';') {
            Some(end) => {
                let spaces = value[end + 1..].iter().take_while(|&&byte| byte == b' ').count();
                rest = Some(&value[end + 1 + spaces..]);
                Some(&value[..end])
            }
            None => (!value.is_empty()).then_some(value),
        }
    })
}

/// Fields that HTTP/2 does not use, and User-Agent, which is sent only once.
const NOT_SENT: [&str; 8] = [
    "Connection",
    "Content-Length",
    "Host",
    "Keep-Alive",
    "Proxy-Connection",
    "Transfer-Encoding",
    "Upgrade",
    "User-Agent",
];
const KEPT: [&str; 2] = ["close", "keep-alive"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_one_by_one() {
        let split = |value: &'static str| cookies(value.as_bytes()).collect::<Vec<_>>();
        assert_eq!(split("a=1; b=2;c"), [&b"a=1"[..], b"b=2", b"c"]);
        assert_eq!(split("a;  "), [&b"a"[..]]);
        assert_eq!(split(";"), [&b""[..]]);
    }
}
