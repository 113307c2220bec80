//! The public key of a certificate (`parsePublicKey`).

use std::borrow::Cow;
use std::ops::Range;

use p256::elliptic_curve::sec1::{EncodedPoint, FromEncodedPoint, ModulusSize};
use p256::elliptic_curve::{AffinePoint, CurveArithmetic, FieldBytesSize};

use super::algorithm::Algorithm;
use super::der::{Der, INTEGER, SEQUENCE, is_negative};
use super::error::ParseError;

/// A public key.
#[derive(Debug)]
pub struct PublicKey<'a> {
    /// What it is for.
    pub kind: Kind,
    /// The key as the certificate has it.
    pub bytes: Cow<'a, [u8]>,
}

/// What a public key is for, and what Go knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The place of the modulus within the bytes, without leading zeros, and the exponent.
    Rsa {
        /// The place of the modulus.
        modulus: Range<usize>,
        /// The exponent.
        exponent: i64,
    },
    /// The bytes are an uncompressed point, which is on the curve.
    Ecdsa(Curve),
    /// A key of Ed25519.
    Ed25519,
    /// A key of DSA, which verifies nothing in TLS.
    Dsa,
    /// Go keeps no key whose algorithm it does not know.
    Unknown,
}

/// A curve of ECDSA keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// secp224r1.
    P224,
    /// secp256r1.
    P256,
    /// secp384r1.
    P384,
    /// secp521r1.
    P521,
}

impl<'a> PublicKey<'a> {
    /// Parses the octets of a BIT STRING, whose last octet has so many bits that do not count.
    pub(super) fn parse(algorithm: &Algorithm<'_>, (unused, octets): (u8, &'a [u8])) -> Result<Self, ParseError> {
        let bytes = right_aligned(unused, octets);
        let parameters = algorithm.parameters;
        let kind = match algorithm.oid {
            RSA => rsa(parameters, &bytes)?,
            ECDSA => Kind::Ecdsa(ecdsa(parameters, &bytes)?),
            ED25519 if !parameters.is_empty() => {
                return Err("x509: Ed25519 key encoded with illegal parameters".into());
            }
            ED25519 if bytes.len() != 32 => return Err("x509: wrong Ed25519 public key size".into()),
            ED25519 => Kind::Ed25519,
            DSA => dsa(parameters, &bytes)?,
            _ => Kind::Unknown,
        };
        Ok(Self { kind, bytes })
    }

    /// The modulus of an RSA key (`PublicKey.N`).
    pub fn modulus(&self) -> &[u8] {
        match &self.kind {
            Kind::Rsa { modulus, .. } => &self.bytes[modulus.clone()],
            _ => &[],
        }
    }
}

/// How many bits a number has (`big.Int.BitLen`); it begins with no zero octet.
pub fn bits(number: &[u8]) -> usize {
    number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize)
}

/// `BitString.RightAlign`.
pub(super) fn right_aligned(unused: u8, octets: &[u8]) -> Cow<'_, [u8]> {
    if unused == 0 {
        return Cow::Borrowed(octets);
    }
    let mut before = 0;
    let shifted = octets.iter().map(|&octet| {
        let value = before << (8 - unused) | octet >> unused;
        before = octet;
        value
    });
    Cow::Owned(shifted.collect())
}

fn rsa(parameters: &[u8], key: &[u8]) -> Result<Kind, ParseError> {
    if parameters != NULL {
        return Err("x509: RSA key missing NULL parameters".into());
    }
    let mut rest = Der(key);
    let mut numbers = rest.element(SEQUENCE).ok_or("x509: invalid RSA public key")?;
    let modulus = numbers.integer(INTEGER).ok_or("x509: invalid RSA modulus")?;
    let end = key.len() - rest.0.len() - numbers.0.len();
    let exponent = numbers.int64(INTEGER).ok_or("x509: invalid RSA public exponent")?;
    let magnitude = modulus.strip_prefix(&[0]).unwrap_or(modulus);
    if is_negative(modulus) || magnitude.is_empty() {
        return Err("x509: RSA modulus is not a positive number".into());
    }
    if exponent <= 0 {
        return Err("x509: RSA public exponent is not a positive number".into());
    }
    Ok(Kind::Rsa { modulus: end - magnitude.len()..end, exponent })
}

fn ecdsa(parameters: &[u8], point: &[u8]) -> Result<Curve, ParseError> {
    let curve = match Der(parameters).oid().ok_or("x509: invalid ECDSA parameters")? {
        [0x2b, 0x81, 0x04, 0x00, 0x21] => Curve::P224,
        [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07] => Curve::P256,
        [0x2b, 0x81, 0x04, 0x00, 0x22] => Curve::P384,
        [0x2b, 0x81, 0x04, 0x00, 0x23] => Curve::P521,
        _ => return Err("x509: unsupported elliptic curve".into()),
    };
    if point.first() != Some(&4) {
        return Err("ecdsa: invalid uncompressed public key".into());
    }
    match curve {
        Curve::P224 => check_point::<p224::NistP224>(point, "P224", "P224Element", &PRIME_224),
        // Go's assembly of this curve says it in words of its own.
        Curve::P256 => check_point::<p256::NistP256>(point, "P256", "P256 element", &PRIME_256),
        Curve::P384 => check_point::<p384::NistP384>(point, "P384", "P384Element", &PRIME_384),
        Curve::P521 => check_point::<p521::NistP521>(point, "P521", "P521Element", &PRIME_521),
    }?;
    Ok(curve)
}

/// Whether an uncompressed point is on the curve (`nistec.Point.SetBytes`).
fn check_point<C>(point: &[u8], name: &str, element: &str, prime: &[u8]) -> Result<(), ParseError>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    AffinePoint<C>: FromEncodedPoint<C>,
{
    let encoded = EncodedPoint::<C>::from_bytes(point).map_err(|_| format!("invalid {name} point encoding"))?;
    if point[1..].chunks(prime.len()).any(|coordinate| coordinate >= prime) {
        return Err(format!("invalid {element} encoding").into());
    }
    let is_on_curve = bool::from(AffinePoint::<C>::from_encoded_point(&encoded).is_some());
    if is_on_curve { Ok(()) } else { Err(format!("{name} point not on curve").into()) }
}

fn dsa(parameters: &[u8], key: &[u8]) -> Result<Kind, ParseError> {
    let public = Der(key).integer(INTEGER).ok_or("x509: invalid DSA public key")?;
    let mut numbers = Der(parameters).element(SEQUENCE).ok_or("x509: invalid DSA parameters")?;
    let mut is_positive = is_above_zero(public);
    for _ in 0..3 {
        is_positive &= is_above_zero(numbers.integer(INTEGER).ok_or("x509: invalid DSA parameters")?);
    }
    if is_positive { Ok(Kind::Dsa) } else { Err("x509: zero or negative DSA parameter".into()) }
}

fn is_above_zero(integer: &[u8]) -> bool {
    !is_negative(integer) && integer != [0]
}

// 1.2.840.113549.1.1.1, 1.2.840.10040.4.1, 1.2.840.10045.2.1 and 1.3.101.112.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const DSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01];
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// An element of type NULL.
const NULL: &[u8] = &[5, 0];

// The primes of the curves' fields (FIPS 186-4, D.1.2).
const PRIME_224: [u8; 28] = with_words([0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0, 0, 1]);
const PRIME_256: [u8; 32] = with_words([0xffff_ffff, 1, 0, 0, 0, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff]);
const PRIME_384: [u8; 48] = {
    const ONES: u32 = u32::MAX;
    with_words([ONES, ONES, ONES, ONES, ONES, ONES, ONES, ONES - 1, ONES, 0, 0, ONES])
};
const PRIME_521: [u8; 66] = {
    let mut prime = [0xff; 66];
    prime[0] = 1;
    prime
};

/// A number of so many words, the highest first.
const fn with_words<const WORDS: usize, const OCTETS: usize>(words: [u32; WORDS]) -> [u8; OCTETS] {
    let mut octets = [0; OCTETS];
    let mut index = 0;
    while index < OCTETS {
        octets[index] = words[index / 4].to_be_bytes()[index % 4];
        index += 1;
    }
    octets
}
