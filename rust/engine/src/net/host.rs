//! Hosts as text: which are IP addresses, which could be names, and how errors show them.

use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};

use probelet_golang::netip;

/// An IP address of a host field: `netip.ParseAddr`, with the zone of a link-local address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    ip: IpAddr,
    zone: String,
}

impl Literal {
    /// None if the text is not an IP address. An IPv4 address within IPv6 becomes IPv4, as `net.IP.To4` sees it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (ip, zone) = netip::parse(text.as_bytes()).ok()?;
        Some(Self { ip: ip.to_canonical(), zone: text[text.len() - zone.len()..].to_owned() })
    }

    /// The address to connect to: an unspecified address means this machine (`net.internetSocket`, Go 1.26).
    pub(crate) fn target(&self, port: u16) -> SocketAddr {
        match self.ip {
            ip if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port),
            IpAddr::V4(ip) => SocketAddr::new(ip.into(), port),
            IpAddr::V6(ip) => SocketAddrV6::new(ip, port, 0, self.scope()).into(),
        }
    }

    /// Whether the address is one that [`Self::target`] keeps.
    pub(crate) const fn is_specified(&self) -> bool {
        !self.ip.is_unspecified()
    }

    /// How the address is shown in an error.
    pub(crate) fn shown(&self, port: u16) -> String {
        match self.ip {
            IpAddr::V4(ip) => format!("{ip}:{port}"),
            IpAddr::V6(ip) if self.zone.is_empty() => format!("[{ip}]:{port}"),
            IpAddr::V6(ip) => format!("[{ip}%{}]:{port}", self.zone),
        }
    }

    /// The interface's number: by name, or the number itself (`net.zoneCache.index`).
    fn scope(&self) -> u32 {
        let Ok(name) = CString::new(self.zone.as_str()) else { return 0 };
        // SAFETY: the pointer is to a string that ends in NUL and lives until the call returns.
        match unsafe { libc::if_nametoindex(name.as_ptr()) } {
            0 => self.zone.parse().unwrap_or(0),
            index => index,
        }
    }
}

impl From<SocketAddr> for Literal {
    fn from(address: SocketAddr) -> Self {
        Self { ip: address.ip().to_canonical(), zone: String::new() }
    }
}

/// Whether a resolver would be asked for this name at all (`net.isDomainName`, Go 1.26): `127.1` is not one.
pub(crate) fn is_domain_name(name: &str) -> bool {
    if name == "." {
        return true;
    }
    let Some(rooted) = name.strip_suffix('.').or(Some(name)) else { return false };
    if rooted.is_empty() || rooted.len() > NAME_BYTES_MAX {
        return false;
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= LABEL_BYTES_MAX
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    rooted.split('.').all(is_label) && rooted.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'.')
}

/// Whether the C library would take this for an IPv4 address in one of its older spellings, as Go does not: `0x7f.1`.
pub(crate) fn is_numeric(name: &str) -> bool {
    let is_number = |part: &str| match part.strip_prefix("0x").or(part.strip_prefix("0X")) {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()),
    };
    name.split('.').count() <= 4 && name.split('.').all(is_number)
}

/// Whether a name must never leave for a resolver (RFC 7686; `net.avoidDNS`, Go 1.26).
pub(crate) fn is_onion(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() >= ONION.len() && name.as_bytes()[name.len() - ONION.len()..].eq_ignore_ascii_case(ONION)
}

const ONION: &[u8] = b".onion";
/// The longest name in the wire format of DNS, without the dot at its end (RFC 1035).
const NAME_BYTES_MAX: usize = 253;
/// The longest label (RFC 1035).
const LABEL_BYTES_MAX: usize = 63;

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    #[test]
    fn what_is_an_address() {
        let shown = |text: &str| Literal::parse(text).map(|literal| literal.shown(1));
        assert_eq!(shown("127.0.0.1").as_deref(), Some("127.0.0.1:1"));
        assert_eq!(shown("::ffff:127.0.0.1").as_deref(), Some("127.0.0.1:1"));
        assert_eq!(shown("fe80::1%eth9").as_deref(), Some("[fe80::1%eth9]:1"));
        for not in ["127.1", "127.0.0.01", "", "a", "1.2.3.4%lo", "::1%", "[::1]"] {
            assert_eq!(shown(not), None, "{not}");
        }
    }

    #[test]
    fn the_unspecified_address_is_this_machine() {
        let target = |text| Literal::parse(text).unwrap().target(80);
        assert_eq!(target("0.0.0.0"), "127.0.0.1:80".parse().unwrap());
        assert_eq!(target("::"), "127.0.0.1:80".parse().unwrap());
        assert_eq!(target("::1%lo"), SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0, 1).into());
    }

    #[test]
    fn what_is_a_name() {
        for name in ["a", "a.b", "a.", "_a.b-c", "1a", ".", "0x1", "nosuch.onion"] {
            assert!(is_domain_name(name), "{name}");
        }
        let long = "a".repeat(64);
        for not in ["", "a..b", "-a", "a-", "a b", "127.1", "1", "..", "a/b", "é", &long, &"a.".repeat(128)] {
            assert!(!is_domain_name(not), "{not}");
        }
        assert!(is_numeric("0x7f.1") && is_numeric("0X7F000001") && !is_numeric("0x7g") && !is_numeric("a.1"));
        assert!(is_onion("a.ONION.") && is_onion(".onion") && !is_onion("onion"));
    }
}
