//! `/etc/resolv.conf` as Go reads it (`net.dnsReadConfig`, Go 1.26).

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use probelet_golang::text::join_host_port;

use crate::net::host::{Literal, is_onion};

/// The servers to ask, and for which names.
#[derive(Debug)]
pub(super) struct ResolvConf {
    pub(super) servers: Vec<Server>,
    /// Suffixes for short names; each ends with a dot.
    search: Vec<String>,
    /// Names with so many dots are asked for as they are first.
    dots: usize,
    /// For one question to one server.
    pub(super) timeout: Duration,
    /// How often each server is asked.
    pub(super) attempts: usize,
    /// Where to begin among the servers, if each look-up begins with another one.
    rotation: Option<AtomicUsize>,
    /// Whether to ask for IPv6 addresses only after the IPv4 addresses have come.
    pub(super) is_one_by_one: bool,
    pub(super) is_tcp_only: bool,
    pub(super) trusts_ad: bool,
    /// Whether a line means something that Go leaves to the C library.
    pub(super) has_unknown: bool,
}

/// A name server, and how errors show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) shown: String,
}

impl Server {
    fn parse(host: &str) -> Option<Self> {
        let literal = Literal::parse(host)?;
        Some(Self { address: literal.target(PORT), shown: join_host_port(host, PORT) })
    }
}

impl ResolvConf {
    /// Reads the file's text; `hostname` gives the suffix if the file has none.
    pub(super) fn parse(text: &str, hostname: &str) -> Self {
        let mut conf = Self {
            servers: Vec::new(),
            search: Vec::new(),
            dots: 1,
            timeout: Duration::from_secs(5),
            attempts: 2,
            rotation: None,
            is_one_by_one: false,
            is_tcp_only: false,
            trusts_ad: false,
            has_unknown: false,
        };
        for line in text.lines().filter(|line| !line.starts_with([';', '#'])) {
            let mut words = line.split_ascii_whitespace();
            let Some(keyword) = words.next() else { continue };
            match keyword {
                "nameserver" if conf.servers.len() < SERVERS_MAX => {
                    conf.servers.extend(words.next().and_then(Server::parse));
                }
                "nameserver" | "lookup" => {}
                "domain" => conf.search = words.next().map(rooted).into_iter().collect(),
                "search" => conf.search = words.map(rooted).filter(|suffix| suffix != ".").collect(),
                "options" => words.for_each(|option| conf.option(option)),
                _ => conf.has_unknown = true,
            }
        }
        if conf.servers.is_empty() {
            conf.servers = ["127.0.0.1", "::1"].iter().filter_map(|host| Server::parse(host)).collect();
        }
        if conf.search.is_empty() {
            let domain = hostname.split_once('.').map(|(_, domain)| domain).filter(|domain| !domain.is_empty());
            conf.search.extend(domain.map(rooted));
        }
        conf
    }

    fn option(&mut self, option: &str) {
        let number = |text: &str| {
            let digits = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            digits.parse::<usize>().unwrap_or(0)
        };
        match option.split_once(':') {
            Some(("ndots", dots)) => self.dots = number(dots).min(DOTS_MAX),
            Some(("timeout", seconds)) => {
                self.timeout = Duration::from_secs(number(seconds).clamp(1, LARGE) as u64);
            }
            Some(("attempts", attempts)) => self.attempts = number(attempts).clamp(1, LARGE),
            _ => match option {
                "rotate" => self.rotation = Some(AtomicUsize::new(0)),
                "single-request" | "single-request-reopen" => self.is_one_by_one = true,
                "use-vc" | "usevc" | "tcp" => self.is_tcp_only = true,
                "trust-ad" => self.trusts_ad = true,
                "edns0" | "no-reload" => {}
                _ => self.has_unknown = true,
            },
        }
    }

    /// The servers in the order in which one look-up asks them.
    pub(super) fn servers(&self) -> impl Iterator<Item = &Server> {
        let first = self.rotation.as_ref().map_or(0, |rotation| rotation.fetch_add(1, Ordering::Relaxed));
        let count = self.servers.len();
        self.servers.iter().cycle().skip(first % count).take(count)
    }

    /// The full names to ask for, one after the other (`net.dnsConfig.nameList`).
    pub(super) fn full_names(&self, name: &str) -> Vec<String> {
        if name.ends_with('.') {
            return if is_onion(name) { Vec::new() } else { vec![name.to_owned()] };
        }
        let full = format!("{name}.");
        let suffixed = self.search.iter().map(|suffix| format!("{full}{suffix}"));
        let mut names: Vec<_> = suffixed.filter(|name| name.len() <= FULL_NAME_BYTES_MAX).collect();
        let is_first = name.bytes().filter(|&byte| byte == b'.').count() >= self.dots;
        names.insert(if is_first { 0 } else { names.len() }, full);
        names.retain(|name| !is_onion(name));
        names
    }
}

fn rooted(name: &str) -> String {
    if name.ends_with('.') { name.to_owned() } else { format!("{name}.") }
}

const PORT: u16 = 53;
const SERVERS_MAX: usize = 3;
const DOTS_MAX: usize = 15;
/// Larger than any sensible option.
const LARGE: usize = 1_000_000;
/// The longest name in the wire format of DNS, with the dot at its end.
const FULL_NAME_BYTES_MAX: usize = 254;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_node_has() {
        let text = "# made by a tool\nnameserver 10.96.0.10\nnameserver fe80::1%lo\nnameserver bad\n\
                    search default.svc.cluster.local svc.cluster.local. .\noptions ndots:5 timeout:2x attempts:0";
        let conf = ResolvConf::parse(text, "node.example");
        let shown: Vec<_> = conf.servers().map(|server| &*server.shown).collect();
        assert_eq!(shown, ["10.96.0.10:53", "[fe80::1%lo]:53"]);
        assert_eq!((conf.timeout, conf.attempts, conf.has_unknown), (Duration::from_secs(2), 1, false));
        let names = ["web.default.svc.cluster.local.", "web.svc.cluster.local.", "web."];
        assert_eq!(conf.full_names("web"), names);
        assert_eq!(conf.full_names("a.b.c.d.e.f")[0], "a.b.c.d.e.f.");
        assert_eq!(conf.full_names("web."), ["web."]);
        assert_eq!(conf.full_names("a.onion"), ["a.onion.default.svc.cluster.local.", "a.onion.svc.cluster.local."]);
    }

    #[test]
    fn an_empty_file_means_this_machine_and_its_domain() {
        let conf = ResolvConf::parse("", "node.example.org");
        assert_eq!(conf.servers().map(|server| &*server.shown).collect::<Vec<_>>(), ["127.0.0.1:53", "[::1]:53"]);
        assert_eq!(conf.full_names("web"), ["web.example.org.", "web."]);
        assert_eq!(ResolvConf::parse("", "node").full_names("web"), ["web."]);
    }

    #[test]
    fn options() {
        let conf =
            ResolvConf::parse("nameserver ::1\nnameserver ::2\noptions rotate use-vc single-request trust-ad", "");
        assert!(conf.is_tcp_only && conf.is_one_by_one && conf.trusts_ad && !conf.has_unknown);
        let first = || conf.servers().next().unwrap().shown.clone();
        assert_eq!([first(), first(), first()], ["[::1]:53", "[::2]:53", "[::1]:53"]);
        for unknown in ["options inet6", "sortlist 10.0.0.0"] {
            assert!(ResolvConf::parse(unknown, "").has_unknown, "{unknown}");
        }
    }
}
