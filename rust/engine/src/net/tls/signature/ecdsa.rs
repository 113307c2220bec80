//! ECDSA: ring for the pairs of curve and hash that servers use, the curves' own crates for the others.

#![expect(deprecated, reason = "the bounds of ecdsa 0.16 name a trait of generic-array 0.14")]

use ecdsa::elliptic_curve::generic_array::ArrayLength;
use ecdsa::elliptic_curve::sec1::{EncodedPoint, FromEncodedPoint, ModulusSize};
use ecdsa::elliptic_curve::{AffinePoint, CurveArithmetic, FieldBytes, FieldBytesSize};
use ecdsa::hazmat::verify_prehashed;
use ecdsa::{PrimeCurve, Signature, SignatureSize, der};
use probelet_golang::x509::Curve;
use ring::digest::{self, SHA256, SHA384, digest};
use ring::signature as ring_signature;
use ring::signature::UnparsedPublicKey;

/// Whether a key, an uncompressed point, signed a message.
pub(super) fn is_valid(
    curve: Curve,
    hash: &'static digest::Algorithm,
    key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> bool {
    let algorithm = match curve {
        Curve::P256 if *hash == SHA256 => &ring_signature::ECDSA_P256_SHA256_ASN1,
        Curve::P256 if *hash == SHA384 => &ring_signature::ECDSA_P256_SHA384_ASN1,
        Curve::P384 if *hash == SHA256 => &ring_signature::ECDSA_P384_SHA256_ASN1,
        Curve::P384 if *hash == SHA384 => &ring_signature::ECDSA_P384_SHA384_ASN1,
        Curve::P224 => return is_valid_on::<p224::NistP224>(hash, key, message, signature),
        Curve::P256 => return is_valid_on::<p256::NistP256>(hash, key, message, signature),
        Curve::P384 => return is_valid_on::<p384::NistP384>(hash, key, message, signature),
        Curve::P521 => return is_valid_on::<p521::NistP521>(hash, key, message, signature),
    };
    UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok()
}

fn is_valid_on<C>(hash: &'static digest::Algorithm, key: &[u8], message: &[u8], signature: &[u8]) -> bool
where
    C: PrimeCurve + CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    AffinePoint<C>: FromEncodedPoint<C>,
    SignatureSize<C>: ArrayLength<u8>,
    der::MaxSize<C>: ArrayLength<u8>,
    <FieldBytesSize<C> as std::ops::Add>::Output: std::ops::Add<der::MaxOverhead> + ArrayLength<u8>,
{
    let point = EncodedPoint::<C>::from_bytes(key).ok();
    let point = point.and_then(|point| Option::from(AffinePoint::<C>::from_encoded_point(&point)));
    let signature = Signature::<C>::from_der(signature).ok();
    let (Some(point), Some(signature)) = (point, signature) else { return false };
    let point: AffinePoint<C> = point;
    verify_prehashed(&point.into(), &number::<C>(digest(hash, message).as_ref()), &signature).is_ok()
}

/// A hash as a number with as many octets as the curve's: the first ones, or all after zeros.
fn number<C: PrimeCurve>(hash: &[u8]) -> FieldBytes<C> {
    let mut number = FieldBytes::<C>::default();
    let length = number.len().min(hash.len());
    let begin = number.len() - length;
    number[begin..].copy_from_slice(&hash[..length]);
    number
}
