//! Go's texts: the kubelet's outputs are Go error texts, so ours are too.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use super::printable::is_print;

/// `strconv.Quote`: what `%q` prints of the first [`TEXT_BYTES_MAX`] bytes.
pub fn quote(text: &[u8]) -> String {
    quote_whole(&text[..text.len().min(TEXT_BYTES_MAX)])
}

/// As [`quote`], without its bound: for texts that no peer sent. A byte that is not UTF-8 becomes `\xNN`.
pub fn quote_whole(text: &[u8]) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for chunk in text.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push_quoted(&mut quoted, c));
        chunk.invalid().iter().for_each(|byte| push_formatted(&mut quoted, format_args!("\\x{byte:02x}")));
    }
    quoted.push('"');
    quoted
}

fn push_quoted(quoted: &mut String, c: char) {
    match c {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        '\u{7}' => quoted.push_str("\\a"),
        '\u{8}' => quoted.push_str("\\b"),
        '\u{c}' => quoted.push_str("\\f"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        '\u{b}' => quoted.push_str("\\v"),
        ' '..='~' => quoted.push(c),
        '\0'..='\u{1f}' | '\u{7f}' => push_formatted(quoted, format_args!("\\x{:02x}", c as u32)),
        _ if is_print(c) => quoted.push(c),
        '\u{80}'..='\u{ffff}' => push_formatted(quoted, format_args!("\\u{:04x}", c as u32)),
        _ => push_formatted(quoted, format_args!("\\U{:08x}", c as u32)),
    }
}

fn push_formatted(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("a String takes everything");
}

/// A `[]string` as `%q` prints it.
pub fn quote_list<'a>(texts: impl Iterator<Item = &'a [u8]>) -> String {
    let quoted: Vec<_> = texts.map(quote).collect();
    format!("[{}]", quoted.join(" "))
}

/// `time.Duration.String` of whole seconds, because `timeoutSeconds` holds nothing finer.
pub fn seconds(length: i64) -> String {
    let sign = if length < 0 { "-" } else { "" };
    let all = length.unsigned_abs();
    let (hours, minutes, seconds) = (all / 3_600, all / 60 % 60, all % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, _) => format!("{sign}{minutes}m{seconds}s"),
        _ => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// `syscall.Errno.Error`: glibc's texts in lower case.
pub fn errno(number: i32) -> String {
    let with_number = std::io::Error::from_raw_os_error(number).to_string();
    let text = with_number.strip_suffix(&format!(" (os error {number})")).unwrap_or(&with_number);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// `net.TCPAddr.String` of one end of a connected socket: an IPv4 address within IPv6 is written as IPv4.
fn address(end: SocketAddr) -> String {
    match end.ip().to_canonical() {
        IpAddr::V4(ip) => format!("{ip}:{}", end.port()),
        IpAddr::V6(ip) => format!("[{ip}]:{}", end.port()),
    }
}

/// A transport, as `net.OpError` names it.
#[derive(Clone, Copy, Debug)]
pub enum Network {
    /// `tcp`.
    Tcp,
    /// `udp`.
    Udp,
}

/// `net.OpError` of a connection, such as `read tcp A->B: read: connection reset by peer`.
pub fn operation(network: Network, call: &str, local: Option<SocketAddr>, peer: SocketAddr, number: i32) -> String {
    format!("{}: {call}: {}", between(network, call, local, peer), errno(number))
}

/// `net.OpError` of a connection whose deadline has passed.
pub fn timed_out(network: Network, call: &str, local: Option<SocketAddr>, peer: SocketAddr) -> String {
    format!("{}: i/o timeout", between(network, call, local, peer))
}

fn between(network: Network, call: &str, local: Option<SocketAddr>, peer: SocketAddr) -> String {
    let network = match network {
        Network::Tcp => "tcp",
        Network::Udp => "udp",
    };
    let local = local.map_or_else(String::new, address);
    format!("{call} {network} {local}->{}", address(peer))
}

/// `net.JoinHostPort`.
pub fn join_host_port(host: &str, port: impl std::fmt::Display) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// The host in an address; the error says what is wrong with the address (`net.SplitHostPort`).
pub fn host_of(address: &str) -> Result<&str, &'static str> {
    let colon = address.rfind(':').ok_or("missing port in address")?;
    // No '[' may stand in `within`, and no ']' in `behind`.
    let (host, within, behind) = match address.strip_prefix('[') {
        Some(within) => {
            let end = address.find(']').ok_or("missing ']' in address")?;
            match &address[end + 1..] {
                port if end + 1 == colon => (&address[1..end], within, port),
                rest if rest.starts_with(':') => return Err("too many colons in address"),
                _ => return Err("missing port in address"),
            }
        }
        None => (&address[..colon], address, address),
    };
    match () {
        () if !address.starts_with('[') && host.contains(':') => Err("too many colons in address"),
        () if within.contains('[') => Err("unexpected '[' in address"),
        () if behind.contains(']') => Err("unexpected ']' in address"),
        () => Ok(host),
    }
}

/// The text of `strconv.NumError`.
pub fn number_error(call: &str, text: &str) -> String {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let why = if is_number { "value out of range" } else { "invalid syntax" };
    format!("strconv.{call}: parsing {}: {why}", quote(text.as_bytes()))
}

/// How many bytes of a text are quoted: as many as the kubelet keeps of a body. Go's own texts have no bound and quote
/// whole headers, up to 10 MiB.
pub const TEXT_BYTES_MAX: usize = 10_240;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_as_go_quotes() {
        assert_eq!(quote(b"a\"b\\c\x07\x08\x0c\n\r\t\x0b\x01\x7f\xff"), r#""a\"b\\c\a\b\f\n\r\t\v\x01\x7f\xff""#);
        assert_eq!(
            quote("é日\u{301}\u{200b}\u{e000}\u{10ffff}\u{a0}".as_bytes()),
            "\"é日\u{301}\\u200b\\ue000\\U0010ffff\\u00a0\""
        );
        assert_eq!(quote(b"\xe9\xe6\x97"), r#""\xe9\xe6\x97""#);
        assert_eq!(quote_list([&b"1"[..], b"2"].into_iter()), r#"["1" "2"]"#);
    }

    #[test]
    fn durations_as_go_prints_them() {
        assert_eq!([0, 1, 60, 90, 3_601, -1].map(seconds), ["0s", "1s", "1m0s", "1m30s", "1h0m1s", "-1s"]);
    }

    #[test]
    fn the_host_in_an_address() {
        for (address, host) in
            [("a:1", "a"), (":1", ""), ("[::1]:1", "::1"), ("[]:1", ""), ("[127.0.0.1]:1", "127.0.0.1")]
        {
            assert_eq!(host_of(address), Ok(host));
        }
        for (address, why) in [
            ("a", "missing port in address"),
            ("[[::1]]:1", "missing port in address"),
            ("[::1]1:1", "missing port in address"),
            ("[::1]", "missing port in address"),
            ("[::1]:1:1", "too many colons in address"),
            ("::1:1", "too many colons in address"),
            ("[::1:1", "missing ']' in address"),
            ("[[a:b]:1", "unexpected '[' in address"),
            ("a[b:1", "unexpected '[' in address"),
            ("a]b:1", "unexpected ']' in address"),
        ] {
            assert_eq!(host_of(address), Err(why), "{address}");
        }
    }

    #[test]
    fn error_numbers_in_lower_case() {
        assert_eq!(errno(libc::ECONNREFUSED), "connection refused");
        assert_eq!(errno(libc::EHOSTUNREACH), "no route to host");
        assert_eq!(errno(libc::EPIPE), "broken pipe");
    }
}
