//! Certificates that are cut and changed. The differential test compares them with Go's parser.

use proptest::prelude::*;

use super::*;

fn certificate() -> Vec<u8> {
    rcgen::generate_simple_self_signed(["target".to_owned()]).unwrap().cert.der().to_vec()
}

#[test]
fn a_certificate_is_parsed_whole_and_alone() {
    let good = certificate();
    assert_eq!(parse(&good).unwrap().kind, Kind::Ecdsa(Curve::P256));
    assert_eq!(parse(&[&good[..], &[0]].concat()).unwrap_err(), "x509: trailing data");
    for length in 0..good.len() {
        assert_eq!(parse(&good[..length]).unwrap_err(), "x509: malformed certificate");
    }
}

#[test]
fn a_point_is_on_its_curve() {
    let good = certificate();
    let key = parse(&good).unwrap().bytes.into_owned();
    let at = good.windows(key.len()).position(|window| window == key).unwrap();
    let with = |point: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + point.len()].copy_from_slice(point);
        parse(&changed).map(|_| ()).unwrap_err()
    };
    assert_eq!(with(&[2]), "ecdsa: invalid uncompressed public key");
    assert_eq!(with(&[4, 0xff, 0xff, 0xff, 0xff, 0xff]), "invalid P256 element encoding");
    assert_eq!(with(&[&key[..64], &[key[64] ^ 1]].concat()), "P256 point not on curve");
}

#[test]
fn octets_are_aligned_to_the_right() {
    let bits = |unused, octets: &'static [u8]| key::right_aligned(unused, octets).into_owned();
    assert_eq!(bits(0, &[0x12, 0x34]), [0x12, 0x34]);
    assert_eq!(bits(4, &[0x12, 0x30]), [0x01, 0x23]);
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(place: prop::sample::Index, bytes: Vec<u8>) {
        let _ = parse(&bytes);
        let good = certificate();
        let at = place.index(good.len());
        let end = (at + bytes.len()).min(good.len());
        let _ = parse(&[&good[..at], &bytes, &good[end..]].concat());
    }
}
