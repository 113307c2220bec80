//! The order in which addresses are tried (RFC 6724, as `net.sortByRFC6724` has it, Go 1.26).

use std::cmp::Ordering;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// Sorts addresses, best first; addresses that are equally good keep their order.
pub(super) fn sort(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    if addresses.len() < 2 {
        return addresses;
    }
    let mut sorted: Vec<_> = addresses.into_iter().map(|address| Candidate::new(address, source(address))).collect();
    sorted.sort_by(Candidate::compare);
    sorted.into_iter().map(|candidate| candidate.address).collect()
}

/// The address that this machine would use towards `address`; None if it has no route. Sends nothing.
fn source(address: SocketAddr) -> Option<IpAddr> {
    let any: IpAddr = if address.is_ipv4() { [0; 4].into() } else { [0; 16].into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    let mut there = address;
    there.set_port(ROUTE_PORT);
    socket.connect(there).ok()?;
    Some(socket.local_addr().ok()?.ip().to_canonical())
}

/// An address with what decides about it.
#[derive(Debug)]
struct Candidate {
    address: SocketAddr,
    attributes: Attributes,
    source: Option<(IpAddr, Attributes)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attributes {
    scope: u8,
    precedence: u8,
    label: u8,
}

impl Candidate {
    fn new(address: SocketAddr, source: Option<IpAddr>) -> Self {
        let attributes = Attributes::of(address.ip().to_canonical());
        Self { address, attributes, source: source.map(|source| (source, Attributes::of(source))) }
    }

    /// Which of two addresses comes first (RFC 6724, 6); Go leaves rules 3, 4 and 7 out.
    fn compare(&self, other: &Self) -> Ordering {
        let (a, b) = (&self.attributes, &other.attributes);
        let ((source_a, of_a), (source_b, of_b)) = match (&self.source, &other.source) {
            (Some(a), Some(b)) => (a, b),
            // Rule 1: an address without a route comes last.
            (a, b) => return b.is_some().cmp(&a.is_some()),
        };
        // Rules 2, 5, 6 and 8.
        let matching_scope = (b.scope == of_b.scope).cmp(&(a.scope == of_a.scope));
        let matching_label = (b.label == of_b.label).cmp(&(a.label == of_a.label));
        let by_attributes =
            matching_scope.then(matching_label).then(b.precedence.cmp(&a.precedence)).then(a.scope.cmp(&b.scope));
        // Rule 9, which Go applies to IPv6 only.
        by_attributes.then_with(|| {
            match (common_bits(*source_a, self.address.ip()), common_bits(*source_b, other.address.ip())) {
                (Some(a), Some(b)) => b.cmp(&a),
                _ => Ordering::Equal,
            }
        })
    }
}

impl Attributes {
    fn of(ip: IpAddr) -> Self {
        let bits = match ip {
            IpAddr::V4(ip) => u128::from(ip.to_ipv6_mapped()),
            IpAddr::V6(ip) => u128::from(ip),
        };
        let is_within = |&&(prefix, length, ..): &&Policy| length == 0 || (bits ^ prefix) >> (128 - length) == 0;
        let &(_, _, precedence, label) = POLICIES.iter().find(is_within).expect("the last one holds every address");
        Self { scope: scope(ip), precedence, label }
    }
}

/// RFC 6724, 3.1.
fn scope(ip: IpAddr) -> u8 {
    match ip {
        ip if ip.is_loopback() => LINK_LOCAL,
        IpAddr::V4(ip) if ip.is_link_local() => LINK_LOCAL,
        IpAddr::V6(ip) if ip.is_unicast_link_local() => LINK_LOCAL,
        IpAddr::V6(ip) if ip.is_multicast() => ip.octets()[1] & 0xf,
        IpAddr::V6(ip) if ip.octets()[0] == 0xfe && ip.octets()[1] & 0xc0 == 0xc0 => SITE_LOCAL,
        _ => GLOBAL,
    }
}

/// How many of the first 64 bits two IPv6 addresses share; None unless both are IPv6 addresses.
fn common_bits(source: IpAddr, address: IpAddr) -> Option<u32> {
    let (IpAddr::V6(source), IpAddr::V6(address)) = (source, address.to_canonical()) else { return None };
    Some((u128::from(source) ^ u128::from(address)).leading_zeros().min(64))
}

/// A prefix, its length in bits, its precedence and its label.
type Policy = (u128, u32, u8, u8);

const LINK_LOCAL: u8 = 0x2;
const SITE_LOCAL: u8 = 0x5;
const GLOBAL: u8 = 0xe;
/// Any port will do to ask for a route; Go takes this one.
const ROUTE_PORT: u16 = 53;
/// RFC 6724, 2.1, the longest prefix first.
const POLICIES: [Policy; 9] = [
    (1, 128, 50, 0),
    (0xffff_0000_0000, 96, 35, 4),
    (0, 96, 1, 3),
    (0x2001 << 112, 32, 5, 5),
    (0x2002 << 112, 16, 30, 2),
    (0x3ffe << 112, 16, 1, 12),
    (0xfec0 << 112, 10, 1, 11),
    (0xfc00 << 112, 7, 3, 13),
    (0, 0, 40, 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(candidates: &[(&str, &str)]) -> Vec<String> {
        let mut candidates: Vec<_> = candidates
            .iter()
            .map(|(address, source)| Candidate::new(SocketAddr::new(address.parse().unwrap(), 0), source.parse().ok()))
            .collect();
        candidates.sort_by(Candidate::compare);
        candidates.iter().map(|candidate| candidate.address.ip().to_string()).collect()
    }

    /// The examples of RFC 6724, 10.2, as Go's own test has them.
    #[test]
    fn examples_of_the_standard() {
        for [first, second] in [
            [("2001:db8:1::1", "2001:db8:1::2"), ("198.51.100.121", "169.254.13.78")],
            [("198.51.100.121", "198.51.100.117"), ("2001:db8:1::1", "fe80::1")],
            [("2001:db8:1::1", "2001:db8:1::2"), ("10.1.2.3", "10.1.2.4")],
            [("fe80::1", "fe80::2"), ("2001:db8:1::1", "2001:db8:1::2")],
            [("2001:db8:1::1", "2001:db8:1::2"), ("2001:db8:3ffe::1", "2001:db8:3f44::2")],
        ] {
            let expected = [first.0, second.0];
            assert_eq!(sorted(&[first, second]), expected);
            assert_eq!(sorted(&[second, first]), expected);
        }
    }

    #[test]
    fn an_address_without_a_route_comes_last_and_equals_keep_their_order() {
        assert_eq!(sorted(&[("2001:db8::1", ""), ("10.0.0.1", "10.0.0.9")]), ["10.0.0.1", "2001:db8::1"]);
        assert_eq!(sorted(&[("10.0.0.2", "10.0.0.9"), ("10.0.0.1", "10.0.0.9")]), ["10.0.0.2", "10.0.0.1"]);
        let local = sort(vec!["127.0.0.1:0".parse().unwrap(), "[::1]:0".parse().unwrap()]);
        assert_eq!(local.len(), 2);
    }
}
