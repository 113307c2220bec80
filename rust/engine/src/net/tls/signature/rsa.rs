//! RSA: ring for keys of 2,048 bits and more, plain arithmetic for the shorter ones, which ring refuses.

use ecdsa::elliptic_curve::bigint::modular::runtime_mod::{DynResidue, DynResidueParams};
use ecdsa::elliptic_curve::bigint::{Encoding, U64, U2048};
use probelet_golang::x509::bits;
use ring::digest::{self, Context, SHA256, SHA384, digest};
use ring::signature as ring_signature;
use ring::signature::RsaPublicKeyComponents;

/// A public key that Go would use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    modulus: &'a [u8],
    exponent: u64,
}

/// How a signature holds the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    Pkcs1,
    /// With as much salt as hash.
    Pss,
}

impl<'a> Key<'a> {
    /// Refuses what `crypto/rsa` refuses (`rsa.checkKeySize`, `rsa.checkPublicKey`).
    pub(super) fn checked(modulus: &'a [u8], exponent: i64) -> Result<Self, String> {
        let size = bits(modulus);
        if size < BITS_MIN {
            let link = "https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size";
            return Err(format!("crypto/rsa: {size}-bit keys are insecure (see {link})"));
        }
        let why = match exponent {
            _ if modulus.last().is_some_and(|last| last & 1 == 0) => "public modulus is even",
            ..2 => "public exponent too small or negative",
            _ if exponent & 1 == 0 => "public exponent is even",
            EXPONENT_AFTER.. => "public exponent too large",
            _ => return Ok(Self { modulus, exponent: exponent.unsigned_abs() }),
        };
        Err(format!("crypto/rsa: {why}"))
    }

    /// Whether the key signed a message.
    pub(super) fn is_valid(
        self,
        padding: Padding,
        hash: &'static digest::Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        if self.modulus.len() >= OCTETS_OF_RING {
            return self.is_valid_by_ring(padding, hash, message, signature);
        }
        let Some(encoded) = self.recovered(signature) else { return false };
        let hashed = digest(hash, message);
        match padding {
            Padding::Pkcs1 => is_pkcs1(&encoded, hash, hashed.as_ref()),
            Padding::Pss => is_pss(encoded, bits(self.modulus) - 1, hash, hashed.as_ref()),
        }
    }

    fn is_valid_by_ring(
        self,
        padding: Padding,
        hash: &'static digest::Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        let algorithm = match padding {
            Padding::Pkcs1 if *hash == SHA256 => &ring_signature::RSA_PKCS1_2048_8192_SHA256,
            Padding::Pkcs1 if *hash == SHA384 => &ring_signature::RSA_PKCS1_2048_8192_SHA384,
            Padding::Pkcs1 => &ring_signature::RSA_PKCS1_2048_8192_SHA512,
            Padding::Pss if *hash == SHA256 => &ring_signature::RSA_PSS_2048_8192_SHA256,
            Padding::Pss if *hash == SHA384 => &ring_signature::RSA_PSS_2048_8192_SHA384,
            Padding::Pss => &ring_signature::RSA_PSS_2048_8192_SHA512,
        };
        let exponent = self.exponent.to_be_bytes();
        let zeros = self.exponent.leading_zeros() as usize / 8;
        let key = RsaPublicKeyComponents { n: self.modulus, e: &exponent[zeros..] };
        key.verify(algorithm, message, signature).is_ok()
    }

    /// What was signed: the signature to the power of the exponent.
    fn recovered(self, signature: &[u8]) -> Option<Vec<u8>> {
        let length = self.modulus.len();
        let number = |octets: &[u8]| {
            let mut padded = [0; OCTETS_OF_RING];
            padded[OCTETS_OF_RING - octets.len()..].copy_from_slice(octets);
            U2048::from_be_bytes(padded)
        };
        if signature.len() != length || signature >= self.modulus {
            return None;
        }
        let modulus = DynResidueParams::new(&number(self.modulus));
        let power = DynResidue::new(&number(signature), modulus).pow(&U64::from_u64(self.exponent));
        Some(power.retrieve().to_be_bytes()[OCTETS_OF_RING - length..].to_vec())
    }
}

/// EMSA-PKCS1-v1_5 (RFC 8017, 9.2).
fn is_pkcs1(encoded: &[u8], hash: &'static digest::Algorithm, hashed: &[u8]) -> bool {
    let (number, length) = (
        if *hash == SHA256 {
            1
        } else if *hash == SHA384 {
            2
        } else {
            3
        },
        hashed.len() as u8,
    );
    let prefix = [0x30, 17 + length, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, number, 5, 0, 4, length];
    let Some(filled) = encoded.len().checked_sub(3 + prefix.len() + hashed.len()).filter(|&filled| filled >= 8) else {
        return false;
    };
    let expected = [&[0, 1][..], &vec![0xff; filled], &[0], &prefix, hashed].concat();
    encoded == expected
}

/// EMSA-PSS with as much salt as hash (RFC 8017, 9.1.2).
fn is_pss(encoded: Vec<u8>, bits: usize, hash: &'static digest::Algorithm, hashed: &[u8]) -> bool {
    let size = hashed.len();
    let length = bits.div_ceil(8);
    let (above, encoded) = encoded.split_at(encoded.len() - length);
    let Some(filled) = length.checked_sub(2 * size + 2) else { return false };
    let (masked, rest) = encoded.split_at(length - size - 1);
    let (seed, end) = rest.split_at(size);
    let unused = 0xff >> (8 * length - bits);
    if above.iter().any(|&octet| octet != 0) || end != [0xbc] || masked[0] & !unused != 0 {
        return false;
    }
    let mask = (0u32..).flat_map(|counter| {
        let block = digest(hash, &[seed, &counter.to_be_bytes()].concat());
        block.as_ref().to_vec()
    });
    let mut block: Vec<u8> = masked.iter().zip(mask).map(|(octet, mask)| octet ^ mask).collect();
    block[0] &= unused;
    let (zeros, salt) = block.split_at(filled);
    if zeros.iter().any(|&octet| octet != 0) || salt[0] != 1 {
        return false;
    }
    let mut context = Context::new(hash);
    context.update(&[0; 8]);
    context.update(hashed);
    context.update(&salt[1..]);
    context.finish().as_ref() == seed
}

/// `rsa.checkKeySize`.
const BITS_MIN: usize = 1024;
/// Go takes exponents that fit 31 bits.
const EXPONENT_AFTER: i64 = 1 << 31;
/// ring takes moduli with this many octets and more.
const OCTETS_OF_RING: usize = 256;

#[cfg(test)]
mod tests {
    use ring::digest::SHA512;

    use super::*;

    fn octets(digits: &str) -> Vec<u8> {
        let values: Vec<_> = digits.chars().filter_map(|digit| digit.to_digit(16)).collect();
        values.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
    }

    fn is_valid(modulus: &str, padding: Padding, hash: &'static digest::Algorithm, signature: &[u8]) -> bool {
        Key::checked(&octets(modulus), 65_537).unwrap().is_valid(padding, hash, b"message", signature)
    }

    #[test]
    fn signatures_of_openssl_by_short_keys() {
        for (modulus, pkcs1, pss) in [(MODULUS_1024, PKCS1_1024, PSS_1024), (MODULUS_1025, PKCS1_1025, PSS_1025)] {
            let (pkcs1, pss) = (octets(pkcs1), octets(pss));
            assert!(is_valid(modulus, Padding::Pkcs1, &SHA256, &pkcs1));
            assert!(is_valid(modulus, Padding::Pss, &SHA384, &pss));
            for hash in [&SHA384, &SHA512] {
                assert!(!is_valid(modulus, Padding::Pkcs1, hash, &pkcs1));
            }
            for hash in [&SHA256, &SHA512] {
                assert!(!is_valid(modulus, Padding::Pss, hash, &pss));
            }
            for (padding, hash, right) in [(Padding::Pkcs1, &SHA256, &pkcs1), (Padding::Pss, &SHA384, &pss)] {
                for index in [0, 1, right.len() / 2, right.len() - 1] {
                    let mut wrong = right.clone();
                    wrong[index] ^= 1;
                    assert!(!is_valid(modulus, padding, hash, &wrong), "{padding:?} {index}");
                }
                assert!(!is_valid(modulus, padding, hash, &right[1..]));
                assert!(!is_valid(modulus, padding, hash, &vec![0xff; right.len()]));
                assert!(!is_valid(modulus, padding, hash, &vec![0; right.len()]));
            }
        }
    }

    #[test]
    fn keys_that_go_refuses() {
        let why = |modulus: &[u8], exponent| Key::checked(modulus, exponent).map(|_| ()).unwrap_err();
        let odd = [0x81; 128];
        assert_eq!(why(&[0x80; 128], 3), "crypto/rsa: public modulus is even");
        assert_eq!(why(&odd, 1), "crypto/rsa: public exponent too small or negative");
        assert_eq!(why(&odd, 4), "crypto/rsa: public exponent is even");
        assert_eq!(why(&odd, (1 << 31) + 1), "crypto/rsa: public exponent too large");
        assert!(why(&odd[1..], 3).starts_with("crypto/rsa: 1016-bit keys are insecure"));
        assert!(Key::checked(&odd, (1 << 31) - 1).is_ok());
    }

    const MODULUS_1024: &str = "e7f392d1fc11175b2d7edaea0a4cbb2cea639981c720bce06f72e43de8601ec857d909a5e80d200e5fbce2bff53c4a59dc32 \
         062f9b49842d407f4c235f18a73cc4976e2d7e99c704beb858c0f6ff128fed5cebd5403d093d6c1943cd2221e97c00ad2e79 \
         8c88994c61ecb331922cb427a217f36709c6d8faadb303f625a2a495";
    const PKCS1_1024: &str = "512ff990f56482aadbf9661e31b542ddbc42109e2eea639afe4904902f52d7603616becb318854a8afc43cd0b8b28bbee534 \
         8e9a7b371a077a139e357b16a64472b73aa555f58026bafbd286f85a697e2b643a4ca0c0a7ad2318052104879f5d5aea05c6 \
         5abdf02be396fb22cac6e007ba88bc49f45a74b4eac16f631cb89528";
    const PSS_1024: &str = "09b43948cbdc83224e0f7fb0818828188ea9b6adc6b3dc6061010fca1ed8de4defa707ecc0679c3359e049e60e3c29960a33 \
         af2a6ef4e9dac8e655aeda35f64d4f512d280e838c4fa9236f892233d6259c4271b668e5c94f2f3e7ce62efa89dce5fbddaf \
         b7639f2b951b9fbde9ec924bd9e52d67b31e6d962fd979210bdd5e3b";
    const MODULUS_1025: &str = "0188ff797146cb5671163d3d6298ae7a6c761c33fe2e3003cb94648ea1adf9f453289d153de6f7080bc8a8a5a68b070cad8a7 \
         25f7111ded4c34011a74d4fdcb36b80702ea1e335d12ed7f1a84cd0b648f68ea3dfa5bfe30bcf749c90a2795989062f266bb \
         0d37261a2821922f1af569cb6b2a35dd5671f0bbfb1fd4a0293095251";
    const PKCS1_1025: &str = "00e9965ae38d11885ddffde7cf499f842e578ca78ebd677b40cacfb13229e0e23c46f72f63dba0b462793292e8af1555c248 \
         fcae7417270c975a9ca6336f1f1ac2ea58d72d5bd4aded0e20d072c3909d7e06de7aea9978cf886928d42a5c3288a5e9295a \
         f0b5132e76a20632f39b4653e1ef05254b11526dfcb49887b0794ac163";
    const PSS_1025: &str = "00e60a7079f1246463fbd4abdb9d263c438013e6fb637ce07217280058184d0324de4a5c3239eee6e148f4c7616639c48a79 \
         ffc7c35bccf386df65e917e7084e6fcbf3380bf4953340bb857a7b53489b4b2a4d062820c7a64ab94ba6d83b710999e15a64 \
         7aeb746be120acc37176c6cece7c1cb2d96ca26d6f029f624212522c4d";
}
