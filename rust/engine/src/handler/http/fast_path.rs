//! Writes the request of a plain probe without parsing its URL. A plain probe has a path that needs no escaping, an IP
//! address as its host, and no header fields of its own. Almost every probe is plain, and this takes a tenth of the
//! general way's time.

use std::net::SocketAddr;

use probelet_core::spec::HttpGet;
use probelet_golang::escape::{Part, must_escape};

use crate::net::host::Literal;

/// Writes the bytes that [`super::request::Request::write`] would write, and returns the address to send them to; None
/// if the probe is not plain.
pub(in crate::handler) fn write(
    get: &HttpGet,
    host: &str,
    port: u16,
    user_agent: &str,
    bytes: &mut Vec<u8>,
) -> Option<SocketAddr> {
    let target = target(get, host, port, user_agent)?;
    let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
    bytes.clear();
    // One piece after the other, because `write!` would take half as long as all of the request.
    bytes.extend_from_slice(b"GET ");
    bytes.extend_from_slice(get.path.as_bytes());
    bytes.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    bytes.extend_from_slice(open.as_bytes());
    bytes.extend_from_slice(host.as_bytes());
    bytes.extend_from_slice(close.as_bytes());
    bytes.push(b':');
    bytes.extend_from_slice(itoa::Buffer::new().format(port).as_bytes());
    bytes.extend_from_slice(b"\r\nUser-Agent: ");
    bytes.extend_from_slice(user_agent.as_bytes());
    bytes.extend_from_slice(b"\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    Some(target)
}

/// The address of a plain probe.
fn target(get: &HttpGet, host: &str, port: u16, user_agent: &str) -> Option<SocketAddr> {
    let is_plain = matches!(&*get.scheme, "" | "HTTP") && !get.http2 && get.headers.is_empty();
    if !is_plain || !is_verbatim(get.path.as_bytes()) || !is_sent_unchanged(user_agent) {
        return None;
    }
    // A zone (`%eth0`) is local; it must not appear in Host. An error names 0.0.0.0 and :: as they are.
    let literal = Literal::parse(host).filter(|literal| literal.is_specified() && !host.contains('%'))?;
    Some(literal.target(port))
}

/// Whether the path and its query appear in the request line unchanged. A path that begins with two slashes would name
/// a host.
fn is_verbatim(path: &[u8]) -> bool {
    let (path, query) = path.split_at(path.iter().position(|&byte| byte == b'?').unwrap_or(path.len()));
    path.first() == Some(&b'/')
        && path.get(1) != Some(&b'/')
        && path.iter().all(|&byte| PLAIN[usize::from(byte)])
        && query.iter().all(|&byte| byte.is_ascii_graphic() && byte != b'#')
}

/// The bytes that a path holds unescaped. A table, because every probe looks at every byte of its path.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        plain[byte] = !must_escape(byte as u8, Part::Path);
        byte += 1;
    }
    plain
};

fn is_sent_unchanged(user_agent: &str) -> bool {
    !user_agent.is_empty() && user_agent.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use probelet_core::semantics::Go;
    use probelet_core::spec::IntOrString;
    use proptest::prelude::*;

    use super::super::request::Request;
    use super::*;

    fn get(path: &str) -> HttpGet {
        HttpGet {
            scheme: "HTTP".into(),
            host: "".into(),
            port: IntOrString::Int(80),
            path: path.into(),
            headers: vec![],
            http2: false,
        }
    }

    fn written(path: &str, host: &str) -> Option<(SocketAddr, Vec<u8>)> {
        let mut bytes = b"of another probe".to_vec();
        write(&get(path), host, 80, "kube-probe/1.36", &mut bytes).map(|address| (address, bytes))
    }

    #[test]
    fn a_plain_probe() {
        let (address, bytes) = written("/healthz?a=b", "::1").unwrap();
        assert_eq!(address, "[::1]:80".parse().unwrap());
        let text = "GET /healthz?a=b HTTP/1.1\r\nHost: [::1]:80\r\nUser-Agent: kube-probe/1.36\r\nAccept: */*\r\n\
                    Connection: close\r\n\r\n";
        assert_eq!(bytes, text.as_bytes());
    }

    #[test]
    fn probes_that_are_not_plain() {
        for path in ["", "x", "//x", "/a b", "/%41", "/a#b", "/?a b", "/é", "/[a]", "/*"] {
            assert_eq!(written(path, "10.0.0.1"), None, "{path}");
        }
        for host in ["", "localhost", "::1%lo", "127.1", "0.0.0.0", "::"] {
            assert_eq!(written("/", host), None, "{host}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_probe_has_the_bytes_of_the_general_way(path in "/[a-z0-9/?#%.:;=@~!$ ]{0,12}", v6 in any::<bool>()) {
            let host = if v6 { "2001:DB8::ffff:1.2.3.4" } else { "10.0.0.1" };
            if let Some((_, bytes)) = written(&path, host) {
                let get = get(&path);
                let request = Request::of_probe(&get, host, 80, "kube-probe/1.36", Go::default()).unwrap();
                let mut general = Vec::new();
                request.write(&mut general);
                prop_assert_eq!(request.refused(), None);
                prop_assert_eq!(request.authorization(), None);
                prop_assert_eq!(String::from_utf8(bytes), String::from_utf8(general));
            }
        }
    }
}
